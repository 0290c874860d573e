#include "experiments/store/result_store.hpp"

#include <fmt/format.h>

#include <system_error>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::int64_t kApplication = 0x77737270;  // in the file's header: a store of warpscope
constexpr std::int64_t kFormat = 1;                // of the tables and of the results in them

}  // namespace

template <typename Action>
auto ResultStore::guarded(Action&& action) {
  try {
    return action();
  } catch (const SqliteError& error) {
    fail(error);
  }
}

ResultStore::ResultStore(std::filesystem::path file, Use use, const std::string& model_version)
    : file_(std::move(file)) {
  std::error_code error;
  if (std::filesystem::is_directory(file_, error)) {
    throw FileError(fmt::format("{}: is a directory; a store of results is a file", file_.string()));
  }
  guarded([&] { open(use, model_version); });
}

ResultStore::ResultStore(const std::string& model_version) : file_(":memory:") {
  guarded([&] { open(Use::fresh, model_version); });
}

ResultStore::~ResultStore() {
  try {
    find_.reset();
    put_.reset();
    if (database_) {
      // One plain file without a log beside it: easy to copy to another machine.
      database_->run("PRAGMA journal_mode = DELETE");
    }
  } catch (const SqliteError&) {
    // The log stays beside the file; the next one who opens it takes it over.
  }
}

void ResultStore::open(Use use, const std::string& model_version) {
  database_.emplace(file_, use == Use::read_only ? Database::Access::write : Database::Access::create);
  // Exclusive: no second writer, and no shared memory, which network file systems lack.
  database_->run("PRAGMA locking_mode = EXCLUSIVE");
  if (use != Use::read_only) {
    // Takes the lock in one step: of two that begin to read, neither could go on to write.
    database_->run("BEGIN EXCLUSIVE");
    database_->run("COMMIT");
  }
  const bool is_empty = database_->integer("SELECT count(*) FROM sqlite_schema") == 0;
  if (!is_empty && database_->integer("PRAGMA application_id") != kApplication) {
    throw FileError(fmt::format("{}: is a database, but no store of results", file_.string()));
  }
  if (use != Use::read_only) {
    // A commit is in the hands of the operating system at once and costs no wait for the disk.
    database_->run("PRAGMA journal_mode = WAL");
    database_->run("PRAGMA synchronous = NORMAL");
  }
  if (database_->text("PRAGMA quick_check(1)") != "ok") {
    throw SqliteError(SQLITE_CORRUPT, "its pages do not fit together");
  }
  const bool usable = !is_empty && database_->integer("PRAGMA user_version") == kFormat;
  const std::string version = usable ? database_->text("SELECT model_version FROM about") : "another format";
  if (use == Use::fresh || (is_empty && use == Use::go_on)) {
    create_tables(model_version);
  } else if (is_empty) {
    throw FileError(fmt::format("{}: is empty, no store of results", file_.string()));
  } else if (version != model_version) {
    throw FileError(
        fmt::format("{}: holds results of model {}, this is model {}; delete the file, or name another",
                    file_.string(), version, model_version));
  }
  find_.emplace(database_->handle(), "SELECT fate, text FROM points WHERE key = ?");
  put_.emplace(database_->handle(), "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)");
}

void ResultStore::create_tables(const std::string& model_version) {
  database_->run("BEGIN IMMEDIATE");
  database_->run("DROP TABLE IF EXISTS about");
  database_->run("DROP TABLE IF EXISTS points");
  database_->run(fmt::format("PRAGMA application_id = {}", kApplication));
  database_->run(fmt::format("PRAGMA user_version = {}", kFormat));
  database_->run("CREATE TABLE about (model_version TEXT NOT NULL)");
  database_->run(
      "CREATE TABLE points (key TEXT PRIMARY KEY, point TEXT NOT NULL, fate INTEGER NOT NULL,"
      " text TEXT NOT NULL)");
  Statement(database_->handle(), "INSERT INTO about VALUES (?)").bind(1, model_version).run();
  database_->run("COMMIT");
}

std::optional<Outcome> ResultStore::find(const std::string& key) {
  return guarded([&]() -> std::optional<Outcome> {
    if (!find_->bind(1, key).step()) {
      return std::nullopt;
    }
    Outcome outcome{static_cast<Fate>(find_->integer(0)), find_->text(1)};
    find_->reset();
    return outcome;
  });
}

void ResultStore::put(const std::string& key, const std::string& point, const Outcome& outcome) {
  guarded([&] {
    put_->bind(1, key).bind(2, point).bind(3, static_cast<std::int64_t>(outcome.fate)).bind(4, outcome.text);
    put_->run();
  });
}

std::size_t ResultStore::size() {
  return guarded([&] { return static_cast<std::size_t>(database_->integer("SELECT count(*) FROM points")); });
}

void ResultStore::remove() {
  find_.reset();
  put_.reset();
  database_.reset();
  // The store itself goes last: a kill in between must not leave a log without its store.
  for (const char* ending : {"-wal", "-shm", "-journal", ""}) {
    std::error_code error;
    std::filesystem::remove(file_.string() + ending, error);
  }
}

void ResultStore::fail(const SqliteError& error) const {
  const std::string name = file_.string();
  switch (error.code() & 0xff) {  // the rest of the bits says more than a user needs
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw FileError(
          fmt::format("{}: is in use by another sweep; wait for it, or name another store", name));
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw FileError(fmt::format("{}: is damaged ({}); delete it to start again", name, error.what()));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw FileError(
          fmt::format("{}: cannot be written ({}); what is in it is safe: make room and go on with --resume",
                      name, error.what()));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw FileError(fmt::format("{}: cannot be opened: {}", name, error.what()));
    default:
      throw FileError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace warpscope::experiments
