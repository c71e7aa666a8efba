// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/device/for_each.hpp>
#include <gantry/device/kernel.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "local_queue.hpp"

namespace {

struct Plain {
  int* to;
  void operator()(int i) const { to[i] = i; }
};
struct OwnsMemory {
  std::vector<int> values;
  int* to;
  void operator()(int i) const { to[i] = values[static_cast<std::size_t>(i)]; }
};
/// Copied like a byte array but for a side effect of its copy constructor.
struct CountsCopies {
  int* copies;
  explicit CountsCopies(int* to) : copies(to) {}
  CountsCopies(const CountsCopies& other) : copies(other.copies) { ++*copies; }
  void operator()(int) const {}
};
template <class Functor>
using Body = gantry::ForEach<Functor, gantry::Range<int>>;

struct Joined {
  void host(gantry::HostWorker&) const {}
  void host_join(const gantry::HostJoin&) const {}
};

TEST(KernelTest, BytesAreEnoughForPlainBodies) {
  const gantry::KernelInfo& info = gantry::Kernel<Body<Plain>>::info;
  EXPECT_EQ(info.copy, nullptr);
  EXPECT_EQ(info.destroy, nullptr);
  EXPECT_EQ(info.size, sizeof(Body<Plain>));
  EXPECT_EQ(info.align, alignof(Body<Plain>));
  EXPECT_NE(info.host, nullptr);
  EXPECT_EQ(info.host_join, nullptr);
  EXPECT_EQ(info.stub, nullptr);
}

TEST(KernelTest, CopyConstructorsAndDestructorsRun) {
  const gantry::KernelInfo& info = gantry::Kernel<Body<OwnsMemory>>::info;
  ASSERT_NE(info.copy, nullptr);
  ASSERT_NE(info.destroy, nullptr);
  int to[3] = {};
  auto original = std::make_unique<Body<OwnsMemory>>(Body<OwnsMemory>{{{4, 5, 6}, to}, {}});
  alignas(Body<OwnsMemory>) std::byte storage[sizeof(Body<OwnsMemory>)];
  info.copy(storage, original.get());
  original.reset();
  gantry::Launch launch;
  launch.count = 3;
  ASSERT_TRUE(gantry::test::LocalQueue(1).launch(info, launch, storage).ok());
  info.destroy(storage);
  EXPECT_EQ(to[0] + to[1] + to[2], 15);
}

TEST(KernelTest, CopyRunsForBodiesThatNeedNoDestruction) {
  const gantry::KernelInfo& info = gantry::Kernel<Body<CountsCopies>>::info;
  ASSERT_NE(info.copy, nullptr);
  EXPECT_EQ(info.destroy, nullptr);
  int copies = 0;
  const Body<CountsCopies> body{CountsCopies(&copies), {}};
  const int before = copies;
  alignas(Body<CountsCopies>) std::byte storage[sizeof(Body<CountsCopies>)];
  info.copy(storage, &body);
  EXPECT_EQ(copies, before + 1);
}

TEST(KernelTest, JoinIsSetWhereTheBodyHasOne) {
  EXPECT_NE(gantry::Kernel<Joined>::info.host_join, nullptr);
}

TEST(KernelTest, IsNamedAfterItsFunctor) {
  EXPECT_EQ(std::string(gantry::Kernel<Body<Plain>>::info.type).find("ForEach"), std::string::npos);
  EXPECT_NE(std::string(gantry::Kernel<Body<Plain>>::info.type).find("Plain"), std::string::npos);
  EXPECT_NE(std::string(gantry::Kernel<Joined>::info.type).find("Joined"), std::string::npos);
  EXPECT_EQ(std::string(gantry::Kernel<Joined>::info.type).find_first_of("[]=;"), std::string::npos);
}

}  // namespace
