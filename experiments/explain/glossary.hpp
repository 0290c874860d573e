// What the words of the reports mean, as a table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

struct GlossaryEntry {
  std::string_view word;
  std::string_view others;  ///< names that mean the same, separated by '|'; may be empty
  std::string_view text;    ///< what it is, what raises it, what to change: two to four sentences
};

struct GlossaryGroup {
  std::string_view title;
  std::span<const GlossaryEntry> entries;
};

/// All groups, in the order in which they are listed.
std::span<const GlossaryGroup> glossary();

/// The word and the others of an entry.
std::vector<std::string> names(const GlossaryEntry& entry);

/// An entry and the group that it is in.
struct GlossaryHit {
  const GlossaryGroup* group = nullptr;
  const GlossaryEntry* entry = nullptr;
};
/// Letter case and all but letters and digits are ignored; the metric of a stall reason is that reason.
/// Nothing where the word is not in the table.
std::optional<GlossaryHit> find_word(std::string_view word);
/// Throws UsageError that names the nearest words.
GlossaryHit explain(std::string_view word);

// The groups, each in a file of its own.
std::span<const GlossaryEntry> stall_entries();
std::span<const GlossaryEntry> unit_entries();
std::span<const GlossaryEntry> resource_entries();
std::span<const GlossaryEntry> metric_entries();
std::span<const GlossaryEntry> report_entries();
std::span<const GlossaryEntry> attention_entries();
std::span<const GlossaryEntry> gpu_entries();

}  // namespace warpscope::experiments
