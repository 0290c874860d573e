// Finished rows of a sweep, kept on disk while it runs, so that a sweep that is killed can go on.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace warpscope::experiments {

/// The file `<output>.partial`: one JSON line per finished row with all that its result depends on.
class Journal {
 public:
  explicit Journal(const std::filesystem::path& output);

  /// Reads what an earlier sweep left. A line that was cut short is not used.
  void load();
  /// Cells of the row with that key, or nullptr.
  const std::string* find(const std::string& key) const;
  /// Starts a file with the rows that load() found.
  void open();
  void add(const std::string& key, const std::string& cells);
  /// Deletes the file: its rows are in the output now.
  void remove();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void write_line(const std::string& key, const std::string& cells);

  std::filesystem::path path_;
  std::map<std::string, std::string> cells_of_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace warpscope::experiments
