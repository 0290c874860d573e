// How the CTAs of an SM divide what it does.
#pragma once

#include <cstddef>
#include <vector>

namespace warpscope::fast {

/// What simulated CTAs got of their SMs.
struct Shares {
  /// By residents and age, the oldest first, which is given precedence; 1 is an even share.
  std::vector<std::vector<double>> by_age;
  /// What each CTA got over what its age gives it. Never empty.
  std::vector<double> chances;
};

/// Follows the CTAs of simulated SMs from their begin to their end.
class CtaShares {
 public:
  CtaShares(int slots, std::size_t sms) : slots_(slots), sms_(sms) {}

  /// A CTA that is to execute `work` instructions begins; returns its number.
  std::size_t begin(std::size_t sm, double work);
  void end(std::size_t sm, std::size_t cta);
  std::size_t ctas() const { return work_.size(); }
  /// The CTAs of the SM have executed so many instructions.
  void go_on(std::size_t sm, double instructions) { sms_[sm].executed += instructions; }
  /// Found by expectation maximisation: shares by age under which each CTA executes about its work between
  /// its begin and its end.
  Shares shares() const;

 private:
  /// Between two ends or begins of CTAs on an SM.
  struct Stretch {
    double executed = 0;
    std::vector<std::size_t> ctas{};  ///< the oldest first
  };
  void end_stretch(Stretch& sm);

  int slots_;
  std::vector<Stretch> sms_;  ///< just now
  std::vector<Stretch> past_;
  std::vector<double> work_;  ///< of each CTA
};

}  // namespace warpscope::fast
