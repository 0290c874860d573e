#include "experiments/page/roofline.hpp"

#include <fmt/format.h>

#include "experiments/report/totals.hpp"
#include "experiments/report/utilisation.hpp"

namespace warpscope::experiments {

Roofline roofline(const Run& run) {
  constexpr double kFlopsPerHmma = 4096;
  constexpr double kLanes = 32;
  constexpr double kFlopsPerLane = 2;
  constexpr double kMegaPerTera = 1e6;
  constexpr double kGigaPerTera = 1e3;
  const std::map<std::string, double> metrics = total_metrics(run.result);
  Roofline result;
  const MatmulPeak peak = matmul_peak(run);
  const double busy = utilisation(run)[static_cast<std::size_t>(Resource::tensor)];
  // A wgmma has the work of its columns, which only the time of its pipe tells.
  result.matmul_flops = peak.instruction == "wgmma"
                            ? busy * static_cast<double>(run.result.cycles) / run.config.clock.tensor_mhz *
                                  peak.tflops * kMegaPerTera
                            : value(metrics, "sm__inst_executed_pipe_tensor_op_hmma.sum") * kFlopsPerHmma;
  for (const char* pipe : {"fma", "alu", "xu"}) {
    result.non_matmul_flops +=
        value(metrics, fmt::format("sm__inst_executed_pipe_{}.sum", pipe)) * kLanes * kFlopsPerLane;
  }
  result.hbm_bytes = value(metrics, "dram__bytes_read.sum") + value(metrics, "dram__bytes_write.sum");
  for (const TensorRow& row : tensor_rows(run)) {
    result.compulsory_bytes += static_cast<double>(row.compulsory_bytes);
  }
  result.time_us = run.result.time_us;
  result.matmul_peak_tflops = peak.tflops;
  result.fp32_peak_tflops = kFlopsPerLane * run.config.sm.fma.lanes * run.config.sm.sub_cores *
                            run.config.gpu.sm_count * run.config.clock.tensor_mhz / kMegaPerTera;
  result.hbm_tb_per_s = run.config.hbm.peak_gb_per_s / kGigaPerTera;
  return result;
}

Chart roofline_chart(const Roofline& roofline) {
  Chart chart("roofline", "Roofline: matmul and non-matmul work",
              {{"what", "work", Format::text},
               {"flop_per_byte", "FLOP per HBM byte", Format::number},
               {"tflops", "TFLOP/s", Format::number},
               {"is_reference", "reference", Format::yes_no}});
  chart.option("bandwidth", roofline.hbm_tb_per_s);
  chart.option("ceilings",
               nlohmann::ordered_json::array(
                   {{{"label", fmt::format("tensor pipes, {:.0f} TFLOP/s", roofline.matmul_peak_tflops)},
                     {"tflops", roofline.matmul_peak_tflops}},
                    {{"label", fmt::format("FP32 pipes, {:.1f} TFLOP/s", roofline.fp32_peak_tflops)},
                     {"tflops", roofline.fp32_peak_tflops}}}));
  chart.option(
      "note",
      fmt::format("Work and bytes are counted; the lines are references: peaks of the pipes, and {:.2f} "
                  "TB/s of HBM. Non-matmul: instructions of the FMA, ALU and XU pipes x 32 lanes x 2.",
                  roofline.hbm_tb_per_s));
  constexpr double kMicrosecondsAndTera = 1e6;
  const auto add = [&](const char* what, double flops, double bytes, bool is_reference) {
    if (flops > 0 && bytes > 0 && roofline.time_us > 0) {
      chart.add_row({what, flops / bytes, flops / roofline.time_us / kMicrosecondsAndTera, is_reference});
    }
  };
  add("matmul, counted bytes", roofline.matmul_flops, roofline.hbm_bytes, false);
  add("matmul, compulsory bytes", roofline.matmul_flops, roofline.compulsory_bytes, true);
  add("non-matmul, counted bytes", roofline.non_matmul_flops, roofline.hbm_bytes, false);
  add("non-matmul, compulsory bytes", roofline.non_matmul_flops, roofline.compulsory_bytes, true);
  return chart;
}

}  // namespace warpscope::experiments
