// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "field.hpp"
#include "leaks.hpp"
#include "options.hpp"
#include "simulation.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <type_traits>
#include <vector>

namespace {

enum ExitCode : int { right = 0, wrong = 1, bad_input = 2, failed = 3 };

/// Runs between Kokkos::initialize and Kokkos::finalize; nothing of the simulation outlives it.
int run(const heat::Options& options, std::FILE* out, heat::Result& result) try {
  result = heat::simulate(options.problem, out);
  return result.pass() ? right : wrong;
} catch (const heat::InputError& error) {
  fmt::print(stderr, "heat: {}\n", error.what());
  return bad_input;
} catch (const std::exception& error) {
  fmt::print(stderr, "heat: {}\n", error.what());
  return failed;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<char*> own, for_kokkos{argv[0]};
  for (int i = 0; i < argc; ++i) (std::strncmp(argv[i], "--kokkos-", 9) == 0 ? for_kokkos : own).push_back(argv[i]);
  const auto options = heat::parse_options(static_cast<int>(own.size()), own.data());
  if (!options) return right;

  std::FILE* const out = options->json ? stderr : stdout;
  heat::Result result;
  // Kokkos's advice about OMP_PROC_BIND is for programs whose kernels run on OpenMP's threads.
  char quiet[] = "--kokkos-disable-warnings";
  if (!std::is_same_v<heat::Space, Kokkos::DefaultHostExecutionSpace>) for_kokkos.push_back(quiet);
  int kokkos_argc = static_cast<int>(for_kokkos.size());
  for_kokkos.push_back(nullptr);
  heat::watch_leaks();
  try {
    Kokkos::initialize(kokkos_argc, for_kokkos.data());
  } catch (const std::exception& error) {
    throw heat::InputError(error.what());  // a device or a setting that the environment asks for
  }
  // Kokkos takes out what it knows.
  const int code = kokkos_argc == 1 ? run(*options, out, result) : bad_input;
  Kokkos::finalize();
  if (kokkos_argc > 1) throw heat::InputError(fmt::format("{}: Kokkos does not know this option", for_kokkos[1]));
  if (code > wrong) return code;
  result.leaks = heat::leaked_objects();

  heat::print_text(out, options->problem, result);
  if (options->json) heat::print_json(stdout, options->problem, result);
  return result.clean() ? code : wrong;
} catch (const heat::InputError& error) {
  fmt::print(stderr, "heat: {}\n", error.what());
  return bad_input;
} catch (const std::exception& error) {
  fmt::print(stderr, "heat: {}\n", error.what());
  return failed;
}
