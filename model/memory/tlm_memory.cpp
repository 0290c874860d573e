#include "model/memory/tlm_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace warpscope::memory {
namespace {

/// What Piece::bytes can hold. Requests of SMs are shorter.
constexpr std::int64_t kMostBytes = 32768;

std::string described(const Piece& piece) {
  return fmt::format("the {} of {} bytes at address {:#x} that SM {} sent at cycle {}",
                     piece.kind == AccessKind::read ? "read" : "write", piece.bytes, piece.key, piece.sm,
                     piece.time_cycles);
}

}  // namespace

TlmMemory::TlmMemory(const sc_core::sc_module_name& name, const std::vector<TensorExtent>& tensors,
                     const sc_core::sc_time& least_latency)
    : sc_module(name),
      socket("socket"),
      addresses_(tensors),
      least_latency_(least_latency),
      data_(kMostBytes) {
  payload_.set_extension(&info_);
}

TlmMemory::~TlmMemory() {
  payload_.clear_extension(&info_);
}

void TlmMemory::begin_launch(double sm_clock_mhz, bool /*keep_contents*/) {
  clock_ = sim::SmClock(sc_core::sc_time_stamp(), sm_clock_mhz);
  traffic_.assign(addresses_.tensors(), {});
  if (least_latency_cycles() < 1) {
    throw std::invalid_argument(
        fmt::format("memory '{}': its least latency is {}; legal is a cycle of {} MHz or more", name(),
                    least_latency_.to_string(), sm_clock_mhz));
  }
}

int TlmMemory::split(const Access& access, std::vector<Piece>& pieces) const {
  int count = 0;
  for (std::int64_t begin = 0; begin < access.bytes; begin += kMostBytes) {
    Piece& piece = pieces.emplace_back();
    piece.time_cycles = access.time_cycles;
    piece.key = addresses_.address(access.tensor, access.segment, access.offset + begin);
    piece.number = access.number + static_cast<std::uint32_t>(count++);
    piece.request = access.request;
    piece.sm = access.sm;
    piece.bytes = static_cast<std::uint16_t>(std::min(kMostBytes, access.bytes - begin));
    piece.kind = access.kind;
  }
  return count;
}

void TlmMemory::serve(std::span<std::vector<Piece>* const> asked, std::size_t part, std::size_t /*parts*/) {
  // SystemC belongs to one thread.
  if (part != 0) {
    return;
  }
  in_order_.clear();
  for (std::vector<Piece>* of_sm : asked) {
    for (Piece& piece : *of_sm) {
      in_order_.push_back(&piece);
    }
  }
  std::ranges::stable_sort(in_order_, [](const Piece* a, const Piece* b) { return goes_before(*a, *b); });
  for (Piece* piece : in_order_) {
    send(*piece);
  }
}

void TlmMemory::send(Piece& piece) {
  const bool reads = piece.kind == AccessKind::read;
  info_.kind = piece.kind;
  info_.sm = piece.sm;
  info_.place = addresses_.place(piece.key).value();
  payload_.set_command(reads ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
  payload_.set_address(piece.key);
  payload_.set_data_ptr(data_.data());
  payload_.set_data_length(piece.bytes);
  payload_.set_streaming_width(piece.bytes);
  payload_.set_byte_enable_ptr(nullptr);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  const sc_core::sc_time sent = clock_.time_of(piece.time_cycles) - sc_core::sc_time_stamp();
  sc_core::sc_time delay = sent;
  socket->b_transport(payload_, delay);
  if (payload_.is_response_error()) {
    throw std::runtime_error(
        fmt::format("memory '{}' refuses {}: {}", name(), described(piece), payload_.get_response_string()));
  }
  const sc_core::sc_time latency = delay > sent ? delay - sent : sc_core::SC_ZERO_TIME;
  const std::int64_t cycles = clock_.cycles_up(latency);
  if (cycles < least_latency_cycles()) {
    throw std::runtime_error(fmt::format(
        "memory '{}' answers {} after {}; the least is {}, as it was made", name(), described(piece),
        delay >= sent ? latency.to_string() : "less than no time", least_latency_.to_string()));
  }
  piece.arrival_cycles = piece.time_cycles + cycles;
  metrics::MovedBytes& traffic = traffic_[info_.place.tensor];
  (reads ? traffic.l2_read : traffic.l2_write) += piece.bytes;
}

}  // namespace warpscope::memory
