// Single fields of a point, from text to values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.hpp"

namespace warpscope::experiments {

/// The text given for a field ("batch", "head_dim", ...); nothing if it was not given or is blank.
using FieldText = std::function<std::optional<std::string>(std::string_view field)>;
/// What messages call a field: "seqlen_q" of a column, "--seqlen" of a flag.
using FieldName = std::function<std::string(std::string_view field)>;

/// The most keys or queries of a sequence.
inline constexpr std::int64_t kMostKeys = 1 << 20;
/// The most problems or sequences at once.
inline constexpr std::int64_t kMostBatch = 65535;

/// Throws UsageError `name 'value': legal`.
[[noreturn]] void refuse(const std::string& name, std::string_view value, const std::string& legal);

/// What is not legal throws UsageError `name 'value': what is legal`. The two functions must outlive it.
class FieldReader {
 public:
  FieldReader(const FieldText& text, const FieldName& name) : text_(text), name_(name) {}

  std::optional<std::string> text(std::string_view field) const { return text_(field); }
  std::string name(std::string_view field) const { return name_(field); }
  bool given(std::string_view field) const { return text_(field).has_value(); }
  /// Throws UsageError if the field is not given.
  std::string needed(std::string_view field) const;
  /// From 1 to `most`; nothing if the field is not given.
  std::optional<std::int64_t> integer(std::string_view field, std::int64_t most) const;
  /// Index of the value among the legal ones; the first if the field is not given.
  std::size_t choice(std::string_view field, std::initializer_list<std::string_view> legal) const;
  /// 0, false, no, or 1, true, yes; no if the field is not given.
  bool yes(std::string_view field) const;
  /// A number above 0 and up to `most`, or below it; 0 if the field is not given.
  double positive(std::string_view field, double most, bool below) const;
  /// Left and right; one number is for both sides.
  kernels::KeyWindow window(std::string_view field) const;
  /// Of sequences; none if the field is not given.
  std::vector<std::int64_t> lengths(std::string_view field) const;
  /// Parts of the keys, or kernels::kAutoSplits; 1 if the field is not given.
  std::int64_t splits(std::string_view field) const;

 private:
  const FieldText& text_;
  const FieldName& name_;
};

}  // namespace warpscope::experiments
