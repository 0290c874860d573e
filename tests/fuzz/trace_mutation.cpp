#include "tests/fuzz/trace_mutation.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "tests/fuzz/odd_numbers.hpp"
#include "tests/fuzz/program_mutation.hpp"

namespace warpscope::fuzz {
namespace {

using namespace trace;

void change_class(CtaClass& cta_class, const Launch& launch, Random& random) {
  switch (random.between(0, 2)) {
    case 0:
      pick(cta_class.program_of_warp, random) =
          static_cast<std::uint16_t>(random.between(0, std::ssize(launch.programs) - 1));
      break;
    case 1:
      cta_class.trip_counts.resize(odd<std::size_t>(random, 1, 4));
      pick(cta_class.trip_counts, random) = odd<std::uint32_t>(random, 0, random.one_in(9) ? 0xffffffff : 99);
      break;
    default:
      cta_class.symbols.resize(odd<std::size_t>(random, 1, 4));
      pick(cta_class.symbols, random) = odd_number(random);
  }
}

/// Another number of CTAs along x, y or z, and classes of them that fit it.
void change_grid(Launch& launch, Random& random) {
  const auto d = odd<std::size_t>(random, 0, 2);
  launch.grid[d] = odd<std::uint32_t>(random, 1, random.one_in(9) ? 65535 : 40);
  launch.class_of_block[d].clear();
  if (random.one_in(2)) {
    for (std::uint32_t block = 0; block < launch.grid[d]; ++block) {
      launch.class_of_block[d].push_back(
          static_cast<std::uint32_t>(random.between(0, std::ssize(launch.classes) - 1)));
    }
  }
}

void change_launch(Launch& launch, std::size_t tensors, Random& random) {
  switch (random.between(0, 11)) {
    case 0:
      change_grid(launch, random);
      break;
    case 1:
      launch.threads_per_cta = odd<std::uint32_t>(random, 1, random.one_in(4) ? 1024 : 256);
      for (CtaClass& cta_class : launch.classes) {
        cta_class.program_of_warp.resize(warps_per_cta(launch));
      }
      break;
    case 2:
      launch.registers_per_thread = odd<std::uint32_t>(random, 1, 255);
      break;
    case 3:
      launch.shared_bytes_per_cta = odd<std::uint32_t>(random, 0, random.one_in(2) ? 0xffffffff : 232448);
      break;
    case 4:
      launch.programs.push_back(launch.programs[0]);
      launch.programs.back().name = fmt::format("p{}", launch.programs.size());
      break;
    case 5:
      launch.classes.push_back(CtaClass(pick(launch.classes, random)));
      break;
    case 6:
    case 7:
      change_class(pick(launch.classes, random), launch, random);
      break;
    default:
      change_program(pick(launch.programs, random), tensors, random);
  }
}

void change_tensor(Tensor& tensor, Random& random) {
  switch (random.between(0, 2)) {
    case 0:
      tensor.kind = odd<TensorKind>(random, 0, 3);
      break;
    case 1:
      tensor.segments = odd<std::int64_t>(random, 1, 64);
      break;
    default:
      tensor.segment_bytes = odd<std::int64_t>(random, 1, random.one_in(2) ? INT64_MAX : 1 << 20);
  }
}

void change(Trace& trace, Random& random) {
  switch (random.between(0, 19)) {
    case 0:
      trace.tensors.push_back(
          {fmt::format("t{}", trace.tensors.size()), odd<TensorKind>(random, 0, 3), 4, 65536});
      break;
    case 1:
    case 2:
      change_tensor(pick(trace.tensors, random), random);
      break;
    case 3:
      trace.launches.push_back(Launch(pick(trace.launches, random)));
      break;
    case 4:
      if (trace.launches.size() > 1) {
        trace.launches.erase(trace.launches.begin() + random.between(0, std::ssize(trace.launches) - 1));
      }
      break;
    default:
      change_launch(pick(trace.launches, random), trace.tensors.size(), random);
  }
}

bool is_valid(const Trace& trace) {
  try {
    validate(trace);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace

Trace mutated(const Trace& trace, Random& random) {
  constexpr int kTries = 8;
  Trace result = trace;
  if (result.tensors.empty()) {
    result.tensors.push_back({"t", TensorKind::input, 4, 65536});
  }
  if (result.launches.empty()) {
    return result;
  }
  for (std::int64_t changes = random.between(1, 4); changes > 0; --changes) {
    for (int i = 0; i < kTries; ++i) {
      Trace next = result;
      change(next, random);
      if (is_valid(next)) {
        result = std::move(next);
        break;
      }
    }
  }
  return result;
}

}  // namespace warpscope::fuzz
