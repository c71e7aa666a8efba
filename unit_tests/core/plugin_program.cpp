// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knows nothing of Gantry but a plugin that uses it, which comes and goes; exit_test.cpp looks at how that ends.
#include <dlfcn.h>

int main() {
  for (int i = 0; i < 3; ++i) {
    void* plugin = dlopen(GANTRY_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return 4;
    const auto use = reinterpret_cast<bool (*)()>(dlsym(plugin, "use_a_device"));
    if (use == nullptr || !use()) return 5;
    dlclose(plugin);
    if (dlopen(GANTRY_PLUGIN, RTLD_NOW | RTLD_NOLOAD) != nullptr) return 6;
  }
  return 0;
}
