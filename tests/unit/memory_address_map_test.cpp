// One flat space of addresses for all tensors.
#include <gtest/gtest.h>

#include <random>

#include "model/memory/address_map.hpp"
#include "model/memory/block_cache.hpp"

namespace warpscope::memory {
namespace {

TEST(AddressMap, TensorsLieBehindOneAnother) {
  const AddressMap map(
      {{.segments = 3, .segment_bytes = 100}, {.segments = 2, .segment_bytes = 2 * kBlockBytes}});
  EXPECT_EQ(map.address(0, 0, 0), 0U);
  EXPECT_EQ(map.address(0, 2, 99), 2U * kBlockBytes + 99U);
  EXPECT_EQ(map.address(1, 0, 0), 3U * kBlockBytes);
  EXPECT_EQ(map.address(1, 1, 7), 5U * kBlockBytes + 7U);
  EXPECT_EQ(map.end(), 7U * kBlockBytes);
}

TEST(AddressMap, NothingLiesBehindSegmentsAndTensors) {
  const AddressMap map({{.segments = 2, .segment_bytes = 100}});
  EXPECT_EQ(map.place(99), (TensorPlace{0, 0, 99}));
  EXPECT_EQ(map.place(100), std::nullopt);
  EXPECT_EQ(map.place(kBlockBytes), (TensorPlace{0, 1, 0}));
  EXPECT_EQ(map.place(map.end()), std::nullopt);
  EXPECT_EQ(AddressMap({}).place(0), std::nullopt);
}

TEST(AddressMap, EveryByteHasAnAddressOfItsOwn) {
  const std::vector<TensorExtent> tensors = {{.segments = 3, .segment_bytes = 1},
                                             {.segments = 4, .segment_bytes = 0},
                                             {.segments = 1, .segment_bytes = kBlockBytes},
                                             {.segments = 2, .segment_bytes = kBlockBytes + 1}};
  const AddressMap map(tensors);
  std::vector<bool> taken(map.end(), false);
  for (std::uint16_t tensor = 0; tensor < tensors.size(); ++tensor) {
    for (std::int64_t segment = 0; segment < tensors[tensor].segments; ++segment) {
      for (std::int64_t offset = 0; offset < tensors[tensor].segment_bytes; ++offset) {
        const std::uint64_t address = map.address(tensor, segment, offset);
        ASSERT_LT(address, map.end());
        ASSERT_FALSE(taken[address]) << "tensor " << tensor << " segment " << segment << " offset " << offset;
        taken[address] = true;
        ASSERT_EQ(map.place(address), (TensorPlace{tensor, segment, offset}));
      }
    }
  }
  for (std::uint64_t address = 0; address < map.end(); ++address) {
    ASSERT_EQ(map.place(address).has_value(), taken[address]) << address;
  }
}

TEST(AddressMap, BlocksOfInterleavedSegmentsTakeTurns) {
  const AddressMap map({{.segments = 1, .segment_bytes = 5 * kBlockBytes},
                        {.segments = 6, .segment_bytes = 2 * kBlockBytes, .interleaved_segments = 3}});
  EXPECT_EQ(map.blocks(0, 0).first, 0);
  EXPECT_EQ(map.blocks(0, 0).step, 1);
  std::vector<std::int64_t> blocks;
  for (std::int64_t segment = 0; segment < 6; ++segment) {
    const SegmentBlocks of_segment = map.blocks(1, segment);
    blocks.push_back(of_segment.first);
    blocks.push_back(of_segment.first + of_segment.step);
  }
  EXPECT_EQ(blocks, (std::vector<std::int64_t>{5, 8, 6, 9, 7, 10, 11, 14, 12, 15, 13, 16}));
}

TEST(AddressMap, GoesBackAndForthWhereTensorsAreLarge) {
  std::mt19937_64 random(7);
  std::vector<TensorExtent> tensors;
  for (int i = 0; i < 40; ++i) {
    tensors.push_back({.segments = static_cast<std::int64_t>(1 + random() % 4096),
                       .segment_bytes = static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << 34))});
  }
  const AddressMap map(tensors);
  for (int i = 0; i < 10000; ++i) {
    const auto tensor = static_cast<std::uint16_t>(random() % tensors.size());
    const auto segment =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tensors[tensor].segments));
    const auto offset =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tensors[tensor].segment_bytes));
    ASSERT_EQ(map.place(map.address(tensor, segment, offset)), (TensorPlace{tensor, segment, offset}));
  }
}

}  // namespace
}  // namespace warpscope::memory
