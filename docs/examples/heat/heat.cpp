// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "field.hpp"
#include "leaks.hpp"
#include "options.hpp"
#include "simulation.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

enum ExitCode : int { right = 0, wrong = 1, bad_input = 2, failed = 3 };

/// Says on stderr why the program ends; what the user wrote may hold anything.
int complain(ExitCode code, std::string_view why) {
  std::string line = "heat: ";
  for (const unsigned char c : why)
    line += (c < 0x20 && c != '\n') || c == 0x7f ? fmt::format("\\x{:02x}", c) : std::string(1, static_cast<char>(c));
  std::fputs((line + '\n').c_str(), stderr);
  return code;
}

/// A full disk says so when the last text is written, at the latest.
void flush_stdout() {
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed || std::ferror(stdout) != 0)
    throw std::runtime_error(
        fmt::format("cannot write to standard output: {}", flushed ? "a part is lost" : std::strerror(errno)));
}

/// Runs between Kokkos::initialize and Kokkos::finalize; nothing of the simulation outlives it.
int run(const heat::Options& options, std::FILE* out, heat::Result& result) try {
  result = heat::simulate(options.problem, out);
  return result.pass() ? right : wrong;
} catch (const heat::InputError& error) {
  return complain(bad_input, error.what());
} catch (const std::exception& error) {
  return complain(failed, error.what());
}

}  // namespace

int main(int argc, char** argv) try {
  // A file that is opened later would take its place.
  if (fcntl(STDOUT_FILENO, F_GETFD) < 0) return complain(failed, "cannot write to standard output: it is closed");
  std::vector<char*> own, for_kokkos{argv[0]};
  for (int i = 0; i < argc; ++i) (std::strncmp(argv[i], "--kokkos-", 9) == 0 ? for_kokkos : own).push_back(argv[i]);
  const auto options = heat::parse_options(static_cast<int>(own.size()), own.data());
  if (!options) {
    flush_stdout();
    return right;
  }

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
  flush_stdout();
  if (!result.picture_error.empty()) return complain(failed, result.picture_error);
  return result.clean() ? code : wrong;
} catch (const heat::InputError& error) {
  return complain(bad_input, error.what());
} catch (const std::exception& error) {
  return complain(failed, error.what());
}
