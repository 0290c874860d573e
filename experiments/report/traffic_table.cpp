#include "experiments/report/traffic_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/text_table.hpp"
#include "experiments/report/totals.hpp"
#include "experiments/report/units.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

std::string ratio(double counted, double reference) {
  return reference > 0 ? fmt::format("{:.2f}", counted / reference) : "-";
}

std::vector<std::string> cells(const TensorRow& row, const ByteUnit& unit) {
  return {
      row.tensor,
      in_unit(row.read_bytes, unit),
      in_unit(row.write_bytes, unit),
      in_unit(row.compulsory_bytes, unit),
      ratio(static_cast<double>(row.read_bytes + row.write_bytes), static_cast<double>(row.compulsory_bytes)),
      in_unit(row.l2_read_bytes, unit),
      row.l2_read_bytes == 0
          ? "-"
          : percent(static_cast<double>(row.l2_read_hit_bytes) / static_cast<double>(row.l2_read_bytes))};
}

std::string intensity(const Run& run, const TensorRow& total) {
  if (!run.point) {
    return {};
  }
  const auto per_byte = [&](std::uint64_t bytes) {
    return bytes == 0 ? std::string("unbounded")
                      : fmt::format("{:.1f}", run.flops / static_cast<double>(bytes));
  };
  return fmt::format("  Arithmetic intensity: {} FLOP per HBM byte; with compulsory bytes alone {}\n",
                     per_byte(total.read_bytes + total.write_bytes), per_byte(total.compulsory_bytes));
}

}  // namespace

std::string traffic_table(const Run& run) {
  TensorRow total{"total", 0, 0, 0, 0, 0, 0};
  const std::vector<TensorRow> rows = tensor_rows(run);
  for (const TensorRow& row : rows) {
    total.read_bytes += row.read_bytes;
    total.write_bytes += row.write_bytes;
    total.compulsory_bytes += row.compulsory_bytes;
    total.l2_read_bytes += row.l2_read_bytes;
    total.l2_read_hit_bytes += row.l2_read_hit_bytes;
  }
  const ByteUnit unit = byte_unit(std::max({total.read_bytes, total.write_bytes, total.compulsory_bytes}));
  TextTable table({{fmt::format("HBM traffic, {}", unit.name), Align::left},
                   {"read"},
                   {"written"},
                   {"compulsory"},
                   {"ratio"},
                   {"read from L2"},
                   {"L2 hits"}});
  for (const TensorRow& row : rows) {
    table.add_row(cells(row, unit));
  }
  table.add_rule();
  table.add_row(cells(total, unit));
  return table.text() + "  Compulsory: every input read once, every output written once.\n" +
         intensity(run, total);
}

}  // namespace warpscope::experiments
