#include "model/fast/cta_shares.hpp"

#include <numeric>
#include <utility>

namespace warpscope::fast {
namespace {

/// Shares have settled after so many steps.
constexpr int kSteps = 16;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

void CtaShares::end_stretch(Stretch& sm) {
  if (!sm.ctas.empty() && sm.executed > 0) {
    past_.push_back(sm);
  }
  sm.executed = 0;
}

std::size_t CtaShares::begin(std::size_t sm, double work) {
  end_stretch(sms_[sm]);
  sms_[sm].ctas.push_back(work_.size());
  work_.push_back(work);
  return work_.size() - 1;
}

void CtaShares::end(std::size_t sm, std::size_t cta) {
  end_stretch(sms_[sm]);
  std::erase(sms_[sm].ctas, cta);
}

Shares CtaShares::shares() const {
  Shares result;
  for (int n = 0; n <= slots_; ++n) {
    result.by_age.emplace_back(at(n), 1.0);
  }
  for (int step = 0; step <= kSteps; ++step) {
    std::vector<double> expected(work_.size(), 0);
    const auto for_each = [&](const auto& use) {
      for (const Stretch& stretch : past_) {
        const std::size_t residents = stretch.ctas.size();
        for (std::size_t age = 0; age < residents; ++age) {
          const double share = result.by_age[residents][age] / static_cast<double>(residents);
          use(stretch.ctas[age], residents, age, stretch.executed * share);
        }
      }
    };
    for_each([&](std::size_t cta, std::size_t, std::size_t, double executed) { expected[cta] += executed; });
    std::vector<std::vector<double>> got;
    for (const std::vector<double>& of_residents : result.by_age) {
      got.emplace_back(of_residents.size(), 0.0);
    }
    for_each([&](std::size_t cta, std::size_t residents, std::size_t age, double executed) {
      got[residents][age] += executed * work_[cta] / expected[cta];
    });
    for (std::vector<double>& of_residents : got) {
      const double sum = std::accumulate(of_residents.begin(), of_residents.end(), 0.0);
      for (double& share : of_residents) {
        share = sum > 0 ? share * static_cast<double>(of_residents.size()) / sum : 1;
      }
    }
    result.chances.clear();
    for (std::size_t cta = 0; cta < work_.size(); ++cta) {
      if (expected[cta] > 0) {
        result.chances.push_back(work_[cta] / expected[cta]);
      }
    }
    result.by_age = std::move(got);
  }
  if (result.chances.empty()) {
    result.chances.push_back(1);
  }
  return result;
}

}  // namespace warpscope::fast
