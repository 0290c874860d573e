#include "experiments/store/result_store.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <chrono>
#include <random>
#include <system_error>
#include <thread>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::int64_t kApplication = 0x77737270;  // in the file's header: a store of warpscope
constexpr std::int64_t kFormat = 2;                // of the tables and of the results in them

/// As SQLite keeps them: what a file is compared with.
constexpr std::string_view kAboutTable = "CREATE TABLE about (model_version TEXT NOT NULL)";
constexpr std::string_view kPointsTable =
    "CREATE TABLE points (key TEXT PRIMARY KEY, point TEXT NOT NULL, fate INTEGER NOT NULL, text TEXT NOT "
    "NULL, checksum TEXT NOT NULL)";

/// Of everything in a row. Sizes keep neighbours apart.
std::string checksum(std::string_view key, std::string_view point, std::int64_t fate, std::string_view text) {
  const std::string row =
      fmt::format("{} {} {} {} {}{}{}", key.size(), point.size(), fate, text.size(), key, point, text);
  const XXH128_hash_t hash = XXH3_128bits(row.data(), row.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// The row that `row` stands at: key, point, fate, text, checksum.
bool is_intact(const Statement& row) {
  return row.text(4) == checksum(row.text(0), row.text(1), row.integer(2), row.text(3));
}

/// Another one for each program that waits.
std::chrono::milliseconds some_moment() {
  constexpr int kLongestMilliseconds = 100;
  std::random_device chance;
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(0, kLongestMilliseconds)(chance));
}

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
  guarded([&] {
    open_and_lock(use);
    open(use, model_version);
  });
}

ResultStore::ResultStore(const std::string& model_version) : file_(":memory:") {
  database_.emplace(file_, Database::Access::create);
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

void ResultStore::open_and_lock(Use use) {
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    database_.emplace(file_, use == Use::read_only ? Database::Access::write : Database::Access::create);
    // Exclusive: no second writer, and no shared memory, which network file systems lack.
    database_->run("PRAGMA locking_mode = EXCLUSIVE");
    try {
      database_->run("BEGIN EXCLUSIVE");
      database_->run("COMMIT");
    } catch (const SqliteError& error) {
      if ((error.code() & 0xff) != SQLITE_BUSY || i + 1 == kTries) {
        throw;
      }
      // Two that began to read at once wait for each other, and neither lets go before it closes the file.
      database_.reset();
      std::this_thread::sleep_for(some_moment());
      continue;
    }
    if (!database_->has_moved()) {
      return;
    }
    // Its last user deleted the file while this one waited for the lock: what is open has no name any more.
  }
  throw SqliteError(SQLITE_BUSY, "deleted again and again");
}

void ResultStore::check_tables() {
  const std::string tables = database_->text(
      "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema"
      " WHERE sql IS NOT NULL ORDER BY name)");
  if (tables != fmt::format("{};{}", kAboutTable, kPointsTable)) {
    throw FileError(fmt::format("{}: has other tables than a store of results", file_.string()));
  }
}

void ResultStore::open(Use use, const std::string& model_version) {
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
  if (is_empty && use == Use::read_only) {
    throw FileError(fmt::format("{}: is empty, no store of results", file_.string()));
  }
  if (is_empty) {
    create_tables(model_version);
  }
  const bool usable = database_->integer("PRAGMA user_version") == kFormat;
  if (usable) {
    check_tables();
  }
  const std::string version = usable ? database_->text("SELECT model_version FROM about") : "another format";
  if (version != model_version) {
    throw FileError(
        fmt::format("{}: holds results of model {}, this is model {}; delete the file, or name another",
                    file_.string(), version, model_version));
  }
  const std::int64_t known = database_->integer(
      fmt::format("SELECT count(*) FROM points WHERE fate <> {}", static_cast<int>(Fate::died)));
  if (use == Use::fresh && known > 0) {
    throw FileError(
        fmt::format("{}: holds {} finished point{} of an earlier run; go on from there with --resume, or "
                    "delete the file to start anew",
                    file_.string(), known, known == 1 ? "" : "s"));
  }
  find_.emplace(database_->handle(), "SELECT key, point, fate, text, checksum FROM points WHERE key = ?");
  put_.emplace(database_->handle(), "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?)");
}

void ResultStore::create_tables(const std::string& model_version) {
  database_->run("BEGIN IMMEDIATE");
  database_->run(fmt::format("PRAGMA application_id = {}", kApplication));
  database_->run(fmt::format("PRAGMA user_version = {}", kFormat));
  database_->run(std::string(kAboutTable));
  database_->run(std::string(kPointsTable));
  Statement(database_->handle(), "INSERT INTO about VALUES (?)").bind(1, model_version).run();
  database_->run("COMMIT");
}

std::optional<Outcome> ResultStore::find(const std::string& key) {
  return guarded([&]() -> std::optional<Outcome> {
    if (!find_->bind(1, key).step()) {
      return std::nullopt;
    }
    const bool intact = is_intact(*find_);
    Outcome outcome{static_cast<Fate>(find_->integer(2)), find_->text(3)};
    find_->reset();
    return intact ? std::optional(std::move(outcome)) : std::nullopt;
  });
}

void ResultStore::put(const std::string& key, const std::string& point, const Outcome& outcome) {
  guarded([&] {
    const auto fate = static_cast<std::int64_t>(outcome.fate);
    const std::string sum = checksum(key, point, fate, outcome.text);
    put_->bind(1, key).bind(2, point).bind(3, fate).bind(4, outcome.text).bind(5, sum);
    put_->run();
  });
}

std::size_t ResultStore::size() {
  return guarded([&] { return static_cast<std::size_t>(database_->integer("SELECT count(*) FROM points")); });
}

std::size_t ResultStore::altered() {
  return guarded([&] {
    std::size_t count = 0;
    Statement rows(database_->handle(), "SELECT key, point, fate, text, checksum FROM points");
    while (rows.step()) {
      count += is_intact(rows) ? 0 : 1;
    }
    return count;
  });
}

bool ResultStore::is_in_place() const {
  std::error_code error;
  return std::filesystem::exists(file_, error) && !database_->has_moved();
}

void ResultStore::remove() {
  find_.reset();
  put_.reset();
  guarded([&] {
    database_->run("PRAGMA journal_mode = DELETE");
    // Or closing deletes the journal by its name, and by then it may be that of another program's store.
    database_->run("PRAGMA journal_mode = OFF");
  });
  // While the lock is held: once it is free the name may belong to the store of another program. The store
  // itself goes last: a kill in between must not leave a log without its store.
  for (const char* ending : {"-wal", "-shm", "-journal", ""}) {
    std::error_code error;
    std::filesystem::remove(file_.string() + ending, error);
  }
  database_.reset();
}

void ResultStore::fail(const SqliteError& error) const {
  const std::string name = file_.string();
  // What SQLite says of a damaged file may quote its bytes.
  const std::string what = one_line(error.what());
  switch (error.code() & 0xff) {  // the rest of the bits says more than a user needs
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw FileError(
          fmt::format("{}: is in use by another sweep; wait for it, or name another store", name));
    case SQLITE_NOTADB:
      throw FileError(fmt::format("{}: is no store of results; name another file", name));
    case SQLITE_CORRUPT:
      throw FileError(fmt::format("{}: is damaged ({}); delete it to start again", name, what));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      if (find_ && !is_in_place()) {
        throw FileError(fmt::format("{}: was deleted while it was in use; its results are lost", name));
      }
      throw FileError(
          fmt::format("{}: cannot be written ({}); what is in it is safe: make room and go on with --resume",
                      name, what));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw FileError(fmt::format("{}: cannot be opened: {}", name, what));
    default:
      throw FileError(fmt::format("{}: {}", name, what));
  }
}

}  // namespace warpscope::experiments
