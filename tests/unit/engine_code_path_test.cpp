// The path by which code comes to all SMs, window by window.
#include "model/engine/code_path.hpp"

#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::test {
namespace {

using engine::CodePath;
using engine::CodeReader;
using sm::LineRequest;

constexpr sim::Cycles kEpoch = 256;

hw::HwConfig code_config(double lines_per_clk) {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = 8;
  config.sm.icache.gpu_lines_per_clk = lines_per_clk;
  return config;
}

/// `count` lines from `first` on, one in ten cycles from `time` on, each five cycles on its way.
std::vector<LineRequest> lines(std::uint32_t first, int count, std::int32_t time, bool from_memory = false) {
  std::vector<LineRequest> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back(
        {time + 10 * i, time + 10 * i + 5, first + static_cast<std::uint32_t>(i), from_memory});
  }
  return requests;
}

/// Cycle up to which the path is taken once these have been asked for in the first epoch.
sim::Cycles path_free(std::vector<std::vector<LineRequest>> asked, std::vector<CodeReader> readers) {
  CodePath path(code_config(0.25), 64, true, kEpoch);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    readers[i].asked = &asked[i];
  }
  path.begin_window(0);
  path.exchange(readers);
  EXPECT_TRUE(asked[0].empty());
  EXPECT_EQ(path.supply().path_free, 0) << "known from the next epoch on";
  path.begin_window(kEpoch);
  return path.supply().path_free;
}

TEST(CodePath, EachLineTakesItsTime) {
  EXPECT_EQ(path_free({lines(0, 10, 3)}, {{.first_sm = 0}}), 40);
  EXPECT_EQ(path_free({lines(0, 10, 3), lines(0, 20, 3)}, {{.first_sm = 0}, {.first_sm = 2}}), 120);
}

TEST(CodePath, TwoSmsOfATpcBringALineOnce) {
  const std::vector<CodeReader> tpc = {{.first_sm = 2}, {.first_sm = 3}};
  EXPECT_EQ(path_free({lines(0, 10, 3), lines(0, 10, 8)}, tpc), 40) << "it is on its way to the other one";
  EXPECT_EQ(path_free({lines(0, 10, 3), lines(0, 10, 100)}, tpc), 40) << "or there";
  EXPECT_EQ(path_free({lines(0, 10, 3), lines(10, 10, 3)}, tpc), 80) << "another line";
  EXPECT_EQ(path_free({lines(0, 10, 3), lines(0, 10, 3)}, {{.first_sm = 1}, {.first_sm = 2}}), 80);
}

/// Lines within reach of SM 3 once `reader` has brought four in an epoch, before and after that epoch ends.
std::pair<int, int> lines_shared(CodeReader reader, CodeReader mate) {
  const hw::HwConfig config = code_config(1);
  CoreBench bench(config, one_program(Program().op(trace::Opcode::NOP, 512).exit().build()));
  std::vector<LineRequest> asked = lines(20, 4, 3);
  std::vector<LineRequest> nothing;
  reader.asked = &asked;
  mate.asked = &nothing;
  mate.core = &bench.core();
  CodePath path(config, 64, true, kEpoch);
  path.begin_window(0);
  path.exchange({reader, mate});
  const int own = bench.core().near_lines().held();
  path.begin_window(kEpoch - 1);
  const int before = bench.core().near_lines().held();
  path.begin_window(kEpoch);
  return {before - own, bench.core().near_lines().held() - own};
}

TEST(CodePath, AnSmLearnsWhatTheOtherOneOfItsTpcHasBrought) {
  EXPECT_EQ(lines_shared({.first_sm = 2}, {.first_sm = 3}), std::pair(0, 4));
  EXPECT_EQ(lines_shared({.first_sm = 1}, {.first_sm = 2}), std::pair(0, 0)) << "of another TPC";
  EXPECT_EQ(lines_shared({.first_sm = 0, .sms = 5}, {.first_sm = 5, .sms = 5}), std::pair(0, 4))
      << "in place of SMs that are not simulated";
  EXPECT_EQ(lines_shared({.first_sm = 0, .sms = 5, .in_step = true}, {.first_sm = 5, .sms = 5}),
            std::pair(0, 0));
}

TEST(CodePath, OneSmAsksForThoseThatItStandsFor) {
  EXPECT_EQ(path_free({lines(0, 10, 3)}, {{.first_sm = 0, .sms = 6, .in_step = true}}), 120);
  EXPECT_EQ(path_free({lines(0, 10, 3)}, {{.first_sm = 0, .sms = 0}}), 40)
      << "its own lines are on their way";
}

TEST(CodePath, SmsThatKeepNoStepAskForAsManyInTheMean) {
  CodePath path(code_config(1), 64, true, kEpoch);
  std::vector<LineRequest> asked;
  const auto epoch = [&](int number, int count) {
    path.begin_window(number * kEpoch);
    asked = lines(0, count, static_cast<std::int32_t>(number * kEpoch + 1));
    path.exchange({{.asked = &asked, .first_sm = 0, .sms = 5}});
    path.begin_window((number + 1) * kEpoch);
    return path.supply().path_free - number * kEpoch;
  };
  EXPECT_EQ(epoch(0, 10), 10);
  EXPECT_EQ(epoch(1, 20), 20 + 4 * 10);
  EXPECT_EQ(epoch(2, 0), 4 * 15);
}

TEST(CodePath, WhatIsAskedForTooFastQueues) {
  CodePath path(code_config(0.03125), 64, true, kEpoch);
  std::vector<LineRequest> asked = lines(0, 20, 0);
  path.begin_window(0);
  path.exchange({{.asked = &asked}});
  path.begin_window(kEpoch);
  EXPECT_EQ(path.supply().path_free, 640);
  asked = lines(20, 1, 0);
  path.exchange({{.asked = &asked}});
  path.begin_window(2 * kEpoch);
  EXPECT_EQ(path.supply().path_free, 672);
}

TEST(CodePath, WindowsOfAnEpochMayHaveAnyLength) {
  for (const int windows : {1, 2, 4, 8}) {
    CodePath path(code_config(0.25), 64, true, kEpoch);
    for (int i = 0; i < 2 * windows; ++i) {
      const sim::Cycles begin = i * kEpoch / windows;
      path.begin_window(begin);
      if (begin < kEpoch) {
        EXPECT_EQ(path.supply().path_free, 0) << windows;
      } else {
        EXPECT_EQ(path.supply().path_free, 32) << windows;
      }
      std::vector<LineRequest> asked;
      if (begin < kEpoch) {
        const auto first = static_cast<std::uint32_t>(8 / windows * i);
        asked = lines(first, 8 / windows, static_cast<std::int32_t>(begin));
      }
      path.exchange({{.asked = &asked}});
    }
  }
}

TEST(CodePath, OthersSeeALineFromTheMemoryAnEpochAfterItsArrival) {
  CodePath path(code_config(1), 64, false, kEpoch);
  EXPECT_GT(path.supply().in_l2[7], 1 << 30);
  std::vector<LineRequest> early = lines(7, 1, 40, true);
  std::vector<LineRequest> late = lines(7, 2, 90, true);
  path.exchange({{.asked = &late, .origin = 1000}, {.asked = &early, .origin = 1000}});
  EXPECT_EQ(path.supply().in_l2[7], 1045 + kEpoch);
  EXPECT_EQ(path.supply().in_l2[8], 1105 + kEpoch);
  EXPECT_GT(path.supply().in_l2[9], 1 << 30);
  EXPECT_EQ(CodePath(code_config(1), 64, true, kEpoch).supply().in_l2[7], 0);
}

}  // namespace
}  // namespace warpscope::test
