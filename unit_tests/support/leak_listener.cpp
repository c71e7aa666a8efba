// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled into a test program, fails every test that leaves a live object behind.
#include <gantry/core/gantry.hpp>

#include <gtest/gtest.h>

namespace gantry {
namespace {

class LeakListener : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    const LeakReport report = leak_report();
    if (!report.empty()) ADD_FAILURE() << "the test left objects behind: " << report.to_text();
  }
};

// Listeners belong to GoogleTest, which deletes them.
[[maybe_unused]] const bool g_registered = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new LeakListener);
  return true;
}();

}  // namespace
}  // namespace gantry
