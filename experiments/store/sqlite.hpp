// SQLite with C++ ownership and errors as exceptions.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpscope::experiments {

/// What SQLite could not do: its code, and its words.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// SQLITE_BUSY, SQLITE_FULL, ...
  int code() const { return code_; }

 private:
  int code_;
};

/// A prepared statement. Text that is bound must outlive the step.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  Statement& bind(int place, std::string_view text);
  Statement& bind(int place, std::int64_t number);
  /// True if there is a row. Once there is none, the statement is ready for the next values.
  bool step();
  /// Steps through all that is left.
  void run();
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  /// Ready for the next values.
  void reset();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// An open database file.
class Database {
 public:
  enum class Access { read, write, create };
  /// Throws SqliteError. Much of what is wrong with a file shows only in the first statement.
  Database(const std::filesystem::path& file, Access access);

  void run(const std::string& sql);
  std::int64_t integer(const std::string& sql);
  std::string text(const std::string& sql);
  sqlite3* handle() const { return handle_.get(); }
  /// True where the file that is open has been deleted or lost its name.
  bool has_moved() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace warpscope::experiments
