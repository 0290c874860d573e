// `warpscope explain`: what a word of the reports means.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/base/output.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/explain/glossary.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainFlags {
  std::vector<std::string> words;
  bool json = false;
};

Json entry_json(const GlossaryGroup& group, const GlossaryEntry& entry) {
  std::vector<std::string> others = names(entry);
  others.erase(others.begin());
  return {{"word", entry.word}, {"other_names", others}, {"group", group.title}, {"text", entry.text}};
}

Json all_json() {
  Json json = Json::array();
  for (const GlossaryGroup& group : glossary()) {
    for (const GlossaryEntry& entry : group.entries) {
      json.push_back(entry_json(group, entry));
    }
  }
  return json;
}

std::string entry_text(const GlossaryHit& hit) {
  const std::vector<std::string> all = names(*hit.entry);
  std::string text = fmt::format("{}: {}\n", hit.group->title, hit.entry->word);
  if (all.size() > 1) {
    text += wrapped(fmt::format("{}", fmt::join(all.begin() + 1, all.end(), ", ")), "  also: ");
  }
  return text + '\n' + wrapped(hit.entry->text, "  ");
}

std::string list_text() {
  std::string text;
  for (const GlossaryGroup& group : glossary()) {
    text += fmt::format("{}\n", group.title);
    std::vector<std::string_view> words;
    for (const GlossaryEntry& entry : group.entries) {
      words.push_back(entry.word);
    }
    text += wrapped(fmt::format("{}", fmt::join(words, ", ")), "  ") + '\n';
  }
  return text + "`warpscope explain WORD` explains one of them.\n";
}

Status explain_command(const ExplainFlags& flags) {
  if (flags.words.empty()) {
    print_output(flags.json ? all_json().dump(2) + '\n' : list_text());
    return Status::done;
  }
  const GlossaryHit hit = explain(fmt::format("{}", fmt::join(flags.words, " ")));
  print_output(flags.json ? entry_json(*hit.group, *hit.entry).dump(2) + '\n' : entry_text(hit));
  return Status::done;
}

}  // namespace

void add_explain_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("explain", "Explain a word of the reports, or list all of them");
  const auto flags = std::make_shared<ExplainFlags>();
  verb->add_option("WORD", flags->words, "a stall reason, pipe, metric or term");
  verb->add_flag("--json", flags->json, "print JSON");
  verb->callback([flags, &action] { action = [flags] { return explain_command(*flags); }; });
}

}  // namespace warpscope::experiments
