// What the command line says about itself, as plain data: for --help, the man page and shell completion.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warpscope::experiments {

struct FlagText {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional argument its name alone
  std::string value;               ///< what follows it, "FILE"; empty for a switch
  std::string help;
  bool is_required = false;
  bool is_repeated = false;
};

/// The program, or a verb of it.
struct VerbText {
  std::string path;  ///< "warpscope run"
  std::string name;  ///< "run"
  std::string description;
  std::vector<FlagText> flags;
  std::vector<FlagText> arguments;  ///< positional ones
  std::vector<VerbText> verbs;
  std::string footer;

  /// "warpscope run [OPTIONS]"
  std::string usage() const;
};

/// All that CLI11 knows of a verb; `path` is what goes before its name.
VerbText verb_text(const CLI::App& app, const std::string& path = "");

/// For the terminal, in kTerminalColumns.
std::string help_text(const VerbText& verb);
/// The manual of the program and all its verbs, for troff.
std::string man_page(const VerbText& program, const std::string& version);
/// A script that a shell reads to complete the program's command lines.
std::string bash_completion(const VerbText& program);
std::string zsh_completion(const VerbText& program);

}  // namespace warpscope::experiments
