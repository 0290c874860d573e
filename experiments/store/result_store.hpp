// Results of points on disk: what a sweep that is killed goes on from, and what its outputs are made of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "experiments/store/outcome.hpp"
#include "experiments/store/sqlite.hpp"

namespace warpscope::experiments {

/// A SQLite file with one row per point, all of one model version. One program at a time has it open; nobody
/// waits for another. A row that was added stays, whenever the program is killed; if the machine itself goes
/// down the last seconds may be missing. A row whose checksum is wrong was altered or damaged: it counts as
/// absent. Every failure is a FileError of one line that names the file.
class ResultStore {
 public:
  enum class Use {
    fresh,     ///< must hold no result; make it if it is absent
    go_on,     ///< keep what is in it; make it if it is absent
    read_only  ///< must be there
  };
  /// Throws where the file is in use, damaged, something else, or of another model version.
  ResultStore(std::filesystem::path file, Use use, const std::string& model_version);
  /// A store that is gone with the object.
  explicit ResultStore(const std::string& model_version);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  std::optional<Outcome> find(const std::string& key);
  /// Adds a point, or replaces it. `point` describes it to readers of the file.
  void put(const std::string& key, const std::string& point, const Outcome& outcome);
  /// Rows, those that were altered included.
  std::size_t size();
  /// Rows whose checksum is wrong.
  std::size_t altered();
  const std::filesystem::path& file() const { return file_; }
  /// True as long as the file has its name: somebody may delete it, or its folder, while it is in use.
  bool is_in_place() const;
  /// Closes and deletes the file.
  void remove();

 private:
  void open(Use use, const std::string& model_version);
  void open_and_lock(Use use);
  void check_tables();
  void create_tables(const std::string& model_version);
  /// Calls `action`; an SqliteError becomes a line about this file.
  template <typename Action>
  auto guarded(Action&& action);
  [[noreturn]] void fail(const SqliteError& error) const;

  std::filesystem::path file_;
  std::optional<Database> database_;
  std::optional<Statement> find_;
  std::optional<Statement> put_;
};

}  // namespace warpscope::experiments
