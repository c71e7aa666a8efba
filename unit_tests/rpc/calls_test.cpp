// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls_environment.hpp"

#include <gantry/device/abort.hpp>
#include <gantry/device/call.hpp>
#include <gantry/device/malloc.hpp>
#include <gantry/device/printf.hpp>
#include <gantry/rpc/handlers.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <vector>

namespace gantry {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class CallsTest : public CallsFixture {};

TEST_F(CallsTest, TextOfKernelsIsThereWhenTheFenceReturns) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_OK(run(handle, 100, [=](std::int64_t i) { gantry::printf("<%d %ld %s>\n", round, i, "text"); }));
    const std::string all = text();
    for (int i = 0; i < 100; ++i) ASSERT_THAT(all, HasSubstr(fmt::format("<{} {} text>\n", round, i)));
  }
}

TEST_F(CallsTest, AThreadsTextKeepsItsOrder) {
  constexpr int lines = 200;
  EXPECT_OK(run(handle, 16, [](std::int64_t i) {
    for (int line = 0; line < lines; ++line) gantry::printf("%ld %d\n", i, line);
  }));
  std::vector<int> next(16);
  std::istringstream in(text());
  for (std::string line; std::getline(in, line);) {
    std::size_t item = 99;
    int number = -1;
    ASSERT_EQ(std::sscanf(line.c_str(), "%zu %d", &item, &number), 2);
    ASSERT_EQ(number, next.at(item)++);
  }
  for (const int seen : next) EXPECT_EQ(seen, lines);
}

TEST_F(CallsTest, OneLongPrintIsOnePiece) {
  const std::string word(100'000, 'w');
  EXPECT_OK(run(handle, 8, [word = word.c_str()](std::int64_t i) {
    gantry::printf("<%s>\n", word);
    gantry::printf("%ld\n", i);
  }));
  std::size_t found = 0;
  const std::string all = text();
  for (std::size_t at = 0; (at = all.find("<" + word + ">\n", at)) != all.npos; ++at) ++found;
  EXPECT_EQ(found, 8U);
}

TEST_F(CallsTest, HostFunctionsPrintAsKernelsDoAndHostCodeToTheStandardOutput) {
  const QueueRef queue = queue_of(handle);
  EXPECT_OK(parallel_for(queue, 1, [](std::int64_t) { gantry::printf("kernel\n"); }));
  EXPECT_OK(queue.host_function([](void*) { gantry::printf("host function\n"); }, nullptr));
  EXPECT_OK(queue.sync());
  testing::internal::CaptureStdout();
  gantry::printf("%s code %d\n", "host", 1);
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "host code 1\n");
  EXPECT_EQ(text(), "kernel\nhost function\n");
}

TEST_F(CallsTest, FlushOutputInAKernelShowsWhatItPrinted) {
  std::string seen;
  EXPECT_OK(run(handle, 1, [&](std::int64_t) {
    gantry::printf("before\n");
    flush_output();
    seen = text();
  }));
  EXPECT_EQ(seen, "before\n");
}

TEST_F(CallsTest, MemoryRunsOutAndComesBackWhole) {
  constexpr std::size_t huge = std::size_t{1} << 62;
  std::vector<void*> made(64);
  EXPECT_OK(run(handle, 1, [&](std::int64_t) {
    EXPECT_EQ(gantry::malloc(huge), nullptr);
    for (void*& memory : made) {
      memory = gantry::malloc(1000);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 128, 0U);
      std::memset(memory, 1, 1000);
    }
    EXPECT_EQ(gantry::malloc(huge), nullptr);
    void* empty = gantry::malloc(0);
    EXPECT_NE(empty, nullptr);
    gantry::free(empty);
    gantry::free(nullptr);
  }));
  EXPECT_EQ(leak_report().objects.size(), made.size());
  EXPECT_OK(run(handle, 64, [&](std::int64_t i) { gantry::free(made[static_cast<std::size_t>(i)]); }));
  EXPECT_TRUE(leak_report().empty());
}

TEST_F(CallsTest, MemoryOutlivesItsKernelAndIsTheHosts) {
  void* memory = nullptr;
  EXPECT_OK(run(handle, 1, [&](std::int64_t) {
    memory = gantry::malloc(100);
    std::memcpy(memory, "of a kernel", 12);
  }));
  ASSERT_NE(memory, nullptr);
  EXPECT_THAT(leak_report().to_text(), HasSubstr("malloc in a kernel"));
  Allocation found;
  ASSERT_TRUE(find_allocation(memory, found));
  EXPECT_EQ(found.bytes, 100U);
  EXPECT_EQ(close_device(0).code(), Code::busy);
  char copy[12] = {};
  const QueueRef queue = queue_of(handle);
  EXPECT_OK(queue.copy(copy, memory, 12));
  EXPECT_OK(queue.sync());
  EXPECT_STREQ(copy, "of a kernel");
  EXPECT_OK(deallocate(handle, memory));
  EXPECT_TRUE(leak_report().empty());
}

TEST_F(CallsTest, AWildFreeIsLoggedAndHarmless) {
  log_to_text();
  void* memory = allocate(handle, MemoryKind::device, 64, "the host's").value();
  int local = 0;
  EXPECT_OK(run(handle, 1, [&](std::int64_t) {
    gantry::free(&local);
    gantry::free(static_cast<char*>(memory) + 8);
    gantry::free(memory);
    gantry::free(memory);
  }));
  EXPECT_THAT(text(), AllOf(HasSubstr("never allocated here"), HasSubstr("call 0x67000003")));
  EXPECT_EQ(deallocate(handle, memory).code(), Code::invalid_argument) << "the kernel gave it back";
  EXPECT_OK(run(handle, 1, [](std::int64_t) { gantry::free(gantry::malloc(1)); }));
}

TEST_F(CallsTest, OutsideOfKernelsCallsAreRefused) {
  log_to_text();
  EXPECT_EQ(gantry::malloc(8), nullptr);
  std::uint64_t argument = 0;
  EXPECT_EQ(call_host(1, argument), rpc::Answer::refused);
  EXPECT_THAT(text(), HasSubstr("is for kernels"));
}

TEST_F(CallsTest, AnAssertionEndsItsKernelAndPoisonsItsDeviceOnly) {
  log_to_text();
  const Status status = run(handle, 8, [](std::int64_t i) {
    gantry::printf("item %ld\n", i);
    GANTRY_ASSERT(i != 5);
  });
  EXPECT_EQ(status.code(), Code::kernel_error);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("assertion 'i != 5' failed at "), HasSubstr("AnAssertionEndsItsKernel")));
  const std::string all = text();
  EXPECT_THAT(all, AllOf(HasSubstr("host:0: abort in kernel"), HasSubstr("calls_test.cpp:")));
  EXPECT_LT(all.find("item 5\n"), all.find("host:0: abort in kernel"));
  EXPECT_EQ(run(handle, 1, [](std::int64_t) {}).code(), Code::poisoned);
  EXPECT_OK(run(other, 8, [](std::int64_t) { GANTRY_ASSERT(true); }));
  EXPECT_OK(close_device(0, CloseMode::force));
  handle = open(0);
  EXPECT_OK(run(handle, 1, [](std::int64_t) { gantry::printf("after\n"); }));
  EXPECT_THAT(text(), EndsWith("after\n"));
}

TEST_F(CallsTest, UserCallsReachTheirHandler) {
  struct Message {
    int in;
    double out;
    char room[20];
  };
  EXPECT_OK(rpc::add_handler("host", 7, [&](rpc::Call& call) -> Status {
    EXPECT_TRUE(call.device == handle.id || call.device == other.id);
    Message message;
    EXPECT_EQ(call.payload.size(), sizeof(message));
    std::memcpy(&message, call.payload.data(), sizeof(message));
    if (message.in < 0) return Status::error(Code::invalid_argument, "negative");
    message.out = message.in / 2.0;
    std::memcpy(call.payload.data(), &message, sizeof(message));
    return {};
  }));
  log_to_text();
  for (const DeviceHandle device : {handle, other}) {
    EXPECT_OK(run(device, 100, [](std::int64_t i) {
      Message message{static_cast<int>(i), 0, {}};
      EXPECT_EQ(call_host(7, message), rpc::Answer::ok);
      EXPECT_EQ(message.out, static_cast<double>(i) / 2);
      message = {-1, 3.5, {}};
      EXPECT_EQ(call_host(7, message), rpc::Answer::failed);
      EXPECT_EQ(message.out, 3.5);
      EXPECT_EQ(call_host(8, message), rpc::Answer::unknown);
    }));
  }
  EXPECT_THAT(text(), AllOf(HasSubstr("negative"), HasSubstr("there is no handler")));
  EXPECT_OK(rpc::remove_handler("host", 7));
}

TEST_F(CallsTest, PostedCallsAreServedWhenTheFenceReturns) {
  std::atomic<std::uint64_t> sum{0};
  EXPECT_OK(rpc::add_handler("", 7, [&](rpc::Call& call) -> Status {
    std::uint64_t value = 0;
    std::memcpy(&value, call.payload.data(), sizeof(value));
    sum += value;
    return {};
  }));
  EXPECT_OK(run(handle, 1000, [](std::int64_t i) { EXPECT_TRUE(post_host(7, static_cast<std::uint64_t>(i))); }));
  EXPECT_EQ(sum, 499'500U);
  EXPECT_OK(rpc::remove_handler("", 7));
}

TEST_F(CallsTest, HandlersMayAllocateOpenAndCloseButNotWorkOrWait) {
  const QueueRef queue = queue_of(other);
  EXPECT_OK(rpc::add_handler("", 7, [&](rpc::Call&) -> Status {
    Result<void*> memory = allocate(handle, MemoryKind::device, 64, "in a handler");
    EXPECT_OK(memory.status());
    EXPECT_OK(deallocate(handle, *memory));
    EXPECT_EQ(close_device(0, CloseMode::force).code(), Code::refused);
    EXPECT_EQ(parallel_for(queue, 1, [](std::int64_t) {}).code(), Code::refused);
    EXPECT_OK(fence_all());
    for (int i = 0; i < 3; ++i) {
      EXPECT_OK(close_device(1, CloseMode::force));
      EXPECT_OK(open_device(1).status());
    }
    return {};
  }));
  EXPECT_OK(run(other, 1, [](std::int64_t) { gantry::free(gantry::malloc(1)); }));  // it has calls, too
  EXPECT_OK(run(handle, 1, [](std::int64_t) {
    std::uint64_t argument = 0;
    EXPECT_EQ(call_host(7, argument), rpc::Answer::ok);
  }));
  EXPECT_OK(rpc::remove_handler("", 7));
  EXPECT_OK(run(handle, 1, [](std::int64_t) { gantry::free(gantry::malloc(1)); }));
}

TEST_F(CallsTest, AHandlersPayloadIsTheArgumentAndZeros) {
  std::string seen;
  EXPECT_OK(rpc::add_handler("", 77, [&seen](rpc::Call& call) -> Status {
    seen.assign(call.payload.data(), call.payload.size());
    return {};
  }));
  struct Odd {
    char bytes[13];
  };
  EXPECT_OK(run(handle, 100, [](std::int64_t) {  // a lap of the ring and more: there are old bytes in it
    Odd full;
    std::memset(&full, 'x', sizeof(full));
    EXPECT_EQ(gantry::call_host(77, full), rpc::Answer::ok);
  }));
  EXPECT_EQ(seen, std::string(13, 'x') + std::string(3, '\0'));
  EXPECT_OK(rpc::remove_handler("", 77));
}

TEST_F(CallsTest, AnAbortWithoutATextIsAnAbort) {
  EXPECT_EQ(run(handle, 1, [](std::int64_t) { gantry::abort(nullptr); }).code(), Code::kernel_error);
}

}  // namespace
}  // namespace gantry
