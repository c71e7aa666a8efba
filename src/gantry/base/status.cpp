// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/printable.hpp>
#include <gantry/base/status.hpp>

#include <fmt/format.h>

#include <array>

namespace gantry {

std::string_view code_name(Code code) noexcept {
  static constexpr std::array<std::string_view, 14> names{
      "ok",           "invalid_argument", "out_of_memory", "not_found", "unavailable",  "busy",         "device_closed",
      "stale_handle", "poisoned",         "refused",       "timeout",   "driver_error", "kernel_error", "internal"};
  const auto index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "unknown";
}

Status Status::error(Code code, std::string text, int native, SourceLocation where) {
  Status status;
  status.m_error = std::make_unique<Error>(Error{code, native, std::move(text), where, nullptr});
  return status;
}

Status& Status::operator=(Status&& other) noexcept {
  Status taken(std::move(other));  // other may be this
  std::swap(m_error, taken.m_error);
  return *this;
}

void Status::destroy(std::unique_ptr<Error> first) noexcept {
  while (first) first = std::move(first->next);
}

const std::string& Status::text() const noexcept {
  static const std::string& empty = *new std::string;  // never destroyed: errors are read during exit too
  return m_error ? m_error->text : empty;
}

std::string Status::message() const {
  if (ok()) return "ok";
  std::string out;
  for (const Error* error = m_error.get(); error; error = error->next.get()) {
    if (!out.empty()) out += "\n  and ";
    out += fmt::format("{}: {}", code_name(error->code), printable_lines(error->text));
    if (error->native != 0) out += fmt::format(" (native error {})", error->native);
    std::string_view file = error->where.file;
    if (const auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
    out += fmt::format(" [{}:{}]", file, error->where.line);
  }
  return out;
}

Status&& Status::with_context(std::string_view context) && {
  if (m_error) m_error->text = fmt::format("{}: {}", context, m_error->text);
  return std::move(*this);
}

void Status::join(Status other) {
  std::unique_ptr<Error>* last = &m_error;
  while (*last) last = &(*last)->next;
  *last = std::move(other.m_error);
}

Status Status::without(Code code) && {
  Status kept;
  while (std::unique_ptr<Error> error = std::move(m_error)) {
    m_error = std::move(error->next);
    if (error->code == code) continue;
    Status one;
    one.m_error = std::move(error);
    kept.join(std::move(one));
  }
  return kept;
}

std::size_t Status::count() const noexcept {
  std::size_t n = 0;
  for (const Error* error = m_error.get(); error; error = error->next.get()) ++n;
  return n;
}

Status Status::clone() const {
  Status copy;
  std::unique_ptr<Error>* last = &copy.m_error;
  for (const Error* error = m_error.get(); error; error = error->next.get()) {
    *last = std::make_unique<Error>(Error{error->code, error->native, error->text, error->where, nullptr});
    last = &(*last)->next;
  }
  return copy;
}

}  // namespace gantry
