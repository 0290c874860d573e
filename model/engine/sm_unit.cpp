#include "model/engine/sm_unit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/memory/server.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::engine {

SmUnit::SmUnit(const hw::HwConfig& config, const trace::Trace& trace, const sm::DecodedLaunch& decoded,
               int cta_slots, int sm, const memory::Memory& memory, RequestTap* tap)
    : sm_(sm),
      memory_(memory),
      decoded_(decoded),
      store_reply_(memory.store_reply_cycles()),
      port_units_per_byte_(
          std::llround(static_cast<double>(memory::kQueueUnits) / config.l2.sm_bytes_per_clk)),
      core_(config, trace, decoded, cta_slots, sent_),
      tap_(tap) {
  core_.set_sm_index(sm);
}

void SmUnit::install(const sm::ResidentCta& cta, sim::Cycles start) {
  const int slot = core_.first_free_slot();
  ran_ = true;
  core_.install(slot, cta, static_cast<std::int32_t>(start - origin_));
  next_event_ = std::min(next_event_, start);
}

void SmUnit::jump(sim::Cycles now, sim::Cycles cycles) {
  take_answers();
  // An answer may be what the SM waited for.
  ran_ = true;
  const std::int32_t next = core_.run_until(static_cast<std::int32_t>(now - origin_), ended_);
  next_event_ = next == sm::kNever ? kForever : origin_ + next;
  origin_ += cycles;
  wakes_ = std::max(wakes_, now) + cycles;
  port_free_ += cycles * memory::kQueueUnits;
  next_event_ += next_event_ == kForever ? 0 : cycles;
  for (memory::Piece& piece : later_) {
    piece.time_cycles += cycles;
  }
}

std::optional<sm::SmCounters> SmUnit::take_counted() {
  if (!std::exchange(ran_, false)) {
    return std::nullopt;
  }
  return std::exchange(core_.counters(), {});
}

void SmUnit::take_answers() {
  for (const memory::Piece& piece : asked_) {
    InFlight& request = in_flight_[piece.request];
    request.arrival = std::max(request.arrival, piece.arrival_cycles);
    if (piece.kind != memory::AccessKind::read) {
      stored_by_ = std::max(stored_by_, piece.arrival_cycles - store_reply_);
    }
    if (--request.pieces == 0) {
      core_.answer(request.sent, sm::within_reach(request.arrival - origin_));
      free_.push_back(piece.request);
      --in_flight_count_;
    }
  }
  asked_.clear();
}

void SmUnit::ask(const sm::SentRequest& sent) {
  const sm::MemoryRequest& request = sent.request;
  memory::Access access{.time_cycles = origin_ + sent.time,
                        .number = next_number_,
                        .sm = static_cast<std::uint16_t>(sm_),
                        .tensor = request.tensor,
                        .kind = request.kind,
                        .segment = request.segment,
                        .offset = request.offset,
                        .bytes = request.bytes,
                        .lines = decoded_.memory_operands[request.operand].lines};
  if (request.bytes == 0) {
    // Others, which it may stand for, ask for something.
    if (tap_ != nullptr) {
      tap_->repeat(request, access);
    }
    return;
  }
  if (request.kind == memory::AccessKind::read) {
    port_free_ = std::max(port_free_, access.time_cycles * memory::kQueueUnits);
    access.time_cycles = port_free_ / memory::kQueueUnits;
    port_free_ += request.bytes * port_units_per_byte_;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(in_flight_.size()));
    in_flight_.emplace_back();
  }
  access.request = free_.back();
  free_.pop_back();
  if (tap_ != nullptr) {
    tap_->repeat(request, access);
  }
  const int pieces = memory_.split(access, leaving_);
  next_number_ += static_cast<std::uint32_t>(pieces);
  in_flight_[access.request] = {sent, pieces, 0};
  ++in_flight_count_;
}

void SmUnit::run_window(sim::Cycles begin, sim::Cycles end) {
  take_answers();
  completions_.clear();
  if (wakes_ < end) {
    step(std::max(begin, wakes_), end);
  }
  for (; !later_.empty() && later_.front().time_cycles < end; later_.pop_front()) {
    asked_.push_back(later_.front());
  }
  for (const memory::Piece& piece : leaving_) {
    if (piece.time_cycles < end) {
      asked_.push_back(piece);
    } else if (later_.empty() || later_.back().time_cycles <= piece.time_cycles) {
      later_.push_back(piece);
    } else {
      later_.insert(std::ranges::upper_bound(later_, piece.time_cycles, {}, &memory::Piece::time_cycles),
                    piece);
    }
  }
  leaving_.clear();
}

void SmUnit::step(sim::Cycles begin, sim::Cycles end) {
  if (core_.idle()) {
    next_event_ = kForever;
    return;
  }
  if (begin - origin_ >= kOriginCycles) {
    core_.move_origin(static_cast<std::int32_t>(begin - origin_));
    origin_ = begin;
  }
  ran_ = true;
  core_.set_code_supply(supply_, origin_);
  const std::int32_t next = core_.run_until(static_cast<std::int32_t>(end - origin_), ended_);
  next_event_ = next == sm::kNever ? kForever : origin_ + next;
  for (const auto& [time, slot] : ended_) {
    completions_.emplace_back(origin_ + time, slot);
  }
  ended_.clear();
  for (const sm::SentRequest& sent : sent_) {
    ask(sent);
  }
  sent_.clear();
}

}  // namespace warpscope::engine
