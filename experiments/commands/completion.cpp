// Scripts for shells. Both walk the words to the verb, then offer what may follow the last of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

#include "experiments/commands/verb_text.hpp"

namespace warpscope::experiments {
namespace {

using Words = std::vector<std::string>;

/// Values that a shell can offer behind a flag or as an argument: words, or what `list` prints.
struct Values {
  std::string_view name;
  std::string_view words;  ///< of a shell, separated by blanks
};

constexpr std::array kValues = {
    Values{"--gpu", R"($("$program" list gpus 2>/dev/null | awk 'NR > 1 && !/^ / {print $1}'))"},
    Values{"--kernel", R"($("$program" list kernels 2>/dev/null | awk 'NR > 1 && !/^ / {print $1}'))"},
    Values{"--mode", "fast detailed"},
    Values{"--l2", "cold warm"},
    Values{"--pass", "fwd"},
    Values{"--dtype", "fp16 bf16"},
    Values{"--require", "faster slower same"},
};
constexpr std::array kArguments = {
    Values{"warpscope study", R"($("$program" list studies 2>/dev/null | awk 'NR > 1 && !/^ / {print $1}'))"},
    Values{"warpscope config show",
           R"($("$program" list gpus 2>/dev/null | awk 'NR > 1 && !/^ / {print $1}'))"},
};

template <typename Table>
std::string_view words_of(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Values::name);
  return found == table.end() ? std::string_view() : found->words;
}

bool takes_file(const FlagText& flag) {
  return flag.value == "FILE" || flag.value == "DIR" || flag.names.front() == "FILE" ||
         flag.names.front() == "STORE";
}

void for_each_verb(const VerbText& verb, const std::function<void(const VerbText&)>& visit) {
  visit(verb);
  for (const VerbText& below : verb.verbs) {
    for_each_verb(below, visit);
  }
}

Words flag_names(const VerbText& verb) {
  Words names;
  for (const FlagText& flag : verb.flags) {
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  return names;
}

/// Everything that may stand where a verb's next word stands: verbs, flags and known arguments.
std::string words_behind(const VerbText& verb) {
  Words words;
  for (const VerbText& below : verb.verbs) {
    words.push_back(below.name);
  }
  for (const std::string& flag : flag_names(verb)) {
    words.push_back(flag);
  }
  return fmt::format("{} {}", fmt::join(words, " "), words_of(kArguments, verb.path));
}

/// The branches of a `case` over "verb flag", for flags with a value. Of several verbs with the same flag the
/// branches are joined.
struct Cases {
  Words files;                                            ///< "warpscope run --json"
  std::vector<std::pair<std::string, Words>> word_lists;  ///< the words, and the patterns that offer them
  Words silent;                                           ///< a value that only the user knows
};

Cases cases(const VerbText& program) {
  Cases result;
  for_each_verb(program, [&](const VerbText& verb) {
    for (const FlagText& flag : verb.flags) {
      for (const std::string& name : flag.names) {
        const std::string pattern = fmt::format("'{} {}'", verb.path, name);
        const std::string_view words = words_of(kValues, name);
        if (flag.value.empty()) {
          continue;
        }
        if (words.empty()) {
          (takes_file(flag) ? result.files : result.silent).push_back(pattern);
          continue;
        }
        auto list = std::ranges::find(result.word_lists, words, &std::pair<std::string, Words>::first);
        if (list == result.word_lists.end()) {
          list = result.word_lists.insert(list, {std::string(words), {}});
        }
        list->second.push_back(pattern);
      }
    }
  });
  return result;
}

Words verb_paths(const VerbText& program) {
  Words paths;
  for_each_verb(program, [&](const VerbText& verb) { paths.push_back(fmt::format("'{}'", verb.path)); });
  paths.erase(paths.begin());
  return paths;
}

bool has_file_argument(const VerbText& verb) {
  return std::ranges::any_of(verb.arguments, takes_file);
}

std::string joined(const Words& patterns) {
  return fmt::format("{}", fmt::join(patterns, " | \\\n    "));
}

/// What differs between the shells.
struct Shell {
  const char* begin;  ///< up to the walk over the words; sets `program`, `path` and `before`
  const char* files;  ///< offers files
  const char* words;  ///< offers the blank-separated words in {}
  const char* end;
};

std::string script(const VerbText& program, const Shell& shell) {
  const Cases all = cases(program);
  std::string text = fmt::format(fmt::runtime(shell.begin), joined(verb_paths(program)));
  text += fmt::format("  case \"$path $before\" in\n  {})\n    {}\n    return ;;\n", joined(all.files),
                      shell.files);
  for (const auto& [words, patterns] : all.word_lists) {
    text += fmt::format("  {})\n    {}\n    return ;;\n", joined(patterns),
                        fmt::format(fmt::runtime(shell.words), words));
  }
  text += fmt::format("  {})\n    return ;;\n  esac\n  case \"$path\" in\n", joined(all.silent));
  for_each_verb(program, [&](const VerbText& verb) {
    text += fmt::format("  '{}')\n    {}\n", verb.path,
                        fmt::format(fmt::runtime(shell.words), words_behind(verb)));
    text += has_file_argument(verb) ? fmt::format("    {}\n", shell.files) : "";
    text += "    ;;\n";
  });
  return text + "  esac\n" + shell.end;
}

constexpr Shell kBash = {
    R"(# bash completion of warpscope; `warpscope completion bash` prints it.
# shellcheck shell=bash disable=SC2207
_warpscope() {{
  local program=$1 current=$2 before=$3 path=warpscope word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in
    {})
      path="$path $word" ;;
    esac
  done
)",
    R"(COMPREPLY+=($(compgen -f -- "$current")))", R"(COMPREPLY+=($(compgen -W "{}" -- "$current")))",
    R"(}
complete -o filenames -F _warpscope warpscope
)"};

constexpr Shell kZsh = {R"(#compdef warpscope
# zsh completion of warpscope; `warpscope completion zsh` prints it.
_warpscope() {{
  local program=$words[1] before=$words[CURRENT-1] word
  local path=warpscope
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$path $word" in
    {})
      path="$path $word" ;;
    esac
  done
)",
                        "_files", R"(compadd -- ${{=:-{}}})", R"(}
_warpscope "$@"
)"};

}  // namespace

std::string bash_completion(const VerbText& program) {
  return script(program, kBash);
}

std::string zsh_completion(const VerbText& program) {
  return script(program, kZsh);
}

}  // namespace warpscope::experiments
