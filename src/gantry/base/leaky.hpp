// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <new>
#include <utility>

namespace gantry {

/// An object that is made once and never destroyed, for function-local statics that destructors of other statics may
/// still use: `static Leaky<Registry> registry;`. Its memory is part of the static, so no leak checker sees a leak.
template <class T>
class Leaky {
 public:
  template <class... Args>
  explicit Leaky(Args&&... args) {
    new (m_storage) T(std::forward<Args>(args)...);
  }
  Leaky(const Leaky&) = delete;
  Leaky& operator=(const Leaky&) = delete;

  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(m_storage)); }
  T* operator->() noexcept { return &**this; }

 private:
  alignas(T) unsigned char m_storage[sizeof(T)];
};

}  // namespace gantry
