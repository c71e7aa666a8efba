// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/registry.hpp>

#include <unit_tests/support/fake_backend.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::test {
namespace {

using ::testing::HasSubstr;

std::vector<BackendReport> survey(const Registry& registry, std::string_view devices) {
  return registry.survey(parse_devices(devices).value().tokens, {}).value();
}

TEST(RegistryTest, ABackendThatNobodyAsksForIsNeverProbed) {
  FakeBackend gpu(2, "cuda"), host(1, "host");
  gpu.is_candidate = false;
  const Registry registry({&gpu, &host});
  const auto reports = registry.survey({}, {}).value();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(gpu.probes, 0);
  EXPECT_FALSE(reports[0].availability.available);
  EXPECT_THAT(reports[0].availability.reason, HasSubstr("the program has no device code for it"));
  EXPECT_EQ(reports[1].devices.size(), 1U);
  survey(registry, "host:0,1");
  EXPECT_EQ(gpu.probes, 0);
}

TEST(RegistryTest, NamingABackendOrAGpuProbesIt) {
  for (const char* entry : {"cuda", "cuda:1", "GPU-1234", "0000:3b:00.0", "MIG-1"}) {
    FakeBackend gpu(2, "cuda"), host(1, "host");
    gpu.is_candidate = false;
    EXPECT_EQ(survey(Registry({&gpu, &host}), entry)[0].devices.size(), 2U) << entry;
    EXPECT_EQ(gpu.probes, 1) << entry;
  }
}

TEST(RegistryTest, AMissingDriverIsAReasonAndNoError) {
  FakeBackend gpu(2, "cuda");
  gpu.availability = {false, "libcuda.so.1 was not found"};
  const auto reports = Registry({&gpu}).survey({}, {}).value();
  EXPECT_EQ(reports[0].availability.reason, "libcuda.so.1 was not found");
  EXPECT_TRUE(reports[0].devices.empty());
}

}  // namespace
}  // namespace gantry::test
