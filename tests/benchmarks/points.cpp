#include "tests/benchmarks/points.hpp"

#include "experiments/point/run.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::benchmarks {
namespace {

constexpr const char* kGpu = "a100-sxm4-80gb";

}  // namespace

experiments::Point forward_point(const std::string& kernel, std::int64_t batch, std::int64_t heads,
                                 std::int64_t seqlen, std::int64_t head_dim) {
  experiments::Point point;
  point.model.gpu = kGpu;
  point.kernel = kernel;
  point.problem.batch = batch;
  point.problem.heads = point.problem.heads_kv = heads;
  point.problem.seqlen_q = point.problem.seqlen_k = seqlen;
  point.problem.head_dim = head_dim;
  return point;
}

hw::HwConfig benchmark_gpu() {
  return hw::load(kGpu, {}, experiments::config_directory()).config;
}

void run_point(benchmark::State& state, const experiments::Point& point, const hw::HwConfig& config) {
  std::uint64_t instructions = 0;
  std::uint64_t stepped = 0;
  for (auto _ : state) {
    gpu::LaunchMemo memo;  // empty each time: what is measured is the simulation
    const experiments::Run run = experiments::run_point(point, config, memo);
    instructions += run.result.warp_instructions_total;
    stepped += run.result.warp_instructions_executed;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  state.counters["stepped"] = static_cast<double>(stepped) / static_cast<double>(instructions);
}

}  // namespace warpscope::benchmarks
