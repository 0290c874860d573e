#include <fmt/format.h>

#include <iterator>

#include "model/trace/text_operand.hpp"

namespace warpscope::trace {
namespace {

/// Appends `sign base*|factor|`, leaving out what is 1 and the plus before the first term.
void append_term(std::string& text, std::size_t begin, std::int64_t factor, std::string_view base) {
  if (factor < 0) {
    text += '-';
  } else if (text.size() > begin) {
    text += '+';
  }
  text += base;
  const std::uint64_t magnitude =
      factor < 0 ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
  if (base.empty()) {
    fmt::format_to(std::back_inserter(text), "{}", magnitude);
  } else if (magnitude != 1) {
    fmt::format_to(std::back_inserter(text), "*{}", magnitude);
  }
}

}  // namespace

void append(std::string& text, const RegisterRange& range) {
  if (range == RegisterRange{}) {
    text += '-';
    return;
  }
  const bool predicate = range.first >= kFirstPredicate;
  fmt::format_to(std::back_inserter(text), "{}{}", predicate ? 'P' : 'R',
                 range.first - (predicate ? kFirstPredicate : 0));
  if (range.count != 1) {
    fmt::format_to(std::back_inserter(text), ":{}", range.count);
  }
}

void append(std::string& text, const AffineIndex& index) {
  const std::size_t begin = text.size();
  if (index.offset != 0) {
    append_term(text, begin, index.offset, "");
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int32_t divisor = index.block_divisor[d];
    if (index.per_block[d] != 0 || divisor != 1) {
      std::string base(1, static_cast<char>('x' + d));
      if (divisor != 1) {
        base += fmt::format("/{}", divisor);
      }
      append_term(text, begin, index.per_block[d], base);
    }
  }
  if (index.per_warp != 0) {
    append_term(text, begin, index.per_warp, "warp");
  }
  for (std::size_t k = 0; k < index.per_iteration.size(); ++k) {
    if (index.per_iteration[k] != 0) {
      append_term(text, begin, index.per_iteration[k], fmt::format("i{}", k));
    }
  }
  if (index.symbol != kNoSymbol) {
    append_term(text, begin, index.per_symbol,
                fmt::format("{}{}", index.symbol_table ? "tab" : "sym", index.symbol));
  }
  if (text.size() == begin) {
    text += '0';
  }
}

void append(std::string& text, const MemoryOperand& operand, const std::string& tensor_name) {
  text += '[';
  text += operand.tensor == kSharedMemory ? "shared" : quoted_if_needed(tensor_name);
  if (operand.segment != AffineIndex{}) {
    text += " segment=";
    append(text, operand.segment);
  }
  if (operand.offset != AffineIndex{}) {
    text += " offset=";
    append(text, operand.offset);
  }
  fmt::format_to(std::back_inserter(text), " bytes={}", operand.bytes);
  if (operand.wavefronts != 0) {
    fmt::format_to(std::back_inserter(text), " wavefronts={}", operand.wavefronts);
  }
  if (operand.lines != 0) {
    fmt::format_to(std::back_inserter(text), " lines={}", operand.lines);
  }
  text += ']';
}

void append(std::string& text, const ControlBits& control) {
  fmt::format_to(std::back_inserter(text), "{{stall={}", control.stall_cycles);
  if (control.write_scoreboard != kNoScoreboard) {
    fmt::format_to(std::back_inserter(text), " wr={}", control.write_scoreboard);
  }
  if (control.read_scoreboard != kNoScoreboard) {
    fmt::format_to(std::back_inserter(text), " rd={}", control.read_scoreboard);
  }
  std::string_view separator = " wait=";
  for (int bit = 0; bit < kScoreboards; ++bit) {
    if ((control.wait_mask & (1 << bit)) != 0) {
      fmt::format_to(std::back_inserter(text), "{}{}", separator, bit);
      separator = ",";
    }
  }
  text += '}';
}

}  // namespace warpscope::trace
