// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stock Kokkos, whatever the default execution space is.
#include <Kokkos_Core.hpp>

#include <cstdio>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int n = 1000;
  Kokkos::View<int*> numbers("numbers", n);
  Kokkos::parallel_for(n, KOKKOS_LAMBDA(int i) { numbers(i) = i; });
  int sum = 0;
  Kokkos::parallel_reduce(n, KOKKOS_LAMBDA(int i, int& part) { part += numbers(i); }, sum);
  std::printf("%s: %d\n", Kokkos::DefaultExecutionSpace::name(), sum);
  return sum == n * (n - 1) / 2 ? 0 : 1;
}
