// Whether this process is one of several that mpirun or srun started.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "experiments/mpi/communicator.hpp"

namespace warpscope::experiments {

struct Launcher {
  std::string name;  ///< "mpirun"
  int rank = 0;
  int size = 0;            ///< 0 where the launcher does not say
  bool speaks_mpi = true;  ///< its processes can talk to one another
};

/// Value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> environment_variable(const std::string& name);

/// The launcher, if it started more than this process. That a batch system runs the job says nothing: a job
/// script sees variables of Slurm too, but none of a step of several tasks.
std::optional<Launcher> find_launcher(const Environment& environment = environment_variable);

/// True if the program can load MPI: `warpscope --version` says so.
bool has_mpi();
/// Starts MPI. Throws UsageError where the launcher or the program is without it.
std::unique_ptr<Communicator> open_communicator(const Launcher& launcher);

}  // namespace warpscope::experiments
