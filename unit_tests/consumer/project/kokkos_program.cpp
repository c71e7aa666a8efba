// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stock Kokkos: which execution space is the default one depends on the target that is linked.
#include <Kokkos_Core.hpp>

#include <cstdio>
#include <string_view>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int n = 1000;
  Kokkos::View<int*> numbers("numbers", n);
  Kokkos::parallel_for(
      n, KOKKOS_LAMBDA(int i) { numbers(i) = i; });
  int sum = 0;
  Kokkos::parallel_reduce(
      n, KOKKOS_LAMBDA(int i, int& part) { part += numbers(i); }, sum);
  std::printf("%s: %d\n", Kokkos::DefaultExecutionSpace::name(), sum);
  const bool on_offload = Kokkos::DefaultExecutionSpace::name() == std::string_view("Offload");
  return sum == n * (n - 1) / 2 && on_offload == EXPECT_OFFLOAD ? 0 : 1;
}
