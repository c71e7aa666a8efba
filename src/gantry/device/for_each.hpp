// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/functor.hpp>
#include <gantry/device/kernel.hpp>
#include <gantry/device/range.hpp>

namespace gantry {

/// Body that calls `functor` with each index of a domain.
template <class Functor, class Domain, class Tag = void>
struct ForEach {
  using functor_type = Functor;

  Functor functor;
  Domain domain;

  void host(HostWorker& worker) const {
    using Index = impl::index_of<Functor, Tag, typename Domain::member_type, Domain::rank>;
    const Functor& __restrict f = functor;
    const Domain local = domain;
    for (WorkRange piece; worker.next(piece);) {
      local.template for_each_row<Index>(piece, [&](auto first, auto last, auto at) {
        for (auto i = first; i < last; ++i) {
          at(i, [&](auto... indices) { impl::call<Tag>(f, indices...); });
        }
      });
    }
  }
};

}  // namespace gantry
