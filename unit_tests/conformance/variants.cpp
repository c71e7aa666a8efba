// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/device.hpp>
#include <gantry/base/settings.hpp>
#include <unit_tests/conformance/device_fixture.hpp>
#include <unit_tests/support/fake_backend.hpp>
#include <unit_tests/support/host_options.hpp>

namespace gantry::test {
namespace {

Variant host_variant(std::string name, int slots, Protect protect, void (*change)(host::EngineOptions&) = nullptr) {
  Variant variant;
  variant.name = std::move(name);
  if (protect == Protect::off) protect = settings()->protect;
  variant.open = [=](int ordinal) {
    host::EngineOptions options = host_options(slots);
    options.device_name = "device:" + std::to_string(ordinal);
    options.ordinal = ordinal;
    if (change != nullptr) change(options);
    return host::HostDevice::open(std::move(options), protect, 2, test_server());
  };
  variant.blocking = protect == Protect::pages;
  return variant;
}

Variant fake_variant() {
  static FakeBackend backend(2);
  Variant variant;
  variant.name = "Fake";
  variant.open = [](int ordinal) -> Result<std::unique_ptr<Device>> {
    auto infos = backend.devices({});
    if (!infos.ok()) return std::move(infos).status();
    return backend.open((*infos)[static_cast<std::size_t>(ordinal)], {});
  };
  variant.blocking = true;
  variant.runs_joins = false;
  return variant;
}

}  // namespace

const std::vector<Variant>& variants() {
  static const auto& all = *new std::vector<Variant>{
      host_variant("Host1Thread", 1, Protect::off),
      host_variant("Host2Threads", 2, Protect::off),
      host_variant("Host5Threads", 5, Protect::off),
      host_variant("HostNeverInline", 2, Protect::off, [](host::EngineOptions& o) { o.inline_limit = -1; }),
      host_variant("HostStrict", 2, Protect::off, [](host::EngineOptions& o) { o.strict = true; }),
      host_variant("HostProtected", 2, Protect::on),
      host_variant("HostProtectedByPages", 2, Protect::pages),
      fake_variant(),
  };
  return all;
}

}  // namespace gantry::test
