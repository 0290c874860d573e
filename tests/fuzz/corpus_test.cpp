// What fuzzing has found worth keeping: every input in corpus/ is fed to the target whose folder it is in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/simulate_mutation.hpp"
#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {

/// What GoogleTest calls a target in messages.
void PrintTo(const Target& target, std::ostream* out) {
  *out << target.name;
}

namespace {

std::vector<std::filesystem::path> inputs(const Target& target) {
  const std::filesystem::path corpus = WARPSCOPE_SOURCE_DIR "/tests/fuzz/corpus";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(corpus / target.name)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FuzzCorpus : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, EveryInputIsTakenOrRefused) {
  int taken = 0;
  int refused = 0;
  for (const std::filesystem::path& file : inputs(GetParam())) {
    std::cout << file.string() << std::endl;  // the last one is the culprit of a crash
    try {
      ++(GetParam().feed(bytes_of(file)) ? taken : refused);
    } catch (const std::exception& error) {
      ADD_FAILURE() << file.string() << ": " << error.what();
    }
  }
  // Otherwise the inputs do not get where they should, or not into the checks.
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

std::string name_of(const testing::TestParamInfo<Target>& info) {
  std::string name(info.param.name);
  std::erase(name, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         name_of);

/// Changes of each input of the corpus: without sanitizers, many more can be tried in the same time.
std::uint64_t rounds() {
  const char* wanted = std::getenv("WARPSCOPE_FUZZ_ROUNDS");
  return wanted == nullptr ? 1 : std::max<std::uint64_t>(1, std::strtoull(wanted, nullptr, 10));
}

TEST(FuzzMutation, MakesOtherSimulationsOfMostSimulations) {
  std::uint64_t simulations = 0;
  std::uint64_t tried = 0;
  std::uint64_t others = 0;
  for (const std::filesystem::path& file : inputs({"simulate", simulate})) {
    const std::string input = bytes_of(file);
    if (!simulate(input)) {
      continue;
    }
    ++simulations;
    for (std::uint64_t round = 0; round < rounds(); ++round) {
      const std::uint64_t seed = simulations + 1000 * round;
      SCOPED_TRACE(file.string() + " changed with seed " + std::to_string(seed));
      const std::string other = mutated_simulation(input, seed);
      ++tried;
      EXPECT_NO_THROW(others += other != input && simulate(other) ? 1 : 0);
    }
  }
  RecordProperty("tried", std::to_string(tried));
  RecordProperty("simulated", std::to_string(others));
  EXPECT_GT(simulations, 50U);
  EXPECT_GT(others, tried / 2);
}

}  // namespace
}  // namespace warpscope::fuzz
