// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/print_arguments.hpp>

#include <bit>
#include <cstring>
#include <limits>

namespace gantry::rpc {
namespace {

template <class T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

bool is_tag(PrintTag tag) {
  return tag >= PrintTag::signed8 && tag <= PrintTag::null_string;
}

}  // namespace

double PrintArgument::as_double() const {
  return std::bit_cast<double>(word);
}

long double PrintArgument::as_long_double() const {
#if __LDBL_MANT_DIG__ == 64
  // An exponent without the leading bit of its fraction: C libraries have been seen to overrun their buffers over it.
  const auto exponent = read<std::uint16_t>(value + sizeof(std::uint64_t));
  const bool leading = (word >> 63) != 0;
  if ((exponent & 0x7fff) != 0 && !leading) return std::numeric_limits<long double>::quiet_NaN();
#endif
  return read<long double>(value);
}

bool PrintArguments::open(std::span<const char> message) {
  const std::size_t size = message.size();
  if (size < print_header_bytes) return false;
  const std::size_t format_bytes = read<std::uint32_t>(message.data());
  const std::size_t arguments = read<std::uint32_t>(message.data() + sizeof(std::uint32_t));
  if (arguments > size - print_header_bytes) return false;

  m_tag = message.data() + print_header_bytes;
  m_last_tag = m_tag + arguments;
  m_value = m_last_tag;
  std::size_t left = size - print_header_bytes - arguments;
  const char* value = m_value;
  for (const char* at = m_tag; at != m_last_tag; ++at) {
    const auto tag = static_cast<PrintTag>(*at);
    if (!is_tag(tag)) return false;
    const std::size_t bytes = print_value_bytes(tag);
    if (bytes > left) return false;
    left -= bytes;
    if (tag >= PrintTag::string) {
      const auto length = read<std::uint64_t>(value);
      if (length > left || (tag == PrintTag::null_string && length != 0)) return false;
      left -= length;
    }
    value += bytes;
  }
  if (format_bytes > left) return false;  // what is left then is padding
  m_format = {value, format_bytes};
  m_text = value + format_bytes;
  return true;
}

}  // namespace gantry::rpc
