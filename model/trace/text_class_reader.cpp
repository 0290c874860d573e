#include "model/trace/text_class_reader.hpp"

#include <fmt/format.h>

namespace warpscope::trace {
namespace {

constexpr std::size_t kMostWarps = 32;
constexpr std::size_t kMostTripCounts = 65536;
constexpr std::size_t kMostSymbols = 32768;

void expect_key(TextCursor& cursor, std::string_view key) {
  const std::string_view word = cursor.word();
  if (word != key || !cursor.accept('=')) {
    cursor.fail("class", word.empty() ? cursor.lookahead() : word,
                "expected class programs=NAME*4,NAME trips=1,2 symbols=0,1");
  }
}

}  // namespace

void TextClassReader::read_table(TextCursor& cursor, std::vector<std::uint32_t>& table) {
  while (!cursor.at_end()) {
    const auto first = cursor.integer<std::uint32_t>("class");
    if (cursor.accept_adjacent('*')) {
      const auto count = cursor.integer<std::uint32_t>("run length", 1);
      budget_.take(cursor, count);
      table.insert(table.end(), count, first);
    } else if (cursor.accept_adjacent('.') && cursor.accept_adjacent('.')) {
      const auto last = cursor.integer<std::uint32_t>("class");
      budget_.take(cursor, std::uint64_t{first < last ? last - first : first - last} + 1);
      for (std::uint32_t value = first; value != last; value += first < last ? 1U : ~0U) {
        table.push_back(value);
      }
      table.push_back(last);
    } else {
      budget_.take(cursor, 1);
      table.push_back(first);
    }
  }
}

template <typename T, typename ReadOne>
void TextClassReader::read_list(TextCursor& cursor, std::size_t most, std::vector<T>& list,
                                ReadOne read_one) {
  do {
    const T value = read_one(cursor);
    const std::size_t count =
        cursor.accept_adjacent('*') ? cursor.integer<std::size_t>("run length", 1) : std::size_t{1};
    if (count > most - list.size()) {
      cursor.fail("list", fmt::format("{} values", count), fmt::format("at most {} in all", most));
    }
    budget_.take(cursor, count);
    list.insert(list.end(), count, value);
  } while (cursor.accept(','));
}

CtaClass TextClassReader::read_class(TextCursor& cursor, const NameTable& programs) {
  CtaClass result;
  expect_key(cursor, "programs");
  read_list(cursor, kMostWarps, result.program_of_warp, [&](TextCursor& at) {
    const std::string name = at.name("program");
    const auto found = programs.find(name);
    if (found == programs.end()) {
      at.fail("program", name, "unknown; its `program` block must stand above in this launch");
    }
    return found->second;
  });
  if (!cursor.at_end() && cursor.lookahead() == "trips") {
    expect_key(cursor, "trips");
    read_list(cursor, kMostTripCounts, result.trip_counts,
              [](TextCursor& at) { return at.integer<std::uint32_t>("trip count"); });
  }
  if (!cursor.at_end()) {
    expect_key(cursor, "symbols");
    read_list(cursor, kMostSymbols, result.symbols,
              [](TextCursor& at) { return at.integer<std::int64_t>("symbol"); });
  }
  return result;
}

}  // namespace warpscope::trace
