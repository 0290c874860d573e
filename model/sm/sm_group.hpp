// SMs that do alike.
#pragma once

namespace warpscope::sm {

/// SMs first_sm, first_sm + stride, ... The one that is simulated runs one CTA of each batch that the group
/// is given; the others are taken to keep step with it, each at the addresses of its own CTA.
struct SmGroup {
  int first_sm = 0;
  int sms = 1;
  int stride = 1;

  bool operator==(const SmGroup&) const = default;
};

}  // namespace warpscope::sm
