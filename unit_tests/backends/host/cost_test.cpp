// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/cost.hpp>

#include <gtest/gtest.h>

namespace gantry::host {
namespace {

constexpr std::chrono::nanoseconds clock_cost(25);

void learn(const KernelInfo& kernel, std::int64_t items, int net_ns) {
  Cost::learn(kernel, items, std::chrono::nanoseconds(net_ns) + clock_cost, clock_cost);
}

void train(const KernelInfo& kernel, std::int64_t items, int net_ns) {
  for (std::uint32_t i = 0; i < Cost::training; ++i) learn(kernel, items, net_ns);
}

TEST(CostTest, IsUnknownUntilMeasured) {
  const KernelInfo kernel{};
  EXPECT_EQ(Cost::estimate(kernel, 10), Cost::unknown);
  EXPECT_TRUE(Cost::wanted(kernel, 1, 10));
  learn(kernel, 100, 500);
  EXPECT_FLOAT_EQ(Cost::estimate(kernel, 10), 50);
}

TEST(CostTest, TrainingKeepsTheSmallest) {
  const KernelInfo kernel{};
  for (const int ns : {9000, 100, 700, 300}) learn(kernel, 10, ns);
  EXPECT_FLOAT_EQ(Cost::estimate(kernel, 10), 100);
  EXPECT_FALSE(Cost::wanted(kernel, 1, 10));
  EXPECT_TRUE(Cost::wanted(kernel, Cost::period, 10));
}

TEST(CostTest, OneOutlierRaisesItFourfoldAtMost) {
  const KernelInfo kernel{};
  train(kernel, 1, 1000);
  learn(kernel, 1, 10'000'000);
  EXPECT_LE(Cost::estimate(kernel, 1), 4001);
  for (int i = 0; i < 20; ++i) learn(kernel, 1, 10'000'000);
  EXPECT_GT(Cost::estimate(kernel, 1), 5'000'000) << "a kernel that stays slow must count as slow";
}

TEST(CostTest, LaunchesWithoutItemsTeachNothing) {
  const KernelInfo kernel{};
  learn(kernel, 0, 1000);
  EXPECT_EQ(Cost::estimate(kernel, 10), Cost::unknown);
}

TEST(CostTest, WhatOneItemTookIsForgottenAtTheFirstLaunchOfMany) {
  const KernelInfo kernel{};
  train(kernel, 1, 20);
  EXPECT_GT(Cost::estimate(kernel, 100), 500) << "errs upwards";
  EXPECT_TRUE(Cost::wanted(kernel, 1, 50));
  EXPECT_FALSE(Cost::wanted(kernel, 1, 50, 25)) << "two items for each thread";
  learn(kernel, 50, 40);
  EXPECT_FLOAT_EQ(Cost::estimate(kernel, 100), 80);
  for (std::uint32_t i = 1; i < Cost::training; ++i) learn(kernel, 50, 60);
  EXPECT_FLOAT_EQ(Cost::estimate(kernel, 100), 80) << "it trains anew";
  EXPECT_FALSE(Cost::wanted(kernel, 1, 50));
}

TEST(CostTest, NothingMeasuredIsNotNothing) {
  const KernelInfo kernel{};
  train(kernel, 1, -30);
  EXPECT_FLOAT_EQ(Cost::estimate(kernel, 1000), 1000 * Cost::resolution) << "a large launch must be spread";
}

TEST(CostTest, FewItemsCountForLessUntilTheyAreAllThereIs) {
  const KernelInfo kernel{};
  train(kernel, 1'000'000, 1'000'000);
  for (int i = 0; i < 5; ++i) {
    learn(kernel, 1, 40);
    learn(kernel, 1'000'000, 1'000'000);
  }
  EXPECT_NEAR(Cost::estimate(kernel, 1), 1, 0.1) << "small launches in between";
  for (int i = 0; i < 50; ++i) learn(kernel, 2, 2'000'000);
  EXPECT_GT(Cost::estimate(kernel, 1), 500'000) << "small launches alone";
}

}  // namespace
}  // namespace gantry::host
