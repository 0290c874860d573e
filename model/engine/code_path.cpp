#include "model/engine/code_path.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace warpscope::engine {
namespace {

constexpr sim::Cycles kNotThere = std::numeric_limits<sim::Cycles>::max();
constexpr int kSmsPerTpc = 2;

}  // namespace

CodePath::CodePath(const hw::HwConfig& config, std::uint32_t code_lines, bool in_l2, sim::Cycles epoch_cycles)
    : lines_per_clk_(config.sm.icache.gpu_lines_per_clk),
      epoch_cycles_(epoch_cycles),
      on_its_way_(static_cast<std::size_t>(config.gpu.sm_count / kSmsPerTpc + 1),
                  std::vector<std::int64_t>(code_lines, -1)) {
  supply_.in_l2.assign(code_lines, in_l2 ? 0 : kNotThere);
}

void CodePath::exchange(std::vector<CodeReader> readers) {
  readers_ = std::move(readers);
  own_lines_.resize(readers_.size());
  mean_lines_.resize(readers_.size());
  epochs_.resize(readers_.size());
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    own_lines_[i] += static_cast<double>(readers_[i].asked->size());
    for (const sm::LineRequest& request : *readers_[i].asked) {
      if (request.from_memory) {
        // Others see it an epoch later, when all of them have been told.
        sim::Cycles& there = supply_.in_l2[request.line];
        there = std::min(there, readers_[i].origin + request.arrival + epoch_cycles_);
      }
    }
  }
  serve_pairs();
  for (const CodeReader& reader : readers_) {
    reader.asked->clear();
  }
}

void CodePath::serve_pairs() {
  asked_.clear();
  for (const CodeReader& reader : readers_) {
    for (const sm::LineRequest& request : *reader.asked) {
      if (reader.sms <= 1) {
        asked_.push_back({reader.origin + request.time, reader.origin + request.arrival,
                          static_cast<std::size_t>(reader.first_sm / kSmsPerTpc), request.line});
      }
    }
  }
  std::ranges::stable_sort(asked_, {}, &Asked::time);
  for (const Asked& asked : asked_) {
    sim::Cycles& on_its_way_until = on_its_way_[asked.tpc][asked.line];
    if (asked.time > on_its_way_until) {
      on_its_way_until = asked.arrival;
      ++lines_;
    }
  }
}

void CodePath::begin_window(sim::Cycles now) {
  if (now - epoch_ < epoch_cycles_) {
    return;
  }
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const CodeReader& reader = readers_[i];
    const double own = std::exchange(own_lines_[i], 0);
    if (reader.sms == 0) {
      continue;
    }
    if (reader.sms > 1 && reader.in_step) {
      lines_ += (reader.jumps ? mean_lines_[i] : own) * reader.sms / kSmsPerTpc;
    } else {
      // The SMs that it stands for ask for as many in the mean, and so would one that jumps.
      lines_ += mean_lines_[i] * (reader.sms - 1) + (reader.jumps     ? mean_lines_[i]
                                                     : reader.sms > 1 ? own
                                                                      : 0);
    }
    if (!reader.jumps) {
      mean_lines_[i] += (own - mean_lines_[i]) / ++epochs_[i];
    }
  }
  path_free_ = std::max(path_free_, static_cast<double>(epoch_)) + lines_ / lines_per_clk_;
  supply_.path_free = static_cast<sim::Cycles>(path_free_);
  lines_ = 0;
  epoch_ = now / epoch_cycles_ * epoch_cycles_;
}

}  // namespace warpscope::engine
