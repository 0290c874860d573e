// cunn_SoftMaxForwardReg: a CTA holds a row in registers, one element of 2 bytes after the other.
#include <algorithm>
#include <map>
#include <vector>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/cta_reduction.hpp"
#include "kernels/standard/grid.hpp"
#include "kernels/standard/softmax.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kLanes = 32;
constexpr int kDivisionSlot = 0;

class RegisterSoftmax {
 public:
  explicit RegisterSoftmax(const SoftmaxTask& task)
      : task_(task),
        threads_(forward_softmax_threads(task.cols)),
        elements_(static_cast<int>(ceil_div(task.cols, threads_))),
        parts_(reduction_parts(0, warps())) {}

  int warps() const { return threads_ / kLanes; }
  int elements() const { return elements_; }
  int shared_bytes() const { return reduction_bytes(parts_); }

  void run(CtaMachine& machine) const {
    machine.part(kText);
    std::vector<Fragment> stored;
    for (int e = 0; e < elements_; ++e) {
      stored.push_back(values(machine, task_.type));
      machine.load(stored.back(), tile(task_.source, e));
    }
    const RowVector maximum = machine.row_vector(stored.front());
    const RowVector sum = machine.row_vector(stored.front());
    for (int e = 0; e < elements_; ++e) {
      machine.reduce_rows(maximum, Reduce::max, widened(machine, stored, e), e > 0);
    }
    reduce_over_cta(machine, maximum, parts_, Reduce::max);
    for (int e = 0; e < elements_; ++e) {
      machine.part(kExponential);
      machine.reduce_rows(sum, Reduce::sum, exponential(machine, stored, e, maximum), e > 0);
    }
    reduce_over_cta(machine, sum, parts_, Reduce::sum);
    for (int e = 0; e < elements_; ++e) {
      machine.part(kDivisions);
      const Fragment x = exponential(machine, stored, e, maximum);
      machine.apply(x, BinaryOp::divide, x, sum);
      machine.part(kStoreAddress, e > 0 ? 1 : 0);
      machine.convert(stored[static_cast<std::size_t>(e)], x);
      machine.store(tile(task_.target, e), stored[static_cast<std::size_t>(e)]);
    }
    if (task_.causal) {
      machine.loop(kDivisionSlot, [&](const Affine&) { machine.part(kDivisionSubroutine); });
    }
  }

 private:
  GlobalTile tile(int tensor, int element) const {
    return {tensor, block_index(1), block_index(0), element * threads_, 1, threads_};
  }
  Fragment values(CtaMachine& machine, ElementType type) const {
    return machine.fragment(1, threads_, type, Layout::element_per_thread, {});
  }

  Fragment widened(CtaMachine& machine, const std::vector<Fragment>& stored, int element) const {
    const Fragment x = values(machine, ElementType::fp32);
    machine.convert(x, stored[static_cast<std::size_t>(element)]);
    if (const int first = element * threads_; first + threads_ > task_.cols) {
      machine.mask(x, Mask{0, first, task_.cols, false, 0});
    }
    return x;
  }

  Fragment exponential(CtaMachine& machine, const std::vector<Fragment>& stored, int element,
                       const RowVector& maximum) const {
    const Fragment x = widened(machine, stored, element);
    machine.apply(x, BinaryOp::subtract, x, maximum);
    machine.apply(x, UnaryOp::exp, x);
    return x;
  }

  SoftmaxTask task_;
  int threads_;
  int elements_;
  SharedTile parts_;
};

/// Measured: 28, 30 and 37 for 3, 4 and 8 elements. With 6 two CTAs of 1024 threads share an SM, by the time
/// that 6144 columns take (softmax.md), so that it has 32 at most.
std::uint32_t registers_of(int elements) {
  constexpr std::uint32_t kTwoCtas = 32;
  constexpr int kMostForTwo = 6;
  const auto line = static_cast<std::uint32_t>(22 + 2 * elements);
  return elements <= kMostForTwo ? std::min(line, kTwoCtas) : line;
}

}  // namespace

bool fits_registers(std::int64_t columns) {
  constexpr int kMostElements = 9;  // of a thread
  return columns <= kMostElements * std::int64_t{forward_softmax_threads(columns)};
}

LaunchPlan register_softmax_launch(const SoftmaxTask& task) {
  const RegisterSoftmax program(task);
  LaunchPlan launch;
  launch.name = "cunn_SoftMaxForwardReg";
  launch.grid = grid_of(task.rows, task.segments, 1);
  launch.warps = program.warps();
  launch.role_warps = reduction_roles(program.warps());
  launch.registers_per_thread = registers_of(program.elements());
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(program.shared_bytes());
  launch.build = register_softmax_figures(program.elements());
  launch.programs.push_back({"row", [program](CtaMachine& machine) { program.run(machine); }});
  if (!task.causal) {
    launch.classes.push_back({0, {}, {}});
    return launch;
  }
  std::map<std::int64_t, std::uint32_t> class_of_calls;
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const std::int64_t calls = (masked_spans(task, row, kLanes) + program.warps() / 2) / program.warps();
    const auto [found, added] =
        class_of_calls.try_emplace(calls, static_cast<std::uint32_t>(launch.classes.size()));
    if (added) {
      launch.classes.push_back({0, {static_cast<std::uint32_t>(calls)}, {}});
    }
    launch.class_of_block[0].push_back(found->second);
  }
  return launch;
}

}  // namespace warpscope::kernels::standard
