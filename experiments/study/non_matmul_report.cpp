// The report of non-matmul for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/base/text_table.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/report/units.hpp"
#include "experiments/study/forward_grid.hpp"
#include "experiments/study/non_matmul.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

struct RateText {
  const char* column;
  const char* title;
};

constexpr std::array<RateText, kRates> kRateTexts = {
    RateText{"ratio", "Tensor rate: `ratio` is peak tensor FLOP/s over peak FP32 FLOP/s"},
    RateText{"lanes", "Exponential rate: sm.xu.lanes, exponentials/clk of a sub-core"},
    RateText{"bytes/clk", "Shared memory: sm.shared.bytes_per_clk of an SM, half of it for one sub-core"}};

const char* const kPreface =
    "  ratio       sm.tensor.hmma_16816: interval_cycles is changed; latency_cycles changes by as many "
    "cycles,\n"
    "              read_cycles in proportion (rounded, 1 to 32). FP32 lanes stay.\n"
    "  lanes       sm.xu.lanes is changed.\n"
    "  bytes/clk   sm.shared.bytes_per_clk and sub_core_bytes_per_clk are changed in proportion.\n"
    "  half lanes  time added by halving sm.fma.lanes, sm.imad.lanes, sm.alu.lanes and sm.xu.lanes.\n"
    "  2x matmul   time added by twice the interval_cycles of the row.\n"
    "  price       matmul FLOPs that add as much time as one non-matmul FLOP: (time added by half lanes over "
    "the\n"
    "              FLOPs counted on the FMA, ALU and XU pipes) over (time added by 2x matmul over the "
    "matmul\n"
    "              FLOPs counted). An operation of a lane counts as two FLOPs, as in peak FP32 rates. Not "
    "given\n"
    "              where 2x matmul adds less than 10 %. Reference: the ratio of the peaks, 16 on A100 (312 "
    "over\n"
    "              19.5 TFLOP/s), which is what the FlashAttention-2 paper quotes.\n"
    "  *           the GPU as it is.\n";

std::string kernel_label(const RatePoint& point) {
  return std::string(name(point.point.kernel == "fa1" ? Method::fa1 : Method::fa2));
}

const RatePoint* stock_of(const RatePoint& point, std::span<const RatePoint> points) {
  const auto found = std::ranges::find_if(points, [&](const RatePoint& other) {
    return other.setting.stock && other.point.model.gpu == point.point.model.gpu &&
           other.point.kernel == point.point.kernel &&
           other.point.problem.head_dim == point.point.problem.head_dim;
  });
  return found != points.end() && found->outcome.done() ? &*found : nullptr;
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

void add_price(std::vector<std::string>& row, const RatePoint& point, std::span<const RatePoint> points) {
  const std::optional<ExchangeRate> rate = exchange_rate(point, points);
  row.push_back(rate ? signed_percent(rate->non_matmul_slowdown) : "");
  row.push_back(rate ? signed_percent(rate->matmul_slowdown) : "");
  row.push_back(rate && rate->matmul_flops ? fmt::format("{:.1f}", *rate->matmul_flops) : "");
}

std::string rate_table(std::string_view gpu_label, Rate rate, std::span<const RatePoint> points) {
  const bool prices = rate == Rate::tensor;
  std::vector<TextTable::Column> columns = {{"d"},
                                            {"kernel", Align::left},
                                            {kRateTexts[static_cast<std::size_t>(rate)].column},
                                            {"", Align::left},
                                            {"time"},
                                            {"TFLOP/s"},
                                            {"of stock"},
                                            {"busiest", Align::left},
                                            {"share"},
                                            {"tensor pipe"}};
  if (prices) {
    columns.insert(columns.end(), {{"half lanes"}, {"2x matmul"}, {"price"}});
  }
  TextTable table(columns);
  std::string group;
  for (const RatePoint& point : points) {
    const RatePoint* stock = stock_of(point, points);
    if (point.gpu_label != gpu_label || point.setting.rate != rate || point.setting.half ||
        !point.outcome.done() || stock == nullptr) {
      continue;
    }
    const std::string now = fmt::format("{} {}", point.point.problem.head_dim, point.point.kernel);
    if (now != group) {
      table.add_rule();
      group = now;
    }
    const PointResult& result = point.outcome.result;
    std::vector<std::string> row = {std::to_string(point.point.problem.head_dim),
                                    kernel_label(point),
                                    fmt::format("{:.3g}{}", point.setting.value, prices ? ":1" : ""),
                                    point.setting.stock ? "*" : "",
                                    time_text(result.time_us),
                                    fmt::format("{:.1f}", result.tflops),
                                    fmt::format("{:.2f}x", result.tflops / stock->outcome.result.tflops),
                                    result.busiest,
                                    percent(result.busiest_share),
                                    percent(tensor_share(result))};
    if (prices) {
      add_price(row, point, points);
    }
    table.add_row(row);
  }
  return table.text();
}

/// One kernel at one head dimension on one GPU, by rising ratio.
std::vector<const RatePoint*> ratio_line(std::string_view gpu, Method method, int head_dim,
                                         std::span<const RatePoint> points) {
  std::vector<const RatePoint*> line;
  for (const RatePoint& point : points) {
    if (point.point.model.gpu == gpu && kernel_label(point) == name(method) &&
        point.point.problem.head_dim == head_dim && point.setting.rate == Rate::tensor &&
        !point.setting.half && point.outcome.done()) {
      line.push_back(&point);
    }
  }
  return line;
}

/// "FA1 up to 4:1, then XU pipe (37 % busy at 64:1)".
std::string limit_text(Method method, std::span<const RatePoint* const> line) {
  const RatePoint* last_tensor = nullptr;
  for (const RatePoint* point : line) {
    if (point->outcome.result.busiest != "tensor pipe") {
      break;
    }
    last_tensor = point;
  }
  const PointResult& end = line.back()->outcome.result;
  const std::string reach =
      last_tensor == nullptr ? "nowhere" : fmt::format("up to {:.3g}:1", last_tensor->setting.value);
  return last_tensor == line.back()
             ? fmt::format("{} {}", name(method), reach)
             : fmt::format("{} {}, then {} ({:.0f} % busy at {:.3g}:1)", name(method), reach, end.busiest,
                           100 * end.busiest_share, line.back()->setting.value);
}

std::string price_text(Method method, std::span<const RatePoint* const> line,
                       std::span<const RatePoint> points) {
  const auto stock = std::ranges::find_if(line, [](const RatePoint* point) { return point->setting.stock; });
  const std::optional<ExchangeRate> rate =
      stock == line.end() ? std::nullopt : exchange_rate(**stock, points);
  if (!rate) {
    return "";
  }
  if (!rate->matmul_flops) {
    return fmt::format("; {} no price: 2x matmul adds {:.0f} %", name(method), 100 * rate->matmul_slowdown);
  }
  return fmt::format("; {} {:.1f}", name(method), *rate->matmul_flops);
}

}  // namespace

std::string non_matmul_findings(std::span<const RatePoint> points) {
  std::string limits =
      "  Where the tensor pipes are the busiest resource, and what is when they are faster:\n";
  std::string prices = "  Price of a non-matmul FLOP at the stock rates, in matmul FLOPs:\n";
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    for (const int head_dim : kGridHeadDims) {
      std::string limit;
      std::string price;
      for (const Method method : {Method::fa1, Method::fa2}) {
        const std::vector<const RatePoint*> line = ratio_line(gpu.name, method, head_dim, points);
        if (!line.empty()) {
          limit += (limit.empty() ? "" : "; ") + limit_text(method, line);
          price += price_text(method, line, points);
        }
      }
      limits += fmt::format("  - {}, d {}: {}.\n", gpu.label, head_dim, limit);
      const auto stock = std::ranges::find_if(points, [&](const RatePoint& point) {
        return point.setting.stock && point.setting.rate == Rate::tensor && point.point.model.gpu == gpu.name;
      });
      prices += fmt::format("  - {}, d {}: reference {:.1f}{}.\n", gpu.label, head_dim,
                            stock == points.end() ? 0 : stock->setting.value, price);
    }
  }
  return limits + prices;
}

std::string non_matmul_report(std::span<const RatePoint> points) {
  std::string page =
      "What a FLOP costs that no tensor pipe does: FA1 and FA2 forward, fp16, no mask, 4096 tokens,\n"
      "16384 tokens in all, hidden size 2048\n\n";
  page += kPreface;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    for (std::size_t r = 0; r < kRates; ++r) {
      page += fmt::format("\n{}. {}\n\n", gpu.label, kRateTexts[r].title);
      page += rate_table(gpu.label, static_cast<Rate>(r), points);
    }
  }
  page += "\n  Findings\n" + non_matmul_findings(points);
  page += "  Notes\n";
  page += fmt::format("  - {}\n", kMmaSyncNote);
  page +=
      "  - Shared memory keeps its 32 banks of 4 bytes: above 128 bytes/clk only what one sub-core moves "
      "gets\n"
      "    faster.\n"
      "  - --mode fast: times of neighbouring settings scatter by a few per cent, FA1's on H100 by more.\n";
  std::vector<Point> all;
  std::vector<StudyResult> results;
  for (const RatePoint& point : points) {
    all.push_back(point.point);
    results.push_back(point.outcome);
  }
  return page + missing_notes(all, results);
}

}  // namespace warpscope::experiments
