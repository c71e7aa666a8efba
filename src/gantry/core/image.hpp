// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <cstddef>
#include <string>

namespace gantry {

/// Device code of one link unit, as its registration found it. The bytes stay owned by the link unit.
struct ImageSource {
  const void* data = nullptr;
  std::size_t bytes = 0;  ///< 0: the format carries its own size
  std::string dialect;    ///< "cuda", "hip"
  std::string unit;       ///< file name of the link unit, for messages
};

/// Device code loaded into one open device.
class Image {
 public:
  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  virtual ~Image() = default;

  /// Unloads the code. Called once, by core, when no kernel of it runs.
  virtual Status close() = 0;
};

}  // namespace gantry
