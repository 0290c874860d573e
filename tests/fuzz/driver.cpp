// The program that libFuzzer runs: --target=NAME says which function is fed. The library passes over flags
// that begin with two dashes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/simulate_mutation.hpp"
#include "tests/fuzz/targets.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most_bytes);

namespace {

using warpscope::fuzz::Target;

struct Feeding {
  const Target* target = nullptr;
  std::uint64_t taken = 0;
};

Feeding& feeding() {
  static Feeding feeding;
  return feeding;
}

void print_taken() {
  std::fprintf(stderr, "stat::taken_inputs: %llu\n", static_cast<unsigned long long>(feeding().taken));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    for (const Target& target : warpscope::fuzz::all_targets()) {
      if (word.starts_with(kFlag) && word.substr(kFlag.size()) == target.name) {
        feeding().target = &target;
      }
    }
  }
  if (feeding().target == nullptr) {
    std::fprintf(stderr, "--target=NAME is missing or unknown; legal are:\n");
    for (const Target& target : warpscope::fuzz::all_targets()) {
      std::fprintf(stderr, "  %s\n", std::string(target.name).c_str());
    }
    std::exit(2);
  }
  std::atexit(print_taken);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  feeding().taken += feeding().target->feed(input) ? 1 : 0;
  return 0;
}

// What holds a trace is changed as a trace most of the time, all else as bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most_bytes,
                                               unsigned int seed) {
  const warpscope::fuzz::Feed feed = feeding().target->feed;
  const bool traces =
      feed == warpscope::fuzz::simulate || (feed == warpscope::fuzz::trace_text && seed % 2 == 0);
  if (traces && seed % 8 != 0) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::string changed = warpscope::fuzz::mutated_simulation(input, seed);
    if (!changed.empty() && changed.size() <= most_bytes) {
      std::memcpy(data, changed.data(), changed.size());
      return changed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most_bytes);
}

// The SystemC library has a main of its own that calls sc_main. The one of libFuzzer wins; the stub satisfies
// the linker.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}
