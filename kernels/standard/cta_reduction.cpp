#include "kernels/standard/cta_reduction.hpp"

#include "kernels/standard/build_figures.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr unsigned kFirst = 1U << 0;

/// In hardware the total takes the place of the first part, which the same warp has read before.
SharedTile total_of(const SharedTile& parts) {
  return {parts.byte_offset + parts.bytes_per_stage(), 1, 1, ElementType::fp32, 1, 0};
}

}  // namespace

std::vector<int> reduction_roles(int warps) {
  return warps > 1 ? std::vector<int>{1, warps - 1} : std::vector<int>{};
}

SharedTile reduction_parts(int byte_offset, int warps) {
  return {byte_offset, warps, 1, ElementType::fp32, 1, 0};
}

int reduction_bytes(const SharedTile& parts) {
  return parts.bytes_per_stage() + total_of(parts).bytes_per_stage();
}

void reduce_over_cta(CtaMachine& machine, const RowVector& value, const SharedTile& parts, Reduce op) {
  const int copy = op == Reduce::sum ? 1 : 0;
  const int warps = parts.rows;
  const SharedTile total = total_of(parts);
  const auto reduce_parts = [&] {
    machine.load_reduced(value, parts, warps, op);
    machine.store_shared(total, value);
  };
  machine.part(kShuffles, copy);
  machine.finish_rows(value, op);
  machine.barrier();  // the parts of the reduction before may still be read
  machine.store_parts(parts, value);
  machine.barrier();
  machine.part(kFirstWarp, copy);
  machine.role(kFirst, reduce_parts);
  machine.barrier();
  machine.load_shared(value, total);
}

}  // namespace warpscope::kernels::standard
