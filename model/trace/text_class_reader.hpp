// Reads CTA classes and the tables that give each CTA its class.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace/launch.hpp"
#include "model/trace/text_cursor.hpp"

namespace warpscope::trace {

/// Index by name, of tensors or programs.
using NameTable = std::unordered_map<std::string, std::uint16_t>;

/// Numbers that a file may spell as runs (`0*1000`): a limit for all of it keeps a short file from filling
/// memory.
class RunBudget {
 public:
  /// Takes `count` numbers; fails at the cursor when the file asks for more than kMost in all.
  void take(TextCursor& cursor, std::uint64_t count) {
    if (count > left_) {
      cursor.fail("list", std::to_string(count) + " values", "a file may spell at most 67108864 in all");
    }
    left_ -= count;
  }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
  std::uint64_t left_ = kMost;
};

/// Reads lists in which `0*1000` stands for a thousand zeros.
class TextClassReader {
 public:
  /// Appends one line of a class table: numbers, runs `3*1000` and ramps `0..15` (also downwards).
  void read_table(TextCursor& cursor, std::vector<std::uint32_t>& table);
  /// `programs=NAME*4,NAME trips=1,2 symbols=0,1`
  CtaClass read_class(TextCursor& cursor, const NameTable& programs);

 private:
  template <typename T, typename ReadOne>
  void read_list(TextCursor& cursor, std::size_t most, std::vector<T>& list, ReadOne read_one);

  RunBudget budget_;
};

}  // namespace warpscope::trace
