#include "experiments/store/sqlite.hpp"

namespace warpscope::experiments {
namespace {

constexpr int kWaitMilliseconds = 200;  // for another program that is about to let go of the file

[[noreturn]] void fail(sqlite3* database) {
  throw SqliteError(sqlite3_errcode(database), sqlite3_errmsg(database));
}

int flags(Database::Access access) {
  switch (access) {
    case Database::Access::read:
      return SQLITE_OPEN_READONLY;
    case Database::Access::write:
      return SQLITE_OPEN_READWRITE;
    default:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    fail(database);
  }
  statement_.reset(statement);
}

Statement& Statement::bind(int place, std::string_view text) {
  if (sqlite3_bind_text(statement_.get(), place, text.data(), static_cast<int>(text.size()), nullptr) !=
      SQLITE_OK) {
    fail(sqlite3_db_handle(statement_.get()));
  }
  return *this;
}

Statement& Statement::bind(int place, std::int64_t number) {
  if (sqlite3_bind_int64(statement_.get(), place, number) != SQLITE_OK) {
    fail(sqlite3_db_handle(statement_.get()));
  }
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code != SQLITE_DONE) {
    // The reset that has to follow overwrites code and message.
    const SqliteError error(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
    reset();
    throw error;
  }
  reset();
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::string Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string() : std::string(bytes, bytes + static_cast<std::size_t>(size));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

Database::Database(const std::filesystem::path& file, Access access) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags(access), nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) {
    throw SqliteError(code, handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle));
  }
  sqlite3_busy_timeout(handle, kWaitMilliseconds);
}

bool Database::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

void Database::run(const std::string& sql) {
  Statement(handle(), sql).run();
}

std::int64_t Database::integer(const std::string& sql) {
  Statement statement(handle(), sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const std::string& sql) {
  Statement statement(handle(), sql);
  return statement.step() ? statement.text(0) : std::string();
}

}  // namespace warpscope::experiments
