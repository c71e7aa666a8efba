// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/live_objects.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace gantry {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr DeviceHandle device0{0, 3};
constexpr DeviceHandle device1{1, 5};

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

class LiveObjectsTest : public testing::Test {
 protected:
  void insert(std::uintptr_t address, std::size_t bytes, std::string_view label = "x", DeviceHandle device = device0) {
    objects.insert(ObjectKind::device_memory, at(address), bytes, label, device, device.id == 0 ? "host" : "host:1");
  }
  LiveObjects objects;
};

TEST_F(LiveObjectsTest, FindsTheMemoryThatContainsAnAddress) {
  insert(0x10000, 1000);
  insert(0x20000, std::size_t{1} << 30, "large", device1);
  LiveObjectView found;
  ASSERT_TRUE(objects.find(at(0x10000), found));
  EXPECT_EQ(found.address, at(0x10000));
  EXPECT_EQ(found.bytes, 1000u);
  EXPECT_EQ(found.device, device0);
  EXPECT_STREQ(found.device_name, "host");
  ASSERT_TRUE(objects.find(at(0x10000 + 999), found));
  EXPECT_FALSE(objects.find(at(0x10000 + 1000), found));
  EXPECT_FALSE(objects.find(at(0xffff), found));
  EXPECT_FALSE(objects.find(nullptr, found));
  ASSERT_TRUE(objects.find(at(0x20000 + (1u << 30) - 1), found));
  EXPECT_EQ(found.device, device1);
  EXPECT_FALSE(objects.find(at(0x20000 + (1u << 30)), found));
}

TEST_F(LiveObjectsTest, MemoryOfZeroBytesContainsItsAddress) {
  insert(0x10000, 0);
  LiveObjectView found;
  EXPECT_TRUE(objects.find(at(0x10000), found));
  EXPECT_FALSE(objects.find(at(0x10001), found));
}

TEST_F(LiveObjectsTest, RemovingTellsTheKind) {
  insert(0x10000, 100);
  auto removed = objects.remove_memory(device0, at(0x10000));
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(*removed, ObjectKind::device_memory);
  EXPECT_EQ(objects.count(), 0u);
  LiveObjectView found;
  EXPECT_FALSE(objects.find(at(0x10000), found));
}

TEST_F(LiveObjectsTest, AnAddressThatLivesAgainHasOnlyItsNewLife) {
  insert(0x10000, 200, "first");
  for (const std::size_t bytes : {100u, 256u, 5000u, 200u}) {
    ASSERT_TRUE(objects.remove_memory(device0, at(0x10000)).ok());
    objects.insert(ObjectKind::pinned_memory, at(0x10000), bytes, "then", device1, "fake:1");
    LiveObjectView found;
    ASSERT_TRUE(objects.find(at(0x10000 + bytes - 1), found));
    EXPECT_EQ(found.bytes, bytes);
    EXPECT_EQ(found.kind, ObjectKind::pinned_memory);
    EXPECT_EQ(found.device, device1);
    EXPECT_FALSE(objects.find(at(0x10000 + bytes), found));
    EXPECT_EQ(objects.count(), 1u);
    EXPECT_EQ(objects.snapshot().objects.at(0).label, "then");
    ASSERT_TRUE(objects.remove_memory(device1, at(0x10000)).ok());
    EXPECT_FALSE(objects.find(at(0x10000), found));
    EXPECT_FALSE(objects.remove_memory(device1, at(0x10000)).ok());
    insert(0x10000, bytes, "again");
  }
}

TEST_F(LiveObjectsTest, BadRemovalsNameTheReasonAndChangeNothing) {
  insert(0x10000, 100, "field");
  insert(0x20000, 100, "gone");
  ASSERT_TRUE(objects.remove_memory(device0, at(0x20000)).ok());
  const auto expect = [&](DeviceHandle device, std::uintptr_t address, Code code, auto text) {
    const Status status = objects.remove_memory(device, at(address)).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(status.text(), text);
  };
  expect(device0, 0x20000, Code::invalid_argument,
         AllOf(HasSubstr("was freed before"), HasSubstr("'gone' (100 bytes on host)")));
  expect(device0, 0x10008, Code::invalid_argument, AllOf(HasSubstr("lies 8 bytes into 'field'")));
  expect(device0, 0x30000, Code::invalid_argument, HasSubstr("never allocated here"));
  expect(device1, 0x10000, Code::invalid_argument, AllOf(HasSubstr("another device"), HasSubstr("'field'")));
  expect({0, 4}, 0x10000, Code::stale_handle, HasSubstr("another open period"));
  EXPECT_EQ(objects.count(), 1u);
  EXPECT_TRUE(objects.remove_memory(device0, at(0x10000)).ok());
}

TEST_F(LiveObjectsTest, QueuesAndEventsAreNoMemory) {
  objects.insert(ObjectKind::queue, at(0x5000), 0, "solver", device0, "host");
  LiveObjectView found;
  EXPECT_FALSE(objects.find(at(0x5000), found));
  EXPECT_FALSE(objects.remove_memory(device0, at(0x5000)).ok());
  EXPECT_FALSE(objects.remove(ObjectKind::event, at(0x5000)));
  EXPECT_TRUE(objects.remove(ObjectKind::queue, at(0x5000)));
  EXPECT_FALSE(objects.remove(ObjectKind::queue, at(0x5000)));
}

TEST_F(LiveObjectsTest, LabelsOfAnyLengthAreKept) {
  std::vector<std::string> labels;
  for (const std::size_t length : {0u, 1u, 7u, 8u, 9u, 46u, 47u, 48u, 49u, 1000u}) {
    std::string label;
    for (std::size_t i = 0; i < length; ++i) label += static_cast<char>('a' + i % 26);
    insert(0x10000 + labels.size() * 0x1000, 64, label);
    labels.push_back(label);
  }
  const LeakReport report = objects.snapshot();
  ASSERT_EQ(report.objects.size(), labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(report.objects[i].label, labels[i]);
    char text[48];
    const std::size_t length = objects.label(at(0x10000 + i * 0x1000 + 63), text, sizeof text);
    EXPECT_EQ(std::string(text), labels[i].substr(0, 47));
    EXPECT_EQ(length, std::min<std::size_t>(labels[i].size(), 47));
  }
  char four[4];
  EXPECT_EQ(objects.label(at(0x10000 + 9 * 0x1000), four, sizeof four), 3u);
  EXPECT_STREQ(four, "abc");
  EXPECT_EQ(objects.label(at(0x1), four, sizeof four), 0u);
}

TEST_F(LiveObjectsTest, SnapshotIsInOrderOfCreation) {
  for (std::uintptr_t i = 0; i < 500; ++i) insert(0x1000000 - i * 0x1000, i);
  for (std::uintptr_t i = 0; i < 500; i += 2)
    ASSERT_TRUE(objects.remove_memory(device0, at(0x1000000 - i * 0x1000)).ok());
  for (std::uintptr_t i = 0; i < 500; i += 2) insert(0x1000000 - i * 0x1000, 1000 + i);
  const LeakReport report = objects.snapshot();
  ASSERT_EQ(report.objects.size(), 500u);
  for (std::size_t i = 1; i < 500; ++i) {
    EXPECT_LT(report.objects[i - 1].sequence, report.objects[i].sequence);
    EXPECT_LT(report.objects[i - 1].bytes, report.objects[i].bytes);
  }
}

TEST_F(LiveObjectsTest, OneDeviceIsCountedListedAndTakenBackAlone) {
  insert(0x10000, 10, "a", device0);
  insert(0x20000, 20, "b", device1);
  objects.insert(ObjectKind::event, at(0x7000), 0, "e", device1, "host:1");
  EXPECT_EQ(objects.count(0), 1u);
  EXPECT_EQ(objects.count(1), 2u);
  EXPECT_EQ(objects.snapshot(1).objects.size(), 2u);
  const LeakReport taken = objects.remove_all(1);
  ASSERT_EQ(taken.objects.size(), 2u);
  EXPECT_EQ(taken.objects[0].label, "b");
  EXPECT_EQ(taken.objects[0].device_name, "host:1");
  EXPECT_EQ(objects.count(), 1u);
  EXPECT_THAT(objects.remove_memory(device1, at(0x20000)).status().text(), HasSubstr("freed before"));
}

TEST_F(LiveObjectsTest, BehavesLikeAModelUnderRandomUse) {
  std::mt19937_64 random(1);
  std::map<std::uintptr_t, std::size_t> model;
  for (int step = 0; step < 50000; ++step) {
    const std::uintptr_t address = 0x100000 + random() % 4000 * 128;
    if (random() % 2 == 0) {
      const auto next = model.lower_bound(address);
      const std::size_t room = next == model.end() ? 1 << 20 : next->first - address;
      if (room == 0 || (next != model.begin() &&
                        std::prev(next)->first + std::max<std::size_t>(std::prev(next)->second, 1) > address))
        continue;
      const std::size_t bytes = random() % std::min<std::size_t>(room, std::size_t{1} << (random() % 21));
      insert(address, bytes);
      model[address] = bytes;
    } else {
      ASSERT_EQ(objects.remove_memory(device0, at(address)).ok(), model.erase(address) == 1);
    }
    const std::uintptr_t probe = 0x100000 + random() % (4000 * 128);
    LiveObjectView found;
    const auto after = model.upper_bound(probe);
    const bool inside =
        after != model.begin() && probe - std::prev(after)->first < std::max<std::size_t>(std::prev(after)->second, 1);
    ASSERT_EQ(objects.find(at(probe), found), inside);
    if (inside) {
      ASSERT_EQ(found.address, at(std::prev(after)->first));
    }
    ASSERT_EQ(objects.count(), model.size());
  }
}

TEST_F(LiveObjectsTest, ReadersSeeWholeObjectsWhileWritersChangeThem) {
  // An object at address a has a bytes-pattern that only it can have; one object stays throughout.
  insert(0x100000, 4096, "stays");
  const auto bytes_of = [](std::uintptr_t address) { return 64 + (address >> 12) % 4000; };
  std::atomic<bool> done{false};
  std::atomic<int> reading{0};
  std::vector<std::thread> readers;
  for (unsigned t = 0; t < 2; ++t) {
    readers.emplace_back([&, t] {
      std::mt19937 random(t);
      ++reading;
      do {
        LiveObjectView found;
        ASSERT_TRUE(objects.find(at(0x100000 + random() % 4096), found));
        ASSERT_EQ(found.bytes, 4096u);
        const std::uintptr_t probe = 0x200000 + random() % 2000 * 0x1000 + 32;
        if (objects.find(at(probe), found)) {
          const auto base = reinterpret_cast<std::uintptr_t>(found.address);
          ASSERT_EQ(base, probe - 32);
          ASSERT_EQ(found.bytes, bytes_of(base));
          ASSERT_EQ(found.device, device1);
        }
        char text[16];
        if (objects.label(at(probe), text, sizeof text) != 0) {
          ASSERT_EQ(std::string(text), std::to_string(probe - 32));
        }
      } while (!done);
    });
  }
  while (reading < 2) std::this_thread::yield();
  std::vector<std::thread> writers;
  for (std::uintptr_t t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      for (int round = 0; round < 4; ++round) {
        for (std::uintptr_t i = t; i < 2000; i += 2) {
          const std::uintptr_t address = 0x200000 + i * 0x1000;
          insert(address, bytes_of(address), std::to_string(address), device1);
        }
        for (std::uintptr_t i = t; i < 2000; i += 2) {
          ASSERT_TRUE(objects.remove_memory(device1, at(0x200000 + i * 0x1000)).ok());
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(objects.count(), 1u);
}

}  // namespace
}  // namespace gantry
