#include "experiments/mpi/launcher.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

/// How a launcher tells its processes who they are.
struct Convention {
  const char* name;
  const char* rank;
  const char* size;
};

// PMIx has no variable for the number of processes; srun, the launcher that uses it bare, has.
constexpr std::array kConventions = {
    Convention{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Convention{"mpirun", "PMI_RANK", "PMI_SIZE"},
    Convention{"srun", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
};

std::optional<int> integer(const std::optional<std::string>& text) {
  int number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

std::filesystem::path library() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / kCommunicatorLibrary;
}

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<Launcher> find_launcher(const Environment& environment) {
  for (const Convention& convention : kConventions) {
    if (const std::optional<int> rank = integer(environment(convention.rank))) {
      const int size = integer(environment(convention.size)).value_or(0);
      return size == 1 ? std::nullopt : std::optional(Launcher{convention.name, *rank, size, true});
    }
  }
  const int copies = integer(environment("SLURM_STEP_NUM_TASKS")).value_or(1);
  const int copy = integer(environment("SLURM_PROCID")).value_or(0);
  return copies == 1 ? std::nullopt : std::optional(Launcher{"srun", copy, copies, false});
}

bool has_mpi() {
  std::error_code error;
  return WARPSCOPE_MPI_BUILT && std::filesystem::exists(library(), error);
}

std::unique_ptr<Communicator> open_communicator(const Launcher& launcher) {
  if (!launcher.speaks_mpi) {
    throw UsageError(fmt::format(
        "{} started {} copies of one sweep that cannot talk to one another; add --mpi=pmix to it, or give "
        "each a --shard",
        launcher.name, launcher.size));
  }
  if (!has_mpi()) {
    throw UsageError(
        fmt::format("{} started several copies, but this warpscope was built without MPI; install "
                    "libopenmpi-dev, openmpi-bin and libboost-mpi-dev and build again, or use --shard",
                    launcher.name));
  }
  // Global: the plugins of MPI look for its symbols. Never closed: MPI leaves exit handlers behind.
  void* module = ::dlopen(library().c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* open = module == nullptr ? nullptr : ::dlsym(module, kOpenCommunicator);
  if (open == nullptr) {
    throw UsageError(fmt::format("cannot load MPI: {}", ::dlerror()));
  }
  return std::unique_ptr<Communicator>(reinterpret_cast<OpenCommunicator>(open)());
}

}  // namespace warpscope::experiments
