// Speed beside the limits of the GPU: matrix products by tensor pipes, and everything that is no matrix
// product.
#pragma once

#include "experiments/page/chart.hpp"
#include "experiments/point/run.hpp"

namespace warpscope::experiments {

/// Work, bytes and time as counted; peaks and compulsory bytes are references.
struct Roofline {
  double matmul_flops = 0;  ///< HMMA instructions x 4096
  double non_matmul_flops =
      0;  ///< instructions of the FMA, ALU and XU pipes x 32 lanes x 2, as peaks count them
  double hbm_bytes = 0;
  double compulsory_bytes = 0;
  double time_us = 0;
  double matmul_peak_tflops = 0;
  double fp32_peak_tflops = 0;
  double hbm_tb_per_s = 0;
};

Roofline roofline(const Run& run);

/// Both kinds of work, each over counted and over compulsory bytes; empty where no byte was moved.
Chart roofline_chart(const Roofline& roofline);

}  // namespace warpscope::experiments
