// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/kernel.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace gantry::test {

/// Runs kernels as a host device does, on the calling thread, with as many shares as a test wants: what a body does is
/// then visible without a device. With a dynamic schedule the shares take one chunk each in turn.
class LocalQueue {
 public:
  explicit LocalQueue(std::uint32_t shares) : m_shares(shares) {}

  Status launch(const KernelInfo& kernel, const Launch& launch, const void* body) const {
    const std::size_t stride = (launch.share_scratch + std::size_t{63}) / 64 * 64;
    const std::size_t bytes = std::max<std::size_t>(stride * m_shares, 64);
    // Poisoned, so that a body which relies on cleared scratch is seen.
    char* const scratch = static_cast<char*>(::operator new (bytes, std::align_val_t{64}));
    std::fill_n(scratch, bytes, '\x7f');
    for (std::uint8_t phase = 0; phase < launch.phases; ++phase) {
      std::atomic<std::int64_t> cursor{0};
      for (std::uint32_t share = 0; launch.count > 0 && share < m_shares; ++share) {
        HostWorker worker;
        worker.slot = share;
        worker.share = share;
        worker.shares = m_shares;
        worker.phase = phase;
        worker.scratch = launch.share_scratch == 0 ? nullptr : scratch + stride * share;
        worker.count = launch.count;
        if (launch.schedule == Schedule::dynamic) {
          worker.cursor = &cursor;
          worker.chunk = std::max<std::int64_t>(launch.chunk, 1);
        } else {
          const std::int64_t part = launch.count / m_shares;
          const std::int64_t rest = launch.count % m_shares;
          worker.range.begin = part * share + std::min<std::int64_t>(share, rest);
          worker.range.end = worker.range.begin + part + (share < rest ? 1 : 0);
        }
        kernel.host(body, worker);
      }
      if (kernel.host_join != nullptr) {
        HostJoin join;
        join.phase = phase;
        join.shares = m_shares;
        join.scratch = scratch;
        join.scratch_stride = stride;
        join.result = launch.result;
        kernel.host_join(body, join);
      }
    }
    ::operator delete (scratch, std::align_val_t{64});
    return {};
  }

 private:
  std::uint32_t m_shares;
};

}  // namespace gantry::test
