// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/leaky.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/rpc/print_stream.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

namespace gantry::rpc {
namespace {

struct Files {
  std::mutex mutex;  // guards all below
  std::map<std::pair<dev_t, ino_t>, PrintStream> streams;
};

Files& files() {
  static Leaky<Files> all;
  return *all;
}

Status cannot_open(const std::string& path, int error) {
  return Status::error(Code::driver_error,
                       fmt::format("cannot open {} to print to: {}", in_quotes(path), std::strerror(error)), error);
}

}  // namespace

PrintStream& PrintStream::standard_output() {
  static Leaky<PrintStream> stream(stdout, false);
  return *stream;
}

PrintStream& PrintStream::standard_error() {
  static Leaky<PrintStream> stream(stderr, false);
  return *stream;
}

Result<PrintStream*> PrintStream::open(const std::string& path) {
  if (path.find('\0') != path.npos) return cannot_open(path, EINVAL);
  // Without O_NONBLOCK opening a FIFO would wait for its reader.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) return cannot_open(path, errno);
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || ::fcntl(descriptor, F_SETFL, O_WRONLY | O_APPEND) != 0) {
    const int error = errno;
    ::close(descriptor);
    return cannot_open(path, error);
  }
  Files& all = files();
  const std::lock_guard lock(all.mutex);
  const std::pair key(about.st_dev, about.st_ino);
  if (const auto found = all.streams.find(key); found != all.streams.end()) {
    ::close(descriptor);
    return &found->second;
  }
  std::FILE* file = ::fdopen(descriptor, "a");
  if (file == nullptr) {
    const int error = errno;
    ::close(descriptor);
    return cannot_open(path, error);
  }
  return &all.streams.try_emplace(key, file, S_ISREG(about.st_mode)).first->second;
}

Status PrintStream::write(DeviceId device, std::string_view prefix, std::string& text) {
  const std::lock_guard lock(m_mutex);
  m_prefix.apply(device, prefix, text);
  const bool empty = !std::exchange(m_make_empty, false) || ::ftruncate(::fileno(m_file), 0) == 0;
  if (empty && std::fwrite(text.data(), 1, text.size(), m_file) == text.size() && std::fflush(m_file) == 0) return {};
  const int error = errno;
  std::clearerr(m_file);
  return Status::error(Code::driver_error, std::strerror(error), error);
}

}  // namespace gantry::rpc
