// The other processes of an mpirun as workers of the first one.
#pragma once

#include <string>
#include <vector>

#include "experiments/mpi/communicator.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// Used by rank 0. Each other rank says how many tasks it takes at a time and gets the next as soon as it has
/// done one. With the end of this object the others stop, whatever they are at.
class RemoteWorkers : public Workers {
 public:
  /// Ranks of another `version` are refused: their results would be another model's.
  RemoteWorkers(Communicator& communicator, std::string version);
  ~RemoteWorkers() override;

  bool has_room() const override;
  void submit(std::size_t id, const std::string& task) override;
  /// Throws UsageError where a rank is of another version.
  std::vector<Finished> wait(std::chrono::milliseconds longest) override;

 private:
  void take(const Message& message, std::vector<Finished>& finished);

  Communicator& communicator_;
  std::string version_;
  std::vector<int> room_;  ///< by rank: tasks that it would take now
};

/// Used by all others: does the tasks of rank 0, `room` at a time, until it has no more.
void serve_rank_zero(Communicator& communicator, Workers& workers, int room, const std::string& version);

}  // namespace warpscope::experiments
