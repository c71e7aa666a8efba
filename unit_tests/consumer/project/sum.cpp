// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>

int sum(int n) {
  Kokkos::View<int*> numbers("numbers", n);
  Kokkos::deep_copy(numbers, 1);
  return static_cast<int>(numbers.extent(0));
}
