#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/commands/verb_text.hpp"

namespace warpscope::experiments {
namespace {

/// `text` as troff prints it: a hyphen that can be copied, no escapes, no line that begins a command.
std::string troff(const std::string& text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char symbol : text) {
    result += symbol == '\\' ? "\\e" : symbol == '-' ? "\\-" : std::string(1, symbol);
    result += symbol == '\n' ? "\\&" : "";
  }
  return result;
}

std::string entries(const std::vector<FlagText>& flags) {
  std::string text;
  for (const FlagText& flag : flags) {
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}{}\n", troff(fmt::format("{}", fmt::join(flag.names, ", "))),
                        flag.value.empty() ? "" : fmt::format(" \\fI{}\\fR", troff(flag.value)),
                        troff(flag.help), flag.is_required ? " (required)" : "");
  }
  return text;
}

std::string verb_section(const VerbText& verb) {
  std::string text = fmt::format(".SS {}\n{}\n", troff(verb.usage()), troff(verb.description));
  text += entries(verb.arguments) + entries(verb.flags);
  text += verb.footer.empty() ? "" : fmt::format(".PP\n{}\n", troff(verb.footer));
  for (const VerbText& below : verb.verbs) {
    text += verb_section(below);
  }
  return text;
}

}  // namespace

std::string man_page(const VerbText& program, const std::string& version) {
  const std::size_t colon = program.description.find(": ");
  std::string text = fmt::format(".TH WARPSCOPE 1 \"\" \"warpscope {}\"\n", version);
  text += fmt::format(".SH NAME\nwarpscope \\- {}\n", troff(program.description.substr(colon + 2)));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", troff(program.usage()));
  text += fmt::format(".SH OPTIONS\n{}", entries(program.flags));
  text += ".SH VERBS\n";
  for (const VerbText& verb : program.verbs) {
    text += verb_section(verb);
  }
  text += fmt::format(".SH EXIT STATUS\n{}\n", troff(program.footer));
  text +=
      ".SH ENVIRONMENT\n.TP\n.B WARPSCOPE_HWCONFIGS\nThe folder with the descriptions of GPUs, in place of "
      "the "
      "installed one.\n";
  return text;
}

}  // namespace warpscope::experiments
