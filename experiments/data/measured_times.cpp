#include "experiments/data/measured_times.hpp"

#include <tuple>

#include "experiments/csv/csv.hpp"
#include "experiments/data/number.hpp"

namespace warpscope::experiments {

using kernels::Pass;

bool operator<(const MeasuredKey& a, const MeasuredKey& b) {
  return std::tie(a.implementation, a.pass, a.head_dim, a.causal, a.seqlen) <
         std::tie(b.implementation, b.pass, b.head_dim, b.causal, b.seqlen);
}

MeasuredTimes::MeasuredTimes(const std::filesystem::path& directory) {
  for (const char* file : {"time_fa1.csv", "time_fa2.csv", "time_sdpa.csv", "time_standard.csv"}) {
    const CsvTable table = read_csv((directory / "measured-h200" / file).string());
    for (const CsvRecord& row : table.rows) {
      times_us_[{cell(table, row, "impl"), cell(table, row, "pass") == "bwd" ? Pass::backward : Pass::forward,
                 integer(table, row, "head_dim"), integer(table, row, "causal") == 1,
                 integer(table, row, "seqlen_q")}] = number(table, row, "median_us");
    }
  }
}

std::optional<double> MeasuredTimes::time_us(const MeasuredKey& key) const {
  if (key.pass == Pass::both) {
    MeasuredKey one_pass = key;
    one_pass.pass = Pass::forward;
    const std::optional<double> forward = time_us(one_pass);
    one_pass.pass = Pass::backward;
    const std::optional<double> backward = time_us(one_pass);
    return forward && backward ? std::optional(*forward + *backward) : std::nullopt;
  }
  const auto found = times_us_.find(key);
  return found == times_us_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace warpscope::experiments
