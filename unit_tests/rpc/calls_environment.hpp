// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/log.hpp>
#include <gantry/core/gantry.hpp>
#include <gantry/device/launch.hpp>
#include <gantry/rpc/sink.hpp>
#include <unit_tests/support/expect_ok.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace gantry {

/// Set before anything reads the settings.
[[maybe_unused]] inline const bool g_environment_is_set = [] {
  setenv("GANTRY_HOST_DEVICES", "2", 1);
  setenv("GANTRY_NUM_THREADS", "4", 1);
  return true;
}();

/// Two host devices of the process, open; what the first one prints is collected.
class CallsFixture : public testing::Test {
 protected:
  void SetUp() override {
    handle = open(0);
    other = open(1);
    rpc::Output output;
    output.kind = rpc::Output::Kind::callback;
    output.callback = [](DeviceId, std::string_view text, void* self) {
      auto& fixture = *static_cast<CallsFixture*>(self);
      const std::lock_guard lock(fixture.m_mutex);
      fixture.m_text += text;
    };
    output.user = this;
    EXPECT_OK(rpc::set_output(0, output));
  }
  void TearDown() override {
    EXPECT_OK(close_device(0, CloseMode::force));
    EXPECT_OK(close_device(1, CloseMode::force));
    EXPECT_OK(rpc::set_output(0, {}));
  }

  static DeviceHandle open(DeviceId id) {
    Result<DeviceHandle> opened = open_device(id);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : DeviceHandle{};
  }
  static QueueRef queue_of(DeviceHandle device) { return default_queue(device).value(); }
  /// Runs `functor(i)` on a device to its end.
  template <class Functor>
  static Status run(DeviceHandle device, std::int64_t count, const Functor& functor) {
    const QueueRef queue = queue_of(device);
    Status status = parallel_for(queue, count, functor);
    status.join(queue.sync());
    return status;
  }
  std::string text() {
    const std::lock_guard lock(m_mutex);
    return m_text;
  }
  void log_to_text() {
    set_log_callback(
        [](LogLevel, std::string_view line, void* self) {
          auto& fixture = *static_cast<CallsFixture*>(self);
          const std::lock_guard lock(fixture.m_mutex);
          fixture.m_text += std::string(line) + '\n';
        },
        this);
  }
  ~CallsFixture() override { set_log_callback(nullptr, nullptr); }

  DeviceHandle handle;
  DeviceHandle other;

 private:
  std::mutex m_mutex;  // guards m_text
  std::string m_text;
};

}  // namespace gantry
