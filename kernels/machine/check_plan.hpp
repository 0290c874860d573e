// Rules that kernels must keep on both machines. Messages say what is legal.
#pragma once

#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// Throws std::logic_error where the launch has no program, no class or no warp, or where CTAs belong to
/// classes or classes run programs that do not exist.
void check_launch(const LaunchPlan& launch);

/// Throws std::logic_error where `tile`, with all its stages, does not lie within the shared memory that the
/// launch declares.
void check_shared(const LaunchPlan& launch, const SharedTile& tile);

/// Throws std::logic_error where elements of the two tiles lie in different lanes: arithmetic moves nothing.
void check_same_lanes(const Fragment& target, const Fragment& source);

}  // namespace warpscope::kernels
