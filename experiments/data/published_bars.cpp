#include "experiments/data/published_bars.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/data/number.hpp"

namespace warpscope::experiments {
namespace {

using kernels::Pass;

template <typename Value>
struct Word {
  std::string_view text;
  Value value;
};

constexpr std::array kFigures = {Word<int>{"Fig4", 4}, Word<int>{"Fig5", 5}, Word<int>{"Fig6", 6},
                                 Word<int>{"Fig7", 7}};
constexpr std::array kPasses = {Word<Pass>{"fwd", Pass::forward}, Word<Pass>{"bwd", Pass::backward},
                                Word<Pass>{"fwd+bwd", Pass::both}};
constexpr std::array kGpus = {Word<const char*>{"A100 80GB SXM4", "a100-sxm4-80gb"},
                              Word<const char*>{"H100 80GB SXM5", "h100-sxm5-80gb"}};

/// The value of the word in `column`, up to the letter of the panel behind the number of a figure.
template <typename Words>
auto value_of(const CsvTable& table, const CsvRecord& row, const char* column, const Words& words) {
  const std::string text = cell(table, row, column);
  const std::string_view word = std::string_view(text).substr(0, text.find('('));
  std::string legal;
  for (const auto& known : words) {
    if (known.text == word) {
      return known.value;
    }
    legal += fmt::format("{}{}", legal.empty() ? "" : ", ", known.text);
  }
  throw UsageError(fmt::format("{}:{}: column {} {}: unknown; legal are {}", table.file, row.line,
                               in_quotes(column), in_quotes(text), legal));
}

}  // namespace

std::vector<PublishedBar> published_bars(const std::filesystem::path& directory) {
  const CsvTable table = read_csv((directory / "published/fa2_published_tflops_hires.csv").string());
  std::vector<PublishedBar> bars;
  for (const CsvRecord& row : table.rows) {
    const bool out_of_memory = cell(table, row, "label_tflops") == "OOM";
    bars.push_back({value_of(table, row, "figure", kFigures), value_of(table, row, "gpu", kGpus),
                    value_of(table, row, "pass", kPasses), integer(table, row, "head_dim"),
                    integer(table, row, "causal") == 1, cell(table, row, "method"),
                    integer(table, row, "seqlen"),
                    out_of_memory ? std::nullopt : std::optional(number(table, row, "barheight_tflops"))});
  }
  return bars;
}

}  // namespace warpscope::experiments
