// Who does the work of a command: processes of this machine, or the other processes of an mpirun.
#pragma once

#include <functional>

#include "experiments/batch/point_simulator.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/worker_flags.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// Calls `lead` with workers that simulate points, by default one for each processor. Under mpirun, unless
/// `alone`, rank 0 leads; the others work for it, as many processes each as -j says, by default one, and
/// return Status::done.
Status with_crew(const WorkerFlags& flags, bool alone, PointSimulator& simulator,
                 const std::function<Status(Workers&)>& lead);

}  // namespace warpscope::experiments
