// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>
#include <unit_tests/support/log_capture.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using gantry::test::LogCapture;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

template <class Space>
class OffloadSpaceTest : public testing::Test {};
using Spaces = testing::Types<OffloadSpace, OffloadPinnedSpace>;
TYPED_TEST_SUITE(OffloadSpaceTest, Spaces);

TYPED_TEST(OffloadSpaceTest, EveryFormOfAllocateReturnsAlignedMemory) {
  const TypeParam space;
  const Offload exec(0);
  void* memory[] = {space.allocate(100), space.allocate("a", 100), space.allocate(exec, 100),
                    space.allocate(exec, "b", 100, 50), space.allocate(0)};
  for (void* each : memory) {
    ASSERT_NE(each, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each) % 128, 0U);
  }
  EXPECT_EQ(gantry::leak_report().objects.size(), 5U + 1U);  // and exec's queue
  space.deallocate(memory[0], 100);
  space.deallocate("a", memory[1], 100);
  for (int i = 2; i < 5; ++i) space.deallocate("", memory[i], 100, 50);
}

TYPED_TEST(OffloadSpaceTest, NullMayBeDeallocated) {
  LogCapture log;
  TypeParam().deallocate(nullptr, 0);
  EXPECT_EQ(log.text(), "");
}

TYPED_TEST(OffloadSpaceTest, WrongDeallocationsAreReportedAndChangeNothing) {
  const TypeParam space;
  void* memory = space.allocate("block", 1000);
  int foreign = 0;
  {
    LogCapture log;
    space.deallocate("foreign", &foreign, 4);
    EXPECT_THAT(log.text(), HasSubstr("foreign"));
  }
  {
    LogCapture log;
    space.deallocate("inner", static_cast<char*>(memory) + 128, 4);
    EXPECT_THAT(log.text(), HasSubstr("inner"));
  }
  space.deallocate("block", memory, 1000);
  LogCapture log;
  space.deallocate("block", memory, 1000);
  EXPECT_THAT(log.text(), HasSubstr("block"));
}

TYPED_TEST(OffloadSpaceTest, TooLargeAnAllocationThrowsKokkosExceptionAndNothingIsLost) {
  constexpr std::size_t elements = std::size_t{1} << 46;
  try {
    const Kokkos::View<double*, TypeParam> view(Kokkos::view_alloc(Kokkos::WithoutInitializing, "huge"), elements);
    FAIL() << "no error";
  } catch (const Kokkos::Experimental::BadAlloc& error) {
    EXPECT_EQ(error.label(), "huge");
    EXPECT_EQ(error.memory_space_name(), TypeParam::name());
    EXPECT_EQ(error.allocation_size(), elements * sizeof(double));
    const std::string text = error.what();
    for (const char* part : {"huge", TypeParam::name(), "host", "free", "total"}) EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_TRUE(gantry::leak_report().empty());
  const Kokkos::View<double*, TypeParam> view("modest", 1 << 17);
  EXPECT_EQ(view.size(), std::size_t{1} << 17);
}

TYPED_TEST(OffloadSpaceTest, SizesThatOverflowThrow) {
  const TypeParam space;
  EXPECT_THROW((void)space.allocate("most", SIZE_MAX), Kokkos::Experimental::BadAlloc);
  EXPECT_THROW((void)space.allocate("nearly", SIZE_MAX - 8), Kokkos::Experimental::BadAlloc);
  EXPECT_THROW((void)Kokkos::kokkos_malloc<TypeParam>("malloc", SIZE_MAX - 100), Kokkos::Experimental::BadAlloc);
}

TYPED_TEST(OffloadSpaceTest, KokkosMallocReallocFreeKeepContents) {
  auto* memory = static_cast<int*>(Kokkos::kokkos_malloc<TypeParam>("numbers", 100 * sizeof(int)));
  std::vector<int> host(100);
  for (int i = 0; i < 100; ++i) host[static_cast<std::size_t>(i)] = i;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<int*, Kokkos::HostSpace, Unmanaged> host_view(host.data(), 100);
  Kokkos::deep_copy(Kokkos::View<int*, TypeParam, Unmanaged>(memory, 100), host_view);
  memory = static_cast<int*>(Kokkos::kokkos_realloc<TypeParam>(memory, 200 * sizeof(int)));
  std::fill(host.begin(), host.end(), -1);
  Kokkos::deep_copy(host_view, Kokkos::View<int*, TypeParam, Unmanaged>(memory, 100));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(host[static_cast<std::size_t>(i)], i);
  Kokkos::kokkos_free<TypeParam>(memory);
  EXPECT_TRUE(gantry::leak_report().empty());
}

TYPED_TEST(OffloadSpaceTest, KokkosFreeRefusesWhatKokkosMallocDidNotReturn) {
  int foreign = 0;
  EXPECT_THROW(Kokkos::kokkos_free<TypeParam>(&foreign), gantry::Error);
  const Kokkos::View<int*, TypeParam> view("view", 10);
  EXPECT_THROW(Kokkos::kokkos_free<TypeParam>(view.data()), gantry::Error);
  void* memory = Kokkos::kokkos_malloc<TypeParam>("twice", 10);
  Kokkos::kokkos_free<TypeParam>(memory);
  EXPECT_THROW(Kokkos::kokkos_free<TypeParam>(memory), gantry::Error);
  Kokkos::kokkos_free<TypeParam>(nullptr);
}

template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TYPED_TEST(OffloadSpaceTest, KokkosFreeNamesTheAddressAndTheSpaceItIsOf) {
  using Other = std::conditional_t<std::is_same_v<TypeParam, OffloadSpace>, OffloadPinnedSpace, OffloadSpace>;
  void* memory = Kokkos::kokkos_malloc<TypeParam>("mine", 10);
  std::ostringstream address;
  address << memory;
  EXPECT_THAT(error_of([&] { Kokkos::kokkos_free<Other>(memory); }),
              AllOf(HasSubstr(address.str()), HasSubstr(std::string("is memory of ") + TypeParam::name())));
  EXPECT_THAT(error_of([&] { (void)Kokkos::kokkos_realloc<Other>(memory, 20); }), HasSubstr(address.str()));
  Kokkos::kokkos_free<TypeParam>(memory);
  EXPECT_THAT(error_of([&] { Kokkos::kokkos_free<TypeParam>(memory); }),
              AllOf(HasSubstr(address.str()), HasSubstr("freed since")));
}

TYPED_TEST(OffloadSpaceTest, ADeviceThatCannotExistIsNamed) {
  for (const gantry::DeviceId device : {-1, -2, 99}) {
    EXPECT_THAT(error_of([&] { (void)TypeParam(device).allocate(8); }),
                AllOf(HasSubstr(TypeParam::name()), HasSubstr("no device " + std::to_string(device))));
    EXPECT_THAT(
        error_of([&] { const Kokkos::View<int*, TypeParam> view(Kokkos::view_alloc("view", TypeParam(device)), 10); }),
        HasSubstr("no device " + std::to_string(device)));
  }
}

TYPED_TEST(OffloadSpaceTest, LabelsCannotDriveATerminal) {
  EXPECT_THAT(error_of([] { (void)TypeParam().allocate("a\x1b[2J", SIZE_MAX); }),
              AllOf(HasSubstr("a\\x1b[2J"), Not(HasSubstr("\x1b"))));
  LogCapture log;
  TypeParam().deallocate("b\n", &log, 8);
  EXPECT_THAT(log.text(), HasSubstr("b\\x0a"));
}

TYPED_TEST(OffloadSpaceTest, RecordsKnowLabelAndSizeAndArePrinted) {
  const Kokkos::View<double*, TypeParam> view("velocity", 100);
  EXPECT_EQ(view.label(), "velocity");
  std::ostringstream out;
  Kokkos::Impl::SharedAllocationRecord<TypeParam, void>::print_records(out, TypeParam());
  EXPECT_THAT(out.str(), HasSubstr("velocity"));
  const gantry::LeakReport live = gantry::leak_report();
  ASSERT_EQ(live.objects.size(), 1U);
  EXPECT_EQ(live.objects[0].label, "velocity");
  EXPECT_EQ(live.objects[0].bytes, 100 * sizeof(double) + 128);  // Kokkos's header comes first
}

TYPED_TEST(OffloadSpaceTest, ViewsCountReferences) {
  Kokkos::View<int*, TypeParam> a("a", 10);
  {
    const Kokkos::View<int*, TypeParam> b = a;
    EXPECT_EQ(a.use_count(), 2);
  }
  EXPECT_EQ(a.use_count(), 1);
  a = {};
  EXPECT_TRUE(gantry::leak_report().empty());
}

TYPED_TEST(OffloadSpaceTest, ElementsAreConstructedAndDestroyed) {
  static std::atomic<int> alive;
  struct Counted {
    int value = 17;
    KOKKOS_FUNCTION Counted() { ++alive; }
    KOKKOS_FUNCTION ~Counted() { --alive; }
  };
  alive = 0;
  {
    const Kokkos::View<Counted*, TypeParam> view("counted", 1000);
    EXPECT_EQ(alive, 1000);
  }
  EXPECT_EQ(alive, 0);
}

TEST(OffloadPinnedSpaceTest, HostAndDeviceReachTheSameMemory) {
  const Kokkos::View<int*, OffloadPinnedSpace> view("pinned", 100);
  for (int i = 0; i < 100; ++i) view(i) = i;
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(0, 100), KOKKOS_LAMBDA(int i) { view(i) += 1; });
  Kokkos::fence();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(view(i), i + 1);
  const auto mirror = Kokkos::create_mirror_view(view);
  EXPECT_EQ(mirror.data(), view.data());
}

}  // namespace
