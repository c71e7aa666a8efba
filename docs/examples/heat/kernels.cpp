// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels.hpp"

namespace heat::kernels {

void start(Part& part, const Stencil& residual) {
  const auto u = part.u.points, r = part.r.points, p = part.p.points;
  Kokkos::parallel_reduce(
      "heat start", interior(part.device.space, part.extent),
      KOKKOS_LAMBDA(int k, int j, int i, double& sum) {
        const double value = residual(u, k, j, i);
        r(k, j, i) = value;
        p(k, j, i) = value;
        sum += value * value;
      },
      part.sum);
}

void multiply(Part& part, const Stencil& matrix) {
  const auto p = part.p.points, q = part.q.points;
  Kokkos::parallel_reduce(
      "heat multiply", interior(part.device.space, part.extent),
      KOKKOS_LAMBDA(int k, int j, int i, double& sum) {
        const double value = matrix(p, k, j, i);
        q(k, j, i) = value;
        sum += p(k, j, i) * value;
      },
      part.sum);
}

void update(Part& part, double alpha) {
  const auto u = part.u.owned, r = part.r.owned, p = part.p.owned, q = part.q.owned;
  Kokkos::parallel_reduce(
      "heat update", owned(part.device.space, part.extent),
      KOKKOS_LAMBDA(int i, double& sum) {
        u(i) += alpha * p(i);
        const double value = r(i) - alpha * q(i);
        r(i) = value;
        sum += value * value;
      },
      part.sum);
}

void turn(Part& part, double beta) {
  const auto r = part.r.owned, p = part.p.owned;
  Kokkos::parallel_for(
      "heat turn", owned(part.device.space, part.extent), KOKKOS_LAMBDA(int i) { p(i) = r(i) + beta * p(i); });
}

void square(Part& part, const Field& field) {
  const auto a = field.owned;
  Kokkos::parallel_reduce(
      "heat square", owned(part.device.space, part.extent), KOKKOS_LAMBDA(int i, double& sum) { sum += a(i) * a(i); },
      part.sum);
}

void square_difference(Part& part, const Field& one, const Field& two) {
  const auto a = one.owned, b = two.owned;
  Kokkos::parallel_reduce(
      "heat square difference", owned(part.device.space, part.extent),
      KOKKOS_LAMBDA(int i, double& sum) { sum += (a(i) - b(i)) * (a(i) - b(i)); }, part.sum);
}

void tell(Part& part, int k, int j, int i, const Text& before, const Text& after) {
  const auto u = part.u.points;
  Kokkos::parallel_for(
      "heat tell", Kokkos::RangePolicy<Space>(part.device.space, 0, 1), KOKKOS_LAMBDA(int) {
        Kokkos::printf("%s%.4f in the middle%s", before.characters, u(k, j, i), after.characters);
      });
}

}  // namespace heat::kernels
