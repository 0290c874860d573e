// What decoding does with instructions of Hopper's asynchronous units.
#pragma once

#include <string>

#include "model/hw/hw_config.hpp"
#include "model/sm/decoded_launch.hpp"

namespace warpscope::sm {

/// The timing of an HGMMA that reads `bytes` of shared memory, in `wavefronts` at least. Its issue does not
/// wait for the pipe, which works off what it is given.
void set_wgmma(DecodedInstruction& out, const hw::Sm& sm, int bytes, int wavefronts);

/// Throws std::invalid_argument where the GPU lacks the units of an instruction of the launch called `name`.
void require_units(const hw::HwConfig& config, const std::string& name, const DecodedLaunch& launch);

}  // namespace warpscope::sm
