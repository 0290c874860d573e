#include "experiments/commands/crew.hpp"

#include <fmt/format.h>

#include <exception>

#include "experiments/base/interruption.hpp"
#include "experiments/base/output.hpp"
#include "experiments/mpi/launcher.hpp"
#include "experiments/mpi/remote_workers.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

/// The life of a rank other than 0.
Status work_for_rank_zero(const Launcher& launcher, WorkerPool& pool) {
  // Before MPI starts: a process that is forked later would inherit the connections of MPI.
  pool.start();
  const std::unique_ptr<Communicator> communicator = open_communicator(launcher);
  try {
    serve_rank_zero(*communicator, pool, model_version());
  } catch (const std::exception& error) {
    print_error(fmt::format("rank {}: {}", communicator->rank(), error.what()));
    communicator->abort(static_cast<int>(Status::usage));
  }
  return Status::done;
}

}  // namespace

Status with_crew(const WorkerFlags& flags, bool alone, PointSimulator& simulator,
                 const std::function<Status(Workers&)>& lead) {
  const std::optional<Launcher> launcher = alone ? std::nullopt : find_launcher();
  const PoolOptions options = flags.read(launcher ? 1 : default_workers());
  const Work work = [&](const std::string& task) { return simulator.simulate(task); };
  if (!launcher) {
    WorkerPool pool(work, options);
    return lead(pool);
  }
  if (launcher->rank > 0 && !(launcher->speaks_mpi && has_mpi())) {
    return Status::usage;  // rank 0 says why
  }
  if (launcher->rank > 0) {
    WorkerPool pool(work, options);
    return work_for_rank_zero(*launcher, pool);
  }
  // Before MPI starts threads of its own, which would take the signals otherwise.
  const HeldSignals signals;
  const std::unique_ptr<Communicator> communicator = open_communicator(*launcher);
  if (communicator->size() == 1) {
    WorkerPool pool(work, options);
    return lead(pool);
  }
  RemoteWorkers workers(*communicator, model_version());
  try {
    return lead(workers);
  } catch (const Interrupted& interrupted) {
    // Who interrupts an mpirun ends the other ranks too, and there is nobody left to say good-bye to.
    print_error(interrupted.what());
    communicator->abort(128 + interrupted.signal());
    throw;
  }
}

}  // namespace warpscope::experiments
