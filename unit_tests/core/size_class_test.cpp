// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/size_class.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gantry {
namespace {

void check(std::size_t bytes) {
  const std::size_t index = size_class::of(bytes);
  ASSERT_LT(index, size_class::count) << bytes;
  const std::size_t block = size_class::block_bytes(index);
  ASSERT_GE(block, bytes);
  ASSERT_EQ(block % 128, 0u) << bytes;
  ASSERT_LE(block - bytes, std::max<std::size_t>(bytes / 8, 128)) << bytes;
  if (index > 0) {
    ASSERT_LT(size_class::block_bytes(index - 1), bytes) << "a smaller class would do";
  }
}

TEST(SizeClassTest, FitsWithBoundedWaste) {
  for (std::size_t bytes = 0; bytes <= 40000; ++bytes) check(bytes);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) check(random() >> (17 + random() % 40));
  check(size_class::largest_request);
}

TEST(SizeClassTest, ViewsOfAPowerOfTwoFitExactly) {
  for (unsigned log2 = 7; log2 < 47; ++log2) {
    const std::size_t bytes = (std::size_t{1} << log2) + 128;
    EXPECT_EQ(size_class::block_bytes(size_class::of(bytes)), bytes);
  }
}

}  // namespace
}  // namespace gantry
