// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/engine.hpp>
#include <backends/host/guarded.hpp>
#include <backends/host/host_functions.hpp>
#include <backends/host/work_frame.hpp>
#include <gantry/base/service_thread.hpp>

#include <fmt/format.h>

#include <pthread.h>

namespace gantry::host {

Status HostFunctions::start() {
  const std::lock_guard lock(m_mutex);
  if (m_thread.joinable()) return {};
  return start_service_thread(m_thread, fmt::format("the thread of {}'s host functions", m_engine.options.device_name),
                              [this] { serve(); });
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
    lock.unlock();
    {
      const WorkFrame frame(nullptr, &call.stream->queue(), 0, call.stream->deferred());
      guarded([&] { call.function(call.argument); }, [&](const char* what) { call.stream->function_failed(what); });
    }
    call.stream->function_returned();
    lock.lock();
  }
}

void HostFunctions::stop() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
    m_changed.notify_all();
  }
  if (m_thread.joinable()) m_thread.join();
}

}  // namespace gantry::host
