// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "canvas.hpp"

#include "font.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace heat {

Colour inferno(double value) {
  // A polynomial of degree 6 through the published table; off by less than 2 % anywhere.
  constexpr std::array<Colour, 7> coefficients{{{0.00021894, 0.00165100, -0.01948090},
                                                {0.10651342, 0.56395644, 3.93271239},
                                                {11.60249308, -3.97285397, -15.94239411},
                                                {-41.70399613, 17.43639888, 44.35414520},
                                                {77.16293570, -33.40235894, -81.80730926},
                                                {-71.31942824, 32.62606426, 73.20951986},
                                                {25.13112622, -12.24266895, -23.07032500}}};
  const double x = std::clamp(value, 0.0, 1.0);
  Colour colour{};
  for (int c = 0; c < 3; ++c) {
    for (int i = 6; i >= 0; --i) colour[c] = colour[c] * x + coefficients[i][c];
    colour[c] = std::clamp(colour[c], 0.0, 1.0);
  }
  return colour;
}

Canvas::Canvas(int width, int height, Colour background)
    : m_width(width), m_height(height), m_pixels(std::size_t(3) * width * height) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) blend(x, y, background);
}

void Canvas::blend(int x, int y, Colour colour, double cover) {
  if (x < 0 || y < 0 || x >= m_width || y >= m_height) return;
  std::uint8_t* const pixel = &m_pixels[3 * (std::size_t(y) * m_width + x)];
  for (int c = 0; c < 3; ++c)
    pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + cover * (255 * colour[c] - pixel[c])));
}

void Canvas::stroke(double x0, double y0, double x1, double y1, double width, Colour colour) {
  const double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
  const int left = int(std::min(x0, x1) - width), right = int(std::max(x0, x1) + width) + 1;
  const int top = int(std::min(y0, y1) - width), bottom = int(std::max(y0, y1) + width) + 1;
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x) {
      const double along = length2 > 0 ? std::clamp(((x - x0) * dx + (y - y0) * dy) / length2, 0.0, 1.0) : 0.0;
      const double distance = std::hypot(x - x0 - along * dx, y - y0 - along * dy);
      blend(x, y, colour, std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0));
    }
}

void Canvas::text(double x, double y, std::string_view text, double size, Colour colour, double anchor) {
  const double unit = size / 7, gap = 2;
  double units = -gap;
  for (const char sign : text) units += glyph(sign).width + gap;
  x -= anchor * units * unit;
  for (const char sign : text) {
    const Glyph& shape = glyph(sign);
    const auto at = [&](std::size_t i) {
      return std::pair(x + unit * (shape.strokes[i] - '0'), y - unit * (shape.strokes[i + 1] - '2'));
    };
    for (std::size_t i = 0; i + 3 < shape.strokes.size(); i += 2) {
      if (shape.strokes[i + 2] == ' ') {
        ++i;  // the next point starts a new stroke
        continue;
      }
      const auto [x0, y0] = at(i);
      const auto [x1, y1] = at(i + 2);
      stroke(x0, y0, x1, y1, std::max(1.2, 0.9 * unit), colour);
    }
    x += unit * (shape.width + gap);
  }
}

void Canvas::write_png(const std::string& path) const {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(m_width);
  image.height = static_cast<png_uint_32>(m_height);
  image.format = PNG_FORMAT_RGB;
  // Not png_image_write_to_file: when it fails it removes what has that name, even /dev/full.
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw PictureError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  const bool encoded = png_image_write_to_stdio(&image, file, 0, m_pixels.data(), 0, nullptr) != 0;
  if (std::fclose(file) != 0 || !encoded)
    throw PictureError(fmt::format("{}: cannot be written: {}", path, encoded ? std::strerror(errno) : image.message));
}

}  // namespace heat
