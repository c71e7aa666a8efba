// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/runtime.hpp>

#include <gantry/base/leaky.hpp>
#include <gantry/base/log.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/exit.hpp>
#include <gantry/core/fork_guard.hpp>
#include <gantry/core/managed_device.hpp>
#include <gantry/core/registry.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <span>
#include <string_view>
#include <utility>

namespace gantry {
namespace {

/// The devices as they were selected; never changed once made.
struct DeviceList {
  ProcessResources resources;
  Selection selection;
  std::vector<std::unique_ptr<ManagedDevice>> devices;
};

Status write_file(const std::string& path, const std::string& json) {
  int error = 0;
  // Without O_NONBLOCK the process would wait, perhaps for ever, for somebody to read a FIFO.
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (file < 0) error = errno;
  for (std::string_view rest = json; error == 0 && !rest.empty();) {
    const ssize_t written = ::write(file, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (file >= 0 && ::close(file) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  const char* why = error == ENXIO ? "nobody reads this FIFO" : std::strerror(error);
  return Status::error(Code::driver_error, fmt::format("cannot write GANTRY_LEAKS_FILE={}: {}", in_quotes(path), why),
                       error);
}

}  // namespace

struct Runtime::State {
  State(std::vector<Backend*> backends, std::optional<Settings> from_environment, LiveObjects& objects)
      : registry(std::move(backends)), settings(std::move(from_environment)), live(objects) {}

  const Registry registry;
  const std::optional<Settings> settings;
  LiveObjects& live;

  std::mutex making;  ///< guards configuration, and making the list
  Configuration configuration;
  std::unique_ptr<const DeviceList> owned_list;
  std::atomic<const DeviceList*> list{nullptr};

  std::mutex writing;    ///< of the leaks file; taken before `reporting`
  std::mutex reporting;  ///< guards all below
  LeakCallback callback = nullptr;
  void* callback_user = nullptr;
  LeakReport reported;  ///< all that was ever reported: what GANTRY_LEAKS_FILE holds
  std::atomic<bool> leaks_failed{false};

  Result<const DeviceList*> devices();
  Result<SelectionInput> input(const ProcessResources& resources) const;
  void emit(const LeakReport& report);
  void write_leaks_file();
};

Runtime::Runtime(std::vector<Backend*> backends, std::optional<Settings> settings, LiveObjects& live)
    : m_state(std::make_unique<State>(std::move(backends), std::move(settings), live)) {
  arm_fork_guard();
}

Runtime::~Runtime() = default;

Runtime& Runtime::get() {
  static Leaky<Runtime> runtime(compiled_backends(),
                                gantry::settings() != nullptr ? std::optional(*gantry::settings()) : std::nullopt,
                                LiveObjects::get());
  return *runtime;
}

Status Runtime::configure(Configuration configuration) {
  if (in_forked_child()) return forked_child_error();
  const std::lock_guard lock(m_state->making);
  if (m_state->list.load() != nullptr) {
    return Status::error(Code::busy, "the list of devices is in use already: configure Gantry before its first use");
  }
  m_state->configuration = std::move(configuration);
  return {};
}

Result<const DeviceList*> Runtime::State::devices() {
  if (in_forked_child()) return forked_child_error();
  if (const DeviceList* made = list.load(std::memory_order_acquire); made != nullptr) return made;
  const std::lock_guard lock(making);
  if (owned_list != nullptr) return owned_list.get();
  if (!settings) return settings_status();

  ProcessResources resources = configuration.resources;
  if (resources.cpus.empty()) {
    resources.cpus = CpuSet::of_calling_thread();
    resources.reason = "sched_getaffinity";
    if (resources.cpus.empty())
      return Status::error(Code::driver_error, "sched_getaffinity does not say which CPUs the process may use");
  }
  if (settings->num_threads != 0) resources.num_threads = settings->num_threads;
  GANTRY_TRY_ASSIGN(SelectionInput decided_by, input(resources));
  auto made = std::make_unique<DeviceList>();
  GANTRY_TRY_ASSIGN(made->selection, select_devices(std::move(decided_by)));
  const ManagedDevice::Environment environment{live, settings->close_timeout, resources};
  for (const Selection::Device& device : made->selection.devices) {
    if (!device.id) continue;
    made->devices.push_back(
        std::make_unique<ManagedDevice>(*device.id, registry.backend(device.info.backend), device.info, environment));
  }
  log(LogLevel::info, "default device: " + made->selection.choice.reason);
  made->resources = std::move(resources);
  owned_list = std::move(made);
  list.store(owned_list.get(), std::memory_order_release);
  return owned_list.get();
}

Result<SelectionInput> Runtime::State::input(const ProcessResources& resources) const {
  SelectionInput input;
  input.require_gpu = settings->require == Require::gpu;
  input.request = configuration.request;
  if (input.request.map_by == DeviceRequest::MapBy::random) input.random = std::random_device()();
  input.local_rank = local_rank_from_environment();
  std::span<const DeviceToken> named;
  if (settings->devices) {
    GANTRY_TRY_ASSIGN(input.devices, parse_devices(*settings->devices));
    named = input.devices->tokens;
  }
  GANTRY_TRY_ASSIGN(input.backends, registry.survey(named, resources));
  return input;
}

Result<Selection> Runtime::selection() {
  GANTRY_TRY_ASSIGN(const DeviceList* list, m_state->devices());
  Selection selection = list->selection;
  for (BackendReport& backend : selection.backends)
    for (DeviceInfo& info : backend.devices) m_state->registry.backend(info.backend).describe(info, list->resources);
  for (Selection::Device& device : selection.devices)
    m_state->registry.backend(device.info.backend).describe(device.info, list->resources);
  return selection;
}

Result<std::vector<DeviceStatus>> Runtime::devices() {
  GANTRY_TRY_ASSIGN(const DeviceList* list, m_state->devices());
  std::vector<DeviceStatus> all;
  for (std::size_t i = 0; i < list->devices.size(); ++i) {
    all.push_back(list->devices[i]->status());
    m_state->registry.backend(all.back().info.backend).describe(all.back().info, list->resources);
    all.back().selection = list->selection.devices[i].reason;
  }
  return all;
}

Result<DeviceChoice> Runtime::default_device() {
  GANTRY_TRY_ASSIGN(const DeviceList* list, m_state->devices());
  return list->selection.choice;
}

Result<DeviceHandle> Runtime::open(DeviceId id) {
  GANTRY_TRY_ASSIGN(ManagedDevice * device, this->device({id, 1}));
  arm_exit();
  return device->open();
}

Status Runtime::close(DeviceId id, CloseMode mode) {
  GANTRY_TRY_ASSIGN(ManagedDevice * device, this->device({id, 1}));
  LeakReport leaked;
  Status status = device->close(mode, leaked);
  m_state->emit(leaked);
  return status;
}

Status Runtime::close_all() {
  if (in_forked_child()) return forked_child_error();
  if (execution_context() != nullptr) {
    return Status::error(Code::refused,
                         "devices cannot be closed inside a kernel or host function, which that would wait for");
  }
  const DeviceList* list = m_state->list.load(std::memory_order_acquire);
  if (list == nullptr) return {};
  Status status;
  LeakReport leaked;
  for (std::size_t i = list->devices.size(); i-- > 0;) status.join(list->devices[i]->close(CloseMode::force, leaked));
  std::sort(leaked.objects.begin(), leaked.objects.end(),
            [](const LiveObject& a, const LiveObject& b) { return a.sequence < b.sequence; });
  m_state->emit(leaked);
  for (const auto& [backend, calls] : call_statistics())
    if (calls.calls != 0) log(LogLevel::info, fmt::format("calls of {} devices: {}", backend, to_text(calls)));
  return status;
}

void Runtime::State::emit(const LeakReport& report) {
  if (report.empty()) return;
  LeakCallback call = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(reporting);
    call = callback;
    user = callback_user;
    reported.objects.insert(reported.objects.end(), report.objects.begin(), report.objects.end());
  }
  if (settings->leaks != Leaks::off) {
    log(LogLevel::error, "leak report: " + report.to_text());
    if (!settings->leaks_file.empty()) write_leaks_file();
    if (settings->leaks == Leaks::fail) leaks_failed.store(true);
  }
  if (call != nullptr) call(report, user);
}

void Runtime::State::write_leaks_file() {
  const std::lock_guard one_after_the_other(writing);  // the last one has all
  std::string json;
  {
    const std::lock_guard lock(reporting);
    json = reported.to_json() + '\n';
  }
  if (const Status status = write_file(settings->leaks_file, json); !status.ok())
    log(LogLevel::error, status.message());
}

LeakReport Runtime::leak_report() const {
  return in_forked_child() ? LeakReport() : m_state->live.snapshot();
}

LeakCallback Runtime::set_leak_callback(LeakCallback callback, void* user) {
  const std::lock_guard lock(m_state->reporting);
  m_state->callback_user = user;
  return std::exchange(m_state->callback, callback);
}

bool Runtime::leaks_failed() const noexcept {
  return m_state->leaks_failed.load();
}

bool Runtime::find_allocation(const void* address, Allocation& found) const noexcept {
  LiveObjectView view;
  if (in_forked_child() || !m_state->live.find(address, view)) return false;
  found = {view.device, view.kind == ObjectKind::pinned_memory ? MemoryKind::pinned : MemoryKind::device, view.address,
           view.bytes};
  return true;
}

Status Runtime::on_every_device(Status (ManagedDevice::*call)()) {
  if (in_forked_child()) return forked_child_error();
  Status status;
  if (const DeviceList* list = m_state->list.load(std::memory_order_acquire); list != nullptr) {
    for (const auto& device : list->devices) status.join((*device.*call)());
  }
  return status;
}

Status Runtime::fence_all() {
  return on_every_device(&ManagedDevice::fence);
}

Status Runtime::wait_all() {
  return on_every_device(&ManagedDevice::wait);
}

void Runtime::flush_output() {
  const DeviceList* list = in_forked_child() ? nullptr : m_state->list.load(std::memory_order_acquire);
  if (list == nullptr) return;
  for (const auto& device : list->devices) device->flush_output();
}

std::vector<BackendCalls> Runtime::call_statistics() const {
  return m_state->registry.call_statistics();
}

Result<ManagedDevice*> Runtime::device(DeviceHandle handle) {
  const auto index = static_cast<std::size_t>(handle.id);  // a negative one is larger than any list
  if (const DeviceList* list = m_state->list.load(std::memory_order_acquire);
      list != nullptr && index < list->devices.size() && handle.generation != 0 && !in_forked_child()) [[likely]] {
    return list->devices[index].get();
  }
  GANTRY_TRY_ASSIGN(const DeviceList* list, m_state->devices());
  if (index >= list->devices.size()) {
    std::string existing;
    for (std::size_t i = 0; i < list->devices.size(); ++i) {
      existing += fmt::format("{}{} = {}", i == 0 ? "" : ", ", i, list->devices[i]->info().name);
    }
    return Status::error(Code::not_found,
                         fmt::format("there is no device {}; the devices are {}", handle.id, existing));
  }
  if (handle.generation == 0) {
    return Status::error(Code::invalid_argument, "the device handle is empty: open_device returns one");
  }
  return list->devices[index].get();
}

}  // namespace gantry
