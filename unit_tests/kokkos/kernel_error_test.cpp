// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using gantry::Offload;

struct Throws {
  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    if (i == 77) throw std::runtime_error("index 77 is bad");
  }
};

std::string message_at_fence(gantry::DeviceId device) {
  const Offload space(device);
  try {
    // Where launches wait for their work (GANTRY_LAUNCH_BLOCKING, page protection), the launch is the first to know.
    Kokkos::parallel_for(Kokkos::RangePolicy<Offload>(space, 0, 100), Throws());
    space.fence();
  } catch (const gantry::Error& error) {
    EXPECT_EQ(error.code(), gantry::Code::kernel_error);
    return error.what();
  }
  return "no error";
}

TEST(KernelErrorTest, ExceptionOfAFunctorIsReportedAtTheFence) {
  const auto last = static_cast<gantry::DeviceId>(gantry::devices().value().size()) - 1;
  ASSERT_GT(last, 0) << "the default device would be poisoned for all other tests";
  const std::string message = message_at_fence(last);
  EXPECT_THAT(message, testing::HasSubstr("index 77 is bad"));
  EXPECT_THAT(message, testing::HasSubstr("Throws"));
  EXPECT_TRUE(gantry::close_device(last, gantry::CloseMode::force).ok());
}

}  // namespace
