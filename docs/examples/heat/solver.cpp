// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "solver.hpp"

#include "kernels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace heat {

Solver::Solver(const Problem& problem, Domain& domain)
    : m_domain(domain),
      m_residual(problem, 0, -problem.time_step()),
      m_matrix(problem, 1, problem.theta() * problem.time_step()),
      m_target(problem.tolerance * problem.tolerance * domain.sum([](Part& part) { kernels::square(part, part.u); })) {}

int Solver::step() {
  constexpr int most = 10'000;
  double rr = start();
  for (int iteration = 0; iteration < most; ++iteration) {
    if (rr <= m_target) return iteration;
    const double alpha = rr / multiply();
    const double before = rr;
    rr = m_domain.sum([alpha](Part& part) { kernels::update(part, alpha); });
    const double beta = rr / before;
    m_domain.each([beta](Part& part) { kernels::turn(part, beta); });
  }
  throw std::runtime_error(fmt::format("conjugate gradients: residual {:.3g} after {} iterations, {:.3g} wanted",
                                       std::sqrt(rr), most, std::sqrt(m_target)));
}

double Solver::start() {
  m_domain.exchange(&Part::u);
  return m_domain.sum([this](Part& part) { kernels::start(part, m_residual); });
}

double Solver::multiply() {
  m_domain.exchange(&Part::p);
  return m_domain.sum([this](Part& part) { kernels::multiply(part, m_matrix); });
}

double Solver::bytes_per_iteration() const {
  double points = 0;
  for (const Part& part : m_domain.parts()) points += double(part.extent.nz) * part.extent.ny * part.extent.nx;
  return points * sizeof(double) * (2 /* multiply */ + 6 /* update */ + 3 /* turn */);
}

}  // namespace heat
