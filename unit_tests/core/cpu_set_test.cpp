// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/cpu_set.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CpuSetTest, ParsesWhatItPrints) {
  for (const std::string text : {"none", "0", "0-3,8,10-11", "1023-1025,4000"}) {
    auto set = CpuSet::parse(text);
    ASSERT_TRUE(set.ok()) << set.status().message();
    EXPECT_EQ(set->to_string(), text);
  }
  EXPECT_EQ(CpuSet::parse("0-1\n")->size(), 2);
  EXPECT_TRUE(CpuSet::parse("")->empty());
  EXPECT_EQ(CpuSet::parse("3,1,2,2-3")->to_string(), "1-3");
}

TEST(CpuSetTest, BadTextIsAnErrorThatNamesIt) {
  for (const std::string text : {"a", "1,", ",1", "1-", "-1", "3-1", "1 2", "1-2-3", "65536", "0-2000000000",
                                 "99999999999", "0-65535,0-65535,0"}) {
    const Status status = CpuSet::parse(text).status();
    EXPECT_EQ(status.code(), Code::invalid_argument) << text;
    EXPECT_THAT(status.text(), HasSubstr("'" + text + "'"));
  }
}

TEST(CpuSetTest, IsSortedAndWithoutRepeats) {
  const CpuSet set({5, 1, 5, 3});
  EXPECT_THAT(set.cpus(), ElementsAre(1, 3, 5));
  EXPECT_TRUE(set.contains(3));
  EXPECT_FALSE(set.contains(2));
  EXPECT_EQ(set, CpuSet({1, 3, 5}));
}

TEST(CpuSetTest, Intersects) {
  EXPECT_EQ(CpuSet({0, 1, 2, 1500}).intersected(CpuSet({1, 3, 1500})), CpuSet({1, 1500}));
  EXPECT_TRUE(CpuSet({0}).intersected(CpuSet()).empty());
}

TEST(CpuSetTest, BindsTheCallingThreadOnly) {
  const CpuSet before = CpuSet::of_calling_thread();
  ASSERT_FALSE(before.empty());
  const CpuSet one({before.cpus().back()});
  std::thread([&] {
    const Status status = one.bind_calling_thread();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(CpuSet::of_calling_thread(), one);
  }).join();
  EXPECT_EQ(CpuSet::of_calling_thread(), before);
}

TEST(CpuSetTest, BindingToCpusThatCannotBeIsAnError) {
  EXPECT_EQ(CpuSet().bind_calling_thread().code(), Code::invalid_argument);
  EXPECT_EQ(CpuSet({-1, 2}).bind_calling_thread().code(), Code::invalid_argument);
  // Beyond the 1024 CPUs of a cpu_set_t; no such machine has this one only.
  const Status status = CpuSet({60000}).bind_calling_thread();
  EXPECT_EQ(status.code(), Code::driver_error);
  EXPECT_THAT(status.text(), HasSubstr("60000"));
}

}  // namespace
}  // namespace gantry
