// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/support/fake_driver.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gantry::test {

void FakeDriver::fail_call(int k, Code code) {
  fail_call("", k, code);
}

void FakeDriver::fail_call(const std::string& name, int k, Code code) {
  const std::lock_guard lock(mutex);
  m_faults.push_back({name, k, code});
}

void FakeDriver::fail_always(const std::string& name, Code code) {
  fail_call(name, 0, code);
}

void FakeDriver::stop_failing() {
  const std::lock_guard lock(mutex);
  m_faults.clear();
}

Status FakeDriver::call(const char* name) {
  const std::lock_guard lock(mutex);
  m_calls.push_back(name);
  Status status;
  std::erase_if(m_faults, [&](Fault& fault) {
    if (!fault.name.empty() && fault.name != name) return false;
    const bool always = fault.calls_left == 0;
    if (!always && --fault.calls_left != 0) return false;
    if (status.ok()) status = Status::error(fault.code, fmt::format("the fake driver's {} failed", name), 7);
    return !always;
  });
  return status;
}

std::vector<std::string> FakeDriver::calls() {
  const std::lock_guard lock(mutex);
  return {m_calls.begin(), m_calls.end()};
}

int FakeDriver::count(std::string_view name) {
  const std::lock_guard lock(mutex);
  return static_cast<int>(std::count(m_calls.begin(), m_calls.end(), name));
}

FakeDriver::Live FakeDriver::live() {
  const std::lock_guard lock(mutex);
  return m_live;
}

void FakeDriver::add(int Live::*kind, int change) {
  const std::lock_guard lock(mutex);
  m_live.*kind += change;
}

void FakeDriver::hold() {
  const std::lock_guard lock(mutex);
  held = true;
}

void FakeDriver::let_go() {
  std::vector<Pumped*> all;
  {
    const std::lock_guard lock(mutex);
    held = false;
    all = queues;
    changed.notify_all();
  }
  for (Pumped* queue : all) queue->pump();
}

}  // namespace gantry::test
