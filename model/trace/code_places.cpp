#include "model/trace/code_places.hpp"

#include <algorithm>

namespace warpscope::trace {
namespace {

/// The loop that ends where `again` begins; no other does, as each ends with a branch of its own.
const Loop& loop_before(const WarpProgram& program, const Loop& again) {
  return *std::ranges::find(program.loops, again.begin, &Loop::end);
}

}  // namespace

std::vector<std::uint32_t> code_places(const WarpProgram& program) {
  std::vector<std::uint32_t> places(program.code.size());
  std::uint32_t next = 0;
  std::uint32_t i = 0;
  for (const Loop& loop : program.loops) {
    if (!loop.again || loop.begin < i) {
      continue;
    }
    while (i < loop.begin) {
      places[i++] = next++;
    }
    const Loop& before = loop_before(program, loop);
    for (; i < loop.end; ++i) {
      places[i] = places[std::min(before.begin + (i - loop.begin), before.end - 1)];
    }
  }
  while (i < places.size()) {
    places[i++] = next++;
  }
  return places;
}

std::vector<std::uint32_t> code_places(const Launch& launch) {
  std::vector<std::uint32_t> places;
  for (const WarpProgram& program : launch.programs) {
    // Its EXIT comes last.
    const std::uint32_t begin = places.empty() ? 0 : places.back() + 1;
    for (const std::uint32_t place : code_places(program)) {
      places.push_back(begin + place);
    }
  }
  return places;
}

}  // namespace warpscope::trace
