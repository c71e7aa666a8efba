// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/device_services.hpp>
#include <gantry/rpc/sink.hpp>

#include <span>
#include <string_view>

namespace gantry::rpc {

// What every device can ask for: the handlers of Gantry's own opcodes. Each checks the payload, which comes from the
// device, and throws std::bad_alloc at most.

/// printf: appends the text to the sink.
Status print(std::span<const char> payload, Sink& sink);

/// malloc: the payload is {bytes, address}; the address becomes that of device memory, or null when there is none.
Status allocate(std::span<char> payload, DeviceServices& services);
/// free: the payload is {0, address}; an error for what is not to be freed.
Status deallocate(std::span<char> payload, DeviceServices& services);

/// abort: writes the text, at most so many characters, to standard error, as a line of `device`.
inline constexpr std::size_t most_abort_text = 1024;
Status write_abort(std::span<const char> payload, std::string_view device);

}  // namespace gantry::rpc
