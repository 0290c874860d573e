#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "model/trace/execution_count.hpp"
#include "model/trace/statistics.hpp"
#include "model/trace/text_cursor.hpp"
#include "model/trace/trace_limits.hpp"
#include "model/trace/validation.hpp"

namespace warpscope::trace {
namespace {

constexpr std::size_t kLongestName = 1000;
constexpr std::size_t kLongestClassTable = std::size_t{1} << 24;
constexpr std::array<std::uint32_t, 3> kMostGrid = {0x7fffffff, 65535, 65535};

void check_name(const ValidationContext& context, std::string_view what, const std::string& name,
                std::unordered_set<std::string>& taken) {
  if (name.empty() || name.size() > kLongestName) {
    context.fail(what, name, fmt::format("a name has 1 to {} characters", kLongestName));
  }
  if (!taken.insert(name).second) {
    context.fail(what, name, "this name is taken; names are unique");
  }
}

bool has_rows(const Tensor& tensor) {
  return tensor.line_segments > 1 && tensor.row_bytes > 0 && tensor.segment_bytes % tensor.row_bytes == 0;
}

void validate_tensors(const ValidationContext& context, const std::vector<Tensor>& tensors) {
  if (tensors.size() > kSharedMemory) {
    context.fail("tensors", std::to_string(tensors.size()), fmt::format("at most {}", kSharedMemory));
  }
  std::unordered_set<std::string> names;
  std::int64_t bytes_left = kMostAddress;
  for (const Tensor& tensor : tensors) {
    check_name(context, "tensor name", tensor.name, names);
    const std::string what = fmt::format("tensor '{}', ", printable(tensor.name));
    if (tensor.segments < 1 || tensor.segments > kMostSegments) {
      context.fail(what + "segments", std::to_string(tensor.segments), fmt::format("1 to {}", kMostSegments));
    }
    if (tensor.segment_bytes < 1) {
      context.fail(what + "segment_bytes", std::to_string(tensor.segment_bytes), "at least 1");
    }
    if (tensor.interleaved_segments < 1 || tensor.segments % tensor.interleaved_segments != 0) {
      context.fail(what + "interleaved_segments", std::to_string(tensor.interleaved_segments),
                   "at least 1, a divisor of segments");
    }
    if (tensor.line_segments < 1 || tensor.line_segments > kMostLineSegments) {
      context.fail(what + "line_segments", std::to_string(tensor.line_segments),
                   fmt::format("1 to {}", kMostLineSegments));
    }
    if (tensor.row_bytes != 0 && !has_rows(tensor)) {
      context.fail(what + "row_bytes", std::to_string(tensor.row_bytes),
                   "a divisor of segment_bytes, where line_segments is 2 or more");
    }
    if (tensor.absent_bytes < 0 || tensor.absent_bytes / tensor.segments > tensor.segment_bytes) {
      context.fail(what + "absent_bytes", std::to_string(tensor.absent_bytes),
                   "at least 0, and no more than the tensor has");
    }
    const std::int64_t segments = tensor.kind == TensorKind::local ? kMostLocalSegments : tensor.segments;
    if (tensor.segment_bytes > bytes_left / segments) {
      context.fail(what + "segments * segment_bytes", fmt::format("{} * {}", segments, tensor.segment_bytes),
                   "all tensors together have at most 2^48 bytes");
    }
    bytes_left -= segments * tensor.segment_bytes;
  }
}

void validate_shape(const ValidationContext& context, const Launch& launch) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.grid[d] < 1 || launch.grid[d] > kMostGrid[d]) {
      context.fail(fmt::format("grid {}", "xyz"[d]), std::to_string(launch.grid[d]),
                   fmt::format("1 to {}", kMostGrid[d]));
    }
  }
  const std::uint64_t ctas = cta_count(launch);  // below 2^64, given the extents
  if (ctas > kMostCtas) {
    context.fail("CTAs of the grid", std::to_string(ctas), fmt::format("at most 2^32, {}", kMostCtas));
  }
  if (launch.threads_per_cta < 1 || launch.threads_per_cta > 1024) {
    context.fail("threads per CTA", std::to_string(launch.threads_per_cta), "1 to 1024");
  }
  if (launch.registers_per_thread < 1 || launch.registers_per_thread > 255) {
    context.fail("registers per thread", std::to_string(launch.registers_per_thread), "1 to 255");
  }
}

void validate_mbarriers(const ValidationContext& context, const Launch& launch) {
  if (launch.mbarriers.size() > kMostRings) {
    context.fail("rings of mbarriers", std::to_string(launch.mbarriers.size()),
                 fmt::format("at most {}", kMostRings));
  }
  for (std::size_t r = 0; r < launch.mbarriers.size(); ++r) {
    const MbarrierRing& ring = launch.mbarriers[r];
    if (ring.slots < 1 || ring.slots > kMostRingSlots) {
      context.fail(fmt::format("mbarriers {}, slots", r), std::to_string(ring.slots),
                   fmt::format("1 to {}", kMostRingSlots));
    }
    if (ring.arrivals < 1 || ring.arrivals > kMostArrivals) {
      context.fail(fmt::format("mbarriers {}, arrivals", r), std::to_string(ring.arrivals),
                   fmt::format("1 to {}", kMostArrivals));
    }
    if (ring.bytes > kMostTransactionBytes) {
      context.fail(fmt::format("mbarriers {}, bytes", r), std::to_string(ring.bytes),
                   fmt::format("0 to {}", kMostTransactionBytes));
    }
  }
}

void validate_class_tables(const ValidationContext& context, const Launch& launch) {
  std::uint64_t most = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<std::uint32_t>& table = launch.class_of_block[d];
    if (table.empty()) {
      continue;
    }
    const std::string what = fmt::format("class_{}", "xyz"[d]);
    if (table.size() != launch.grid[d]) {
      context.fail(what, fmt::format("{} entries", table.size()),
                   fmt::format("one per CTA of that dimension, {}, or none", launch.grid[d]));
    }
    if (table.size() > kLongestClassTable) {
      context.fail(what, fmt::format("{} entries", table.size()),
                   fmt::format("at most {}", kLongestClassTable));
    }
    most += *std::ranges::max_element(table);
  }
  if (most >= launch.classes.size()) {
    context.fail("class", std::to_string(most),
                 fmt::format("the largest sum of class_x, class_y, class_z; {} classes are defined, from 0",
                             launch.classes.size()));
  }
}

void validate_class(const ValidationContext& context, const Launch& launch, std::size_t number) {
  const CtaClass& cta_class = launch.classes[number];
  const std::string what = fmt::format("class {}, ", number);
  if (cta_class.program_of_warp.size() != warps_per_cta(launch)) {
    context.fail(what + "programs", fmt::format("{} warps", cta_class.program_of_warp.size()),
                 fmt::format("{} threads are {} warps", launch.threads_per_cta, warps_per_cta(launch)));
  }
  if (cta_class.trip_counts.size() > 65536) {
    context.fail(what + "trips", std::to_string(cta_class.trip_counts.size()), "at most 65536");
  }
  if (cta_class.symbols.size() > 32768) {
    context.fail(what + "symbols", std::to_string(cta_class.symbols.size()), "at most 32768");
  }
  std::unordered_set<std::uint16_t> checked;
  for (const std::uint16_t program : cta_class.program_of_warp) {
    if (program >= launch.programs.size()) {
      context.fail(what + "program", std::to_string(program),
                   fmt::format("{} are defined, from 0", launch.programs.size()));
    }
    if (checked.insert(program).second) {
      validate_references(context.at_program(program), launch.programs[program], number, cta_class);
    }
  }
}

void validate_launch(const ValidationContext& context, const Launch& launch) {
  std::unordered_set<std::string> no_names;
  check_name(context, "launch name", launch.name, no_names);  // a stream may launch one kernel twice
  validate_shape(context, launch);
  validate_mbarriers(context, launch);
  if (launch.programs.empty() || launch.programs.size() > 65536) {
    context.fail("programs", std::to_string(launch.programs.size()), "1 to 65536");
  }
  std::unordered_set<std::string> names;
  for (std::size_t p = 0; p < launch.programs.size(); ++p) {
    check_name(context, "program name", launch.programs[p].name, names);
    validate_program(context.at_program(p), launch.programs[p]);
  }
  if (launch.classes.size() > kMostClasses) {
    context.fail("classes", std::to_string(launch.classes.size()), fmt::format("at most {}", kMostClasses));
  }
  validate_class_tables(context, launch);
  for (std::size_t c = 0; c < launch.classes.size(); ++c) {
    validate_class(context, launch, c);
  }
  for (std::size_t p = 0; p < launch.programs.size(); ++p) {
    validate_addresses(context.at_program(p), launch, p);
  }
  validate_barriers(context, launch);
}

constexpr std::string_view kLegalInstructions = "a trace executes at most 2^50 warp instructions";

/// Adds the instructions of `launch` to those of the launches before it.
void count_instructions(const ValidationContext& context, const Launch& launch, std::uint64_t& sum) {
  const std::vector<std::uint64_t> ctas = ctas_per_class(launch);
  const std::vector<std::uint64_t> of_cta = instructions_per_cta(launch);
  for (std::size_t c = 0; c < ctas.size(); ++c) {
    const std::uint64_t left = kMostWarpInstructions - sum;
    if (ctas[c] > 0 && of_cta[c] > left / ctas[c]) {
      context.fail(fmt::format("instructions of class {}, CTAs * warp instructions", c),
                   fmt::format("{} * {}", ctas[c], of_cta[c]), kLegalInstructions);
    }
    sum += ctas[c] * of_cta[c];
  }
}

}  // namespace

void ValidationContext::fail(std::string_view what, std::string_view value, std::string_view legal) const {
  std::string where;
  if (position.launch != TracePosition::kNowhere) {
    const Launch& launch = trace->launches[position.launch];
    where += fmt::format("launch '{}', ", printable(launch.name));
    if (position.program != TracePosition::kNowhere) {
      const WarpProgram& program = launch.programs[position.program];
      where += fmt::format("program '{}', ", printable(program.name));
      if (position.instruction != TracePosition::kNowhere) {
        where += fmt::format("instruction {} ({}), ", position.instruction,
                             info(program.code[position.instruction].opcode).name);
      }
    }
  }
  throw ValidationError(fmt::format("{}{} '{}': {}", where, what, printable(value), legal), position);
}

ValidationContext ValidationContext::at_launch(std::size_t launch) const {
  return {trace, {launch, TracePosition::kNowhere, TracePosition::kNowhere}};
}

ValidationContext ValidationContext::at_program(std::size_t program) const {
  return {trace, {position.launch, program, TracePosition::kNowhere}};
}

ValidationContext ValidationContext::at_instruction(std::size_t instruction) const {
  return {trace, {position.launch, position.program, instruction}};
}

void validate(const Trace& trace) {
  const ValidationContext context{&trace, {}};
  validate_tensors(context, trace.tensors);
  std::uint64_t instructions = 0;
  for (std::size_t l = 0; l < trace.launches.size(); ++l) {
    const ValidationContext at_launch = context.at_launch(l);
    try {
      validate_launch(at_launch, trace.launches[l]);
      count_instructions(at_launch, trace.launches[l], instructions);
    } catch (const ValidationError&) {
      throw;
    } catch (const std::invalid_argument& error) {  // a sum over the warps of a CTA
      at_launch.fail("instructions", error.what(), kLegalInstructions);
    }
  }
}

}  // namespace warpscope::trace
