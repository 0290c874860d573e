// A memory of one's own in place of L2 and HBM: the example to start from, and the cycles that it must give.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "experiments/point/run.hpp"
#include "kernels/kernel.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "model/memory/tlm_memory.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::memory {
namespace {

using test::test_config;

/// What a target has seen; it dies with the simulation, and this does not.
struct Seen {
  int reads = 0;
  int writes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t last_address = 0;
  std::uint64_t last_time = 0;  ///< at which the request has left its SM, in femtoseconds
  bool in_order = true;
  bool time_went_on = false;
};

/// Any TLM-2.0 target: it includes nothing of this project. Each access takes as long.
class FixedLatencyTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<FixedLatencyTarget> socket;

  FixedLatencyTarget(const sc_core::sc_module_name& name, double nanoseconds, Seen& seen)
      : sc_module(name), socket("socket"), latency_(nanoseconds, sc_core::SC_NS), seen_(seen) {
    socket.register_b_transport(this, &FixedLatencyTarget::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t now = (sc_core::sc_time_stamp() + delay).value();
    seen_.in_order = seen_.in_order && now >= seen_.last_time;
    seen_.time_went_on = seen_.time_went_on || sc_core::sc_time_stamp() > sc_core::SC_ZERO_TIME;
    seen_.last_time = now;
    seen_.last_address = payload.get_address();
    if (payload.is_read()) {
      ++seen_.reads;
      seen_.read_bytes += payload.get_data_length();
      std::fill_n(payload.get_data_ptr(), payload.get_data_length(), 0);
    } else {
      ++seen_.writes;
    }
    delay += latency_;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  sc_core::sc_time latency_;
  Seen& seen_;
};

/// The target, and what makes payloads of the requests of SMs.
class FixedLatencyMemory : public TlmMemory {
 public:
  FixedLatencyMemory(const std::vector<TensorExtent>& tensors, double nanoseconds, double least, Seen& seen)
      : TlmMemory("memory", tensors, sc_core::sc_time(least, sc_core::SC_NS)),
        target_("target", nanoseconds, seen) {
    socket.bind(target_.socket);
  }

 private:
  FixedLatencyTarget target_;
};

gpu::SimulationOptions on_fixed_latency(double nanoseconds, Seen& seen, double least = 0) {
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  options.memory = [nanoseconds, least, &seen](const hw::HwConfig&,
                                               const std::vector<TensorExtent>& tensors) {
    return std::make_unique<FixedLatencyMemory>(tensors, nanoseconds, least > 0 ? least : nanoseconds, seen);
  };
  return options;
}

/// One warp that loads 512 bytes and ends once they are there.
trace::Trace one_load() {
  test::Program program;
  program.op(trace::Opcode::LDG_128).writes(1, 4).global(1, 640, 512).exit().reads(4);
  return {{test::tensor("a", 1000), test::tensor("b", 1 << 20)}, {test::one_program(program.build())}};
}

std::int64_t cycles_of_one_load(int mhz, double nanoseconds) {
  hw::HwConfig config = test_config();
  config.clock.max_mhz = mhz;
  Seen seen;
  const metrics::SimulationResult result =
      gpu::simulate(config, one_load(), on_fixed_latency(nanoseconds, seen));
  EXPECT_EQ(seen.reads, 1);
  EXPECT_EQ(seen.read_bytes, 512U);
  EXPECT_EQ(seen.last_address, 2048U + 640U) << "behind the only block of the first tensor";
  return result.cycles;
}

TEST(ForeignMemory, ALoadTakesItsIssueAndTheLatencyOfTheTarget) {
  const hw::Sm sm = test_config().sm;
  // The CTA starts a cycle in, the line of the program is fetched, and the load leaves as it issues. EXIT
  // issues in the cycle in which the data is there, which is the last of the launch.
  const std::int64_t sent = 1 + sm.icache.l1_fill_cycles;
  EXPECT_EQ(cycles_of_one_load(1000, 400), sent + 400 + 1);
  EXPECT_EQ(cycles_of_one_load(1755, 400), sent + 702 + 1);
  EXPECT_EQ(cycles_of_one_load(1755, 401), sent + 704 + 1) << "703.755 cycles: on the next edge";
}

TEST(ForeignMemory, TheKernelStandsAtTheTimeOfTheGpu) {
  hw::HwConfig config = test_config();
  config.clock.max_mhz = 1755;
  Seen seen;
  trace::Trace trace = one_load();
  trace.launches.push_back(trace.launches[0]);
  const metrics::SimulationResult result = gpu::simulate(config, trace, on_fixed_latency(400, seen));
  EXPECT_EQ(seen.reads, 2) << "launches are simulated one after another, also where they are alike";
  const double gap_us = result.time_us - result.launches[0].time_us - result.launches[1].time_us;
  EXPECT_GT(gap_us, 0);
  const double sent_us = (static_cast<double>(result.launches[0].cycles) - 1 - 702) / 1755;
  EXPECT_NEAR(static_cast<double>(seen.last_time) / 1e9, result.launches[0].time_us + gap_us + sent_us, 1e-6);
  EXPECT_TRUE(seen.time_went_on);
}

// The gap begins with the end of a launch, however long answers take that it has not waited for.
TEST(ForeignMemory, TheKernelCountsTheGapFromTheEndOfALaunch) {
  hw::HwConfig config = test_config();
  config.launch.overhead_us = 9;
  test::Program program;
  program.op(trace::Opcode::LDG_128).global(0, 0, 512).exit();
  trace::Trace trace{{test::tensor("t", 1 << 20)}, {test::one_program(program.build_controlled())}};
  trace.launches.push_back(trace.launches[0]);
  Seen seen;
  const metrics::SimulationResult result = gpu::simulate(config, trace, on_fixed_latency(4000, seen));
  ASSERT_LT(result.launches[0].time_us, 1);
  const double sent_us = (1 + config.sm.icache.l1_fill_cycles) * 1e-3;
  EXPECT_NEAR(static_cast<double>(seen.last_time) / 1e9,
              result.time_us - result.launches[1].time_us + sent_us, 1e-6);
}

TEST(ForeignMemory, RunsAWholeKernel) {
  const hw::HwConfig config = hw::load("h100-sxm5-80gb", {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config;
  kernels::Problem problem;
  problem.heads = 4;
  problem.heads_kv = 4;
  problem.seqlen_q = 512;
  problem.seqlen_k = 512;
  problem.head_dim = 64;
  const trace::Trace trace = kernels::find_kernel("fa2").build(problem, experiments::limits_of(config));
  Seen near;
  const metrics::SimulationResult quick = gpu::simulate(config, trace, on_fixed_latency(400, near));
  EXPECT_TRUE(near.in_order) << "requests of all SMs come in the order of time";
  EXPECT_GE(near.read_bytes, 3U * 4 * 512 * 64 * 2) << "Q, K and V";
  EXPECT_GT(near.writes, 0);
  Seen far;
  const metrics::SimulationResult slow = gpu::simulate(config, trace, on_fixed_latency(4000, far));
  EXPECT_EQ(far.read_bytes, near.read_bytes);
  EXPECT_GT(slow.cycles, quick.cycles + 3600 * config.clock.tensor_mhz / 1000);

  // How long windows may be, and who runs them, changes nothing.
  Seen again;
  gpu::SimulationOptions options = on_fixed_latency(400, again, 50);
  options.threads = 3;
  EXPECT_EQ(gpu::simulate(config, trace, options).cycles, quick.cycles);
}

TEST(ForeignMemory, RefusesAnswersThatComeTooSoon) {
  Seen seen;
  try {
    gpu::simulate(test_config(), one_load(), on_fixed_latency(100, seen, 400));
    FAIL() << "an SM would have had to know of it";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "memory 'memory' answers the read of 512 bytes at address 0xa80 that SM 0 sent at cycle 6 "
              "after 100 ns; "
              "the least is 400 ns, as it was made");
  }
}

TEST(ForeignMemory, RefusesALeastLatencyOfNothing) {
  Seen seen;
  EXPECT_THROW(gpu::simulate(test_config(), one_load(), on_fixed_latency(0.5, seen)), std::invalid_argument);
}

TEST(ForeignMemory, RunsInDetailedModeOnly) {
  Seen seen;
  gpu::SimulationOptions options = on_fixed_latency(400, seen);
  options.mode = gpu::Mode::fast;
  EXPECT_THROW(gpu::simulate(test_config(), one_load(), options), std::invalid_argument);
}

/// A target that does look at what requests say of themselves.
class CuriousTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<CuriousTarget> socket;

  CuriousTarget(const sc_core::sc_module_name& name, std::vector<RequestInfo>& seen)
      : sc_module(name), socket("socket"), seen_(seen) {
    socket.register_b_transport(this, &CuriousTarget::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    seen_.push_back(*payload.get_extension<RequestInfo>());
    EXPECT_EQ(payload.is_read(), seen_.back().kind == AccessKind::read);
    delay += sc_core::sc_time(400, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::vector<RequestInfo>& seen_;
};

class CuriousMemory : public TlmMemory {
 public:
  CuriousMemory(const std::vector<TensorExtent>& tensors, std::vector<RequestInfo>& seen)
      : TlmMemory("memory", tensors, sc_core::sc_time(400, sc_core::SC_NS)), target_("target", seen) {
    socket.bind(target_.socket);
  }

 private:
  CuriousTarget target_;
};

TEST(ForeignMemory, MayAskWhatARequestIs) {
  std::vector<RequestInfo> seen;
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  options.memory = [&seen](const hw::HwConfig&, const std::vector<TensorExtent>& tensors) {
    return std::make_unique<CuriousMemory>(tensors, seen);
  };
  test::Program program;
  program.op(trace::Opcode::LDG_128).writes(1, 4).global(0, 512, 512);
  program.op(trace::Opcode::RED_ADD_F32).reads(1, 1).global(1, 128, 128).exit();
  gpu::simulate(test_config(),
                {{test::tensor("a", 1024), test::tensor("b", 1024)}, {test::one_program(program.build())}},
                options);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].kind, AccessKind::read);
  EXPECT_EQ(seen[0].place, (TensorPlace{0, 0, 512}));
  EXPECT_EQ(seen[0].sm, 0);
  EXPECT_EQ(seen[1].kind, AccessKind::reduce);
  EXPECT_EQ(seen[1].place, (TensorPlace{1, 0, 128}));
}

/// A target that knows none of the addresses.
class NoTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<NoTarget> socket;

  explicit NoTarget(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &NoTarget::refuse);
  }

 private:
  void refuse(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

class NoMemory : public TlmMemory {
 public:
  explicit NoMemory(const std::vector<TensorExtent>& tensors)
      : TlmMemory("memory", tensors, sc_core::sc_time(400, sc_core::SC_NS)), target_("target") {
    socket.bind(target_.socket);
  }

 private:
  NoTarget target_;
};

TEST(ForeignMemory, ErrorsOfTheTargetComeOut) {
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  options.memory = [](const hw::HwConfig&, const std::vector<TensorExtent>& tensors) {
    return std::make_unique<NoMemory>(tensors);
  };
  try {
    gpu::simulate(test_config(), one_load(), options);
    FAIL() << "nobody answered";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("at address 0xa80"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("TLM_ADDRESS_ERROR_RESPONSE"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace warpscope::memory
