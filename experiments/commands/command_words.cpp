#include "experiments/commands/command_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "model/base/did_you_mean.hpp"

namespace warpscope::experiments {
namespace {

using Words = std::vector<std::string>;

Words verbs_of(const CLI::App& level) {
  Words names;
  for (const CLI::App* verb : level.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

Words flags_of(const CLI::App& level) {
  Words names;
  for (const CLI::Option* option : level.get_options()) {
    for (const std::string& name : option->get_snames()) {
      names.push_back('-' + name);
    }
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

bool contains(const Words& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// The flag that `word` begins with, or nothing where it is a value: a standard stream or a negative number.
std::string flag_in(const std::string& word) {
  const bool is_flag = word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
  if (!is_flag || word == "--") {
    return "";
  }
  return word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

}  // namespace

void check_words(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* level = &app;
  std::string command = app.get_name();
  for (const std::string word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    const std::string flag = flag_in(word);
    const Words flags = flags_of(*level);
    if (!flag.empty() && !contains(flags, flag)) {
      throw UsageError(fmt::format("{} {}: unknown; {}`{} --help` lists the flags", level->get_name(),
                                   in_quotes(flag), base::did_you_mean(flag, flags), command));
    }
    const Words verbs = verbs_of(*level);
    if (flag.empty() && !verbs.empty()) {
      if (!contains(verbs, word)) {
        throw UsageError(fmt::format("{} {}: unknown; {}legal are {}", level->get_name(), in_quotes(word),
                                     base::did_you_mean(word, verbs), fmt::join(verbs, ", ")));
      }
      level = level->get_subcommand(word);
      command += ' ' + word;
    }
  }
}

}  // namespace warpscope::experiments
