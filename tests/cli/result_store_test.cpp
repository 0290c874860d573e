#include "experiments/store/result_store.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/usage_error.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::experiments {
namespace {

using cli_test::file_text;
using cli_test::write_text;
using Use = ResultStore::Use;

const Outcome kResult{Fate::done, "{\"cycles\":7}"};

class Store : public testing::Test {
 protected:
  std::string message(Use use, const std::string& version = "v1") {
    try {
      ResultStore(file_, use, version);
    } catch (const FileError& error) {
      std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_TRUE(text.starts_with(file_.string() + ": ")) << text;
      return text.substr(std::min(text.size(), file_.string().size() + 2));
    }
    return "";
  }

  cli_test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_ / "a.store";
};

TEST_F(Store, FindsWhatWasPut) {
  ResultStore store(file_, Use::go_on, "v1");
  store.put("k", "p", {Fate::died, "gone"});
  store.put("k", "p", kResult);
  store.put("k2", "p", {Fate::refused, "no"});
  EXPECT_EQ(store.find("k"), kResult);
  EXPECT_EQ(store.find("k2"), (Outcome{Fate::refused, "no"}));
  EXPECT_EQ(store.find("other"), std::nullopt);
  EXPECT_EQ(store.size(), 2U);
}

TEST_F(Store, KeepsItAcrossPrograms) {
  ResultStore(file_, Use::fresh, "v1").put("k", "p", kResult);
  EXPECT_EQ(directory_.files(), std::vector<std::string>{"a.store"}) << "one plain file, easy to copy";
  EXPECT_EQ(ResultStore(file_, Use::go_on, "v1").find("k"), kResult);
  EXPECT_EQ(ResultStore(file_, Use::read_only, "v1").find("k"), kResult);
}

TEST_F(Store, AFreshOneHoldsNothing) {
  ResultStore(file_, Use::fresh, "v1").put("k", "p", {Fate::died, "gone"});
  EXPECT_EQ(message(Use::fresh), "") << "there is no result to lose";
  ResultStore(file_, Use::go_on, "v1").put("k", "p", kResult);
  EXPECT_EQ(message(Use::fresh),
            "holds 1 finished point of an earlier run; go on from there with --resume, or delete the file to "
            "start anew");
  ResultStore(file_, Use::go_on, "v1").put("k2", "p", {Fate::refused, "no"});
  EXPECT_TRUE(message(Use::fresh).starts_with("holds 2 finished points of an earlier run"));
  EXPECT_EQ(ResultStore(file_, Use::go_on, "v1").find("k"), kResult);
}

TEST_F(Store, ARowThatWasAlteredIsAbsent) {
  {
    ResultStore store(file_, Use::fresh, "v1");
    for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
      store.put(key, "p", kResult);
    }
  }
  for (const char* change :
       {"text = 'no JSON' WHERE key = 'a'", "text = json_set(text, '$.cycles', 1.9e19) WHERE key = 'b'",
        "fate = 9 WHERE key = 'c'", "point = 'q' WHERE key = 'd'", "key = 'x' WHERE key = 'e'"}) {
    Database(file_, Database::Access::write).run(std::string("UPDATE points SET ") + change);
  }
  ResultStore store(file_, Use::go_on, "v1");
  EXPECT_EQ(store.size(), 6U);
  EXPECT_EQ(store.altered(), 5U);
  for (const char* key : {"a", "b", "c", "d", "e", "x"}) {
    EXPECT_EQ(store.find(key), std::nullopt) << key;
  }
  EXPECT_EQ(store.find("f"), kResult);
  store.put("a", "p", kResult);
  EXPECT_EQ(store.find("a"), kResult);
}

TEST_F(Store, WithOtherTablesIsRefused) {
  for (const char* change :
       {"CREATE VIEW v AS SELECT 1", "ALTER TABLE points ADD COLUMN more", "DROP TABLE points",
        "CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM points; END"}) {
    std::filesystem::remove(file_);
    ResultStore(file_, Use::fresh, "v1").put("k", "p", kResult);
    Database(file_, Database::Access::write).run(change);
    EXPECT_EQ(message(Use::go_on), "has other tables than a store of results") << change;
  }
}

TEST_F(Store, OneThatIsDeletedWhileAnotherWaitsIsMadeAnew) {
  ResultStore(file_, Use::fresh, "v1").put("k", "p", kResult);
  // What a program has open that came for the lock just before the last one let go of it.
  Database orphan(file_, Database::Access::write);
  EXPECT_FALSE(orphan.has_moved());
  std::filesystem::remove(file_);
  EXPECT_TRUE(orphan.has_moved());
  const ResultStore store(file_, Use::fresh, "v1");
  EXPECT_TRUE(store.is_in_place());
  std::filesystem::remove(file_);
  EXPECT_FALSE(store.is_in_place());
}

TEST_F(Store, WhoWaitsForTheLastUserGetsAFileWithAName) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ResultStore last(file_, Use::go_on, "v1");
    static_cast<void>(!::write(ready[1], "x", 1));
    ::usleep(50000);  // less than an opener waits for the lock
    last.remove();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  {
    ResultStore store(file_, Use::go_on, "v1");
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(store.is_in_place());
    store.put("k", "p", kResult);
  }
  EXPECT_EQ(ResultStore(file_, Use::read_only, "v1").find("k"), kResult);
}

TEST_F(Store, RemovesAllOfItself) {
  ResultStore store(file_, Use::fresh, "v1");
  store.put("k", "p", kResult);
  store.remove();
  EXPECT_TRUE(directory_.files().empty());
}

TEST_F(Store, LosesNothingWhenKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    ResultStore store(file_, Use::fresh, "v1");
    for (int i = 0; i < 2000; ++i) {
      store.put(std::to_string(i), "p", {Fate::done, std::string(1000, 'x')});
    }
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ResultStore store(file_, Use::read_only, "v1");
  EXPECT_EQ(store.size(), 2000U);
}

TEST_F(Store, OfAnotherModelIsRefused) {
  ResultStore(file_, Use::fresh, "v1").put("k", "p", kResult);
  EXPECT_EQ(message(Use::go_on, "v2"),
            "holds results of model v1, this is model v2; delete the file, or name another");
  EXPECT_EQ(message(Use::fresh, "v2"), message(Use::go_on, "v2"));
}

TEST_F(Store, InUseIsRefused) {
  ResultStore(file_, Use::fresh, "v1").put("k", "p", kResult);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const ResultStore store(file_, Use::go_on, "v1");
    static_cast<void>(!::write(ready[1], "x", 1));
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const std::string expected = "is in use by another sweep; wait for it, or name another store";
  EXPECT_EQ(message(Use::go_on), expected);
  EXPECT_EQ(message(Use::fresh), expected);
  EXPECT_EQ(message(Use::read_only), expected);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(message(Use::go_on), "");
}

TEST_F(Store, DamagedIsRefused) {
  write_text(file_,
             "not a database, but long enough to be taken for the header of one, were it one at all......");
  EXPECT_EQ(message(Use::go_on), "is no store of results; name another file");
  EXPECT_EQ(message(Use::fresh), "is no store of results; name another file");
}

TEST_F(Store, TornPagesAreRefused) {
  {
    ResultStore store(file_, Use::fresh, "v1");
    for (int i = 0; i < 100; ++i) {
      store.put(std::to_string(i), "p", {Fate::done, std::string(1000, 'x')});
    }
  }
  const std::string whole = file_text(file_);
  for (const std::size_t page : {1U, 2U, 5U, 12U}) {
    std::string torn = whole;
    torn.replace(page * 4096, 4096, std::string(4096, '\x5a'));
    write_text(file_, torn);
    EXPECT_TRUE(message(Use::go_on).starts_with("is damaged (")) << "page " << page;
  }
  write_text(file_, whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(message(Use::go_on).starts_with("is damaged ("));
}

TEST_F(Store, SomethingElseIsRefused) {
  Database(file_, Database::Access::create).run("CREATE TABLE mine (x)");
  EXPECT_EQ(message(Use::fresh), "is a database, but no store of results");
  file_ = directory_ / "none.store";
  EXPECT_EQ(message(Use::read_only), "cannot be opened: unable to open database file");
  file_ = directory_ / "none/a.store";
  EXPECT_EQ(message(Use::go_on), "cannot be opened: unable to open database file");
  file_ = directory_.path();
  EXPECT_EQ(message(Use::go_on), "is a directory; a store of results is a file");
}

}  // namespace
}  // namespace warpscope::experiments
