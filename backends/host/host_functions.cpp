// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/engine.hpp>
#include <backends/host/guarded.hpp>
#include <backends/host/host_functions.hpp>
#include <backends/host/signal_mask.hpp>
#include <backends/host/work_frame.hpp>

#include <fmt/format.h>

#include <pthread.h>

#include <chrono>
#include <system_error>

namespace gantry::host {

Status HostFunctions::start() {
  const std::lock_guard lock(m_mutex);
  if (m_stop)
    return Status::error(Code::device_closed, m_engine.options.device_name + " takes no host functions: it is closed");
  if (m_thread.joinable()) return {};
  try {
    const SignalMask mask;
    m_thread = std::thread([engine = m_engine.shared_from_this()] { engine->functions.serve(); });
  } catch (const std::system_error& error) {
    return Status::error(
        Code::driver_error,
        fmt::format("starting the thread of {}'s host functions: {}", m_engine.options.device_name, error.what()),
        error.code().value());
  }
  return {};
}

void HostFunctions::post(Stream& stream, void (*function)(void*), void* argument) {
  const std::lock_guard lock(m_mutex);
  m_calls.push_back({&stream, function, argument});
  m_changed.notify_all();
}

void HostFunctions::serve() {
  pthread_setname_np(pthread_self(), "gantry-hostfn");
  if (m_engine.options.bind != Bind::none) m_engine.options.cpus.bind_calling_thread().ignore();
  if (m_engine.protection != nullptr) m_engine.protection->revoke_from_this_thread();
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [&] { return m_stop || !m_calls.empty(); });
    if (m_calls.empty()) return;
    const Call call = m_calls.front();
    m_calls.pop_front();
    m_running = true;
    lock.unlock();
    {
      const WorkFrame frame(ExecutionContext::Kind::host_function, &call.stream->queue(), 0, call.stream->deferred());
      guarded([&] { call.function(call.argument); }, [&](const char* what) { call.stream->function_failed(what); });
    }
    call.stream->function_returned();
    lock.lock();
    m_running = false;
    m_changed.notify_all();
  }
}

bool HostFunctions::stop(std::chrono::nanoseconds patience) {
  std::unique_lock lock(m_mutex);
  m_stop = true;
  m_changed.notify_all();
  if (!m_thread.joinable()) return true;
  const bool ended = m_changed.wait_for(lock, patience, [&] { return !m_running && m_calls.empty(); });
  lock.unlock();
  if (ended) {
    m_thread.join();
  } else {
    m_thread.detach();
  }
  return ended;
}

}  // namespace gantry::host
