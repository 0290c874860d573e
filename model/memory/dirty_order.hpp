// The dirty blocks of a cache in the order in which they turned dirty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpscope::memory {

/// A list of block numbers; each is in it at most once and leaves it from anywhere.
class DirtyOrder {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Forgets everything and makes room for so many blocks.
  void reset(std::size_t blocks) {
    links_.assign(blocks, {});
    listed_.assign(blocks, false);
    first_ = last_ = kNone;
  }
  void append(std::uint32_t block) {
    links_[block] = {last_, kNone};
    (last_ == kNone ? first_ : links_[last_].after) = block;
    last_ = block;
    listed_[block] = true;
  }
  void remove(std::uint32_t block) {
    const auto [before, after] = links_[block];
    (before == kNone ? first_ : links_[before].after) = after;
    (after == kNone ? last_ : links_[after].before) = before;
    listed_[block] = false;
  }
  bool contains(std::uint32_t block) const { return listed_[block]; }
  /// The one that has been dirty longest; kNone if there is none.
  std::uint32_t first() const { return first_; }
  std::uint32_t last() const { return last_; }

 private:
  struct Links {
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };

  std::vector<Links> links_;
  std::vector<bool> listed_;  ///< small enough to stay in the host's nearest cache
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
};

}  // namespace warpscope::memory
