// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/support/fake_backend.hpp>

#include <gantry/base/try.hpp>
#include <gantry/core/execution_context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace gantry::test {

namespace {

class FakeDevice;

/// One record of an event; a later record has a state of its own.
struct EventState {
  std::atomic<bool> reached{false};
};

std::shared_ptr<EventState> reached_state() {
  auto state = std::make_shared<EventState>();
  state->reached = true;
  return state;
}

class FakeEvent final : public Event {
 public:
  explicit FakeEvent(FakeDriver& driver) : m_driver(driver) { m_driver.add(&FakeDriver::Live::events, 1); }
  ~FakeEvent() override { m_driver.add(&FakeDriver::Live::events, -1); }
  [[nodiscard]] bool ready() const noexcept override { return state()->reached; }
  Status sync() override {
    const std::shared_ptr<EventState> last = state();
    std::unique_lock lock(m_driver.mutex);
    m_driver.changed.wait(lock, [&] { return last->reached.load(); });
    return {};
  }
  Status close() override { return m_driver.call("event_close"); }
  [[nodiscard]] std::shared_ptr<EventState> state() const {
    const std::lock_guard lock(m_mutex);
    return m_state;
  }
  void set_state(std::shared_ptr<EventState> state) {
    const std::lock_guard lock(m_mutex);
    m_state = std::move(state);
  }

 private:
  FakeDriver& m_driver;
  mutable std::mutex m_mutex;                             // guards m_state
  std::shared_ptr<EventState> m_state = reached_state();  // never recorded: ready
};

/// What a kernel's closure is while it waits.
class Body {
 public:
  Body(const KernelInfo& kernel, const void* from)
      : m_kernel(kernel),
        m_memory(::operator new(std::max<std::size_t>(kernel.size, 1), std::align_val_t(kernel.align))) {
    if (kernel.copy != nullptr) {
      kernel.copy(m_memory, from);
    } else if (kernel.size != 0) {
      std::memcpy(m_memory, from, kernel.size);
    }
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  ~Body() {
    if (m_kernel.destroy != nullptr) m_kernel.destroy(m_memory);
    ::operator delete(m_memory, std::align_val_t(m_kernel.align));
  }
  [[nodiscard]] const void* get() const { return m_memory; }

 private:
  const KernelInfo& m_kernel;
  void* m_memory;
};

struct Context : ExecutionContext {
  std::vector<std::pair<void (*)(void*), void*>> deferred;
};

class FakeQueue final : public Queue, public FakeDriver::Pumped {
 public:
  FakeQueue(FakeDevice& device, FakeDriver& driver, QueueOptions options)
      : m_device(device), m_driver(driver), m_options(std::move(options)) {
    m_driver.add(&FakeDriver::Live::queues, 1);
  }
  ~FakeQueue() override { m_driver.add(&FakeDriver::Live::queues, -1); }

  Status launch(const KernelInfo& kernel, const Launch& launch, const void* body) override {
    auto copy = std::make_shared<Body>(kernel, body);
    return enqueue("launch", [this, &kernel, launch, copy] { run(kernel, launch, copy->get()); });
  }
  Status copy(void* to, const void* from, std::size_t bytes) override {
    return enqueue("copy", [=] {
      if (bytes != 0) std::memmove(to, from, bytes);
    });
  }
  Status write(void* to, const void* from, std::size_t bytes) override {
    const auto* begin = static_cast<const char*>(from);
    return enqueue("write", [to, data = std::vector<char>(begin, begin + bytes)] {
      if (!data.empty()) std::memcpy(to, data.data(), data.size());
    });
  }
  Status fill(void* to, const void* pattern, std::size_t pattern_bytes, std::size_t count) override {
    const auto* begin = static_cast<const char*>(pattern);
    return enqueue("fill", [to, count, data = std::vector<char>(begin, begin + pattern_bytes)] {
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(static_cast<char*>(to) + i * data.size(), data.data(), data.size());
    });
  }
  Status record(Event& event) override {
    auto& fake = static_cast<FakeEvent&>(event);
    auto before = fake.state();
    auto state = std::make_shared<EventState>();
    fake.set_state(state);
    Status status = enqueue("record", [state] { state->reached = true; });
    if (!status.ok()) fake.set_state(std::move(before));
    return status;
  }
  Status wait(Event& event) override {
    auto state = static_cast<FakeEvent&>(event).state();
    return enqueue(
        "wait", [] {}, [state] { return state->reached.load(); });
  }
  Status host_function(void (*function)(void* argument), void* argument) override {
    return enqueue("host_function", [this, function, argument] {
      run_as(ExecutionContext::Kind::host_function, [=] { function(argument); });
    });
  }
  Status sync() override;
  [[nodiscard]] bool idle() const noexcept override {
    const std::lock_guard lock(m_driver.mutex);
    return is_idle();
  }
  Status close() override;

  /// With the driver's lock held.
  [[nodiscard]] bool is_idle() const { return m_work.empty() && !m_running; }
  [[nodiscard]] bool can_run() const {
    return !m_running && !m_driver.held && !m_work.empty() && m_work.front().ready();
  }

  /// Runs what may run; a thread that finds another one running leaves the work to it.
  void pump() override {
    std::unique_lock lock(m_driver.mutex);
    while (can_run()) {
      std::optional<Work> work = std::move(m_work.front());
      m_work.pop_front();
      m_running = true;
      lock.unlock();
      work->run();
      work.reset();  // with what the closure holds, perhaps this queue's last reference
      lock.lock();
      m_running = false;
      m_driver.changed.notify_all();
    }
  }

 private:
  struct Work {
    std::function<void()> run;
    std::function<bool()> ready;
  };

  Status enqueue(
      const char* name, std::function<void()> run, std::function<bool()> ready = [] { return true; });
  void run(const KernelInfo& kernel, const Launch& launch, const void* body);
  template <class Function>
  void run_as(ExecutionContext::Kind kind, Function&& function);

  FakeDevice& m_device;
  FakeDriver& m_driver;
  const QueueOptions m_options;
  std::deque<Work> m_work;  // guarded by the driver's lock, as all below
  bool m_running = false;
};

class FakeDevice final : public Device {
 public:
  FakeDevice(FakeDriver& driver, const DeviceInfo& info, std::size_t memory_bytes)
      : m_driver(driver), m_info(info), m_memory_bytes(memory_bytes), m_free_bytes(memory_bytes) {
    m_driver.add(&FakeDriver::Live::devices, 1);
  }
  ~FakeDevice() override { m_driver.add(&FakeDriver::Live::devices, -1); }

  /// The second half of opening, as a driver with several handles a device has it.
  Status open_channel() {
    GANTRY_TRY(m_driver.call("channel_open"));
    m_driver.add(&FakeDriver::Live::channels, 1);
    return {};
  }

  [[nodiscard]] int concurrency() const noexcept override { return 4; }
  [[nodiscard]] MemoryInfo memory_info() const noexcept override { return {m_memory_bytes, m_free_bytes.load()}; }
  [[nodiscard]] MemoryTraits memory_traits(MemoryKind) const noexcept override { return {128, true}; }

  Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) override {
    GANTRY_TRY(m_driver.call("queue_create"));
    auto queue = std::make_unique<FakeQueue>(*this, m_driver, options);
    const std::lock_guard lock(m_driver.mutex);
    m_queues.push_back(queue.get());
    m_driver.queues.push_back(queue.get());
    return std::unique_ptr<Queue>(std::move(queue));
  }
  void forget(FakeQueue& queue) {
    const std::lock_guard lock(m_driver.mutex);
    std::erase(m_queues, &queue);
    std::erase(m_driver.queues, &queue);
  }
  Result<std::unique_ptr<Event>> create_event() override {
    GANTRY_TRY(m_driver.call("event_create"));
    return std::unique_ptr<Event>(std::make_unique<FakeEvent>(m_driver));
  }
  Result<std::unique_ptr<Image>> load_image(const ImageSource&) override {
    return Status::error(Code::unavailable, "fake devices load no images");
  }
  Result<void*> allocate(MemoryKind, std::size_t bytes) override {
    GANTRY_TRY(m_driver.call("allocate"));
    const std::lock_guard lock(m_driver.mutex);
    if (m_free_bytes < bytes) {
      return Status::error(Code::out_of_memory,
                           fmt::format("{} of {} bytes are free", m_free_bytes.load(), m_memory_bytes));
    }
    m_free_bytes -= bytes;
    void* memory = std::aligned_alloc(128, (bytes + 127) / 128 * 128);
    m_memory.insert(memory);
    return memory;
  }
  Status free(MemoryKind, void* memory, std::size_t bytes) override {
    GANTRY_TRY(m_driver.call("free"));
    const std::lock_guard lock(m_driver.mutex);
    m_memory.erase(memory);
    std::free(memory);
    m_free_bytes += bytes;
    return {};
  }
  Status drain(std::chrono::nanoseconds timeout) override {
    GANTRY_TRY(m_driver.call("drain"));
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
      std::unique_lock lock(m_driver.mutex);
      const std::vector<FakeQueue*> queues = m_queues;
      const auto all_idle = [&] {
        return std::all_of(queues.begin(), queues.end(), [](auto* q) { return q->is_idle(); });
      };
      const auto any_can_run = [&] {
        return std::any_of(queues.begin(), queues.end(), [](auto* q) { return q->can_run(); });
      };
      if (!m_driver.changed.wait_until(lock, deadline, [&] { return all_idle() || any_can_run(); })) {
        return Status::error(Code::timeout, "work still runs");
      }
      if (all_idle()) return {};
      lock.unlock();
      for (FakeQueue* queue : queues) queue->pump();
    }
  }
  [[nodiscard]] Status poison() const override {
    const std::lock_guard lock(m_driver.mutex);
    return m_poison.clone();
  }
  Status close() override {
    for (void* memory : m_memory) std::free(memory);  // as the end of a driver's context does
    Status status = m_driver.call("channel_close");
    m_driver.add(&FakeDriver::Live::channels, -1);
    status.join(m_driver.call("device_close"));
    return status;
  }

  void poison_with(Status status) {
    const std::lock_guard lock(m_driver.mutex);
    if (m_poison.ok()) m_poison = std::move(status);
  }
  [[nodiscard]] const DeviceInfo& info() const { return m_info; }

 private:
  FakeDriver& m_driver;
  const DeviceInfo m_info;
  const std::size_t m_memory_bytes;
  std::atomic<std::size_t> m_free_bytes;
  std::set<void*> m_memory;  // guarded by the driver's lock, as all below
  Status m_poison;
  std::vector<FakeQueue*> m_queues;
};

Status FakeQueue::enqueue(const char* name, std::function<void()> run, std::function<bool()> ready) {
  GANTRY_TRY(m_device.poison());
  GANTRY_TRY(m_driver.call(name));
  {
    const std::lock_guard lock(m_driver.mutex);
    m_work.push_back({std::move(run), std::move(ready)});
  }
  pump();
  return {};
}

Status FakeQueue::sync() {
  for (;;) {
    pump();
    std::unique_lock lock(m_driver.mutex);
    m_driver.changed.wait(lock, [this] { return is_idle() || can_run(); });
    if (is_idle()) break;
  }
  return m_device.poison();
}

Status FakeQueue::close() {
  m_device.forget(*this);
  return m_driver.call("queue_close");
}

template <class Function>
void FakeQueue::run_as(ExecutionContext::Kind kind, Function&& function) {
  Context context;
  context.kind = kind;
  context.queue = this;
  context.defer = [](ExecutionContext& self, void (*deferred)(void*), void* argument) {
    static_cast<Context&>(self).deferred.emplace_back(deferred, argument);
  };
  {
    const ExecutionScope scope(context);
    function();
  }
  for (const auto& [deferred, argument] : context.deferred) deferred(argument);
}

void FakeQueue::run(const KernelInfo& kernel, const Launch& launch, const void* body) {
  run_as(ExecutionContext::Kind::kernel, [&] {
    HostWorker worker;
    worker.range = {0, launch.count};
    worker.count = launch.count;
    try {
      kernel.host(body, worker);
    } catch (const std::exception& error) {
      m_device.poison_with(Status::error(
          Code::kernel_error, fmt::format("kernel '{}' on {}: {}", launch.label != nullptr ? launch.label : kernel.type,
                                          m_options.device_name, error.what())));
    }
  });
}

}  // namespace

Availability FakeBackend::probe() {
  ++probes;
  return availability;
}

Result<std::vector<DeviceInfo>> FakeBackend::devices(const ProcessResources&) {
  std::vector<DeviceInfo> infos;
  for (int i = 0; i < m_count; ++i) {
    DeviceInfo info;
    info.name = fmt::format("{}:{}", m_name, i);
    info.backend = m_name;
    info.ordinal = i;
    info.model = "fake device";
    info.memory_bytes = memory_bytes;
    info.concurrency = 4;
    info.place = "nowhere";
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<std::unique_ptr<Device>> FakeBackend::open(const DeviceInfo& info, const ProcessResources&) {
  GANTRY_TRY(driver.call("device_open"));
  auto device = std::make_unique<FakeDevice>(driver, info, memory_bytes);
  if (Status status = device->open_channel(); !status.ok()) {
    status.join(driver.call("device_close"));
    return status;
  }
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace gantry::test
