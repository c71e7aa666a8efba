// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <cstdio>

double dot_product(int n) {
  Kokkos::View<double*> x("x", n), y("y", n);
  Kokkos::deep_copy(x, 2.0);
  Kokkos::parallel_for(
      "fill", n, KOKKOS_LAMBDA(int i) { y(i) = 1.0 / (i + 1); });
  double sum = 0;
  Kokkos::parallel_reduce(
      "dot", n, KOKKOS_LAMBDA(int i, double& part) { part += x(i) * y(i); }, sum);
  return sum;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const gantry::DeviceChoice choice = gantry::default_device().value();
  std::printf("%s\n", choice.reason.c_str());

  std::printf("first  %.6f\n", dot_product(1'000'000));
  // Ends the device's threads and gives back its memory; refused, with a list, if the program still held any.
  if (gantry::Status closed = gantry::close_device(choice.id); !closed.ok())
    std::printf("%s\n", closed.message().c_str());

  std::printf("again  %.6f\n", dot_product(1'000'000));  // the first use opens it again
  return 0;
}  // Kokkos::finalize closes every device and reports what the program forgot
