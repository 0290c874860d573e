#include "kernels/standard/elementwise.hpp"

#include <functional>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/grid.hpp"
#include "kernels/standard/indexed_figures.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kPasses = 4;  // elements per thread of elementwise_kernel<128, 4>
constexpr int kVectorBytes = 16;
constexpr int kVectorElements2023 = 4;
// Dimensions that are left of (batch, head, sequence, element) when TensorIterator has merged what lies as
// one piece in all tensors: rows of interleaved heads merge nothing, transposed ones head and element; a mask
// is the same for all heads.
constexpr int kRowCopyDimensions = 4;
constexpr int kTransposingCopyDimensions = 3;
constexpr int kMaskedDimensions = 2;

/// Launches `text` over the flat range of each segment, `elements` per CTA.
LaunchPlan flat_launch(const ElementwiseTask& task, int elements, std::uint32_t registers, BuildFigures build,
                       std::function<void(CtaMachine&)> text) {
  LaunchPlan launch;
  launch.name = task.name;
  launch.grid = grid_of(ceil_div(task.rows * task.cols, elements), 1, task.segments);
  launch.warps = kWarps;
  launch.registers_per_thread = registers;
  launch.build = std::move(build);
  launch.programs.push_back({"range", std::move(text)});
  launch.classes.push_back({0, {}, {}});
  return launch;
}

/// What the vectorized kernel gives a CTA.
int vector_elements(const ElementwiseTask& task) {
  return kThreads * (task.four_elements ? kVectorElements2023 : kVectorBytes / element_bytes(task.type));
}

Fragment vectors(CtaMachine& machine, const ElementwiseTask& task, ElementType type) {
  return machine.fragment(1, vector_elements(task), type,
                          task.four_elements ? Layout::linear_quads : Layout::linear, {});
}

GlobalTile flat_tile(int tensor, const Affine& segment, const Affine& first, int elements) {
  return {tensor, segment, 0, first, 1, elements, OutOfRange::leave, true};
}

/// elementwise_kernel<128, 4>: four dependent passes, since a store may alias the next load.
LaunchPlan indexed_launch(const ElementwiseTask& task, std::uint32_t registers,
                          const IndexArithmetic& arithmetic,
                          std::function<void(CtaMachine&, const Affine& first)> pass) {
  return flat_launch(task, kThreads * kPasses, registers, indexed_figures(arithmetic),
                     [pass = std::move(pass)](CtaMachine& machine) {
                       machine.part(kFirstIndex);
                       for (int i = 0; i < kPasses; ++i) {
                         machine.part(kElement);
                         pass(machine, block_index(0) * (kThreads * kPasses) + i * kThreads);
                       }
                     });
}

Fragment thread_elements(CtaMachine& machine, ElementType type) {
  return machine.fragment(1, kThreads, type, Layout::element_per_thread, {});
}

LaunchPlan masked_launch(const ElementwiseTask& task, int mask, BinaryOp op) {
  const IndexArithmetic arithmetic{kMaskedDimensions, 3, 1, task.uniform_parameters};
  return indexed_launch(task, 18, arithmetic, [task, mask, op](CtaMachine& machine, const Affine& first) {
    const Fragment values = thread_elements(machine, task.type);
    const Fragment masked = thread_elements(machine, ElementType::boolean);
    machine.load(masked, flat_tile(mask, 0, first, kThreads));
    machine.load(values, flat_tile(task.source, block_index(2), first, kThreads));
    machine.apply(values, op, values, masked);
    machine.store(flat_tile(task.target, block_index(2), first, kThreads), values);
  });
}

}  // namespace

LaunchPlan scale_launch(const ElementwiseTask& task, float factor) {
  const int elements = vector_elements(task);
  const std::uint32_t registers = task.four_elements ? 15 : 32;
  const BuildFigures build = task.four_elements ? four_element_figures(2) : vectorized_figures();
  return flat_launch(task, elements, registers, build, [task, factor, elements](CtaMachine& machine) {
    machine.part(kText);
    const Fragment stored = vectors(machine, task, task.type);
    const Fragment values = vectors(machine, task, ElementType::fp32);
    const Affine first = block_index(0) * elements;
    machine.load(stored, flat_tile(task.source, block_index(2), first, elements));
    machine.convert(values, stored);
    machine.apply(values, BinaryOp::multiply, values, factor);
    machine.convert(stored, values);
    machine.store(flat_tile(task.target, block_index(2), first, elements), stored);
  });
}

LaunchPlan memcpy_launch(const ElementwiseTask& task) {
  const int elements = kThreads * kVectorBytes / element_bytes(task.type);
  return flat_launch(task, elements, 32, vectorized_figures(), [task, elements](CtaMachine& machine) {
    machine.part(kText);
    const Fragment values = machine.fragment(1, elements, task.type, Layout::linear, {});
    const Affine first = block_index(0) * elements;
    machine.load(values, flat_tile(task.source, block_index(2), first, elements));
    machine.store(flat_tile(task.target, block_index(2), first, elements), values);
  });
}

LaunchPlan multiply_launch(const ElementwiseTask& task, int factor) {
  const int elements = vector_elements(task);
  const std::uint32_t registers = task.four_elements ? 19 : 40;
  const BuildFigures build = task.four_elements ? four_element_figures(3) : vectorized_product_figures();
  return flat_launch(task, elements, registers, build, [task, factor, elements](CtaMachine& machine) {
    machine.part(kText);
    const auto loaded = [&](int tensor) {
      const Fragment stored = vectors(machine, task, task.type);
      machine.load(stored, flat_tile(tensor, block_index(2), block_index(0) * elements, elements));
      return stored;
    };
    const auto widened = [&](const Fragment& stored) {
      const Fragment values = vectors(machine, task, ElementType::fp32);
      machine.convert(values, stored);
      return values;
    };
    const Fragment left = loaded(task.source);
    const Fragment right = loaded(factor);
    const Fragment product = widened(left);
    machine.apply(product, BinaryOp::multiply, product, widened(right));
    machine.convert(left, product);
    machine.store(flat_tile(task.target, block_index(2), block_index(0) * elements, elements), left);
  });
}

LaunchPlan masked_fill_launch(const ElementwiseTask& task, int mask) {
  return masked_launch(task, mask, BinaryOp::masked_fill);
}

LaunchPlan masked_zero_launch(const ElementwiseTask& task, int mask) {
  return masked_launch(task, mask, BinaryOp::masked_zero);
}

LaunchPlan add_mask_launch(const ElementwiseTask& task, int mask) {
  const IndexArithmetic arithmetic{kMaskedDimensions, 3, 1, task.uniform_parameters};
  return indexed_launch(task, 20, arithmetic, [task, mask](CtaMachine& machine, const Affine& first) {
    const Fragment stored = thread_elements(machine, task.type);
    const Fragment stored_mask = thread_elements(machine, task.type);
    const Fragment values = thread_elements(machine, ElementType::fp32);
    const Fragment mask_values = thread_elements(machine, ElementType::fp32);
    machine.load(stored, flat_tile(task.source, block_index(2), first, kThreads));
    machine.load(stored_mask, flat_tile(mask, 0, first, kThreads));
    machine.convert(values, stored);
    machine.convert(mask_values, stored_mask);
    machine.apply(values, BinaryOp::add, values, mask_values);
    machine.convert(stored, values);
    machine.store(flat_tile(task.target, block_index(2), first, kThreads), stored);
  });
}

LaunchPlan copy_launch(const ElementwiseTask& task) {
  const IndexArithmetic arithmetic{kRowCopyDimensions, 2, 0, task.uniform_parameters};
  return indexed_launch(task, 18, arithmetic, [task](CtaMachine& machine, const Affine& first) {
    const Fragment values = thread_elements(machine, task.type);
    machine.load(values, flat_tile(task.source, block_index(2), first, kThreads));
    machine.store(flat_tile(task.target, block_index(2), first, kThreads), values);
  });
}

LaunchPlan transposing_copy_launch(const ElementwiseTask& task) {
  const int elements = kThreads * kPasses;
  const std::int64_t columns = ceil_div(task.cols, elements);
  LaunchPlan launch;
  launch.name = task.name;
  launch.grid = grid_of(columns, task.rows, task.segments);
  launch.warps = kWarps;
  launch.registers_per_thread = 18;
  launch.build = indexed_figures({kTransposingCopyDimensions, 2, 0, task.uniform_parameters});
  add_column_programs(launch, columns, task.cols % elements != 0, elements, [&](const Affine& first) {
    return ColumnProgram{
        [task, first](CtaMachine& machine) {
          machine.part(kFirstIndex);
          for (int i = 0; i < kPasses; ++i) {
            machine.part(kElement);
            const Fragment values = thread_elements(machine, task.type);
            const Affine at = first + i * kThreads;
            GlobalTile source{task.source, block_index(2),   at, block_index(1), 1,
                              kThreads,    OutOfRange::leave};
            source.transposed = true;
            machine.load(values, source);
            machine.store({task.target, block_index(2), block_index(1), at, 1, kThreads, OutOfRange::leave},
                          values);
          }
        },
        {}};
  });
  return launch;
}

LaunchPlan fill_launch(const ElementwiseTask& task, float value) {
  const int elements = kThreads * kVectorBytes / element_bytes(ElementType::fp32);
  return flat_launch(task, elements, 16, vectorized_figures(), [task, value](CtaMachine& machine) {
    const Fragment values = machine.fragment(1, elements, ElementType::fp32, Layout::linear, {});
    machine.part(kText);
    machine.fill(values, value);
    machine.store(flat_tile(task.target, block_index(2), block_index(0) * elements, elements), values);
  });
}

LaunchPlan fill_bytes_launch(const ElementwiseTask& task, float value) {
  return flat_launch(task, kThreads, 12, byte_fill_figures(), [task, value](CtaMachine& machine) {
    const Fragment values = thread_elements(machine, ElementType::fp32);
    machine.part(kText);
    machine.fill(values, value);
    machine.store(flat_tile(task.target, block_index(2), block_index(0) * kThreads, kThreads), values);
  });
}

LaunchPlan cast_launch(const ElementwiseTask& task) {
  const int elements = kThreads * kPasses;
  return flat_launch(task, elements, 20, vectorized_figures(), [task](CtaMachine& machine) {
    const Fragment values = machine.fragment(1, elements, ElementType::fp32, Layout::element_per_thread, {});
    const Fragment stored = machine.fragment(1, elements, task.type, Layout::element_per_thread, {});
    const Affine first = block_index(0) * elements;
    machine.part(kText);
    machine.load(values, flat_tile(task.source, block_index(2), first, elements));
    machine.convert(stored, values);
    machine.store(flat_tile(task.target, block_index(2), first, elements), stored);
  });
}

LaunchPlan triu_launch(const ElementwiseTask& task, std::int64_t diagonal) {
  const int elements = kThreads * kPasses;
  const std::int64_t columns = ceil_div(task.cols, elements);
  LaunchPlan launch;
  launch.name = task.name;
  launch.grid = grid_of(columns, task.rows, 1);
  launch.warps = kWarps;
  launch.registers_per_thread = 24;
  launch.build = vectorized_figures();
  add_column_programs(launch, columns, task.cols % elements != 0, elements, [&](const Affine& first) {
    return ColumnProgram{
        [task, diagonal, first](CtaMachine& machine) {
          const GlobalTile source{task.source, 0, block_index(1), first, 1, elements, OutOfRange::leave};
          GlobalTile target = source;
          target.tensor = task.target;
          const Fragment kept =
              machine.fragment(1, elements, ElementType::fp32, Layout::element_per_thread, {});
          const Fragment values =
              machine.fragment(1, elements, ElementType::fp32, Layout::element_per_thread, {});
          machine.part(kText);
          machine.load(values, source);
          // 0 where a score stays, -inf where it is masked: the larger of it and the filled value.
          machine.fill(kept, 0.0F);
          machine.mask(kept, Mask{block_index(1), first, task.cols, true, diagonal});
          machine.apply(values, BinaryOp::max, values, kept);
          machine.store(target, values);
        },
        {}};
  });
  return launch;
}

}  // namespace warpscope::kernels::standard
