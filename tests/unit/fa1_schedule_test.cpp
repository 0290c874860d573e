// FlashAttention-1's loops visit every query step of every key block once, whatever the number of splits.
#include "kernels/fa1/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace warpscope::kernels::fa1 {
namespace {

using Visits = std::map<std::pair<std::int64_t, std::int64_t>, int>;  // (key block, query step) -> times

struct Walk {
  Visits steps;
  Visits final_steps;
};

void walk_block(const Schedule& plan, const PlanClass& split, const KeyBlock& block, std::int64_t iteration,
                std::int64_t splits, Walk& walk) {
  const std::int64_t number = block.number + iteration * static_cast<std::int64_t>(plan.period.size());
  const auto trips = [&](int slot) {
    return std::int64_t{split.trip_counts[static_cast<std::size_t>(slot)]};
  };
  const auto first = [&](int symbol) {
    return split.symbols[static_cast<std::size_t>(symbol)] + iteration * plan.steps_per_period;
  };
  for (std::int64_t i = 0; i < trips(block.diagonal_slot); ++i) {
    ++walk.steps[{number, first(block.diagonal_symbol) + i * splits}];
    ++walk.final_steps[{number, first(block.diagonal_symbol) + i * splits}];
  }
  for (std::int64_t i = 0; i < trips(block.below_slot) + iteration * plan.trips_per_period; ++i) {
    ++walk.steps[{number, first(block.below_symbol) + i * splits}];
  }
}

Walk walk(const Config& config, bool causal) {
  const Schedule plan = schedule(config, causal);
  Walk result;
  for (const PlanClass& split : plan.classes) {
    const auto once = [&](const KeyBlock& block) {
      if (split.trip_counts[static_cast<std::size_t>(block.exists_slot)] > 0) {
        walk_block(plan, split, block, 0, config.num_splits, result);
      }
    };
    once(plan.first);
    const std::int64_t periods = split.trip_counts[static_cast<std::size_t>(plan.periods_slot)];
    for (std::int64_t iteration = 0; iteration < periods; ++iteration) {
      for (const KeyBlock& block : plan.period) {
        walk_block(plan, split, block, iteration, config.num_splits, result);
      }
    }
    for (const KeyBlock& block : plan.rest) {
      once(block);
    }
  }
  return result;
}

Config config_of(int block_keys, std::int64_t seqlen, int splits) {
  Config config;
  config.block_keys = block_keys;
  config.key_blocks = static_cast<int>((seqlen + block_keys - 1) / block_keys);
  config.query_steps = static_cast<int>((seqlen + config.step_rows - 1) / config.step_rows);
  config.num_splits = splits;
  return config;
}

TEST(Fa1Schedule, EveryStepOnceAndFinalOnce) {
  for (const bool causal : {false, true}) {
    for (const int block_keys : {128, 256}) {
      for (const std::int64_t seqlen : {1, 17, 128, 129, 500, 512, 1000, 2048, 3000}) {
        for (int splits = 1; splits <= 30; ++splits) {
          SCOPED_TRACE(testing::Message() << "causal " << causal << " keys " << block_keys << " seqlen "
                                          << seqlen << " splits " << splits);
          const Config config = config_of(block_keys, seqlen, splits);
          const Walk got = walk(config, causal);
          std::size_t expected = 0;
          for (int block = 0; block < config.key_blocks; ++block) {
            const int begin = causal ? block * config.block_keys / config.step_rows : 0;
            for (int step = begin; step < config.query_steps; ++step, ++expected) {
              const auto visits = got.steps.find({block, step});
              ASSERT_TRUE(visits != got.steps.end() && visits->second == 1) << block << " " << step;
            }
          }
          ASSERT_EQ(got.steps.size(), expected);
          ASSERT_EQ(got.final_steps.size(), static_cast<std::size_t>(config.query_steps));
        }
      }
    }
  }
}

TEST(Fa1Schedule, ProgramStaysSmallForLongSequences) {
  const Schedule plan = schedule(config_of(128, 16384, 13), true);
  EXPECT_LE(plan.period.size() + plan.rest.size(), 28U);
}

TEST(Fa1Config, SplitsFollowTheHeuristicOfTheLibrary) {
  const GpuLimits h200{9, 0, 132, 228 * 1024, 227 * 1024, 0};
  const auto splits = [&](std::int64_t batch, std::int64_t heads, std::int64_t d) {
    return configure({batch, heads, heads, 8192, 8192, d}, h200, kFa1Options).num_splits;
  };
  // Grids that version 1.0.9 launches on an H200.
  EXPECT_EQ(splits(32, 32, 64), 1);
  EXPECT_EQ(splits(2, 32, 64), 4);
  EXPECT_EQ(splits(2, 16, 128), 8);
}

TEST(Fa1Config, SharedMemoryIsThatOfTheLaunch) {
  const GpuLimits h200{9, 0, 132, 228 * 1024, 227 * 1024, 0};
  EXPECT_EQ(configure({1, 1, 1, 512, 512, 64}, h200, kFa1Options).shared_bytes, 36992);
  EXPECT_EQ(configure({1, 1, 1, 512, 512, 128}, h200, kFa1Options).shared_bytes, 41600);
  EXPECT_EQ(configure({1, 1, 1, 256, 256, 32}, h200, kFa1Options).shared_bytes, 18432);
}

}  // namespace
}  // namespace warpscope::kernels::fa1
