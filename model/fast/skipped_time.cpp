// What FastPolicy does not simulate: waves, passes of loops, and SMs that coast through iterations like those
// before.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/fast/fast_policy.hpp"
#include "model/fast/loop_footprint.hpp"
#include "model/gpu/time_limit.hpp"

namespace warpscope::fast {

void FastPolicy::end_wave(sim::Cycles now) {
  if (auto skipped = skipper_.observe(progress(now), engine_->dispatcher().dispatched())) {
    const double skipped_cycles = skipped->repeats * static_cast<double>(skipped->part.time);
    gpu::require_time(launch_, static_cast<double>(now) + skipped_cycles);
    engine_->dispatcher().skip(skipped->ctas);
    sample_.skipped = std::move(skipped);
  }
}

void FastPolicy::skip(const SkippedPasses& skipped, sim::Cycles now) {
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    engine::SmUnit& unit = *engine_->sms()[sm];
    passes_->advance(unit.core(), skipped);
    unit.jump(now, skipped.cycles);
    if (sms_[sm].coasting) {
      sms_[sm].coasting->begin += skipped.cycles;
    }
    sms_[sm].coaster->start_anew();
  }
  for (std::size_t sm = 0; sm < skipped.instructions.size(); ++sm) {
    const auto instructions = static_cast<std::uint64_t>(std::llround(skipped.instructions[sm]));
    sample_.pace.observe(sm, residents(sm), true, skipped.cycles, instructions);
  }
  last_end_ = now + skipped.cycles;
  counted_.add_times(skipped.part.counted, skipped.repeats);
  for (std::size_t t = 0; t < left_out_.size(); ++t) {
    const auto repeated = [&](std::uint64_t bytes) {
      return static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) * skipped.repeats));
    };
    left_out_[t].read_bytes += repeated(skipped.part.hbm[t].read_bytes);
    left_out_[t].write_bytes += repeated(skipped.part.hbm[t].write_bytes);
  }
}

void FastPolicy::count_coast(std::size_t sm, sim::Cycles now) {
  Coasting& coasting = *sms_[sm].coasting;
  const auto elapsed =
      static_cast<double>(std::clamp<sim::Cycles>(now - coasting.begin, 0, coasting.coast.cycles));
  const double part = elapsed / static_cast<double>(coasting.coast.cycles);
  const double times = coasting.coast.repeats * coasting.members;
  counted_.add_times(coasting.coast.measured, times * part, times * std::exchange(coasting.counted, part));
}

void FastPolicy::begin_coast(std::size_t sm, Coast coast, sim::Cycles now) {
  engine::SmUnit& unit = *engine_->sms()[sm];
  sm::SmCore& core = unit.core();
  const auto warps_per_cta = static_cast<std::ptrdiff_t>(engine_->decoded().warps_per_cta);
  Coasting coasting;
  coasting.begin = now;
  coasting.stretches.resize(coast.iterations.size());
  coasting.done.assign(coast.iterations.size(), 0);
  for (int slot = 0; slot < core.cta_slots(); ++slot) {
    if (core.cta(slot).occupied) {
      const auto first = coast.loops.begin() + slot * warps_per_cta;
      coasting.stretches[static_cast<std::size_t>(slot)] = loop_footprint(
          core, engine_->decoded(), {first, first + warps_per_cta}, slot, sms_[sm].echo->accesses());
    }
  }
  for (std::size_t warp = 0; warp < coast.loops.size(); ++warp) {
    if (coast.loops[warp] >= 0) {
      const sm::DecodedLoop& loop = engine_->decoded().loops[static_cast<std::size_t>(coast.loops[warp])];
      core.loop_counters()[warp].iteration[loop.depth] +=
          coast.iterations[warp / engine_->decoded().warps_per_cta];
    }
  }
  unit.jump(now, coast.cycles);
  coasting.members = active_sms(sm);
  coasting.coast = std::move(coast);
  sms_[sm].coasting = std::move(coasting);
  sms_[sm].coaster->start_anew();
}

void FastPolicy::coast(std::size_t sm, sim::Cycles begin, sim::Cycles end) {
  Coasting& coasting = *sms_[sm].coasting;
  if (end <= coasting.begin) {
    return;
  }
  const sim::Cycles elapsed = std::min(coasting.coast.cycles, end - coasting.begin);
  for (std::size_t slot = 0; slot < coasting.done.size(); ++slot) {
    const auto reached = static_cast<std::uint32_t>(std::int64_t{coasting.coast.iterations[slot]} * elapsed /
                                                    coasting.coast.cycles);
    for (std::uint32_t& i = coasting.done[slot]; i < reached; ++i) {
      for (const Stretch& stretch : coasting.stretches[slot]) {
        const sm::Address at{stretch.begin.segment + stretch.step.segment * i,
                             stretch.begin.offset + stretch.step.offset * i};
        sms_[sm].echo->add({stretch.kind, stretch.tensor, at, stretch.bytes, stretch.runs, stretch.lines});
      }
    }
  }
  const double part = static_cast<double>(elapsed - std::max<sim::Cycles>(0, begin - coasting.begin)) /
                      static_cast<double>(coasting.coast.cycles);
  const double work = static_cast<double>(coasting.coast.measured.issued()) * coasting.coast.repeats * part;
  observe_pace(work, residents(sm), end - begin);
  sample_.pace.observe(sm, residents(sm), true, end - begin, static_cast<std::uint64_t>(std::llround(work)));
  if (elapsed == coasting.coast.cycles) {
    count_coast(sm, end);
    sms_[sm].coasting.reset();
  }
}

}  // namespace warpscope::fast
