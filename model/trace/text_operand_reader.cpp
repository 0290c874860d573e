#include <fmt/format.h>

#include <optional>
#include <set>

#include "model/trace/text_operand.hpp"

namespace warpscope::trace {
namespace {

constexpr std::string_view kTerms =
    "expected a sum of a number, x, y, z (as x/4*8 for 8*(x/4)), warp*n, i0*n .. i2*n, sym0*n or tab0*n";

/// One term of an affine index, with its sign already taken.
class TermReader {
 public:
  TermReader(TextCursor& cursor, AffineIndex& index) : cursor_(cursor), index_(index) {}

  void read(bool negative) {
    const char next = cursor_.peek();
    if (next >= '0' && next <= '9') {
      claim("the constant");
      index_.offset = magnitude(negative, "constant");
      return;
    }
    const std::string_view base = cursor_.word();
    const std::string term(base);
    if (base == "x" || base == "y" || base == "z") {
      claim(term);
      read_block(static_cast<std::size_t>(base[0] - 'x'), negative);
    } else if (base == "warp") {
      claim(term);
      index_.per_warp = coefficient(negative);
    } else if (base == "i0" || base == "i1" || base == "i2") {
      claim(term);
      index_.per_iteration[static_cast<std::size_t>(base[1] - '0')] = coefficient(negative);
    } else if ((base.starts_with("sym") || base.starts_with("tab")) && base.size() > 3) {
      claim("sym");
      TextCursor number = cursor_.nested(base.substr(3));
      index_.symbol = number.integer<std::int16_t>("symbol", 0);
      number.expect_end("the symbol's number");
      index_.symbol_table = base.starts_with("tab");
      index_.per_symbol = coefficient(negative);
    } else {
      cursor_.fail("address term", base.empty() ? cursor_.lookahead() : base, kTerms);
    }
  }

 private:
  void claim(const std::string& term) {
    if (!seen_.insert(term).second) {
      cursor_.fail("address term", term, "each term may appear once; add its factors together");
    }
  }

  void read_block(std::size_t dimension, bool negative) {
    if (cursor_.accept_adjacent('/')) {
      index_.block_divisor[dimension] = cursor_.integer<std::int32_t>("divisor", 1);
    }
    index_.per_block[dimension] = coefficient(negative);
  }

  std::int64_t coefficient(bool negative) {
    if (cursor_.accept_adjacent('*')) {
      return magnitude(negative, "factor");
    }
    return negative ? -1 : 1;
  }

  /// The sign stands before the term, so that the lowest int64 needs its magnitude as unsigned.
  std::int64_t magnitude(bool negative, std::string_view what) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
    const auto value = cursor_.integer<std::uint64_t>(what, 0, negative ? kMost : kMost - 1);
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }

  TextCursor& cursor_;
  AffineIndex& index_;
  std::set<std::string> seen_;
};

}  // namespace

RegisterRange read_register_range(TextCursor& cursor) {
  if (cursor.accept('-')) {
    return {};
  }
  constexpr std::string_view kLegal =
      "expected R0 .. R4095, P0 .. P15, with :count for several, or - for none";
  const std::string_view found = cursor.word();
  if (found.size() < 2 || (found[0] != 'R' && found[0] != 'P')) {
    cursor.fail("register", found.empty() ? cursor.lookahead() : found, kLegal);
  }
  const bool predicate = found[0] == 'P';
  TextCursor digits = cursor.nested(found.substr(1));
  const auto number =
      digits.integer<std::uint16_t>("register number", 0, predicate ? 15 : kFirstPredicate - 1);
  digits.expect_end("the register's number");
  RegisterRange range;
  range.first = static_cast<std::uint16_t>(number + (predicate ? kFirstPredicate : 0));
  range.count =
      cursor.accept_adjacent(':') ? cursor.integer<std::uint8_t>("register count") : std::uint8_t{1};
  return range;
}

AffineIndex read_affine_index(TextCursor& cursor) {
  AffineIndex index;
  TermReader terms(cursor, index);
  terms.read(cursor.accept('-'));
  while (true) {
    if (cursor.accept_adjacent('+')) {
      terms.read(false);
    } else if (cursor.accept_adjacent('-')) {
      terms.read(true);
    } else {
      return index;
    }
  }
}

MemoryOperand read_memory_operand(TextCursor& cursor, const TensorLookup& tensor_index) {
  cursor.expect('[', "memory operand");
  MemoryOperand operand;
  const bool quoted = cursor.peek() == '"';
  const std::string target = cursor.name("tensor");
  if (quoted || target != "shared") {
    operand.tensor = tensor_index(cursor, target);
  }
  std::set<std::string> seen;
  while (!cursor.accept(']')) {
    const std::string key(cursor.word());
    if (key != "segment" && key != "offset" && key != "bytes" && key != "wavefronts" && key != "lines") {
      cursor.fail("memory operand", key.empty() ? cursor.lookahead() : key,
                  "expected segment=, offset=, bytes=, wavefronts=, lines= or the closing ]");
    }
    if (!seen.insert(key).second) {
      cursor.fail("memory operand", key, "each key may appear once");
    }
    cursor.expect('=', key);
    if (key == "segment") {
      operand.segment = read_affine_index(cursor);
    } else if (key == "offset") {
      operand.offset = read_affine_index(cursor);
    } else if (key == "bytes") {
      operand.bytes = cursor.integer<std::uint32_t>(key);
    } else if (key == "wavefronts") {
      operand.wavefronts = cursor.integer<std::uint16_t>(key);
    } else {
      operand.lines = cursor.integer<std::uint16_t>(key);
    }
  }
  if (!seen.contains("bytes")) {
    cursor.fail("memory operand", target, "needs bytes= of the whole warp instruction");
  }
  return operand;
}

ControlBits read_control_bits(TextCursor& cursor) {
  cursor.expect('{', "control bits");
  ControlBits control;
  while (!cursor.accept('}')) {
    const std::string_view key = cursor.word();
    if (key != "stall" && key != "wr" && key != "rd" && key != "wait") {
      cursor.fail("control bits", key.empty() ? cursor.lookahead() : key,
                  "expected stall=1..15, wr=0..5, rd=0..5, wait=0,3 or the closing }");
    }
    cursor.expect('=', key);
    if (key == "stall") {
      control.stall_cycles = cursor.integer<std::uint8_t>(key, 1, 15);
    } else if (key == "wr") {
      control.write_scoreboard = cursor.integer<std::uint8_t>(key, 0, kScoreboards - 1);
    } else if (key == "rd") {
      control.read_scoreboard = cursor.integer<std::uint8_t>(key, 0, kScoreboards - 1);
    } else {
      do {
        const int bit = cursor.integer<int>(key, 0, kScoreboards - 1);
        control.wait_mask = static_cast<std::uint8_t>(control.wait_mask | (1 << bit));
      } while (cursor.accept_adjacent(','));
    }
  }
  return control;
}

}  // namespace warpscope::trace
