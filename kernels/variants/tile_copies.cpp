#include "kernels/variants/tile_copies.hpp"

namespace warpscope::kernels::variants {

void TileCopies::fetch(const SharedTile& target, const GlobalTile& source) const {
  if (async) {
    machine.copy_async(target, source);
    return;
  }
  const Fragment rows = machine.fragment(target.rows, target.cols, target.type, Layout::linear, {});
  machine.load(rows, source);
  machine.store_shared(target, rows);
}

void TileCopies::commit() const {
  if (async) {
    machine.commit_copies();
  }
}

void TileCopies::arrive() const {
  if (async) {
    machine.wait_copies(0);
  }
}

void TileTransfer::start(CtaMachine& machine, const GlobalTile& source) const {
  if (async) {
    machine.copy_async(target, source);
  } else {
    machine.load(rows, source);
  }
}

void TileTransfer::finish(CtaMachine& machine) const {
  if (!async) {
    machine.store_shared(target, rows);
  }
}

}  // namespace warpscope::kernels::variants
