// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "picture.hpp"

#include "canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heat {
namespace {

constexpr Colour background{0.055, 0.055, 0.075}, ink{0.86, 0.86, 0.88}, faint{0.55, 0.55, 0.60};
constexpr int panel = 300, margin = 28, gap = 18, header = 84, caption = 38, bar_width = 16, bar_space = 108;
constexpr int columns = 3;

/// Cold is the larger part of every frame: the scale gives it more than its share of the colours.
double shade(double value) {
  return std::sqrt(std::clamp(value, 0.0, 1.0));
}

/// The field between its points, by cubic interpolation. 0 <= x, y <= 1.
class Surface {
 public:
  explicit Surface(const Frame& frame) : m_frame(frame) {}

  [[nodiscard]] double operator()(double x, double y) const {
    const double u = x * (m_frame.width - 1), v = y * (m_frame.height - 1);
    const int i = std::min(int(u), m_frame.width - 2), j = std::min(int(v), m_frame.height - 2);
    std::array<double, 4> column{};
    for (int row = 0; row < 4; ++row) {
      const int k = j + row - 1;
      column[row] = cubic({at(i - 1, k), at(i, k), at(i + 1, k), at(i + 2, k)}, u - i);
    }
    return cubic(column, v - j);
  }

 private:
  /// Behind a cold wall the field goes on with the opposite sign.
  [[nodiscard]] double at(int i, int j) const {
    double sign = 1;
    const auto mirror = [&sign](int k, int last) {
      if (k >= 0 && k <= last) return k;
      sign = -sign;
      return k < 0 ? -k : 2 * last - k;
    };
    const int x = mirror(i, m_frame.width - 1), y = mirror(j, m_frame.height - 1);
    return sign * m_frame.values[std::size_t(y) * m_frame.width + x];
  }
  static double cubic(const std::array<double, 4>& f, double t) {
    return f[1] +
           0.5 * t *
               (f[2] - f[0] + t * (2 * f[0] - 5 * f[1] + 4 * f[2] - f[3] + t * (3 * (f[1] - f[2]) + f[3] - f[0])));
  }
  const Frame& m_frame;
};

void draw_panel(Canvas& canvas, int left, int top, const Frame& frame, double hottest) {
  constexpr int side = panel + 1;  // one more, for slopes
  constexpr double levels = 12;    // lines are evenly spaced in colour
  const Surface surface(frame);
  std::vector<double> shades(side * side);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const double u = std::min(1.0, (x + 0.5) / panel), v = std::max(0.0, 1 - (y + 0.5) / panel);
      shades[y * side + x] = shade(surface(u, v) / hottest);
    }
  for (int y = 0; y < panel; ++y)
    for (int x = 0; x < panel; ++x) {
      const double here = shades[y * side + x];
      canvas.blend(left + x, top + y, inferno(here));
      const double level = std::round(here * levels) / levels;
      const double slope = std::hypot(shades[y * side + x + 1] - here, shades[(y + 1) * side + x] - here);
      if (level <= 0 || slope <= 0) continue;
      const double pixels = std::abs(here - level) / slope;  // from the line
      canvas.blend(left + x, top + y, {1, 1, 1}, 0.28 * std::clamp(1.0 - pixels, 0.0, 1.0));
    }
}

void draw_scale(Canvas& canvas, int left, int top, int height, double hottest) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < bar_width; ++x) canvas.blend(left + x, top + y, inferno(1 - (y + 0.5) / height));
  double unit = std::pow(10, std::floor(std::log10(hottest)));
  if (hottest < 2 * unit) unit /= 10;
  for (const double mark : {0.0, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0}) {
    const double value = mark * unit;
    if (value > hottest) break;
    const int y = top + int(std::lround((1 - shade(value / hottest)) * (height - 1)));
    for (int x = 0; x < 5; ++x) canvas.blend(left + bar_width + 3 + x, y, faint);
    canvas.text(left + bar_width + 14, y + 5, fmt::format("{:g}", value), 10, ink);
  }
}

}  // namespace

void draw_picture(const Problem& problem, const std::vector<Frame>& frames, const std::string& path) {
  double hottest = 0;
  for (const Frame& frame : frames)
    for (const double value : frame.values) hottest = std::max(hottest, value);
  if (hottest <= 0) hottest = 1;

  const int rows = (int(frames.size()) + columns - 1) / columns;
  const int width = 2 * margin + columns * panel + (columns - 1) * gap + bar_space;
  const int height = header + rows * (panel + caption) + margin / 2;
  Canvas canvas(width, height, background);
  canvas.text(margin, 40, "heat conduction in a cube with cold walls", 17, ink);
  canvas.text(margin, 64,
              fmt::format("plane y = 1/2, {} x {} x {} points, diffusivity {}", problem.grid[0], problem.grid[1],
                          problem.grid[2], problem.diffusivity),
              10.5, faint);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int left = margin + int(i % columns) * (panel + gap), top = header + int(i / columns) * (panel + caption);
    draw_panel(canvas, left, top, frames[i], hottest);
    canvas.text(left + panel / 2.0, top + panel + 22, fmt::format("t = {:.3g}", frames[i].time), 10.5, ink, 0.5);
  }
  const int bar_height = rows * (panel + caption) - caption;
  draw_scale(canvas, width - margin - bar_space + 2 * gap, header, bar_height, hottest);
  canvas.write_png(path);
}

}  // namespace heat
