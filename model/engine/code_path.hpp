// The way by which code comes to the SMs of a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/code_supply.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::engine {

/// An SM that asks for lines, as the exchange at the end of a window sees it.
struct CodeReader {
  std::vector<sm::LineRequest>* asked = nullptr;  ///< in this window, emptied by the exchange
  sm::SmCore* core = nullptr;                     ///< is told what the other SM of its TPC brings
  sim::Cycles origin = 0;                         ///< from which their times count
  int first_sm = 0;
  int sms = 1;           ///< with work, that it stands for
  bool in_step = false;  ///< which do the same at the same time
  bool jumps = false;    ///< it leaves out time, in which it would ask for more
};

/// Lines come to all SMs by one path, and to the two SMs of a TPC together, which share what is within reach
/// (measured, tpc_code.csv): each SM has it, but learns an epoch later what the other has brought. What SMs
/// ask for in one epoch takes the path in the next, so that windows within an epoch may be of any length.
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
    std::size_t reader = 0;
    std::uint32_t line = 0;
  };
  /// The TPC of a reader, or who takes its place.
  std::size_t tpc_of(std::size_t reader) const;
  /// Counts what SMs bring to their TPCs.
  void serve();
  /// Who shares with a reader what is within reach; its own number if nobody does.
  std::size_t mate_of(std::size_t reader) const;
  /// Tells each SM what its mate has brought.
  void share();

  double lines_per_clk_;
  sim::Cycles epoch_cycles_;
  sm::CodeSupply supply_;
  std::vector<CodeReader> readers_;
  sim::Cycles epoch_ = 0;  ///< its begin
  double lines_ = 0;       ///< that take the path in this epoch
  double path_free_ = 0;
  std::vector<double> own_lines_;   ///< by each reader in this epoch
  std::vector<double> mean_lines_;  ///< of each reader in one epoch, over the last ones that it ran
  std::vector<double> epochs_;      ///< so many
  std::vector<std::vector<sim::Cycles>>
      there_until_;                          ///< [TPC][line]: no SM of it brings the line before then
  std::vector<Asked> asked_;                 ///< in this window
  std::vector<std::vector<Asked>> brought_;  ///< by each reader in this epoch
};

}  // namespace warpscope::engine
