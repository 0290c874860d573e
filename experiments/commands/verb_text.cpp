#include "experiments/commands/verb_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/text_table.hpp"
#include "experiments/base/wrapped_text.hpp"

namespace warpscope::experiments {
namespace {

FlagText flag_text(const CLI::Option& option) {
  FlagText flag;
  for (const std::string& name : option.get_snames()) {
    flag.names.push_back('-' + name);
  }
  for (const std::string& name : option.get_lnames()) {
    flag.names.push_back("--" + name);
  }
  if (option.get_positional()) {
    flag.names = {option.get_name(true, false)};
  } else if (option.get_type_size() != 0) {
    flag.value = option.get_type_name();
  }
  flag.help = option.get_description();
  flag.is_required = option.get_required();
  flag.is_repeated = option.get_expected_max() > 1;
  return flag;
}

/// A name and what it means, in two columns.
std::string entry(const std::string& name, const std::string& meaning) {
  constexpr std::size_t kNames = 26;
  const std::string left = "  " + name;
  if (display_width(left) + 2 > kNames) {
    return left + '\n' + wrapped(meaning, std::string(kNames, ' '));
  }
  return wrapped(meaning, padded(left, kNames, false));
}

std::string section(const char* title, const std::vector<FlagText>& flags) {
  std::string text = flags.empty() ? "" : fmt::format("\n{}:\n", title);
  for (const FlagText& flag : flags) {
    text +=
        entry(fmt::format("{}{}{}", fmt::join(flag.names, ", "), flag.value.empty() ? "" : " ", flag.value),
              flag.help + (flag.is_required ? " (required)" : ""));
  }
  return text;
}

}  // namespace

std::string VerbText::usage() const {
  std::string text = path + " [OPTIONS]";
  for (const FlagText& argument : arguments) {
    const std::string shown = argument.names.front() + (argument.is_repeated ? "..." : "");
    text += fmt::format(fmt::runtime(argument.is_required ? " {}" : " [{}]"), shown);
  }
  return verbs.empty() ? text : text + " VERB";
}

VerbText verb_text(const CLI::App& app, const std::string& path) {
  VerbText verb;
  verb.name = app.get_name();
  verb.path = path.empty() ? verb.name : path + ' ' + verb.name;
  verb.description = app.get_description();
  verb.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? verb.arguments : verb.flags).push_back(flag_text(*option));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    verb.verbs.push_back(verb_text(*below, verb.path));
  }
  return verb;
}

std::string help_text(const VerbText& verb) {
  std::string text = wrapped(verb.description) + "Usage: " + verb.usage() + '\n';
  text += section("Arguments", verb.arguments) + section("Options", verb.flags);
  text += verb.verbs.empty() ? "" : "\nVerbs:\n";
  for (const VerbText& below : verb.verbs) {
    text += entry(below.name, below.description);
  }
  return verb.footer.empty() ? text : text + '\n' + wrapped(verb.footer);
}

}  // namespace warpscope::experiments
