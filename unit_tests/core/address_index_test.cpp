// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/address_index.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace gantry {
namespace {

struct Record {
  std::atomic<std::uint64_t> key{0};
};

Record* find(const AddressIndex<Record>& index, std::uint64_t key) {
  return index.find(key, [](const Record&) { return true; });
}

TEST(AddressIndexTest, HoldsSeveralRecordsOfOneKey) {
  AddressIndex<Record> index;
  std::vector<Record> records(20);  // more than fit into one bucket
  for (Record& record : records) index.insert(7, &record);
  for (Record& wanted : records) {
    EXPECT_EQ(index.find(7, [&](const Record& record) { return &record == &wanted; }), &wanted);
  }
  EXPECT_EQ(find(index, 8), nullptr);
  for (Record& record : records) index.erase(7, &record);
  EXPECT_EQ(find(index, 7), nullptr);
}

TEST(AddressIndexTest, BehavesLikeAMapUnderRandomUse) {
  AddressIndex<Record> index;
  std::vector<Record> records(2000);
  std::map<std::uint64_t, Record*> model;
  std::mt19937_64 random(1);
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t number = random() % records.size();
    const std::uint64_t key = number << 12;  // as addresses are: equal in many low bits
    if (const auto at = model.find(key); at != model.end()) {
      index.erase(key, at->second);
      model.erase(at);
    } else {
      index.insert(key, &records[number]);
      model.emplace(key, &records[number]);
    }
    const std::uint64_t probe = (random() % records.size()) << 12;
    const auto expected = model.find(probe);
    ASSERT_EQ(find(index, probe), expected == model.end() ? nullptr : expected->second);
  }
}

TEST(AddressIndexTest, ReadersFindWhatStaysWhileTheIndexGrows) {
  AddressIndex<Record> index;
  constexpr std::uint64_t kept = 64;
  std::vector<Record> records(5000);
  for (std::uint64_t i = 0; i < records.size(); ++i) records[i].key = i;
  for (std::uint64_t i = 0; i < kept; ++i) index.insert(i, &records[i]);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> missed{0};
  std::atomic<std::uint64_t> found{0};
  {
    const std::jthread reader([&] {
      while (!stop) {
        for (std::uint64_t i = 0; i < kept; ++i) {
          const auto is_it = [i](const Record& record) { return record.key == i; };
          ++(index.find(i, is_it) != nullptr ? found : missed);
        }
      }
    });
    while (found == 0) std::this_thread::yield();
    for (std::uint64_t i = kept; i < records.size(); ++i) {
      index.insert(i, &records[i]);
      if (i % 2 == 0) index.erase(i, &records[i]);
    }
    stop = true;
  }
  EXPECT_EQ(missed, 0u);
}

}  // namespace
}  // namespace gantry
