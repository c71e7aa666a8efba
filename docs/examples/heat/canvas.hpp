// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heat {

/// A picture cannot be written.
struct PictureError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Red, green and blue from 0 to 1.
using Colour = std::array<double, 3>;

/// Perceptually even colours from black over red to pale yellow (matplotlib's "inferno"), for 0 <= value <= 1.
[[nodiscard]] Colour inferno(double value);

/// An image to draw on; x to the right, y down, in pixels. What lies outside is cut off.
class Canvas {
 public:
  Canvas(int width, int height, Colour background);

  [[nodiscard]] int width() const { return m_width; }
  [[nodiscard]] int height() const { return m_height; }

  /// Lays a colour over a pixel; `cover` from 0 (nothing) to 1 (all of it).
  void blend(int x, int y, Colour colour, double cover = 1);

  /// Draws lower-case letters, digits and simple signs; `y` is the baseline, `size` the height of a digit. `anchor`
  /// says where x lies in the text: 0 left, 0.5 middle, 1 right.
  void text(double x, double y, std::string_view text, double size, Colour colour, double anchor = 0);

  /// Throws PictureError when the file cannot be written.
  void write_png(const std::string& path) const;

 private:
  void stroke(double x0, double y0, double x1, double y1, double width, Colour colour);

  int m_width, m_height;
  std::vector<std::uint8_t> m_pixels;
};

}  // namespace heat
