// How many CTAs fit on an SM: every limit, known kernels on real GPUs, refusals.
#include "model/sm/occupancy.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/hw/config_loader.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::test {
namespace {

trace::Launch launch(std::uint32_t threads, std::uint32_t registers, std::uint32_t shared_bytes) {
  trace::Launch result;
  result.name = "tile";
  result.threads_per_cta = threads;
  result.registers_per_thread = registers;
  result.shared_bytes_per_cta = shared_bytes;
  return result;
}

TEST(Occupancy, WarpsLimitIt) {
  const metrics::Occupancy result = sm::occupancy(test_config(), launch(320, 16, 0));
  EXPECT_EQ(result.limit_warps, 64 / 10);
  EXPECT_EQ(result.ctas_per_sm, 6);
}

TEST(Occupancy, CtaSlotsLimitIt) {
  const metrics::Occupancy result = sm::occupancy(test_config(), launch(32, 16, 0));
  EXPECT_EQ(result.limit_ctas, test_config().sm.max_ctas);
  EXPECT_EQ(result.ctas_per_sm, test_config().sm.max_ctas);
}

TEST(Occupancy, ThreadsAreRoundedUpToWarps) {
  EXPECT_EQ(sm::occupancy(test_config(), launch(225, 16, 0)).ctas_per_sm, 64 / 8);
  EXPECT_EQ(sm::occupancy(test_config(), launch(224, 16, 0)).ctas_per_sm, 64 / 7);
}

TEST(Occupancy, RegistersAreAllocatedPerWarpInUnits) {
  // 40 registers are 1280 per warp, five units of 256; 41 need a sixth.
  EXPECT_EQ(sm::occupancy(test_config(), launch(256, 40, 0)).limit_registers, 16384 / 1280 * 4 / 8);
  EXPECT_EQ(sm::occupancy(test_config(), launch(256, 41, 0)).limit_registers, 16384 / 1536 * 4 / 8);
  EXPECT_EQ(sm::occupancy(test_config(), launch(256, 48, 0)).limit_registers, 16384 / 1536 * 4 / 8);
}

TEST(Occupancy, RegistersOfOneSubCoreCannotServeAnother) {
  // 168 registers are 5376 per warp: 12.2 warps' worth on the SM, but three on each sub-core.
  const metrics::Occupancy result = sm::occupancy(test_config(), launch(32, 168, 0));
  EXPECT_EQ(result.limit_registers, 12);
  // 144 are 4608: 14.2 on the SM, three on each sub-core.
  EXPECT_EQ(sm::occupancy(test_config(), launch(32, 144, 0)).limit_registers, 12);
}

TEST(Occupancy, SharedMemoryIncludesTheReserveAndIsRoundedUp) {
  const hw::SharedMemory& shared = test_config().sm.shared;
  ASSERT_EQ(shared.bytes, 100 * 1024);
  // 24 KiB and the reserve of 1 KiB fit four times; one byte more does not.
  EXPECT_EQ(sm::occupancy(test_config(), launch(32, 16, 24 * 1024)).limit_shared_memory, 4);
  EXPECT_EQ(sm::occupancy(test_config(), launch(32, 16, 24 * 1024 + 1)).limit_shared_memory, 3);
  // Granularity: 19 times (4 KiB + 1 KiB + 256) is 102144; 257 bytes take 384.
  EXPECT_EQ(sm::occupancy(test_config(), launch(32, 16, 4096 + 256)).limit_shared_memory, 19);
  EXPECT_EQ(sm::occupancy(test_config(), launch(32, 16, 4096 + 257)).limit_shared_memory, 18);
}

TEST(Occupancy, WithoutSharedMemoryItDoesNotLimit) {
  hw::HwConfig config = test_config();
  config.sm.shared.reserved_bytes_per_cta = 0;
  EXPECT_EQ(sm::occupancy(config, launch(32, 16, 0)).limit_shared_memory, config.sm.max_ctas);
  EXPECT_EQ(sm::occupancy(config, launch(32, 16, 0)).ctas_per_sm, config.sm.max_ctas);
  EXPECT_EQ(sm::occupancy(config, launch(32, 16, 1)).limit_shared_memory, 102400 / 128);
}

TEST(Occupancy, LargestLegalValuesDoNotOverflow) {
  hw::HwConfig config = test_config();
  config.sm.shared = {.bytes = 1 << 24,
                      .bytes_per_cta = 1 << 24,
                      .reserved_bytes_per_cta = 1 << 20,
                      .allocation_bytes = 65535};
  config.sm.registers = 1 << 24;
  config.sm.register_allocation_unit = 65536;
  EXPECT_EQ(sm::occupancy(config, launch(32, 255, (1 << 24) - (1 << 20) - 65535)).limit_shared_memory, 1);
  EXPECT_EQ(sm::occupancy(config, launch(32, 255, 0)).limit_registers, 256);
  EXPECT_THROW(sm::occupancy(config, launch(32, 255, 1 << 24)), std::invalid_argument);
}

TEST(Occupancy, KnownKernelsOnRealGpus) {
  const std::filesystem::path folder = std::filesystem::path(WARPSCOPE_SOURCE_DIR) / "hwconfigs";
  struct Known {
    const char* gpu;
    std::uint32_t threads, registers, shared_bytes;
    int by_registers, by_shared, ctas;
  };
  const std::vector<Known> known = {
      // FlashAttention-2 forward: head dimension 64 (128 x 128 tiles) and 128 (128 x 64 tiles).
      {"a100-sxm4-80gb", 128, 255, 49152, 2, 3, 2},
      {"h100-sxm5-80gb", 128, 255, 49152, 2, 4, 2},
      {"h200-sxm-141gb", 128, 255, 49152, 2, 4, 2},
      {"a100-sxm4-80gb", 128, 255, 65536, 2, 2, 2},
      {"h100-sxm5-80gb", 128, 255, 65536, 2, 3, 2},
      // 256 threads of 255 registers fill the register file.
      {"a100-sxm4-80gb", 256, 255, 98304, 1, 1, 1},
      {"h100-sxm5-80gb", 256, 255, 98304, 1, 2, 1},
      // CUTLASS attention of xformers is built for 128 registers.
      {"a100-sxm4-80gb", 128, 128, 0, 4, 164, 4},
      {"h100-sxm5-80gb", 128, 128, 0, 4, 228, 4},
  };
  for (const Known& k : known) {
    const hw::HwConfig config = hw::load(k.gpu, {}, folder).config;
    const metrics::Occupancy result = sm::occupancy(config, launch(k.threads, k.registers, k.shared_bytes));
    EXPECT_EQ(result.limit_registers, k.by_registers) << k.gpu;
    EXPECT_EQ(result.limit_shared_memory, k.by_shared) << k.gpu;
    EXPECT_EQ(result.ctas_per_sm, k.ctas) << k.gpu;
  }
}

std::string refusal(const hw::HwConfig& config, const trace::Launch& refused) {
  try {
    sm::occupancy(config, refused);
    return "accepted";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(Occupancy, RefusalsNameLaunchNeedGpuAndLimit) {
  hw::HwConfig config = test_config();
  EXPECT_EQ(refusal(config, launch(1056, 16, 0)),
            "launch 'tile' needs 1056 threads per CTA but test-gpu has at most 1024");
  EXPECT_EQ(refusal(config, launch(32, 256, 0)),
            "launch 'tile' needs 256 registers per thread but test-gpu has at most 255");
  EXPECT_EQ(refusal(config, launch(32, 16, 65537)),
            "launch 'tile' needs 65537 bytes of shared memory per CTA but test-gpu has at most 65536");
  // Nine warps of 255 registers: only eight fit.
  EXPECT_EQ(refusal(config, launch(288, 255, 0)),
            "launch 'tile' needs 73728 registers per CTA but test-gpu has at most 65536");
  config.sm.shared.bytes_per_cta = config.sm.shared.bytes;
  EXPECT_EQ(refusal(config, launch(32, 16, 102400)),
            "launch 'tile' needs 103424 bytes of shared memory per CTA, reserve included but test-gpu has at "
            "most 102400");
  config.sm.max_warps = 16;
  EXPECT_EQ(refusal(config, launch(544, 16, 0)),
            "launch 'tile' needs 17 warps per CTA but test-gpu has at most 16");
}

TEST(Occupancy, LargestThatFitsIsAccepted) {
  EXPECT_EQ(refusal(test_config(), launch(1024, 64, 65536)), "accepted");
  EXPECT_EQ(refusal(test_config(), launch(256, 255, 0)), "accepted");
}

}  // namespace
}  // namespace warpscope::test
