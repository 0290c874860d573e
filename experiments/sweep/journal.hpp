// Finished points, kept on disk while a sweep or a study runs, so that one that is killed can go on.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "experiments/point/point.hpp"

namespace warpscope::experiments {

/// All that decides the result of a point: the point, every key of its GPU, and this very program. Throws
/// what the loader of the GPU throws.
std::string journal_key(const Point& point);

/// The file `<output>.partial`: one JSON line per finished point with its key and its result.
class Journal {
 public:
  explicit Journal(const std::filesystem::path& output);

  /// Reads what an earlier run left. A line that was cut short is not used.
  void load();
  /// Result of the point with that key, or nullptr.
  const std::string* find(const std::string& key) const;
  /// Starts a file with the points that load() found.
  void open();
  void add(const std::string& key, const std::string& result);
  /// Deletes the file: its points are in the output now.
  void remove();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void write_line(const std::string& key, const std::string& result);

  std::filesystem::path path_;
  std::map<std::string, std::string> result_of_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace warpscope::experiments
