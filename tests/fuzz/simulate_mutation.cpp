#include "tests/fuzz/simulate_mutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "model/hw/config_schema.hpp"
#include "model/trace/text_reader.hpp"
#include "model/trace/text_writer.hpp"
#include "tests/fuzz/trace_mutation.hpp"

namespace warpscope::fuzz {
namespace {

using trace::Random;

/// A key with a number that is legal for it alone.
std::string some_override(Random& random) {
  const std::span<const hw::KeySpec> keys = hw::key_specs();
  const hw::KeySpec& spec = keys[static_cast<std::size_t>(random.between(0, std::ssize(keys) - 1))];
  const auto least = static_cast<std::int64_t>(spec.min);
  const auto most = static_cast<std::int64_t>(spec.max);
  const std::int64_t number = random.one_in(3) ? least
                              : random.one_in(3)
                                  ? most
                                  : std::min(most, least + (std::int64_t{1} << random.between(0, 40)));
  return fmt::format("--set {}={}", spec.key, number);
}

std::string some_flags(Random& random) {
  constexpr std::array kGpus = {"a100-sxm4-40gb", "a100-sxm4-80gb", "h100-sxm5-80gb", "h200-sxm-141gb"};
  std::string flags = "#";
  if (random.one_in(8)) {  // these take far longer than the small one
    flags += fmt::format(" --gpu {}", kGpus[static_cast<std::size_t>(random.between(0, kGpus.size() - 1))]);
  }
  if (random.one_in(2)) {
    flags += " --l2 warm";
  }
  for (std::int64_t n = random.between(0, 2); n > 0; --n) {
    flags += ' ' + some_override(random);
  }
  return flags == "#" ? "" : flags + '\n';
}

}  // namespace

std::string mutated_simulation(std::string_view input, std::uint64_t seed) {
  Random random(seed);
  const std::size_t line = input.starts_with("# --") ? input.find('\n') + 1 : 0;
  std::istringstream stream{std::string(input)};
  try {
    const trace::Trace trace = trace::read_text(stream, "fuzz");
    const std::string flags = random.one_in(8) ? some_flags(random) : std::string(input.substr(0, line));
    return flags + trace::to_text(mutated(trace, random));
  } catch (const trace::TraceError&) {
    return "";
  }
}

}  // namespace warpscope::fuzz
