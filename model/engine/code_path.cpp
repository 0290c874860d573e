#include "model/engine/code_path.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/hw/tpc.hpp"

namespace warpscope::engine {
namespace {

constexpr sim::Cycles kNotThere = std::numeric_limits<sim::Cycles>::max();

/// All SMs go through the phases of a launch together, in some of which they ask for more code: those that
/// are not simulated ask for as much as the simulated one did in so many epochs. Remembering 512, 1024 and
/// all, fast mode is 0.72, 0.66 and 0.78 % from detailed mode on the 50 forward passes of fa2 and fa2_torch
/// in detailed_mode.csv, and 3.7, 3.1 and 7.1 % at worst.
constexpr double kEpochsRemembered = 1024;

}  // namespace

CodePath::CodePath(const hw::HwConfig& config, std::uint32_t code_lines, bool in_l2, sim::Cycles epoch_cycles)
    : lines_per_clk_(config.sm.icache.gpu_lines_per_clk),
      epoch_cycles_(epoch_cycles),
      there_until_(static_cast<std::size_t>(config.gpu.sm_count / hw::kSmsPerTpc + 1),
                   std::vector<std::int64_t>(code_lines, -1)) {
  supply_.in_l2.assign(code_lines, in_l2 ? 0 : kNotThere);
}

void CodePath::exchange(std::vector<CodeReader> readers) {
  readers_ = std::move(readers);
  own_lines_.resize(readers_.size());
  mean_lines_.resize(readers_.size());
  epochs_.resize(readers_.size());
  brought_.resize(readers_.size());
  for (const CodeReader& reader : readers_) {
    for (const sm::LineRequest& request : *reader.asked) {
      if (request.from_memory) {
        // Others see it an epoch later, when all of them have been told.
        sim::Cycles& there = supply_.in_l2[request.line];
        there = std::min(there, reader.origin + request.arrival + epoch_cycles_);
      }
    }
  }
  serve();
  for (const CodeReader& reader : readers_) {
    reader.asked->clear();
  }
}

std::size_t CodePath::tpc_of(std::size_t reader) const {
  // The mate of an SM that stands for others is one that stands for others too, at another time.
  const CodeReader& own = readers_[reader];
  return (own.sms > 1 ? reader : static_cast<std::size_t>(own.first_sm)) / hw::kSmsPerTpc;
}

void CodePath::serve() {
  asked_.clear();
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const CodeReader& reader = readers_[i];
    if (reader.sms > 1 && reader.in_step) {
      own_lines_[i] += static_cast<double>(reader.asked->size());
      continue;
    }
    for (const sm::LineRequest& request : *reader.asked) {
      asked_.push_back({reader.origin + request.time, reader.origin + request.arrival, i, request.line});
    }
  }
  std::ranges::stable_sort(asked_, {}, &Asked::time);
  for (const Asked& asked : asked_) {
    sim::Cycles& there_until = there_until_[tpc_of(asked.reader)][asked.line];
    if (asked.time > there_until) {
      there_until = std::max(asked.arrival, epoch_ + epoch_cycles_);
      ++own_lines_[asked.reader];
      brought_[asked.reader].push_back(asked);
    }
  }
}

std::size_t CodePath::mate_of(std::size_t reader) const {
  const auto shares = [&](std::size_t other) {
    return other < readers_.size() && !(readers_[other].sms > 1 && readers_[other].in_step) &&
           tpc_of(other) == tpc_of(reader);
  };
  return shares(reader - 1) ? reader - 1 : shares(reader + 1) ? reader + 1 : reader;
}

void CodePath::share() {
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const std::size_t mate = mate_of(i);
    for (const Asked& asked : brought_[mate]) {
      if (mate != i && readers_[i].core != nullptr) {
        readers_[i].core->share_line(asked.line, asked.arrival - readers_[i].origin);
      }
    }
  }
  for (std::vector<Asked>& brought : brought_) {
    brought.clear();
  }
}

void CodePath::begin_window(sim::Cycles now) {
  if (now - epoch_ < epoch_cycles_) {
    return;
  }
  share();
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const CodeReader& reader = readers_[i];
    const double own = std::exchange(own_lines_[i], 0);
    if (reader.sms == 0) {
      lines_ += own;
      continue;
    }
    // The SMs that it stands for ask for as many in the mean, and so would one that jumps.
    const double now_lines = reader.jumps ? mean_lines_[i] : own;
    lines_ += reader.sms > 1 && reader.in_step ? now_lines * reader.sms / hw::kSmsPerTpc
                                               : now_lines + mean_lines_[i] * (reader.sms - 1);
    if (!reader.jumps) {
      mean_lines_[i] += (own - mean_lines_[i]) / std::min(++epochs_[i], kEpochsRemembered);
    }
  }
  path_free_ = std::max(path_free_, static_cast<double>(epoch_)) + lines_ / lines_per_clk_;
  supply_.path_free = static_cast<sim::Cycles>(path_free_);
  lines_ = 0;
  epoch_ = now / epoch_cycles_ * epoch_cycles_;
}

}  // namespace warpscope::engine
