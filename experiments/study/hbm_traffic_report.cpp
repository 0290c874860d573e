// The report of hbm-traffic for the terminal.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/text_table.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/report/units.hpp"
#include "experiments/study/hbm_traffic.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

constexpr double kGB = 1e9;
constexpr double kMiB = 1024.0 * 1024;

const char* const kPreface =
    "  Counted: bytes that the model moved between L2 and HBM, read and written. Reference lines beside "
    "them:\n"
    "  minimum     every input read once, every output written once\n"
    "  N^2         batch x heads x N^2 elements of 2 bytes, constant 1: one pass over the scores\n"
    "  N^2 d^2/M   batch x heads x N^2 d^2 / M elements of 2 bytes, constant 1: the law of FlashAttention-1, "
    "with\n"
    "              M the 2-byte elements in the shared memory of an SM\n"
    "  inputs      Q, K and V read once\n";

std::string gigabytes(double bytes) {
  return fmt::format("{:.2f}", bytes / kGB);
}

/// The points of one GPU, head dimension and method, by length or by capacity of the L2.
std::vector<const TrafficPoint*> line_of(const GridGpu& gpu, int head_dim, Method method, bool by_length,
                                         std::span<const TrafficPoint> points) {
  std::vector<const TrafficPoint*> line;
  for (const TrafficPoint& point : points) {
    const bool fits = by_length ? point.l2_factor == 1 : point.point.problem.seqlen_q == kL2Seqlen;
    if (fits && point.gpu == &gpu && point.method == method && point.point.problem.head_dim == head_dim &&
        point.outcome.done()) {
      line.push_back(&point);
    }
  }
  if (!by_length) {
    std::ranges::stable_sort(line, {}, &TrafficPoint::l2_factor);
  }
  return line;
}

std::string length_table(const GridGpu& gpu, std::span<const TrafficPoint> points) {
  TextTable table({{"d"},
                   {"tokens"},
                   {"standard GB"},
                   {"of minimum"},
                   {"FA1 GB"},
                   {"of minimum"},
                   {"FA2 GB"},
                   {"of minimum"},
                   {"minimum GB"},
                   {"N^2 GB"},
                   {"N^2 d^2/M GB"}});
  for (const int head_dim : kGridHeadDims) {
    table.add_rule();
    for (const int seqlen : kGridSeqlens) {
      std::vector<std::string> row = {std::to_string(head_dim), std::to_string(seqlen)};
      const TrafficPoint* fa2 = nullptr;
      for (std::size_t m = 0; m < kMethods; ++m) {
        const auto line = line_of(gpu, head_dim, static_cast<Method>(m), true, points);
        const auto found = std::ranges::find_if(
            line, [&](const TrafficPoint* point) { return point->point.problem.seqlen_q == seqlen; });
        fa2 = found == line.end() ? nullptr : *found;
        row.push_back(fa2 == nullptr ? "-" : gigabytes(hbm_bytes(fa2->outcome.result)));
        row.push_back(fa2 == nullptr ? "-"
                                     : fmt::format("{:.1f}x", hbm_bytes(fa2->outcome.result) /
                                                                  static_cast<double>(
                                                                      fa2->outcome.result.compulsory_bytes)));
      }
      row.push_back(fa2 == nullptr ? "-"
                                   : gigabytes(static_cast<double>(fa2->outcome.result.compulsory_bytes)));
      row.push_back(fa2 == nullptr ? "-" : gigabytes(square_law_bytes(*fa2)));
      row.push_back(fa2 == nullptr ? "-" : gigabytes(flash_law_bytes(*fa2)));
      table.add_row(row);
    }
  }
  return table.text();
}

std::string l2_table(const GridGpu& gpu, std::span<const TrafficPoint> points) {
  TextTable table({{"d"},
                   {"kernel", Align::left},
                   {"L2 MiB"},
                   {"", Align::left},
                   {"read GB"},
                   {"of inputs"},
                   {"written GB"},
                   {"time"},
                   {"busiest", Align::left}});
  for (const int head_dim : kGridHeadDims) {
    for (std::size_t m = 0; m < kMethods; ++m) {
      table.add_rule();
      for (const TrafficPoint* point : line_of(gpu, head_dim, static_cast<Method>(m), false, points)) {
        const PointResult& result = point->outcome.result;
        table.add_row({std::to_string(head_dim), std::string(name(point->method)),
                       fmt::format("{:.4g}", point->l2_bytes / kMiB), point->l2_factor == 1 ? "*" : "",
                       gigabytes(result.read_bytes()),
                       fmt::format("{:.2f}x", result.read_bytes() / input_bytes(*point)),
                       gigabytes(result.write_bytes()), time_text(result.time_us),
                       fmt::format("{} {:.0f} %", result.busiest, 100 * result.busiest_share)});
      }
    }
  }
  return table.text();
}

/// Bytes at the greatest length over those at the least: "25.4x", or "?" where one of them is missing.
std::string growth(std::span<const TrafficPoint* const> line) {
  const bool whole = line.size() == kGridSeqlens.size();
  return whole ? fmt::format("{:.1f}x", hbm_bytes(line.back()->outcome.result) /
                                            std::max(1.0, hbm_bytes(line.front()->outcome.result)))
               : "?";
}

/// The smallest L2 from which on no read exceeds `most` times the inputs.
std::string enough_l2(std::span<const TrafficPoint* const> line, double most) {
  const TrafficPoint* least = nullptr;
  for (auto point = line.rbegin(); point != line.rend(); ++point) {
    if ((*point)->outcome.result.read_bytes() > most * input_bytes(**point)) {
      break;
    }
    least = *point;
  }
  return least == nullptr ? fmt::format("more than {:.4g} MiB", line.back()->l2_bytes / kMiB)
                          : fmt::format("{:.4g} MiB", least->l2_bytes / kMiB);
}

}  // namespace

std::string hbm_traffic_findings(std::span<const TrafficPoint> points) {
  std::string page;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    for (const int head_dim : kGridHeadDims) {
      std::string growths;
      std::string over_law;
      std::string capacities;
      for (std::size_t m = 0; m < kMethods; ++m) {
        const auto method = static_cast<Method>(m);
        const auto by_length = line_of(gpu, head_dim, method, true, points);
        const auto by_l2 = line_of(gpu, head_dim, method, false, points);
        if (!by_length.empty()) {
          growths += fmt::format("{}{} {}", growths.empty() ? "" : ", ", name(method), growth(by_length));
        }
        if (!by_length.empty() && method == Method::fa1) {
          over_law =
              fmt::format(" FA1 moves {:.0f} times its law at 16k.",
                          hbm_bytes(by_length.back()->outcome.result) / flash_law_bytes(*by_length.back()));
        }
        if (!by_l2.empty() && method != Method::standard) {
          capacities +=
              fmt::format("{}{} {}", capacities.empty() ? "" : ", ", name(method), enough_l2(by_l2, 1.25));
        }
      }
      page += fmt::format(
          "  - {}, d {}: from 512 to 16k tokens, as many in all, the bytes grow {}; both laws grow 32x.{}\n"
          "    An L2 that keeps the reads of {} tokens below 1.25 times the inputs: {}.\n",
          gpu.label, head_dim, growths, over_law, kL2Seqlen, capacities);
    }
  }
  return page;
}

std::string hbm_traffic_report(std::span<const TrafficPoint> points) {
  std::string page =
      "What crosses HBM: attention forward, fp16, no mask, 16384 tokens in all, hidden size 2048\n\n";
  page += kPreface;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    page += fmt::format("\n{}, against the length\n\n", gpu.label) + length_table(gpu, points);
    page += fmt::format(
        "\n{}, {} tokens, against the capacity of the L2 (* its own); l2.dirty_bytes in proportion\n\n",
        gpu.label, kL2Seqlen);
    page += l2_table(gpu, points);
  }
  page += "\n  Findings\n" + hbm_traffic_findings(points);
  page += "  Notes\n";
  page +=
      "  - Cold L2; what is written but still in the L2 at the end has not crossed HBM, so a count may be "
      "below\n"
      "    the minimum.\n"
      "  - Bytes are not split by tensor here; `run --json` does. FA2 reads Q once, so what it reads beyond "
      "the\n"
      "    inputs is K and V again, and what it writes beyond the output is spilled registers.\n";
  std::vector<Point> simulated;
  std::vector<StudyResult> results;
  for (const TrafficPoint& point : points) {
    simulated.push_back(point.point);
    results.push_back(point.outcome);
  }
  return page + missing_notes(simulated, results);
}

}  // namespace warpscope::experiments
