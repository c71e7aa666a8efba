// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

/// Kokkos for the whole program: it cannot be initialised twice.
class KokkosEnvironment : public testing::Environment {
 public:
  KokkosEnvironment(int& argc, char** argv) : m_argc(argc), m_argv(argv) {}
  void SetUp() override { Kokkos::initialize(m_argc, m_argv); }
  void TearDown() override { Kokkos::finalize(); }

 private:
  int& m_argc;
  char** m_argv;
};

}  // namespace

int main(int argc, char** argv) {
#if defined(GANTRY_TEST_HOST_DEVICES)
  setenv("GANTRY_HOST_DEVICES", GANTRY_TEST_HOST_DEVICES, 1);
#endif
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new KokkosEnvironment(argc, argv));
  return RUN_ALL_TESTS();
}
