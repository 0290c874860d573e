// The way by which code comes to the SMs of a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/code_supply.hpp"

namespace warpscope::engine {

/// An SM that asks for lines, as the exchange at the end of a window sees it.
struct CodeReader {
  std::vector<sm::LineRequest>* asked = nullptr;  ///< in this window, emptied by the exchange
  sim::Cycles origin = 0;                         ///< from which their times count
  int first_sm = 0;
  int sms = 1;           ///< with work, that it stands for
  bool in_step = false;  ///< which do the same at the same time
  bool jumps = false;    ///< it leaves out time, in which it would ask for more
};

/// Lines come to all SMs by one path, to the two SMs of a TPC at once if one asks while the line is on its
/// way to the other. What SMs ask for in one epoch takes the path in the next, so that windows within an
/// epoch may be of any length.
class CodePath {
 public:
  /// A launch of `code_lines`, which the L2 holds from the beginning if `in_l2`. `epoch_cycles`: at least a
  /// window.
  CodePath(const hw::HwConfig& config, std::uint32_t code_lines, bool in_l2, sim::Cycles epoch_cycles);

  const sm::CodeSupply& supply() const { return supply_; }
  /// Takes what SMs have asked for in a window.
  void exchange(std::vector<CodeReader> readers);
  /// What was asked for in epochs before this one has taken the path.
  void begin_window(sim::Cycles now);

 private:
  struct Asked {
    sim::Cycles time = 0;
    sim::Cycles arrival = 0;
    std::size_t tpc = 0;
    std::uint32_t line = 0;
  };
  /// Counts what SMs ask for that stand for themselves alone.
  void serve_pairs();

  double lines_per_clk_;
  sim::Cycles epoch_cycles_;
  sm::CodeSupply supply_;
  std::vector<CodeReader> readers_;
  sim::Cycles epoch_ = 0;  ///< its begin
  double lines_ = 0;       ///< that take the path in this epoch
  double path_free_ = 0;
  std::vector<double> own_lines_;                     ///< of each reader in this epoch
  std::vector<double> mean_lines_;                    ///< of each reader in one epoch, over those that it ran
  std::vector<double> epochs_;                        ///< so many
  std::vector<std::vector<sim::Cycles>> on_its_way_;  ///< [TPC][line]: arrival
  std::vector<Asked> asked_;                          ///< in this window
};

}  // namespace warpscope::engine
