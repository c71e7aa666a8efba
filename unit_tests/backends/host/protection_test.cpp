// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/backends/host/host_fixture.hpp>

#include <gantry/core/live_objects.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace gantry::test {
namespace {

class ProtectionTest : public testing::TestWithParam<Protect> {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    m_host = std::make_unique<OpenHost>(host_options(2), GetParam());
    auto memory = (*m_host)->allocate(MemoryKind::device, 8192);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    m_memory = static_cast<int*>(*memory);
  }
  void TearDown() override {
    if (m_memory != nullptr) EXPECT_OK((*m_host)->free(MemoryKind::device, m_memory, 8192));
  }
  volatile int& element(int i) { return m_memory[i]; }

  std::unique_ptr<OpenHost> m_host;
  int* m_memory = nullptr;
};
INSTANTIATE_TEST_SUITE_P(, ProtectionTest, testing::Values(Protect::on, Protect::pages),
                         [](const auto& info) { return info.param == Protect::on ? "Keys" : "Pages"; });

TEST_P(ProtectionTest, HostReadFaultsAndNamesTheAllocation) {
  const auto read = [&] {
    LiveObjects::get().insert(ObjectKind::device_memory, m_memory, 8000, "temperature", DeviceHandle{0, 1}, "host");
    [[maybe_unused]] const int value = element(3);
  };
  EXPECT_DEATH(read(), "read device memory at 0x.*byte 12 of 'temperature' .8000 bytes.* host");
}

TEST_P(ProtectionTest, HostWriteFaults) {
  EXPECT_DEATH(element(0) = 1, "wrote device memory");
}

TEST_P(ProtectionTest, OtherThreadsFaultToo) {
  EXPECT_DEATH(std::thread([&] { element(0) = 1; }).join(), "wrote device memory");
}

TEST_P(ProtectionTest, HostFaultsBetweenKernels) {
  const auto use = [&] {
    Queue& queue = m_host->queue();
    for (int i = 0; i < 100; ++i)
      EXPECT_OK(for_each(queue, 64, [this](auto item) { element(static_cast<int>(item)) = 1; }));
    EXPECT_OK(queue.sync());
    element(0) = 1;
  };
  EXPECT_DEATH(use(), "wrote device memory");
}

TEST_P(ProtectionTest, HostFunctionsFault) {
  const auto use = [&] {
    Queue& queue = m_host->queue();
    queue.host_function([](void* memory) { *static_cast<volatile int*>(memory) = 1; }, m_memory).ignore();
    queue.sync().ignore();
  };
  EXPECT_DEATH(use(), "wrote device memory");
}

TEST_P(ProtectionTest, MemoryGivenBackFaultsToo) {
  const auto use = [&] {
    EXPECT_OK((*m_host)->free(MemoryKind::device, m_memory, 8192));
    m_host.reset();
    OpenHost next(host_options(2), GetParam());
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(next->allocate(MemoryKind::device, 8192).ok());
    element(1) = 1;
  };
  EXPECT_DEATH(use(), "wrote device memory.*no allocation holds");
}

TEST_P(ProtectionTest, FaultElsewhereEndsTheProcessAsBefore) {
  volatile std::uintptr_t nowhere = 8;  // volatile: the compiler must not see that this is no object
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(nowhere) = 1, "");
}

TEST_P(ProtectionTest, PinnedMemoryIsTheHostsToo) {
  auto memory = (*m_host)->allocate(MemoryKind::pinned, 100);
  ASSERT_TRUE(memory.ok());
  *static_cast<int*>(*memory) = 1;
  EXPECT_OK((*m_host)->free(MemoryKind::pinned, *memory, 100));
}

TEST_P(ProtectionTest, FaultsAreExplainedHoweverMuchMemoryThereIs) {
  const auto use = [&] {
    for (int i = 0; i < 5000; ++i) EXPECT_TRUE((*m_host)->allocate(MemoryKind::device, 100).ok());
    auto memory = (*m_host)->allocate(MemoryKind::device, 100);
    EXPECT_OK((*m_host)->free(MemoryKind::device, *memory, 100));
    static_cast<volatile int*>(*memory)[2] = 1;
  };
  EXPECT_DEATH(use(), "wrote device memory at 0x.*no allocation holds.* on host");
}

TEST_P(ProtectionTest, KernelsOfOtherDevicesAreNamed) {
  const auto use = [&](volatile int* memory, const char* device_name) {
    host::EngineOptions options = host_options(2);
    options.device_name = device_name;
    OpenHost other(options, GetParam());
    Queue& queue = other.queue();
    for_each(queue, items(1, true), [=](auto) { *memory = 1; }).ignore();
    queue.sync().ignore();
  };
  LiveObjects::get().insert(ObjectKind::device_memory, m_memory, 8000, "density", DeviceHandle{0, 1}, "host");
  EXPECT_DEATH(use(m_memory, "host:1"), "kernel '.*' on host:1, thread .*, wrote device memory at .*'density'.* on host; ");
  LiveObjects::get().remove_memory(DeviceHandle{0, 1}, m_memory).status().ignore();
}

TEST_P(ProtectionTest, KernelsThatUseMemoryGivenBackAreNamed) {
  const auto use = [&] {
    EXPECT_OK((*m_host)->free(MemoryKind::device, m_memory, 8192));
    Queue& queue = m_host->queue();
    for_each(queue, items(1, true), [this](auto) { element(1) = 1; }).ignore();
    queue.sync().ignore();
  };
  EXPECT_DEATH(use(), "kernel '.*' on host, thread .*, wrote device memory at 0x.*no allocation holds.* on host");
}

/// Whether the calling thread may read an address.
bool readable(const void* address) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool is_readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is_readable;
}

// Without the fixture: by pages, what a failure leaves in the books is opened and closed with everything else.
TEST(ProtectionByPagesTest, MemoryThatCouldNotBeAddedIsNotTouchedLater) {
  auto protection = host::Protection::create(Protect::pages, "host");
  ASSERT_TRUE(protection.ok());
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = mmap(nullptr, 4096, PROT_READ, flags, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(munmap(memory, 4096), 0);
  EXPECT_EQ((*protection)->add(memory, 4096).code(), Code::driver_error);
  ASSERT_EQ(mmap(memory, 4096, PROT_READ, flags | MAP_FIXED_NOREPLACE, -1, 0), memory);
  { const host::AccessScope scope(protection->get()); }
  EXPECT_TRUE(readable(memory));
  munmap(memory, 4096);
}

TEST(ProtectionByPagesTest, MemoryThatCouldNotBeGivenBackIsStillTheDevices) {
  auto protection = host::Protection::create(Protect::pages, "host");
  ASSERT_TRUE(protection.ok());
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_OK((*protection)->add(memory, 4096));
  EXPECT_EQ((*protection)->give_back(memory, 0).code(), Code::driver_error);
  EXPECT_FALSE(readable(memory));
  {
    const host::AccessScope scope(protection->get());
    EXPECT_TRUE(readable(memory));
  }
  EXPECT_OK((*protection)->give_back(memory, 4096));
  const host::AccessScope scope(protection->get());
  EXPECT_FALSE(readable(memory));
}

TEST(ProtectionByPagesTest, NeighboursAreOpenedAndWhatLiesBetweenIsNot) {
  auto protection = host::Protection::create(Protect::pages, "host");
  ASSERT_TRUE(protection.ok());
  auto* pages = static_cast<char*>(mmap(nullptr, 5 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  const auto page = [&](int i) { return pages + i * 4096; };
  for (const int i : {4, 1, 0, 2}) EXPECT_OK((*protection)->add(page(i), 4096));
  EXPECT_OK((*protection)->give_back(page(1), 4096));
  for (const bool open : {false, true, false}) {
    const host::AccessScope scope(open ? protection->get() : nullptr);
    for (const int i : {0, 2, 4}) EXPECT_EQ(readable(page(i)), open) << i;
    for (const int i : {1, 3}) EXPECT_FALSE(readable(page(i))) << i;
  }
  for (const int i : {0, 2, 4}) EXPECT_OK((*protection)->give_back(page(i), 4096));
}

// Not of the fixture, which has installed the handler already.
TEST(ProtectionHandlerTest, PassesTheSignalOnToTheHandlerBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto use = [] {
    struct sigaction before {};
    before.sa_handler = [](int) { _exit(7); };
    sigaction(SIGSEGV, &before, nullptr);
    OpenHost host(host_options(2), Protect::on);
    auto memory = host->allocate(MemoryKind::device, 100);
    *static_cast<volatile int*>(*memory) = 1;
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(7), "no allocation holds on host");
}

TEST_P(ProtectionTest, PagesAreNotShared) {
  const MemoryTraits traits = (*m_host)->memory_traits(MemoryKind::device);
  EXPECT_EQ(traits.granularity, GetParam() == Protect::pages ? 4096U : 128U);
}

}  // namespace
}  // namespace gantry::test
