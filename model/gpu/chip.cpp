#include "model/gpu/chip.hpp"

#include <fmt/format.h>
#include <sysc/tracing/sc_tracing_ids.h>

#include <algorithm>
#include <utility>

#include "model/gpu/launch_metrics.hpp"

namespace warpscope::gpu {
namespace {

constexpr double kNanosecondsPerMegahertz = 1e3;

sc_core::sc_trace_file* open_trace(const std::string& vcd_file) {
  if (vcd_file.empty()) {
    return nullptr;
  }
  // What SystemC has to say of the unit goes to standard output, where reports are.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_TRACING_TIMESCALE_UNIT_, sc_core::SC_DO_NOTHING);
  constexpr std::size_t kSuffix = 4;  // SystemC adds ".vcd" itself
  sc_core::sc_trace_file* file =
      sc_core::sc_create_vcd_trace_file(vcd_file.substr(0, vcd_file.size() - kSuffix).c_str());
  file->set_time_unit(1, sc_core::SC_FS);
  return file;
}

}  // namespace

Chip::Chip(const sc_core::sc_module_name& name, const hw::HwConfig& config, const std::string& vcd_file)
    : sc_module(name),
      begin_("begin"),
      dispatcher_("dispatcher"),
      l2_("l2"),
      hbm_("hbm"),
      trace_(open_trace(vcd_file)),
      gap_(launch_gap_us(config), sc_core::SC_US) {
  SC_HAS_PROCESS(Chip);
  SC_METHOD(step);
  sensitive << begin_;
  dont_initialize();
  for (int sm = 0; sm < config.gpu.sm_count; ++sm) {
    sms_.push_back(std::make_unique<SmModule>(fmt::format("sm{}", sm).c_str()));
  }
  if (trace_ != nullptr) {
    dispatcher_.trace_to(trace_.get());
    l2_.trace_to(trace_.get());
    hbm_.trace_to(trace_.get());
    for (const auto& sm : sms_) {
      sm->trace_to(trace_.get());
    }
  }
}

Chip::~Chip() = default;

void Chip::run_on_to(const sc_core::sc_time& time) {
  if (time > sc_core::sc_time_stamp()) {
    sc_core::sc_start(time - sc_core::sc_time_stamp());
  }
}

void Chip::begin_launch(double sm_clock_mhz) {
  if (ran_before_) {
    run_on_to(end_ + gap_);
  }
  ran_before_ = true;
  clock_ = sim::SmClock(sc_core::sc_time_stamp(), sm_clock_mhz);
  moved_ = {};
  window_end_ = 0;
  for (const auto& sm : sms_) {
    sm->start_anew();
  }
}

void Chip::run(engine::Engine& engine) {
  engine_ = &engine;
  begin_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start();
  engine_ = nullptr;
  if (failure_) {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

void Chip::end_launch(sim::Cycles cycles) {
  if (trace_ != nullptr) {
    run_on_to(clock_.time_of(std::min(window_end_, cycles)));
    show_idle();
  }
  // Answers that nobody has waited for may have come later.
  end_ = clock_.time_of(cycles);
  run_on_to(end_);
}

void Chip::step() {
  // SystemC would make a report of its own of what is thrown here.
  try {
    advance();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void Chip::advance() {
  if (is_idle_) {
    show_idle();
    is_idle_ = false;
    next_trigger(clock_.time_of(engine_->now()) - sc_core::sc_time_stamp());
    return;
  }
  const sim::Cycles begin = engine_->now();
  const bool goes_on = engine_->advance();
  if (trace_ != nullptr) {
    show_window(begin);
    is_idle_ = goes_on && engine_->now() > window_end_;
  }
  if (goes_on) {
    next_trigger(clock_.time_of(is_idle_ ? window_end_ : engine_->now()) - sc_core::sc_time_stamp());
  }
}

void Chip::show_window(sim::Cycles begin) {
  const auto cycles = static_cast<double>(engine_->window_cycles());
  window_end_ = begin + engine_->window_cycles();
  const metrics::MovedBytes moved = metrics::sum_of(engine_->memory().traffic());
  int in_flight = 0;
  int free_slots = 0;
  for (std::size_t sm = 0; sm < engine_->sms().size(); ++sm) {
    engine::SmUnit& unit = *engine_->sms()[sm];
    sms_[sm]->show(unit, cycles);
    in_flight += sms_[sm]->requests_in_flight();
    free_slots += unit.core().free_slots();
  }
  dispatcher_.show(engine_->dispatcher(), free_slots);
  l2_.show(moved - moved_, in_flight, cycles);
  hbm_.show(moved - moved_, cycles * kNanosecondsPerMegahertz / engine_->sm_clock_mhz());
  moved_ = moved;
}

void Chip::show_idle() {
  for (const auto& sm : sms_) {
    sm->show_idle();
  }
  l2_.show({}, 0, 1);
  hbm_.show({}, 1);
}

}  // namespace warpscope::gpu
