#include "model/trace/code_places.hpp"

#include <algorithm>

namespace warpscope::trace {
namespace {

/// The loop that ends where `again` begins; no other does, as each ends with a branch of its own.
const Loop& loop_before(const WarpProgram& program, const Loop& again) {
  return *std::ranges::find(program.loops, again.begin, &Loop::end);
}

/// Only what they access differs, as where a CTA has fewer rows than others.
bool is_one_text(const WarpProgram& a, const WarpProgram& b) {
  return a.code == b.code && a.loops == b.loops;
}

}  // namespace

std::vector<std::uint32_t> code_places(const WarpProgram& program) {
  std::vector<std::uint32_t> places(program.code.size());
  std::uint32_t next = 0;
  std::uint32_t i = 0;
  const auto place = [&] {
    places[i] = next++;
    const Instruction& instruction = program.code[i++];
    if (info(instruction.opcode).op_class == OpClass::branch) {
      next += instruction.immediate;
    }
  };
  for (const Loop& loop : program.loops) {
    if (!loop.again || loop.begin < i) {
      continue;
    }
    while (i < loop.begin) {
      place();
    }
    const Loop& before = loop_before(program, loop);
    for (; i < loop.end; ++i) {
      places[i] = places[std::min(before.begin + (i - loop.begin), before.end - 1)];
    }
  }
  while (i < places.size()) {
    place();
  }
  return places;
}

std::vector<std::uint32_t> code_places(const Launch& launch) {
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> begins;
  std::uint32_t next = 0;
  for (const WarpProgram& program : launch.programs) {
    const auto twin = std::ranges::find_if(
        launch.programs.begin(), launch.programs.begin() + static_cast<std::ptrdiff_t>(begins.size()),
        [&](const WarpProgram& earlier) { return is_one_text(earlier, program); });
    const auto index = static_cast<std::size_t>(twin - launch.programs.begin());
    begins.push_back(index < begins.size() ? begins[index] : next);
    for (const std::uint32_t place : code_places(program)) {
      places.push_back(begins.back() + place);
    }
    next = std::max(next, places.back() + 1);  // its EXIT comes last
  }
  return places;
}

}  // namespace warpscope::trace
