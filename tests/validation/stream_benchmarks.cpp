#include "tests/validation/stream_benchmarks.hpp"

#include <algorithm>
#include <stdexcept>

#include "tests/validation/program_builder.hpp"

namespace warpscope::validation {
namespace {

using trace::AffineIndex;
using trace::Opcode;

constexpr int kUnroll = 4;
constexpr double kSmGhz = 1.98;

enum class Kind { read, write, copy, reduce };

Kind kind_of(const std::string& name) {
  if (name == "read" || name == "write" || name == "copy" || name == "red") {
    return name == "read"    ? Kind::read
           : name == "write" ? Kind::write
           : name == "copy"  ? Kind::copy
                             : Kind::reduce;
  }
  throw std::invalid_argument("unknown stream '" + name + "'");
}

/// All CTAs go through the data side by side, `passes` rounds a sweep.
trace::WarpProgram program_of(Kind kind, std::uint32_t ctas, std::uint32_t warps) {
  const std::uint32_t bytes = kind == Kind::reduce ? 128 : 512;
  const auto at = [&](int i) {
    AffineIndex offset;
    offset.offset = std::int64_t{bytes} * warps * i;
    offset.per_warp = bytes;
    offset.per_block[0] = std::int64_t{bytes} * warps * kUnroll;
    offset.per_iteration[1] = offset.per_block[0] * ctas;
    return offset;
  };
  ProgramBuilder builder("stream");
  builder.begin_loop(0);
  builder.begin_loop(1);
  for (int i = 0; i < kUnroll && (kind == Kind::read || kind == Kind::copy); ++i) {
    builder.add_global(Opcode::LDG_128, reg(16 + 4 * i, 4), {reg(2, 2)}, bytes, at(i));
  }
  for (int i = 0; i < kUnroll; ++i) {
    if (kind == Kind::read) {
      builder.add(Opcode::IADD3, reg(4 + i), {reg(16 + 4 * i)});
    } else if (kind == Kind::reduce) {
      builder.add_global(Opcode::RED_ADD_F32, {}, {reg(2, 2), reg(4)}, bytes, at(i));
    } else {
      builder.add_global(Opcode::STG_128, {}, {reg(2, 2), reg(16 + 4 * i, 4)}, bytes, at(i), 1);
    }
  }
  builder.end_loop();
  builder.end_loop();
  return builder.finish();
}

}  // namespace

Microbenchmark stream(const MeasuredRow& row) {
  const Kind kind = kind_of(row.name);
  const auto sms = static_cast<std::uint32_t>(std::stoul(row.other));
  const auto warps = static_cast<std::uint32_t>(row.warps);
  const std::uint32_t ctas = sms == 1 ? 1 : 2 * sms;
  const std::int64_t round_bytes = std::int64_t{kind == Kind::reduce ? 128 : 512} * warps * kUnroll * ctas;
  const std::int64_t footprint = std::int64_t{row.n} << 20;
  const auto rounds = static_cast<std::uint32_t>(std::max<std::int64_t>(1, footprint / round_bytes));
  // What stays in the L2 is swept again and again; the rest is swept once, a quarter of it before the clock
  // starts.
  const bool stays = row.n <= 48;
  const std::uint32_t sweeps =
      stays ? 1 + static_cast<std::uint32_t>((std::int64_t{128} << 20) / footprint) : 1;
  Microbenchmark result;
  result.warm_l2 = true;
  result.trace.tensors = {{"from", trace::TensorKind::scratch, 1, round_bytes * rounds},
                          {"to", trace::TensorKind::scratch, 1, round_bytes * rounds}};
  const auto launch = [&](const char* name, std::uint32_t sweeps_here, std::uint32_t rounds_here) {
    trace::Launch made = make_launch(name, ctas, warps, program_of(kind, ctas, warps), sweeps_here);
    made.registers_per_thread = 32;
    made.shared_bytes_per_cta = 0;
    made.classes[0].trip_counts.push_back(rounds_here);
    result.trace.launches.push_back(made);
  };
  double timed_bytes = 0;
  if (stays) {
    // The first two sweeps make copies in both halves of the L2.
    launch("fill", 2, rounds);
    launch("short", 1, rounds);
    launch("long", 1 + sweeps, rounds);
    timed_bytes = static_cast<double>(sweeps) * static_cast<double>(rounds * round_bytes);
  } else {
    launch("fill", 1, rounds);
    launch("short", 1, rounds / 4);
    launch("long", 1, rounds);
    timed_bytes = static_cast<double>((rounds - rounds / 4) * round_bytes);
  }
  const double per_byte = kind == Kind::copy ? 2 : kind == Kind::reduce ? 0.25 : 1;
  result.evaluate = [=](const std::vector<std::int64_t>& cycles) {
    return per_byte * timed_bytes / static_cast<double>(cycles.at(2) - cycles.at(1)) * kSmGhz;
  };
  return result;
}

}  // namespace warpscope::validation
