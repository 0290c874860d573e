// The other processes of an mpirun as workers of the first one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/mpi/communicator.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// Used by rank 0. Each other rank says how many processes it has; each of these is a worker, and gets the
/// next task as soon as it has done one. With the end of this object the others stop, whatever they are at.
class RemoteWorkers : public Workers {
 public:
  /// Ranks of another `version` are refused: their results would be another model's.
  RemoteWorkers(Communicator& communicator, std::string version);
  ~RemoteWorkers() override;

  std::vector<int> room() const override;
  void submit(std::size_t worker, std::size_t id, const std::string& task) override;
  /// Throws UsageError where a rank is of another version.
  std::vector<Finished> wait(std::chrono::milliseconds longest) override;

 private:
  struct RemoteWorker {
    int rank = 0;
    std::uint64_t process = 0;
    int room = 0;
  };

  void take(const Message& message, std::vector<Finished>& finished);

  Communicator& communicator_;
  std::string version_;
  std::vector<RemoteWorker> workers_;
  std::map<std::size_t, std::size_t> worker_of_;  ///< by id of a task that is not done
};

/// Used by all others: does the tasks of rank 0 until it has no more.
void serve_rank_zero(Communicator& communicator, Workers& workers, const std::string& version);

}  // namespace warpscope::experiments
