// SMs that do alike.
#pragma once

namespace warpscope::gpu {

/// SMs from first_sm on. The one that is simulated runs one CTA of each batch that the group is given; the
/// others are taken to keep step with it, each at the addresses of its own CTA.
struct SmGroup {
  int first_sm = 0;
  int sms = 1;

  bool operator==(const SmGroup&) const = default;
};

}  // namespace warpscope::gpu
