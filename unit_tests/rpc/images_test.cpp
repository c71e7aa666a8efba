// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls_environment.hpp"
#include "images.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

namespace gantry {
namespace {

class ImagesTest : public CallsFixture {};

TEST_F(ImagesTest, TwoSharedObjectsPrintOnOneDevice) {
  constexpr int rounds = 20;
  constexpr std::int64_t items = 50;
  const QueueRef second = create_queue(handle, "second").value();
  std::vector<std::string> expected;
  for (int round = 0; round < rounds; ++round) {
    EXPECT_OK(print_from_image_one(queue_of(handle), items));
    EXPECT_OK(print_from_image_two(second, items));
    for (std::int64_t i = 0; i < items; ++i) {
      expected.push_back("one " + std::to_string(i));
      expected.push_back("two " + std::to_string(i));
    }
  }
  EXPECT_OK(queue_of(handle).sync());
  EXPECT_OK(second.sync());
  std::vector<std::string> lines;
  std::istringstream in(text());
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_THAT(lines, testing::UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace gantry
