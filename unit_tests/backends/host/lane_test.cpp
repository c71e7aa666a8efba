// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/lane.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace gantry::host {
namespace {

/// A lane never looks into the stream that publishes.
Stream& some_stream() {
  return *reinterpret_cast<Stream*>(alignof(std::max_align_t));
}

std::vector<std::uint32_t> claim_all(Lane& lane, std::uint64_t doorbell, std::uint32_t block) {
  std::vector<std::uint32_t> claimed;
  for (std::uint32_t share = 0; lane.claim(doorbell, block, share);) claimed.push_back(share);
  return claimed;
}

TEST(LaneTest, BlocksHaveEveryShareOnce) {
  for (const std::uint32_t slots : {1, 2, 3, 7}) {
    Lane lane(slots);
    for (std::uint32_t shares = 1; shares < 30; ++shares) {
      lane.publish(some_stream(), Job{}, shares);
      std::vector<std::uint32_t> claimed;
      for (std::uint32_t block = 0; block < slots; ++block) {
        for (const auto share : claim_all(lane, lane.doorbell(), block)) claimed.push_back(share);
      }
      ASSERT_EQ(claimed.size(), shares);
      for (std::uint32_t i = 0; i < shares; ++i) EXPECT_EQ(claimed[i], i);
      lane.add(shares, lane.begin());
    }
  }
}

TEST(LaneTest, OldDoorbellClaimsNothing) {
  Lane lane(2);
  lane.publish(some_stream(), Job{}, 2);
  const std::uint64_t old = lane.doorbell();
  EXPECT_EQ(claim_all(lane, old, 1), std::vector<std::uint32_t>{1});
  EXPECT_EQ(claim_all(lane, old, 0), std::vector<std::uint32_t>{0});
  lane.add(2, lane.begin());
  lane.publish(some_stream(), Job{}, 2);
  std::uint32_t share = 0;
  EXPECT_FALSE(lane.claim(old, 1, share));
  EXPECT_TRUE(lane.claim(lane.doorbell(), 1, share));
  EXPECT_FALSE(lane.claim(old, 1, share)) << "claimed a share of a job that is over";
}

TEST(LaneTest, CountsFromWhereTheJobBegan) {
  Lane lane(2);
  for (int job = 0; job < 3; ++job) {
    lane.publish(some_stream(), Job{}, 5);
    EXPECT_EQ(lane.progress().shares, 0U);
    EXPECT_EQ(lane.progress().collectors, 0U);
    EXPECT_EQ(lane.add(3, lane.begin()).shares, 3U);
    const Lane::Progress progress = lane.add(Lane::attached, lane.begin());
    EXPECT_EQ(progress.shares, 3U);
    EXPECT_EQ(progress.collectors, 1U);
    EXPECT_EQ(lane.add(2, lane.begin()).shares, 5U);
  }
}

TEST(JobTest, RangesCoverTheItemsInOrder) {
  for (const std::int64_t count : {0, 1, 5, 100, 1001}) {
    for (const std::uint32_t shares : {1U, 2U, 3U, 8U}) {
      Job job;
      job.count = count;
      std::int64_t next = 0;
      for (std::uint32_t share = 0; share < shares; ++share) {
        const WorkRange range = job.range(share, shares);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.end - range.begin, count / shares + 1);
        EXPECT_GE(range.end - range.begin, count / shares);
        next = range.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace gantry::host
