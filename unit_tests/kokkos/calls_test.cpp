// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels of Offload ask of the host: Kokkos::printf, gantry's malloc, host functions.
#include <gantry/base/settings.hpp>
#include <gantry/device/host_function.hpp>
#include <gantry/device/malloc.hpp>
#include <gantry/device/printf.hpp>
#include <gantry/kokkos/Gantry_Kokkos.hpp>
#include <gantry/rpc/sink.hpp>
#include <unit_tests/kokkos/patterns.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using Kokkos::Experimental::WorkItemProperty;
using Range = Kokkos::RangePolicy<Offload>;

/// What the default device prints while one lives.
class Printed {
 public:
  Printed() {
    gantry::rpc::Output output;
    output.kind = gantry::rpc::Output::Kind::callback;
    output.callback = [](gantry::DeviceId, std::string_view text, void* self) {
      static_cast<Printed*>(self)->add(text);
    };
    output.user = this;
    EXPECT_TRUE(gantry::rpc::set_output(Offload().device().id, output).ok());
  }
  ~Printed() { EXPECT_TRUE(gantry::rpc::set_output(Offload().device().id, {}).ok()); }

  std::string text() {
    const std::lock_guard lock(m_mutex);
    return m_text;
  }
  /// In alphabetical order: kernels print in any.
  std::vector<std::string> lines() {
    std::istringstream in(text());
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  void add(std::string_view text) {
    const std::lock_guard lock(m_mutex);
    m_text += text;
  }
  std::mutex m_mutex;
  std::string m_text;
};

TEST(CallsTest, EveryPatternPrints) {
  Printed printed;
  Kokkos::parallel_for(
      Range(0, 2), KOKKOS_LAMBDA(int i) { Kokkos::printf("for %d\n", i); });
  int sum = 0;
  Kokkos::parallel_reduce(
      Range(0, 2),
      KOKKOS_LAMBDA(int i, int& part) {
        Kokkos::printf("reduce %d\n", i);
        part += i;
      },
      sum);
  Kokkos::parallel_scan(
      Range(0, 2), KOKKOS_LAMBDA(int i, int& part, bool final) {
        if (final) Kokkos::printf("scan %d\n", i);
        part += i;
      });
  using Grid = Kokkos::MDRangePolicy<Offload, Kokkos::Rank<2>>;
  Kokkos::parallel_for(
      Grid({0, 0}, {1, 2}), KOKKOS_LAMBDA(int i, int j) { Kokkos::printf("grid %d %d\n", i, j); });
  Kokkos::parallel_reduce(
      Grid({0, 0}, {1, 2}),
      KOKKOS_LAMBDA(int i, int j, int& part) {
        Kokkos::printf("grid sum %d %d\n", i, j);
        part += j;
      },
      sum);
  Kokkos::fence();
  EXPECT_THAT(printed.lines(), testing::ElementsAre("for 0", "for 1", "grid 0 0", "grid 0 1", "grid sum 0 0",
                                                    "grid sum 0 1", "reduce 0", "reduce 1", "scan 0", "scan 1"));
}

TEST(CallsTest, AFormatWithoutArgumentsIsPlainTextAsInKokkos) {
  Printed printed;
  Kokkos::parallel_for(
      Range(0, 1), KOKKOS_LAMBDA(int) { Kokkos::printf("100%d\n"); });
  Kokkos::fence();
  EXPECT_EQ(printed.text(), "100%d\n");
}

TEST(CallsTest, WhatOneThreadPrintsKeepsItsOrder) {
  Printed printed;
  Kokkos::parallel_for(
      Range(0, 1), KOKKOS_LAMBDA(int) {
        for (int i = 0; i < 1000; ++i) gantry::printf("%d ", i);
      });
  Kokkos::fence();
  std::string expected;
  for (int i = 0; i < 1000; ++i) expected += std::to_string(i) + ' ';
  EXPECT_EQ(printed.text(), expected);
}

TEST(CallsTest, AStringOfAnyLengthArrivesInOnePiece) {
  Printed printed;
  const std::string text(300'000, 'x');
  const char* characters = text.c_str();
  Kokkos::parallel_for(
      Range(0, 2), KOKKOS_LAMBDA(int) { gantry::printf("<%s>\n", characters); });
  Kokkos::fence();
  EXPECT_EQ(printed.text(), '<' + text + ">\n<" + text + ">\n");
}

TEST(CallsTest, AnInstanceFenceIsEnough) {
  Printed printed;
  const Offload instance(Offload().device().id);
  Kokkos::parallel_for(
      Range(instance, 0, 1), KOKKOS_LAMBDA(int) { Kokkos::printf("from an instance\n"); });
  instance.fence();
  EXPECT_EQ(printed.text(), "from an instance\n");
}

TEST(CallsTest, ALineIsVisibleWhileItsKernelRuns) {
  if (gantry::settings()->launch_blocking || gantry::settings()->protect == gantry::Protect::pages)
    GTEST_SKIP() << "launches wait for their kernels";
  Printed printed;
  const Kokkos::View<int, OffloadPinnedSpace> go_on("go_on");
  const auto heavy = Kokkos::Experimental::require(Range(0, 1), WorkItemProperty::HintHeavyWeight);
  Kokkos::parallel_for(
      heavy, KOKKOS_LAMBDA(int) {
        Kokkos::printf("I wait\n");
        while (Kokkos::atomic_load(&go_on()) == 0) {
        }
      });
  while (printed.text() != "I wait\n") std::this_thread::yield();
  Kokkos::atomic_store(&go_on(), 1);
  Kokkos::fence();
}

TEST(CallsTest, MemoryOfAKernelIsForTheHostToReadAndFree) {
  const Kokkos::View<std::uintptr_t, OffloadPinnedSpace> where("where");
  Kokkos::parallel_for(
      Range(0, 1), KOKKOS_LAMBDA(int) {
        auto* made = static_cast<double*>(gantry::malloc(10 * sizeof(double)));
        for (int i = 0; i < 10; ++i) made[i] = 1.5 * i;
        where() = reinterpret_cast<std::uintptr_t>(made);
      });
  Kokkos::fence();
  auto* const on_device = reinterpret_cast<double*>(where());
  ASSERT_NE(on_device, nullptr);
  EXPECT_THAT(gantry::leak_report().to_text(), testing::HasSubstr("'malloc in a kernel', 80 bytes"));
  double values[10] = {};
  const Kokkos::View<double*, OffloadSpace, Kokkos::MemoryUnmanaged> made(on_device, 10);
  Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values, 10), made);
  EXPECT_EQ(values[9], 13.5);
  EXPECT_TRUE(gantry::deallocate(Offload().device(), on_device).ok());
}

TEST(CallsTest, MallocUntilThereIsNothingLeftThenAgain) {
  // In memory that is never touched, so that the machine has it.
  constexpr std::size_t chunk = std::size_t{1} << 29;
  const Kokkos::View<int[2], OffloadPinnedSpace> made("made");
  for (int turn = 0; turn < 2; ++turn) {
    Kokkos::parallel_for(
        Range(0, 1), KOKKOS_LAMBDA(int) {
          void* first = nullptr;  // each chunk begins with the address of the one before
          int count = 0;
          while (void* next = gantry::malloc(chunk)) {
            *static_cast<void**>(next) = first;
            first = next;
            ++count;
          }
          made(turn) = count;
          while (first != nullptr) {
            void* next = *static_cast<void**>(first);
            gantry::free(first);
            first = next;
          }
        });
    Kokkos::fence();
  }
  EXPECT_GT(made(0), 0);
  EXPECT_EQ(made(1), made(0));
  const auto device = gantry::devices().value()[static_cast<std::size_t>(Offload().device().id)];
  EXPECT_GE(device.peak_bytes, chunk * static_cast<std::size_t>(made(0)));
  EXPECT_TRUE(gantry::trim(Offload().device()).ok());
}

TEST(CallsTest, AHostFunctionIsCalledWithArgumentsAndAnswers) {
  std::atomic<int> calls{0};
  gantry::HostFunction<double(int, double)> function([&](int i, double x) {
    ++calls;
    return i * x;
  });
  const auto f = function.ref();
  const Kokkos::View<double*, OffloadSpace> y("y", 100);
  Kokkos::parallel_for(
      Range(0, 100), KOKKOS_LAMBDA(int i) { y(i) = f(i, 0.5); });
  EXPECT_EQ(gantry::test::to_host(y)[99], 49.5);
  EXPECT_EQ(calls, 100);
}

TEST(CallsTest, PrintingOutsideOfKernelsIsTheCLibrarys) {
  testing::internal::CaptureStdout();
  Kokkos::printf("%d and %s\n", 1, "text");
  gantry::printf("%d and %s\n", 2, "text");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1 and text\n2 and text\n");
}

}  // namespace
