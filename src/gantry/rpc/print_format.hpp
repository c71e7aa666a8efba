// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gantry::rpc {

/// The largest width and precision of a conversion.
inline constexpr std::int64_t largest_print_width = 65536;

/// Appends the text of one printf (print_message.hpp) to `out`. The format is C's: flags, width, precision and `*`, the
/// length modifiers, the conversions d i u o x X c s p a A e E f F g G %. The text is that of glibc's printf in the C
/// locale, whatever locale is set, with these differences:
///
/// - The width of an integer is that of the argument, at least int's: only hh and h change it. d and i read it as
/// signed,
///   u, o, x and X as unsigned. A long double is printed as one with and without L, and so is a double.
/// - %p takes no strings, since kernels send their characters, not their address.
/// - Wide characters and strings (lc, ls), %n, and widths and precisions beyond largest_print_width are refused.
///
/// What cannot be printed is marked in the text, in the manner of Go, and the format goes on behind it:
///
///   %!d(double 3.5)        the argument does not fit the conversion        %!n(refused)     writes memory
///   %!d(missing)           there are fewer arguments than conversions      %!k(unknown)     no conversion of C
///   %!d(width 99999999)    too large, also as (precision 99999999)         %!c(wide)        a wide character or string
///   %!d(width double 3.5)  the argument of a * is no integer               %!(incomplete)   the conversion breaks off
///
/// A marked conversion consumes its arguments; an unknown one is taken to have one if it is a letter. Arguments that
/// are left over are ignored.
///
/// The message may hold anything, but must not change during the call. One that is shorter than its parts becomes
/// `%!(damaged message)`. The text is at most 8 times as long as the message and 2 MiB: behind that it ends with
/// `%!(too long)`. Throws nothing but the std::bad_alloc of the memory for the text. Any number of threads may call it.
void format_print_message(std::string& out, std::span<const char> message);

}  // namespace gantry::rpc
