// What has a place on the chip, as SystemC modules that hold what can be seen of it from outside.
#pragma once

#include <string>
#include <systemc>

#include "model/engine/sm_unit.hpp"
#include "model/gpu/cta_dispatcher.hpp"
#include "model/metrics/observer.hpp"

namespace warpscope::gpu {

/// Values are those of one window of the engine, and are set at its begin. All names are relative to the
/// module.
class ChipModule : public sc_core::sc_module {
 public:
  explicit ChipModule(const sc_core::sc_module_name& name) : sc_module(name) {}

 protected:
  template <typename Value>
  void trace_as(sc_core::sc_trace_file* file, const Value& value, const char* signal) const {
    sc_core::sc_trace(file, value, std::string(name()) + '.' + signal);
  }
};

class SmModule : public ChipModule {
 public:
  using ChipModule::ChipModule;
  void trace_to(sc_core::sc_trace_file* file) const {
    trace_as(file, resident_ctas_, "resident_ctas");
    trace_as(file, instructions_per_cycle_, "instructions_per_cycle");
    trace_as(file, requests_in_flight_, "requests_in_flight");
  }
  void show(engine::SmUnit& sm, double cycles) {
    const std::uint64_t issued = sm.core().counters().issued();
    resident_ctas_ = sm.core().cta_slots() - sm.core().free_slots();
    instructions_per_cycle_ = static_cast<double>(issued - issued_) / cycles;
    requests_in_flight_ = sm.in_flight();
    issued_ = issued;
  }
  void show_idle() {
    instructions_per_cycle_ = 0;
    requests_in_flight_ = 0;
  }
  /// Another launch follows, which counts anew.
  void start_anew() { issued_ = 0; }
  int requests_in_flight() const { return requests_in_flight_; }

 private:
  int resident_ctas_ = 0;
  double instructions_per_cycle_ = 0;  ///< of warps
  int requests_in_flight_ = 0;
  std::uint64_t issued_ = 0;  ///< up to here
};

class L2Module : public ChipModule {
 public:
  using ChipModule::ChipModule;
  void trace_to(sc_core::sc_trace_file* file) const {
    trace_as(file, requests_in_flight_, "requests_in_flight");
    trace_as(file, read_bytes_per_cycle_, "read_bytes_per_cycle");
    trace_as(file, hit_bytes_per_cycle_, "hit_bytes_per_cycle");
    trace_as(file, write_bytes_per_cycle_, "write_bytes_per_cycle");
  }
  void show(const metrics::MovedBytes& moved, int requests_in_flight, double cycles) {
    requests_in_flight_ = requests_in_flight;
    read_bytes_per_cycle_ = static_cast<double>(moved.l2_read) / cycles;
    hit_bytes_per_cycle_ = static_cast<double>(moved.l2_read_hit) / cycles;
    write_bytes_per_cycle_ = static_cast<double>(moved.l2_write) / cycles;
  }

 private:
  int requests_in_flight_ = 0;  ///< of all SMs, not answered yet
  double read_bytes_per_cycle_ = 0;
  double hit_bytes_per_cycle_ = 0;
  double write_bytes_per_cycle_ = 0;
};

class HbmModule : public ChipModule {
 public:
  using ChipModule::ChipModule;
  void trace_to(sc_core::sc_trace_file* file) const {
    trace_as(file, read_gb_per_s_, "read_gb_per_s");
    trace_as(file, write_gb_per_s_, "write_gb_per_s");
  }
  void show(const metrics::MovedBytes& moved, double nanoseconds) {
    read_gb_per_s_ = static_cast<double>(moved.hbm_read) / nanoseconds;
    write_gb_per_s_ = static_cast<double>(moved.hbm_write) / nanoseconds;
  }

 private:
  double read_gb_per_s_ = 0;
  double write_gb_per_s_ = 0;
};

class DispatcherModule : public ChipModule {
 public:
  using ChipModule::ChipModule;
  void trace_to(sc_core::sc_trace_file* file) const {
    trace_as(file, dispatched_ctas_, "dispatched_ctas");
    trace_as(file, free_slots_, "free_slots");
    trace_as(file, active_sms_, "active_sms");
  }
  void show(const CtaDispatcher& dispatcher, int free_slots) {
    dispatched_ctas_ = dispatcher.dispatched();
    active_sms_ = dispatcher.active_sms();
    free_slots_ = free_slots;
  }

 private:
  std::uint64_t dispatched_ctas_ = 0;  ///< of this launch
  int free_slots_ = 0;                 ///< of all SMs together
  int active_sms_ = 0;
};

}  // namespace warpscope::gpu
