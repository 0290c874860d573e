#include "tests/validation/microbenchmarks.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/validation/async_benchmarks.hpp"
#include "tests/validation/compiled_loops.hpp"
#include "tests/validation/instruction_kinds.hpp"
#include "tests/validation/program_builder.hpp"
#include "tests/validation/stream_benchmarks.hpp"

namespace warpscope::validation {
namespace {

using trace::AffineIndex;
using trace::Launch;
using trace::Opcode;
using trace::WarpProgram;

constexpr std::uint32_t kPasses = 128;
constexpr int kLinksPerPass = 16;

/// As measured, all passes from the earliest start to the latest end, less a launch of one pass, which stands
/// for what a clock read inside the kernel does not see.
Microbenchmark steady(const WarpProgram& program, std::uint32_t ctas, std::uint32_t warps,
                      double units_per_pass) {
  Microbenchmark result;
  result.trace.launches = {make_launch("once", ctas, warps, program, 1),
                           make_launch("passes", ctas, warps, program, 1 + kPasses)};
  result.evaluate = [=](const std::vector<std::int64_t>& cycles) {
    return static_cast<double>(cycles.at(1) - cycles.at(0)) / (kPasses * units_per_pass);
  };
  return result;
}

void add_tensor(Microbenchmark& benchmark, std::int64_t bytes) {
  benchmark.trace.tensors.push_back({"data", trace::TensorKind::output, 1, bytes});
}

/// Links of each chain in a pass. Of iadd3 two additions are merged into every IADD3.
int links_per_pass(const std::string& kind) {
  return kind == "iadd3" ? kLinksPerPass / 2 : kLinksPerPass;
}

/// A loop over `ilp` chains, where the compiled one is not recorded.
WarpProgram op_program(const std::string& kind, int ilp) {
  ProgramBuilder builder("op");
  builder.begin_loop(0);
  if (kind == "bar_sync") {
    for (int link = 0; link < kLinksPerPass; ++link) {
      builder.add_immediate(Opcode::BAR_SYNC, 0);
    }
  } else {
    add_chains(builder, kind, 0, ilp, links_per_pass(kind));
  }
  builder.end_loop();
  return builder.finish();
}

Microbenchmark op(const MeasuredRow& row) {
  const Launch* const loop = find_compiled_loop(row);
  return steady(loop != nullptr ? loop->programs[0] : op_program(row.name, row.n), 1,
                static_cast<std::uint32_t>(row.warps), links_per_pass(row.name) * row.n);
}

Microbenchmark bar(const MeasuredRow& row) {
  return steady(op_program("bar_sync", 1), 1, static_cast<std::uint32_t>(row.warps), kLinksPerPass);
}

/// 256 of "ffma:256": passes over 64 links in 4 chains.
std::uint32_t passes_of(const std::string& role) {
  return static_cast<std::uint32_t>(std::stoul(role.substr(role.find(':') + 1)));
}

/// Two roles on warps of the same sub-cores; the time until both are done.
Microbenchmark pair(const MeasuredRow& row) {
  Launch launch = compiled_loop(row);
  const auto warps = static_cast<std::size_t>(row.warps + row.n);
  launch.threads_per_cta = static_cast<std::uint32_t>(32 * warps);
  launch.classes[0].trip_counts = {passes_of(row.name), passes_of(row.other)};
  launch.classes[0].program_of_warp.assign(warps, 1);
  std::fill_n(launch.classes[0].program_of_warp.begin(), row.warps, std::uint16_t{0});
  Microbenchmark result;
  result.trace.launches = {launch};
  result.evaluate = [](const std::vector<std::int64_t>& cycles) { return static_cast<double>(cycles.at(0)); };
  return result;
}

/// FMNMX and FFMA in turns.
WarpProgram alternating_program(int instructions) {
  ProgramBuilder builder("mix");
  builder.begin_loop(0);
  for (int i = 0; i < instructions; ++i) {
    add_independent(builder, i % 2 == 0 ? "fmax" : "ffma", i);
  }
  builder.end_loop();
  return builder.finish();
}

/// Groups of one HMMA (or none) and n other instructions, 16 groups per pass, the HMMAs on 4 accumulators.
Microbenchmark mix(const MeasuredRow& row) {
  constexpr int kGroups = 16;
  // Cycles per group of one sub-core, which runs warps / 4 streams at once.
  return steady(
      row.name == "fmax+ffma" ? alternating_program(kGroups * row.n) : compiled_loop(row).programs[0], 1,
      static_cast<std::uint32_t>(row.warps), kGroups * (row.warps / 4.0));
}

/// A matrix product out of registers: MA and NB fragments of the next k-step load while 2 MA NB HMMAs use the
/// current. A pass is two steps.
Microbenchmark gemm(const MeasuredRow& row) {
  const double warps_per_sub_core = row.warps < 4 ? 1 : row.warps / 4.0;
  const double products = 4.0 * std::stoi(row.name) * std::stoi(row.other);
  Microbenchmark result = steady(compiled_loop(row).programs[0], 1, static_cast<std::uint32_t>(row.warps),
                                 products * warps_per_sub_core);
  for (Launch& launch : result.trace.launches) {
    launch.registers_per_thread = 128;
  }
  return result;
}

/// n FFMAs in a row: once from cold instruction caches, or again and again.
Microbenchmark icache(const MeasuredRow& row) {
  const auto program = [](int instructions) {
    ProgramBuilder builder("straight");
    builder.begin_loop(0);
    for (int i = 0; i < instructions; ++i) {
      add_chains(builder, "ffma", i % 8, 1, 1);
    }
    builder.end_loop();
    return builder.finish();
  };
  const auto warps = static_cast<std::uint32_t>(row.warps);
  const int n = row.n;
  const bool first = row.name == "first";
  Microbenchmark result;
  result.warm_l2 = true;  // nothing drove the code out of the L2
  result.trace.launches = {
      first ? make_launch("nothing", 1, warps, program(8), 1) : make_launch("nine", 1, warps, program(n), 9),
      make_launch("straight", 1, warps, program(n), first ? 1 : 25)};
  const double passes = first ? 1 : 16;
  result.evaluate = [=](const std::vector<std::int64_t>& cycles) {
    return static_cast<double>(cycles.at(1) - cycles.at(0)) / (passes * n);
  };
  return result;
}

/// n asynchronous copies per warp, all from L2, from the first issue until all warps have the data; repeated,
/// so that start and instruction fetch do not count.
Microbenchmark cpasync(const MeasuredRow& row) {
  ProgramBuilder builder("copy");
  builder.begin_loop(0);
  constexpr int kLoadsInFront = 3;  // predicated off, as compilers have them
  for (int i = 0; i < kLoadsInFront; ++i) {
    builder.add_shared(Opcode::LDS_32, {}, {reg(2)}, 0);
  }
  for (int i = 0; i < row.n; ++i) {
    AffineIndex offset;
    offset.offset = 512LL * i * row.warps;
    offset.per_warp = 512;
    offset.per_block[0] = 512LL * row.warps * row.n;
    builder.add_global(Opcode::LDGSTS_128, {}, {reg(2, 2)}, 512, offset);
  }
  builder.add(Opcode::LDGDEPBAR);
  builder.add_immediate(Opcode::DEPBAR_LE, 0);
  builder.add_immediate(Opcode::BAR_SYNC, 0);
  builder.end_loop();
  const auto ctas = static_cast<std::uint32_t>(std::stoul(row.other));
  const auto warps = static_cast<std::uint32_t>(row.warps);
  Microbenchmark result = steady(builder.finish(), ctas, warps, 1);
  add_tensor(result, 512LL * row.warps * row.n * ctas);
  result.warm_l2 = true;
  for (Launch& launch : result.trace.launches) {
    launch.shared_bytes_per_cta = 512 * warps * static_cast<std::uint32_t>(row.n);
  }
  return result;
}

/// fp32 reductions of 128 bytes from all warps, distinct addresses, cycles per reduction and SM. In a `tile`
/// the warps of a CTA stand side by side, as where FlashAttention-2 adds up dQ; otherwise each has a place of
/// its own.
Microbenchmark red(const MeasuredRow& row) {
  constexpr int kLinksOfTile = 48;
  const bool is_tile = row.name == "tile";
  const int links = is_tile ? kLinksOfTile : kLinksPerPass;
  ProgramBuilder builder("red");
  builder.begin_loop(0);
  for (int i = 0; i < links; ++i) {
    AffineIndex offset;
    offset.offset = 128LL * i * (is_tile ? row.warps : 1);
    offset.per_warp = 128LL * (is_tile ? 1 : links);
    offset.per_block[0] = 128LL * links * row.warps;
    builder.add_global(Opcode::RED_ADD_F32, {}, {reg(2, 2), reg(4)}, 128, offset);
  }
  builder.end_loop();
  const auto ctas = static_cast<std::uint32_t>(std::stoul(row.other));
  Microbenchmark result = steady(builder.finish(), ctas, static_cast<std::uint32_t>(row.warps),
                                 static_cast<double>(links * row.warps));
  add_tensor(result, 128LL * links * row.warps * ctas);
  result.warm_l2 = true;
  return result;
}

/// All slots of the chip but one hold a long CTA, and short CTAs follow one another in the one left; the long
/// ones end while the last short one runs.
Launch successors(std::uint32_t slots, std::uint32_t short_ctas, std::uint32_t short_trips,
                  const MeasuredRow& row) {
  const auto warps = static_cast<std::uint32_t>(row.warps);
  Launch launch =
      make_launch("successors", slots - 1 + short_ctas, warps, op_program("lds_32", 1), short_trips);
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(row.n);
  launch.classes.push_back(launch.classes[0]);
  constexpr std::uint32_t kGapInTrips10 = 7;  // tenths of a trip, roughly, which is enough
  launch.classes[1].trip_counts[0] =
      short_trips * short_ctas - short_trips / 2 + (short_ctas - 1) * kGapInTrips10 / 10;
  launch.class_of_block[0].assign(launch.grid[0], 0);
  std::fill_n(launch.class_of_block[0].begin(), slots - 1, 1);
  return launch;
}

/// From the end of a CTA to the start of its successor in the slot.
Microbenchmark ctagap(const MeasuredRow& row) {
  constexpr std::uint32_t kSms = 132;
  constexpr std::uint32_t kTrips = 4;
  const auto slots = kSms * (233472U / (static_cast<std::uint32_t>(row.n) + 1024U));
  Microbenchmark result;
  result.trace.launches = {successors(slots, 3, kTrips, row), successors(slots, 7, kTrips, row),
                           successors(slots, 7, 2 * kTrips, row)};
  result.evaluate = [](const std::vector<std::int64_t>& cycles) {
    const double inside = static_cast<double>(cycles.at(2) - cycles.at(1)) / 7;
    return static_cast<double>(cycles.at(1) - cycles.at(0)) / 4 - inside;
  };
  return result;
}

/// One warp follows a chain of loads, 512 bytes apart, with one integer multiply-add between them.
Microbenchmark latency(const MeasuredRow& row) {
  constexpr std::uint32_t kSteps = 64;
  ProgramBuilder builder("chase");
  builder.begin_loop(0);
  AffineIndex offset;
  offset.per_iteration[0] = 512;
  builder.add_global(Opcode::LDG_64, reg(4, 2), {reg(4, 2)}, 32, offset);
  builder.add(Opcode::IMAD_WIDE, reg(4, 2), {reg(4, 2)});
  builder.end_loop();
  const WarpProgram program = builder.finish();
  Microbenchmark result;
  add_tensor(result, 512LL * 3 * kSteps);
  result.warm_l2 = row.name == "l2";
  result.trace.launches = {make_launch("warm", 1, 1, program, 3 * kSteps),
                           make_launch("short", 1, 1, program, kSteps),
                           make_launch("long", 1, 1, program, 3 * kSteps)};
  result.evaluate = [](const std::vector<std::int64_t>& cycles) {
    return static_cast<double>(cycles.at(2) - cycles.at(1)) / (2.0 * kSteps);
  };
  return result;
}

}  // namespace

Microbenchmark make_microbenchmark(const MeasuredRow& row) {
  struct Group {
    std::string_view name;
    Microbenchmark (*make)(const MeasuredRow&);
  };
  constexpr std::array kGroups = {Group{"op", op},           Group{"bar", bar},       Group{"pair", pair},
                                  Group{"mix", mix},         Group{"gemm", gemm},     Group{"icache", icache},
                                  Group{"cpasync", cpasync}, Group{"red", red},       Group{"ctagap", ctagap},
                                  Group{"latency", latency}, Group{"stream", stream}, Group{"wgmma", wgmma},
                                  Group{"bulk", bulk}};
  for (const Group& group : kGroups) {
    if (group.name == row.group) {
      return group.make(row);
    }
  }
  throw std::invalid_argument("unknown group of microbenchmarks '" + row.group + "'");
}

}  // namespace warpscope::validation
