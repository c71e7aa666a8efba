// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/log.hpp>
#include <gantry/rpc/client.hpp>
#include <gantry/rpc/endpoint.hpp>
#include <gantry/rpc/handlers.hpp>
#include <gantry/rpc/host_platform.hpp>
#include <gantry/rpc/print_message.hpp>
#include <gantry/rpc/server.hpp>
#include <unit_tests/support/expect_ok.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace gantry::rpc {

/// Waits for a condition that only other threads can bring about; there is nothing to sleep on.
template <class Condition>
void await(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

/// What some threads wait for until another opens it.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    m_open.store(true);
    m_open.notify_all();
  }
  /// Counts the caller, then waits.
  void pass() {
    ++m_came;
    m_came.notify_all();
    m_open.wait(false);
  }
  void await_one(int number = 1) {
    for (int came = m_came; came < number; came = m_came) m_came.wait(came);
  }

 private:
  std::atomic<bool> m_open{false};
  std::atomic<int> m_came{0};
};

/// What core does for a device.
class FakeServices final : public DeviceServices {
 public:
  FakeServices() : m_id(next_id()), m_name("fake:" + std::to_string(m_id)) {}
  ~FakeServices() override {
    for (void* memory : m_live) ::operator delete(memory);
  }

  [[nodiscard]] DeviceId id() const noexcept override { return m_id; }
  [[nodiscard]] const std::string& name() const noexcept override { return m_name; }
  Result<void*> allocate(std::size_t bytes) override {
    const std::lock_guard lock(m_mutex);
    if (m_full) return Status::error(Code::out_of_memory, "the fake device is full");
    ++m_allocations;
    return *m_live.insert(::operator new(bytes + 1)).first;
  }
  Status deallocate(void* memory) override {
    const std::lock_guard lock(m_mutex);
    if (m_live.erase(memory) == 0) return Status::error(Code::invalid_argument, "it was never allocated here");
    ::operator delete(memory);
    return {};
  }

  void set_full(bool full) {
    const std::lock_guard lock(m_mutex);
    m_full = full;
  }
  int allocations() {
    const std::lock_guard lock(m_mutex);
    return m_allocations;
  }
  std::size_t live() {
    const std::lock_guard lock(m_mutex);
    return m_live.size();
  }

 private:
  static DeviceId next_id() {
    static std::atomic<DeviceId> next{1000};  // no device of the process
    return next++;
  }

  const DeviceId m_id;
  const std::string m_name;
  std::mutex m_mutex;  // guards all below
  std::set<void*> m_live;
  int m_allocations = 0;
  bool m_full = false;
};

/// Collects what a device prints while it lives, and what is logged where a test asks for that.
class Printed {
 public:
  explicit Printed(DeviceId device) : m_device(device) {
    EXPECT_OK(set_output(device, {.kind = Output::Kind::callback, .path = "", .callback = take, .user = this}));
  }
  ~Printed() {
    EXPECT_OK(set_output(m_device, {}));
    if (m_log) set_log_callback(nullptr, nullptr);
  }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  /// From now on log lines are collected too, in the order in which both come.
  void with_log() {
    m_log = true;
    set_log_callback(
        [](LogLevel, std::string_view text, void* self) { static_cast<Printed*>(self)->add(std::string(text) + '\n'); },
        this);
  }
  std::string text() {
    const std::lock_guard lock(m_mutex);
    return m_text;
  }

 private:
  static void take(DeviceId, std::string_view text, void* self) { static_cast<Printed*>(self)->add(text); }
  void add(std::string_view text) {
    const std::lock_guard lock(m_mutex);
    m_text += text;
  }

  const DeviceId m_device;
  bool m_log = false;
  std::mutex m_mutex;  // guards m_text
  std::string m_text;
};

constexpr Opcode user(std::uint32_t number) {
  return make_opcode(OpcodeClass::user, number);
}

/// A handler for as long as it lives.
class ScopedHandler {
 public:
  ScopedHandler(std::uint32_t number, Handler handler, std::string backend = "")
      : m_number(number), m_backend(std::move(backend)) {
    EXPECT_OK(add_handler(m_backend, number, std::move(handler)));
  }
  ~ScopedHandler() { EXPECT_OK(remove_handler(m_backend, m_number)); }
  ScopedHandler(const ScopedHandler&) = delete;
  ScopedHandler& operator=(const ScopedHandler&) = delete;

 private:
  std::uint32_t m_number;
  std::string m_backend;
};

inline std::chrono::steady_clock::time_point in_a_minute() {
  return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

/// The endpoint of a device that does not exist; it must close at the end.
class OpenEndpoint {
 public:
  explicit OpenEndpoint(Server& server, std::uint32_t ports = 1, std::string_view backend = "fake",
                        std::uint32_t ring_lines = 64, std::uint32_t lanes = 1) {
    auto opened = Endpoint::open(server, backend, services, {.ports = ports, .lanes = lanes, .ring_lines = ring_lines});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    m_endpoint = *std::move(opened);
  }
  ~OpenEndpoint() { EXPECT_OK(m_endpoint->close(in_a_minute())); }
  OpenEndpoint(const OpenEndpoint&) = delete;
  OpenEndpoint& operator=(const OpenEndpoint&) = delete;

  Endpoint* operator->() { return m_endpoint.get(); }
  Channel& channel() { return m_endpoint->channel(); }

  /// A client's call, as device/call makes it.
  template <class T>
  Answer call(std::uint32_t port, Opcode opcode, T& argument) {
    static_assert(sizeof(T) % 8 == 0);
    Client<HostPlatform> client(channel(), port);
    return client.call(
        opcode, sizeof(T), [&](char* to) { std::memcpy(to, &argument, sizeof(T)); },
        [&](const char* from) { std::memcpy(&argument, from, sizeof(T)); });
  }
  template <class T>
  bool post(std::uint32_t port, Opcode opcode, const T& argument) {
    static_assert(sizeof(T) % 8 == 0);
    Client<HostPlatform> client(channel(), port);
    return client.post(opcode, sizeof(T), [&](char* to) { std::memcpy(to, &argument, sizeof(T)); });
  }
  /// Whether an echo comes back whole.
  bool answers(std::uint32_t port) {
    std::uint64_t word = 0x0123456789abcdef;
    return call(port, echo_opcode, word) == Answer::ok && word == 0x0123456789abcdef;
  }
  template <class... Args>
  bool print(std::uint32_t port, const char* format, const Args&... args) {
    const PrintMessage message(format, args...);
    std::string bytes(message.bytes(), '\0');
    message.write(bytes.data());
    Client<HostPlatform> client(channel(), port);
    return client.post_bytes(print_opcode, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
  }
  std::string text() { return printed.text(); }

  FakeServices services;
  Printed printed{services.id()};

 private:
  std::shared_ptr<Endpoint> m_endpoint;
};

/// Threads of this process that serve calls.
inline int server_threads() {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name.starts_with("gantry-rpc-")) ++count;
  }
  return count;
}

}  // namespace gantry::rpc
