#include "model/fast/access_batch.hpp"

#include <algorithm>
#include <tuple>

#include "model/memory/block_cache.hpp"

namespace warpscope::fast {
namespace {

auto order(const JoinedAccess& a) {
  return std::tuple(a.kind, a.tensor, a.runs->number, a.begin.segment, a.begin.offset, a.bytes);
}

bool same_target(const JoinedAccess& a, const JoinedAccess& b) {
  return a.kind == b.kind && a.tensor == b.tensor && a.runs == b.runs && a.begin.segment == b.begin.segment;
}

bool repeats(const JoinedAccess& a, const JoinedAccess& b) {
  return same_target(a, b) && a.begin.offset == b.begin.offset && a.bytes == b.bytes && a.lines == b.lines;
}

bool continues(const JoinedAccess& a, const JoinedAccess& b) {
  return same_target(a, b) && a.times == b.times && a.begin.offset + a.bytes == b.begin.offset &&
         a.runs->whole_sectors;
}

/// Where two pieces meet within a sector, both count it.
void append(JoinedAccess& a, const JoinedAccess& b) {
  const bool meet_within = b.begin.offset % memory::kSectorBytes != 0;
  a.bytes += b.bytes;
  a.lines += b.lines;
  a.again_bytes += b.again_bytes + (meet_within ? static_cast<std::uint32_t>(memory::kSectorBytes) : 0);
}

}  // namespace

const std::vector<JoinedAccess>& AccessBatch::join() {
  std::ranges::sort(accesses_,
                    [](const JoinedAccess& a, const JoinedAccess& b) { return order(a) < order(b); });
  const auto fold = [this](auto same, auto into) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < accesses_.size(); ++i) {
      if (same(accesses_[last], accesses_[i])) {
        into(accesses_[last], accesses_[i]);
      } else {
        accesses_[++last] = accesses_[i];
      }
    }
    accesses_.resize(std::min(accesses_.size(), last + 1));
  };
  fold(repeats, [](JoinedAccess& a, const JoinedAccess& b) { a.times += b.times; });
  fold(continues, append);
  return accesses_;
}

}  // namespace warpscope::fast
