// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "font.hpp"

#include <algorithm>
#include <array>

namespace heat {
namespace {

constexpr std::array glyphs{
    Glyph{'0', 4, "120308193948433212"},
    Glyph{'1', 3, "072922 1232"},
    Glyph{'2', 4, "08193948460242"},
    Glyph{'3', 4, "08193948473616 364543321203"},
    Glyph{'4', 4, "32390444"},
    Glyph{'5', 4, "490906364543321203"},
    Glyph{'6', 4, "4839190803123243453606"},
    Glyph{'7', 4, "094912"},
    Glyph{'8', 4, "16070819394847361605031232434536"},
    Glyph{'9', 4, "4515060819394843321203"},
    Glyph{'.', 0, "0202"},
    Glyph{',', 0, "0201"},
    Glyph{':', 0, "0202 0606"},
    Glyph{'=', 4, "0444 0646"},
    Glyph{'-', 4, "0545"},
    Glyph{'+', 4, "0545 2327"},
    Glyph{'/', 4, "0249"},
    Glyph{'a', 4, "17374642 45150403123243"},
    Glyph{'b', 4, "0902 0617374643321203"},
    Glyph{'c', 4, "4637170603123243"},
    Glyph{'d', 4, "4942 4637170603123243"},
    Glyph{'e', 4, "05454637170603123243"},
    Glyph{'f', 3, "39291812 0737"},
    Glyph{'g', 4, "4637170603123243 47413010"},
    Glyph{'h', 4, "0902 0617374642"},
    Glyph{'i', 0, "0702 0909"},
    Glyph{'j', 1, "171100 1919"},
    Glyph{'k', 4, "0902 0437 1542"},
    Glyph{'l', 0, "0902"},
    Glyph{'m', 6, "0702 0617273632 3647576662"},
    Glyph{'n', 4, "0702 0617374642"},
    Glyph{'o', 4, "120306173746433212"},
    Glyph{'p', 4, "0700 0617374643321203"},
    Glyph{'q', 4, "4740 4637170603123243"},
    Glyph{'r', 3, "0702 052737"},
    Glyph{'s', 4, "46371706153544321203"},
    Glyph{'t', 3, "19132232 0737"},
    Glyph{'u', 4, "0703123243 4742"},
    Glyph{'v', 4, "072247"},
    Glyph{'w', 6, "0712364267"},
    Glyph{'x', 4, "0742 0247"},
    Glyph{'y', 4, "0722 4710"},
    Glyph{'z', 4, "07470242"},
    Glyph{' ', 2, ""},
};

}  // namespace

const Glyph& glyph(char sign) {
  const auto* const found = std::ranges::find(glyphs, sign, &Glyph::sign);
  return found == glyphs.end() ? glyphs.back() : *found;
}

}  // namespace heat
