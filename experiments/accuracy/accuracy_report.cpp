#include <fmt/format.h>

#include "experiments/accuracy/accuracy.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;
using Json = nlohmann::ordered_json;

std::string limit_text(const std::optional<double>& limit) {
  return limit ? fmt::format("{:.0f} %", 100 * *limit) : "-";
}

std::string kernel_text(const AccuracyTarget& target) {
  return target.kernel + std::string(target.pass == kernels::Pass::backward ? " bwd" : "") +
         (target.in_sample ? "*" : "");
}

Json limit_json(const std::optional<double>& limit) {
  return limit ? Json(*limit) : Json();
}

}  // namespace

std::string accuracy_table(const std::vector<AccuracyRow>& rows) {
  std::string text;
  std::string misses;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    TextTable table({{"what", Align::left},
                     {"kernel", Align::left},
                     {"n"},
                     {"mean"},
                     {"max"},
                     {"bias"},
                     {"worst"},
                     {"max"},
                     {"met", Align::left}});
    for (; end < rows.size() && std::string_view(rows[end].target.source) == rows[begin].target.source;
         ++end) {
      const AccuracyRow& row = rows[end];
      const bool limited = row.target.mean_limit || row.target.worst_limit;
      table.add_row({row.target.what, kernel_text(row.target), std::to_string(row.errors.count()),
                     percent(row.errors.mean()), limit_text(row.target.mean_limit),
                     fmt::format("{:+.1f} %", 100 * row.errors.bias()),
                     fmt::format("{:+.1f} %", 100 * row.errors.worst()), limit_text(row.target.worst_limit),
                     !row.met() ? "NO"
                     : limited  ? "yes"
                                : ""});
      misses += row.met() ? ""
                          : fmt::format("MISSED: {} of {}, worst at {}{}\n", row.target.what,
                                        kernel_text(row.target), row.errors.worst_point(),
                                        row.failed > 0 ? fmt::format("; {} FAILED", row.failed) : "");
    }
    text +=
        fmt::format("{}Against {}\n{}", begin == 0 ? "" : "\n", rows[begin].target.source, table.text(""));
  }
  return fitted(text +
                "\nn: points; max: the limit; --json says where the worst are. *: in-sample, "
                "counted in the very launches.\n" +
                misses);
}

Json accuracy_json(const std::vector<AccuracyRow>& rows) {
  Json json = {{"met", all_met(rows)}, {"rows", Json::array()}};
  for (const AccuracyRow& row : rows) {
    json["rows"].push_back({{"what", row.target.what},
                            {"kernel", row.target.kernel},
                            {"pass", text(row.target.pass)},
                            {"in_sample", row.target.in_sample},
                            {"gpu", row.gpu},
                            {"against", row.target.source},
                            {"points", row.errors.count()},
                            {"failed", row.failed},
                            {"mean_error", row.errors.mean()},
                            {"mean_limit", limit_json(row.target.mean_limit)},
                            {"bias", row.errors.bias()},
                            {"worst_error", row.errors.worst()},
                            {"worst_limit", limit_json(row.target.worst_limit)},
                            {"worst_point", row.errors.worst_point()},
                            {"met", row.met()}});
  }
  return json;
}

}  // namespace warpscope::experiments
