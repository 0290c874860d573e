// What a scan varies: lists and ranges of values for a flag or a key of the GPU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

/// The most points that one scan may have.
inline constexpr std::size_t kMostScanPoints = 10'000;

/// One thing that varies.
struct ScanAxis {
  std::string field;  ///< of a point ("seqlen_q"), or a key of the GPU ("sm.xu.lanes")
  std::string name;   ///< what tables call it: "seqlen", "sm.xu.lanes"
  std::vector<std::string> values;

  bool is_gpu_key() const { return field.find('.') != std::string::npos; }
};

/// True for text that expand_values() makes more of than one value.
bool is_list_or_range(std::string_view text);

/// "1,2,4" -> 1 2 4; "512:4096:x2" -> 512 1024 2048 4096; "512:2048:+512" -> 512 1024 1536 2048. The parts of
/// a list may be ranges. Throws UsageError that begins with `flag` for text of another form, for words where
/// only integers are legal, and for more values than a scan may have points.
std::vector<std::string> expand_values(const std::string& flag, std::string_view text, bool only_integers);

}  // namespace warpscope::experiments
