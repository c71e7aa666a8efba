// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/gantry.hpp>

#include <cstdio>

int main() {
  auto list = gantry::devices();
  if (!list.ok()) return 1;
  for (const auto& device : *list) std::printf("%s\n", device.info.name.c_str());
  return list->empty() ? 1 : 0;
}
