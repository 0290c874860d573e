#include "kernels/numeric/numeric_store.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "kernels/numeric/rounding.hpp"

namespace warpscope::kernels {

float& NumericTensor::at(std::int64_t segment, std::int64_t row, std::int64_t col) {
  if (segment < 0 || segment >= spec.segments) {
    throw std::logic_error("tensor " + spec.name + " has no segment " + std::to_string(segment));
  }
  return values[static_cast<std::size_t>((segment * spec.rows + row) * spec.cols + col)];
}

// All ones is a NaN in every type.
NumericSharedMemory::NumericSharedMemory(std::size_t bytes)
    : bytes_(bytes, 0xff), read_at_(bytes, 0), written_at_(bytes, 0) {}

float NumericSharedMemory::read(std::size_t address, ElementType type) {
  const float value = read_own(address, type);
  read_at_[address] = barriers_;
  return value;
}

float NumericSharedMemory::read_own(std::size_t address, ElementType type) {
  if (written_at_[address] == barriers_) {
    throw std::logic_error("shared byte " + std::to_string(address) +
                           " is read without a barrier after its write");
  }
  return value_at(address, type);
}

void NumericSharedMemory::raise(std::size_t address, float value) {
  write(address, ElementType::fp32, std::max(value_at(address, ElementType::fp32), value));
}

float NumericSharedMemory::value_at(std::size_t address, ElementType type) const {
  if (type == ElementType::fp32) {
    float value = 0;
    std::memcpy(&value, bytes_.data() + address, sizeof value);
    return value;
  }
  if (type == ElementType::boolean) {
    return bytes_[address] != 0 ? 1.0F : 0.0F;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes_.data() + address, sizeof bits);
  return type == ElementType::fp16 ? from_half_bits(bits) : from_bfloat_bits(bits);
}

void NumericSharedMemory::write(std::size_t address, ElementType type, float value) {
  write_late(address, type, value, barriers_);
}

void NumericSharedMemory::write_late(std::size_t address, ElementType type, float value,
                                     std::uint32_t since) {
  if (read_at_[address] >= since) {
    throw std::logic_error("shared byte " + std::to_string(address) +
                           " is written without a barrier after its read");
  }
  written_at_[address] = barriers_;
  if (type == ElementType::fp32) {
    std::memcpy(bytes_.data() + address, &value, sizeof value);
    return;
  }
  if (type == ElementType::boolean) {
    bytes_[address] = value != 0.0F ? 1 : 0;
    return;
  }
  const std::uint16_t bits = type == ElementType::fp16 ? to_half_bits(value) : to_bfloat_bits(value);
  std::memcpy(bytes_.data() + address, &bits, sizeof bits);
}

std::size_t NumericSharedMemory::address_of(const SharedTile& tile, std::int64_t stage) const {
  const std::int64_t in_ring = ((stage % tile.stages) + tile.stages) % tile.stages;
  const std::int64_t begin = tile.byte_offset + in_ring * tile.bytes_to_next_stage();
  if (begin < 0 || begin + tile.bytes_per_stage() > static_cast<std::int64_t>(bytes_.size())) {
    throw std::logic_error("shared tile at byte " + std::to_string(begin) + " of " +
                           std::to_string(tile.bytes_per_stage()) + " bytes is outside the CTA's " +
                           std::to_string(bytes_.size()));
  }
  return static_cast<std::size_t>(begin);
}

TileValues::TileValues(const Fragment& fragment)
    : shape(fragment),
      parts(fragment.split.k),
      values(static_cast<std::size_t>(fragment.split.k) * static_cast<std::size_t>(fragment.rows) *
                 static_cast<std::size_t>(fragment.cols),
             kUnwritten) {}

RowValues::RowValues(int row_count, const LaneMap& lane_map)
    : rows(row_count),
      lanes(lane_map),
      values(static_cast<std::size_t>(row_count) * static_cast<std::size_t>(lane_map.holders()), kUnwritten) {
}

void require_same_shape(int rows, int cols, int other_rows, int other_cols, const char* what) {
  if (rows != other_rows || cols != other_cols) {
    throw std::logic_error(std::string(what) + ": " + std::to_string(rows) + " x " + std::to_string(cols) +
                           " meets " + std::to_string(other_rows) + " x " + std::to_string(other_cols));
  }
}

}  // namespace warpscope::kernels
