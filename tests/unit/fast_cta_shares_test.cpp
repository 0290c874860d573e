// How CTAs divide what their SM does.
#include "model/fast/cta_shares.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpscope::fast {
namespace {

TEST(CtaShares, AreEvenWhereNothingWasSeen) {
  const Shares shares = CtaShares(2, 1).shares();
  EXPECT_EQ(shares.by_age, (std::vector<std::vector<double>>{{}, {1}, {1, 1}}));
  EXPECT_EQ(shares.chances, std::vector<double>{1});
}

/// CTAs of 600 instructions on SM `sm`, two of which begin at once: the older one executes two of each three
/// instructions.
void run_two_at_a_time(CtaShares& ctas, std::size_t sm) {
  const std::size_t first = ctas.begin(sm, 600);
  const std::size_t second = ctas.begin(sm, 600);
  ctas.go_on(sm, 900);
  ctas.end(sm, first);
  const std::size_t third = ctas.begin(sm, 600);
  ctas.go_on(sm, 450);  // 300 of the second, 150 of the third
  ctas.end(sm, second);
  ctas.go_on(sm, 450);
  ctas.end(sm, third);
}

TEST(CtaShares, OlderCtasTakeTheLarger) {
  CtaShares ctas(2, 2);
  run_two_at_a_time(ctas, 0);
  run_two_at_a_time(ctas, 1);
  const Shares shares = ctas.shares();
  ASSERT_EQ(shares.by_age[2].size(), 2U);
  EXPECT_NEAR(shares.by_age[2][0], 4.0 / 3, 1e-3);
  EXPECT_NEAR(shares.by_age[2][1], 2.0 / 3, 1e-3);
  EXPECT_DOUBLE_EQ(shares.by_age[1][0], 1);
  ASSERT_EQ(shares.chances.size(), 6U);
  for (const double chance : shares.chances) {
    EXPECT_NEAR(chance, 1, 1e-3);
  }
}

TEST(CtaShares, WhatAgeDoesNotTellIsChance) {
  CtaShares ctas(2, 2);
  // On one SM the older CTA ends first, on the other one the younger.
  for (const std::size_t sm : {std::size_t{0}, std::size_t{1}}) {
    const std::size_t older = ctas.begin(sm, 600);
    const std::size_t younger = ctas.begin(sm, 600);
    ctas.go_on(sm, 1000);
    ctas.end(sm, sm == 0 ? older : younger);
    ctas.go_on(sm, 200);
    ctas.end(sm, sm == 0 ? younger : older);
  }
  const Shares shares = ctas.shares();
  EXPECT_NEAR(shares.by_age[2][0], 1, 1e-9);
  ASSERT_EQ(shares.chances.size(), 4U);
  EXPECT_NEAR(shares.chances[0], 600.0 / 500, 1e-9);
  EXPECT_NEAR(shares.chances[1], 600.0 / 700, 1e-9);
  EXPECT_NEAR(shares.chances[2], 600.0 / 700, 1e-9);
  EXPECT_NEAR(shares.chances[3], 600.0 / 500, 1e-9);
}

}  // namespace
}  // namespace warpscope::fast
