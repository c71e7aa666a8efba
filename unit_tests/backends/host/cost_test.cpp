// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/cost.hpp>

#include <gtest/gtest.h>

namespace gantry::host {
namespace {

using std::chrono::nanoseconds;

TEST(CostTest, IsUnknownUntilMeasured) {
  const KernelInfo kernel{};
  EXPECT_EQ(Cost::estimate(kernel, 10), Cost::unknown);
  EXPECT_TRUE(Cost::wanted(kernel, 1));
  Cost::learn(kernel, 100, nanoseconds(500));
  EXPECT_FLOAT_EQ(Cost::estimate(kernel, 10), 50);
}

TEST(CostTest, TrainingKeepsTheSmallest) {
  const KernelInfo kernel{};
  for (const int ns : {9000, 100, 700, 300}) Cost::learn(kernel, 10, nanoseconds(ns));
  EXPECT_FLOAT_EQ(Cost::estimate(kernel, 10), 100);
  EXPECT_FALSE(Cost::wanted(kernel, 1));
  EXPECT_TRUE(Cost::wanted(kernel, Cost::period));
}

TEST(CostTest, OneOutlierRaisesItFourfoldAtMost) {
  const KernelInfo kernel{};
  for (std::uint32_t i = 0; i < Cost::training; ++i) Cost::learn(kernel, 1, nanoseconds(1000));
  Cost::learn(kernel, 1, nanoseconds(10'000'000));
  EXPECT_LE(Cost::estimate(kernel, 1), 4001);
  for (int i = 0; i < 20; ++i) Cost::learn(kernel, 1, nanoseconds(10'000'000));
  EXPECT_GT(Cost::estimate(kernel, 1), 5'000'000) << "a kernel that stays slow must count as slow";
}

TEST(CostTest, LaunchesWithoutItemsTeachNothing) {
  const KernelInfo kernel{};
  Cost::learn(kernel, 0, nanoseconds(1000));
  EXPECT_EQ(Cost::estimate(kernel, 10), Cost::unknown);
}

}  // namespace
}  // namespace gantry::host
