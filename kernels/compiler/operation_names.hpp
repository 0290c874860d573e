// What instructions are part of that belong to no operation of a kernel's text.
#pragma once

namespace warpscope::kernels {

/// Register moves that the expansion estimates.
inline constexpr const char* kMoves = "register moves";
/// What a build adds, counted and held in tables (BuildFigures).
inline constexpr const char* kCounted = "overhead of the build";

}  // namespace warpscope::kernels
