// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/live_objects.hpp>
#include <gantry/core/managed_device.hpp>
#include <gantry/core/runtime.hpp>
#include <unit_tests/support/fake_backend.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace gantry::test {

inline ::testing::AssertionResult is_ok(const Status& status) {
  return status.ok() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << status.message();
}
#define EXPECT_OK(expression) EXPECT_TRUE(::gantry::test::is_ok(expression))

/// A runtime of its own over two fake devices. After each test nothing may be left in the driver.
class RuntimeFixture : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void TearDown() override {
    backend.driver.stop_failing();
    backend.driver.let_go();
    runtime.reset();
    EXPECT_EQ(backend.driver.live(), FakeDriver::Live()) << "the driver still holds something";
    EXPECT_EQ(live.count(), 0U);
  }

  void start() {
    runtime.reset();
    runtime = std::make_unique<Runtime>(std::vector<Backend*>{&backend}, settings, live);
  }
  ManagedDevice& device(DeviceId id = 0) { return *runtime->device({id, 1}).value(); }
  DeviceHandle open(DeviceId id = 0) {
    Result<DeviceHandle> handle = runtime->open(id);
    EXPECT_TRUE(handle.ok()) << handle.status().message();
    return handle.ok() ? *handle : DeviceHandle{};
  }
  QueueRef default_queue(DeviceHandle handle) { return device(handle.id).default_queue(handle.generation).value(); }
  QueueRef create_queue(DeviceHandle handle, std::string label = "queue") {
    return device(handle.id).create_queue(handle.generation, std::move(label)).value();
  }
  void* allocate(DeviceHandle handle, std::size_t bytes, std::string_view label = "memory") {
    return device(handle.id).allocate(handle.generation, MemoryKind::device, bytes, label).value();
  }

  FakeBackend backend{2};
  Settings settings;
  LiveObjects live;
  std::unique_ptr<Runtime> runtime;
};

}  // namespace gantry::test
