// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/device_function.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gantry::rpc {

// The message of one printf, from a kernel to the host. Nothing in it is aligned, everything has the machine's byte
// order:
//
//   u32 bytes of the format | u32 number of arguments | a PrintTag (1 byte) for each argument
//   | a value (8 bytes, of a long double 16) for each argument
//   | the format's characters | for each string argument its characters
//
// Characters come without a NUL. Integers are extended to 64 bits by their own sign; a string's value is its length in
// bytes.

/// What an argument was in the kernel. Part of the wire format: the values are stable, 0 is none of them.
enum class PrintTag : std::uint8_t {
  signed8 = 1,
  signed16 = 2,
  signed32 = 3,
  signed64 = 4,
  unsigned8 = 5,
  unsigned16 = 6,
  unsigned32 = 7,
  unsigned64 = 8,
  float64 = 9,
  float80 = 10,  ///< the host's long double; kernels send a double
  pointer = 11,
  string = 12,
  null_string = 13,  ///< a null pointer to characters; its length is 0
};

/// Bytes that an argument's value takes.
GANTRY_DEVICE_FUNCTION constexpr std::size_t print_value_bytes(PrintTag tag) {
  return tag == PrintTag::float80 ? 16 : 8;
}

/// Bytes that come before the tags.
inline constexpr std::size_t print_header_bytes = 2 * sizeof(std::uint32_t);

namespace impl {

template <class T>
inline constexpr bool is_print_string = std::is_pointer_v<T> &&
                                        (std::is_same_v<std::remove_const_t<std::remove_pointer_t<T>>, char> ||
                                         std::is_same_v<std::remove_const_t<std::remove_pointer_t<T>>, signed char> ||
                                         std::is_same_v<std::remove_const_t<std::remove_pointer_t<T>>, unsigned char>);

// Not std::is_same: nvcc warns of each long double inside of a function for devices.
template <class T>
inline constexpr bool is_long_double = false;
template <>
inline constexpr bool is_long_double<long double> = true;

template <class T>
GANTRY_DEVICE_FUNCTION constexpr PrintTag print_tag_of() {
  if constexpr (std::is_enum_v<T>) {
    return print_tag_of<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return PrintTag::signed32;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    constexpr int exponent = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<PrintTag>(static_cast<int>(std::is_signed_v<T> ? PrintTag::signed8 : PrintTag::unsigned8) +
                                 exponent);
  } else if constexpr (is_long_double<T>) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return PrintTag::float64;
#else
    return PrintTag::float80;
#endif
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return PrintTag::float64;
  } else if constexpr (is_print_string<T>) {
    return PrintTag::string;
  } else {
    static_assert(std::is_pointer_v<T> || std::is_null_pointer_v<T>,
                  "printf takes integers, enumerations, float, double, long double, C strings and pointers; "
                  "of anything else pass a member, or cast it");
    return PrintTag::pointer;
  }
}

/// 0 for a null pointer. (A device has no strlen.)
GANTRY_DEVICE_FUNCTION constexpr std::size_t text_bytes(const char* text) {
  if (text == nullptr) return 0;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  std::size_t bytes = 0;
  while (text[bytes] != '\0') ++bytes;
  return bytes;
#else
  return __builtin_strlen(text);
#endif
}

struct PrintValue {
  std::uint64_t words[2] = {0, 0};
  const char* text = nullptr;
};

template <class T>
GANTRY_DEVICE_FUNCTION inline PrintValue print_value_of(T argument) {
  constexpr PrintTag tag = print_tag_of<T>();
  PrintValue value;
  if constexpr (std::is_enum_v<T>) {
    return print_value_of(static_cast<std::underlying_type_t<T>>(argument));
  } else if constexpr (tag == PrintTag::float64) {
    const double number = static_cast<double>(argument);
    std::memcpy(value.words, &number, sizeof(number));
  } else if constexpr (tag == PrintTag::float80) {
    std::memcpy(value.words, &argument, __LDBL_MANT_DIG__ == 64 ? 10 : sizeof(argument));  // no padding
  } else if constexpr (tag == PrintTag::string) {
    value.text = reinterpret_cast<const char*>(argument);
    value.words[0] = text_bytes(value.text);
  } else if constexpr (std::is_pointer_v<T>) {
    value.words[0] = reinterpret_cast<std::uintptr_t>(argument);
  } else if constexpr (std::is_integral_v<T>) {
    value.words[0] = static_cast<std::uint64_t>(argument);
  }
  return value;
}

}  // namespace impl

/// The tag that an argument of type T is sent with; of a null string it is PrintTag::null_string. Does not compile
/// where printf cannot take a T.
template <class T>
inline constexpr PrintTag print_tag = impl::print_tag_of<std::decay_t<T>>();

/// A printf's format and arguments, ready to be sent. float is promoted to double, bool to int, an enumeration to its
/// underlying type. A pointer to any of the three types of char is a string, which ends with a NUL and is sent as
/// characters: cast it to const void* to print the address.
///
/// Each string is measured once, by the constructor; format and strings must stay as they are until write has returned.
template <class... Args>
class PrintMessage {
 public:
  GANTRY_DEVICE_FUNCTION explicit PrintMessage(const char* format, const Args&... arguments)
      : m_format(format),
        m_format_bytes(impl::text_bytes(format)),
        m_values{impl::print_value_of<std::decay_t<const Args>>(arguments)..., {}} {}

  /// What write needs.
  [[nodiscard]] GANTRY_DEVICE_FUNCTION std::size_t bytes() const {
    std::size_t bytes = fixed_bytes + m_format_bytes;
    std::size_t i = 0;
    ((bytes += print_tag<Args> == PrintTag::string ? m_values[i].words[0] : 0, ++i), ...);
    return bytes;
  }

  /// Writes bytes() bytes.
  GANTRY_DEVICE_FUNCTION void write(char* to) const {
    const std::uint32_t header[2] = {static_cast<std::uint32_t>(m_format_bytes), sizeof...(Args)};
    std::memcpy(to, header, sizeof(header));
    to += sizeof(header);
    std::size_t i = 0;
    ((*to++ = static_cast<char>(tag_of<Args>(m_values[i++]))), ...);
    i = 0;
    ((to = put(to, m_values[i++].words, print_value_bytes(print_tag<Args>))), ...);
    to = put(to, m_format, m_format_bytes);
    i = 0;
    ((to = put_text<Args>(to, m_values[i++])), ...);
  }

 private:
  static constexpr std::size_t fixed_bytes =
      print_header_bytes + sizeof...(Args) + (std::size_t{0} + ... + print_value_bytes(print_tag<Args>));

  template <class T>
  GANTRY_DEVICE_FUNCTION static PrintTag tag_of(const impl::PrintValue& value) {
    return print_tag<T> == PrintTag::string && value.text == nullptr ? PrintTag::null_string : print_tag<T>;
  }
  GANTRY_DEVICE_FUNCTION static char* put(char* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);  // nothing may be a null pointer
    return to + bytes;
  }
  template <class T>
  GANTRY_DEVICE_FUNCTION static char* put_text(char* to, const impl::PrintValue& value) {
    if constexpr (print_tag<T> == PrintTag::string) {
      return put(to, value.text, value.words[0]);
    } else {
      return to;
    }
  }

  const char* m_format;
  std::size_t m_format_bytes;
  impl::PrintValue m_values[sizeof...(Args) + 1];
};

}  // namespace gantry::rpc
