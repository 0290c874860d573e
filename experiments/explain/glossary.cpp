#include "experiments/explain/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "model/base/did_you_mean.hpp"

namespace warpscope::experiments {
namespace {

/// "long_scoreboard" of smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio.
std::string_view without_stall_metric(std::string_view word) {
  constexpr std::string_view kBegin = "smsp__average_warps_issue_stalled_";
  constexpr std::string_view kEnd = "_per_issue_active.ratio";
  return word.starts_with(kBegin) && word.ends_with(kEnd)
             ? word.substr(kBegin.size(), word.size() - kBegin.size() - kEnd.size())
             : word;
}

}  // namespace

std::span<const GlossaryGroup> glossary() {
  static const std::array groups = {
      GlossaryGroup{"Stall reasons", stall_entries()},
      GlossaryGroup{"Pipes and other resources", unit_entries()},
      GlossaryGroup{"What run --why changes", resource_entries()},
      GlossaryGroup{"Words of the reports", report_entries()},
      GlossaryGroup{"Attention", attention_entries()},
      GlossaryGroup{"GPU", gpu_entries()},
      GlossaryGroup{"Metrics", metric_entries()},
  };
  return groups;
}

std::vector<std::string> names(const GlossaryEntry& entry) {
  std::vector<std::string> result = {std::string(entry.word)};
  for (std::string_view rest = entry.others; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    result.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

std::optional<GlossaryHit> find_word(std::string_view word) {
  const std::string meant = base::letters_and_digits(without_stall_metric(word));
  for (const GlossaryGroup& group : glossary()) {
    for (const GlossaryEntry& entry : group.entries) {
      for (const std::string& name : names(entry)) {
        if (name == word || (!meant.empty() && base::letters_and_digits(name) == meant)) {
          return GlossaryHit{&group, &entry};
        }
      }
    }
  }
  return std::nullopt;
}

GlossaryHit explain(std::string_view word) {
  if (const std::optional<GlossaryHit> hit = find_word(word)) {
    return *hit;
  }
  std::vector<std::string> all;
  for (const GlossaryGroup& group : glossary()) {
    for (const GlossaryEntry& entry : group.entries) {
      std::ranges::move(names(entry), std::back_inserter(all));
    }
  }
  throw UsageError(fmt::format("explain {}: unknown; {}`warpscope explain` lists the words", in_quotes(word),
                               base::did_you_mean(word, all)));
}

}  // namespace warpscope::experiments
