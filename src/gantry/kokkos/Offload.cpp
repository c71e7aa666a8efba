// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/settings.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/exit.hpp>
#include <gantry/core/gantry.hpp>
#include <gantry/core/runtime.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/process_resources.hpp>
#include <gantry/kokkos/tools.hpp>

#include <atomic>
#include <deque>
#include <mutex>
#include <ostream>
#include <string>

namespace gantry {

namespace {

enum class Phase { unborn, ready, finalized };
constinit std::atomic<Phase> g_phase{Phase::unborn};

// The default queue of the default device: a reference that is not counted, so any thread may copy it at any time.
// Replaced, under the mutex, when the device was closed since; the few bytes of the one before stay.
constinit std::atomic<const QueueRef*> g_default_queue{nullptr};
constinit std::mutex g_default_queue_mutex;

// First difference between the Kokkos of the program and the library's; null: none.
constinit std::atomic<const impl::KokkosBuild*> g_other_build{nullptr};

[[maybe_unused]] const int g_registered = Kokkos::Impl::initialize_space_factory<Offload>("040_Gantry");

[[noreturn]] void throw_not_ready(Phase phase) {
  throw Error(Status::error(Code::refused, phase == Phase::unborn
                                               ? "gantry::Offload is used before Kokkos::initialize has initialised it"
                                               : "gantry::Offload is used after Kokkos::finalize"));
}

void require_ready() {
  if (const Phase phase = g_phase.load(std::memory_order_acquire); phase != Phase::ready) [[unlikely]]
    throw_not_ready(phase);
}

std::string describe(const impl::KokkosBuild& build) {
  return std::to_string(build.version / 10000) + "." + std::to_string(build.version / 100 % 100) + "." +
         std::to_string(build.version % 100) + " (options " + std::to_string(build.flags) + ")";
}

Status check_build() {
  const impl::KokkosBuild* other = g_other_build.load(std::memory_order_acquire);
  if (other == nullptr) return {};
  return Status::error(Code::invalid_argument, "libgantry_kokkos was built for Kokkos " +
                                                   describe(impl::kokkos_build()) + ", the program is compiled for " +
                                                   describe(*other) + "; build both for the same Kokkos");
}

Status configure(const Kokkos::InitializationSettings& settings) {
  Runtime::Configuration wanted;
  wanted.resources = impl::process_resources();
  if (settings.has_num_threads()) {
    wanted.resources.num_threads = settings.get_num_threads();
    GANTRY_TRY(
        check_switch("--kokkos-num-threads", std::to_string(wanted.resources.num_threads), "GANTRY_NUM_THREADS"));
  }
  if (settings.has_device_id()) wanted.request.device_id = settings.get_device_id();
  wanted.request.device_id_name = "--kokkos-device-id";
  if (settings.has_map_device_id_by()) {
    const std::string by = settings.get_map_device_id_by();
    if (by != "mpi_rank" && by != "random")
      return invalid_setting("--kokkos-map-device-id-by", by, "mpi_rank or random");
    wanted.request.map_by = by == "random" ? DeviceRequest::MapBy::random : DeviceRequest::MapBy::local_rank;
  }
  const bool asked = settings.has_num_threads() || settings.has_device_id() || settings.has_map_device_id_by();
  Status status = Runtime::get().configure(std::move(wanted));
  // Devices that the program used before Kokkos came up stay as they are, unless Kokkos was told otherwise.
  if (status.code() == Code::busy && !asked) return {};
  return status;
}

// Opens a device and makes its default queue that of Offload().
Status adopt_default(DeviceId id) {
  GANTRY_TRY_ASSIGN(const DeviceHandle device, open_device(id));
  GANTRY_TRY_ASSIGN(QueueRef queue, default_queue(device));
  static std::deque<QueueRef>& all = *new std::deque<QueueRef>;
  g_default_queue.store(&all.emplace_back(std::move(queue)), std::memory_order_release);
  return {};
}

Status open_default() {
  GANTRY_TRY_ASSIGN(const DeviceChoice choice, default_device());
  const std::lock_guard lock(g_default_queue_mutex);
  return adopt_default(choice.id);
}

const QueueRef& reopen_default() {
  const std::lock_guard lock(g_default_queue_mutex);
  const QueueRef& before = *g_default_queue.load(std::memory_order_acquire);
  if (!before.current()) impl::check(adopt_default(before.device().id), "gantry::Offload: the default device");
  return *g_default_queue.load(std::memory_order_acquire);
}

}  // namespace

namespace impl {
bool register_build(const KokkosBuild& build) noexcept {
  if (!(build == kokkos_build())) g_other_build.store(&build, std::memory_order_release);
  return true;
}
}  // namespace impl

Offload::Offload() {
  require_ready();
  const QueueRef& queue = *g_default_queue.load(std::memory_order_acquire);
  m_queue = queue.current() ? queue : reopen_default();
}

Offload::Offload(DeviceId device) {
  require_ready();
  auto opened = open_device(device);
  impl::check(opened.status(), "gantry::Offload");
  auto queue = create_queue(*opened, "Offload(" + std::to_string(device) + ")");
  impl::check(queue.status(), "gantry::Offload");
  m_queue = std::move(*queue);
}

void Offload::fence() const {
  const auto sync = [this] { return m_queue.sync(); };
  impl::check(impl::with_fence_event(*this, "gantry::Offload::fence: Unnamed Instance Fence", sync), "fence");
}

void Offload::fence(const std::string& name) const {
  const auto sync = [this] { return m_queue.sync(); };
  impl::check(impl::with_fence_event(*this, name, sync), name.c_str());
}

void Offload::impl_static_fence(const std::string& name) {
  if (g_phase.load(std::memory_order_acquire) != Phase::ready) return;
  Status status = impl::with_fence_event(name, [] { return fence_all(); });
  // A forked child has no device, so nothing to wait for; Kokkos fences when the child's statics end.
  if (status.code() != Code::refused) impl::check(std::move(status), name.c_str());
}

void Offload::impl_initialize(const Kokkos::InitializationSettings& settings) {
  Status status = check_build();
  if (status.ok()) status = configure(settings);
  if (status.ok()) status = open_default();
  impl::check(std::move(status), "gantry::Offload");
  g_phase.store(Phase::ready, std::memory_order_release);
}

void Offload::impl_finalize() {
  if (g_phase.exchange(Phase::finalized, std::memory_order_acq_rel) != Phase::ready) return;
  fail_exit(close_all_devices().with_context("Kokkos::finalize"));
}

void Offload::print_configuration(std::ostream& os, bool verbose) const {
  os << "gantry::Offload\n";
  auto list = devices();
  if (!list.ok()) {
    os << "  devices: " << list.status().message() << '\n';
    return;
  }
  if (auto choice = default_device(); choice.ok()) os << "  default device: " << choice->reason << '\n';
  os << "  this instance: device " << device().id << ", queue " << m_queue.id() << ", " << concurrency()
     << " threads\n";
  for (std::size_t i = 0; i < list->size(); ++i) {
    const DeviceStatus& status = (*list)[i];
    os << "  device " << i << ": " << status.info.name << " (" << status.info.model << "), "
       << device_state_name(status.state) << ", " << status.info.concurrency << " threads, " << status.info.place
       << '\n';
    if (verbose)
      os << "    " << status.selection << "; memory " << status.info.memory_bytes << " bytes, used "
         << status.used_bytes << ", cached " << status.cached_bytes << ", peak " << status.peak_bytes << '\n';
  }
}

}  // namespace gantry
