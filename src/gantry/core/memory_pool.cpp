// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/biased_lock.hpp>
#include <gantry/base/log.hpp>
#include <gantry/base/poison.hpp>
#include <gantry/base/try.hpp>
#include <gantry/base/unique_handle.hpp>
#include <gantry/core/address_index.hpp>
#include <gantry/core/memory_pool.hpp>
#include <gantry/core/size_class.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace gantry {
namespace {

constexpr std::size_t smallest_slab = std::size_t{64} << 10;
constexpr std::size_t largest_slab = std::size_t{1} << 20;

std::uintptr_t number(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

struct Region;

/// One piece of memory that is handed out as a whole.
struct Block {
  void* address = nullptr;
  Region* region = nullptr;
  Block* next_free = nullptr;
  std::size_t bytes = 0;  // as asked for
  std::uint32_t bin = 0;
  bool used = false;
};

/// What one call of the source gave: one block, or a slab of equal ones.
struct Region {
  void* address = nullptr;
  std::size_t bytes = 0;
  std::size_t block_bytes = 0;
  std::uint32_t bin = 0;      // 0 in a pool that does not cache
  std::vector<Block> blocks;  // those cut so far; never reallocated
  Region* next_uncut = nullptr;
  bool unused = false;  // scratch of detach_unused

  [[nodiscard]] bool has_uncut() const noexcept { return blocks.size() < bytes / block_bytes; }
};
using RegionPtr = std::unique_ptr<Region>;

/// The blocks of one size class that can be handed out.
struct Bin {
  Block* free = nullptr;
  Region* uncut = nullptr;  // slabs with room for blocks that never were
  std::size_t bytes = 0;    // of all regions of the class
};

/// Takes what `drop` says yes to out of an intrusive list.
template <class T, class Drop>
void filter(T** head, T* T::*next, Drop&& drop) {
  while (*head != nullptr) {
    if (drop(**head)) {
      *head = (*head)->*next;
    } else {
      head = &((*head)->*next);
    }
  }
}

}  // namespace

struct MemoryPool::State {
  MemorySource& source;
  const MemoryPoolOptions options;
  const bool caches;

  mutable BiasedLock lock;  // guards all below
  bool closed = false;
  Block* last_taken = nullptr;  // freed next, more often than not
  MemoryPoolStatistics statistics;
  std::uint64_t misses = 0;
  AddressIndex<Block> blocks;  // by address; used only with the lock held
  Bin bins[size_class::count];
  std::map<std::uintptr_t, RegionPtr> regions;

  State(MemorySource& s, MemoryPoolOptions o)
      : source(s), options(std::move(o)), caches(options.granularity <= size_class::header) {}

  // With the lock held.
  Block* next_block(Bin& bin);
  Block* find(const void* memory) const noexcept;
  Block& cut(Region& region);
  void* take(Block& block, std::size_t bytes) noexcept;
  void give_back(Block& block) noexcept;
  Region& attach(RegionPtr region);
  RegionPtr detach(Region& region) noexcept;
  std::vector<RegionPtr> detach_unused();
  Status explain_bad_free(const void* memory) const;

  // Without it: they call the source.
  Result<void*> allocate_from_source(std::size_t bytes);
  Result<RegionPtr> make_region(std::size_t block_bytes, std::uint32_t bin, std::size_t count);
  Status release(Region& region);
  Status release_all(std::vector<RegionPtr> released, std::size_t& bytes);
  Status free_to_source(RegionPtr region);
  Status out_of_memory(std::size_t bytes, std::string_view reason) const;
};

Block* MemoryPool::State::next_block(Bin& bin) {
  if (Block* block = bin.free; block != nullptr) {
    bin.free = block->next_free;
    return block;
  }
  if (Region* region = bin.uncut; region != nullptr) {
    Block& block = cut(*region);
    if (!region->has_uncut()) bin.uncut = region->next_uncut;
    return &block;
  }
  return nullptr;
}

Block& MemoryPool::State::cut(Region& region) {
  void* at = static_cast<char*>(region.address) + region.blocks.size() * region.block_bytes;
  Block& block = region.blocks.emplace_back(Block{.address = at, .region = &region, .bin = region.bin});
  blocks.insert(number(at), &block);
  return block;
}

Block* MemoryPool::State::find(const void* memory) const noexcept {
  if (last_taken != nullptr && last_taken->address == memory) return last_taken;
  return blocks.find(number(memory), [](const Block&) { return true; });
}

void* MemoryPool::State::take(Block& block, std::size_t bytes) noexcept {
  block.used = true;
  block.bytes = bytes;
  statistics.used_bytes += bytes;
  if (statistics.used_bytes > statistics.peak_bytes) statistics.peak_bytes = statistics.used_bytes;
  ++statistics.allocations;
  ++statistics.live;
  last_taken = &block;
  if (options.host_addressable) unpoison(block.address, bytes);
  return block.address;
}

void MemoryPool::State::give_back(Block& block) noexcept {
  if (options.host_addressable) poison(block.address, block.region->block_bytes);
  block.used = false;
  statistics.used_bytes -= block.bytes;
  --statistics.live;
}

Region& MemoryPool::State::attach(RegionPtr owner) {
  Region& region = *owner;
  if (options.host_addressable) poison(region.address, region.bytes);
  statistics.source_bytes += region.bytes;
  Bin& bin = bins[region.bin];
  bin.bytes += region.bytes;
  for (Block& block : region.blocks) blocks.insert(number(block.address), &block);
  if (caches) {
    for (Block& block : region.blocks) block.next_free = std::exchange(bin.free, &block);
    if (region.has_uncut()) region.next_uncut = std::exchange(bin.uncut, &region);
  }
  regions.emplace(number(region.address), std::move(owner));
  return region;
}

/// The caller takes its blocks out of the bin's lists.
RegionPtr MemoryPool::State::detach(Region& region) noexcept {
  statistics.source_bytes -= region.bytes;
  bins[region.bin].bytes -= region.bytes;
  last_taken = nullptr;
  for (const Block& block : region.blocks) blocks.erase(number(block.address), &block);
  return std::move(regions.extract(number(region.address)).mapped());
}

std::vector<RegionPtr> MemoryPool::State::detach_unused() {
  for (auto& [address, region] : regions) region->unused = std::ranges::none_of(region->blocks, &Block::used);
  for (Bin& bin : bins) {
    filter(&bin.free, &Block::next_free, [](const Block& block) { return block.region->unused; });
    filter(&bin.uncut, &Region::next_uncut, [](const Region& region) { return region.unused; });
  }
  std::vector<RegionPtr> detached;
  for (auto at = regions.begin(); at != regions.end();) {
    Region& region = *(at++)->second;
    if (region.unused) detached.push_back(detach(region));
  }
  return detached;
}

Status MemoryPool::State::explain_bad_free(const void* memory) const {
  const auto invalid = [&](std::string_view why) {
    return Status::error(Code::invalid_argument, fmt::format("{}: cannot free {}: {}", options.name, memory, why));
  };
  const auto after = regions.upper_bound(number(memory));
  if (after == regions.begin()) return invalid("it was never allocated here");
  const Region& region = *std::prev(after)->second;
  const std::size_t offset = number(memory) - number(region.address);
  const std::size_t index = offset / region.block_bytes;
  if (offset >= region.bytes || index >= region.blocks.size()) return invalid("it was never allocated here");
  const Block& block = region.blocks[index];
  if (!block.used) return invalid("it was freed before");
  return invalid(fmt::format("it is not the start of an allocation but lies {} bytes into one of {} bytes",
                             offset % region.block_bytes, block.bytes));
}

Result<RegionPtr> MemoryPool::State::make_region(std::size_t block_bytes, std::uint32_t bin, std::size_t count) {
  auto region = std::make_unique<Region>();
  region->block_bytes = block_bytes;
  region->bytes = block_bytes * count;
  region->bin = bin;
  region->blocks.reserve(count);
  GANTRY_TRY_ASSIGN(region->address, source.allocate(region->bytes));
  return region;
}

Status MemoryPool::State::release(Region& region) {
  if (options.host_addressable) unpoison(region.address, region.bytes);
  return source.free(region.address, region.bytes)
      .with_context(fmt::format("{}: giving back {} bytes", options.name, region.bytes));
}

/// What the source does not take stays in the pool, so that it can be tried again.
Status MemoryPool::State::release_all(std::vector<RegionPtr> released, std::size_t& bytes) {
  Status errors;
  for (RegionPtr& region : released) {
    Status status = release(*region);
    if (status.ok()) {
      bytes += region->bytes;
    } else {
      errors.join(std::move(status));
      const std::scoped_lock guard(lock);
      attach(std::move(region));
    }
  }
  return errors;
}

Status MemoryPool::State::out_of_memory(std::size_t bytes, std::string_view reason) const {
  const MemoryInfo info = source.memory_info();
  std::unique_lock guard(lock);
  const MemoryPoolStatistics now = statistics;
  guard.unlock();
  return Status::error(
      Code::out_of_memory,
      fmt::format("{}: asked for {} bytes; {} free of {} in total, {} in use by the program{}{}", options.name, bytes,
                  info.free_bytes, info.total_bytes, now.used_bytes, reason.empty() ? "" : ": ", reason));
}

Result<void*> MemoryPool::State::allocate_from_source(std::size_t bytes) {
  std::uint32_t bin = 0;
  std::size_t block_bytes = (std::max<std::size_t>(bytes, 1) + options.granularity - 1) & ~(options.granularity - 1);
  std::size_t count = 1;
  if (caches) {
    bin = static_cast<std::uint32_t>(size_class::of(bytes));
    block_bytes = size_class::block_bytes(bin);
    std::unique_lock guard(lock);
    const std::size_t held = bins[bin].bytes;
    guard.unlock();
    // A class doubles with each slab: few calls of the source, and at most as much again as was needed.
    count = std::max<std::size_t>(std::clamp(held, smallest_slab, largest_slab) / block_bytes, 1);
  }

  const auto out = [](const Result<RegionPtr>& region) { return region.status().code() == Code::out_of_memory; };
  auto region = make_region(block_bytes, bin, count);
  if (count > 1 && out(region)) region = make_region(block_bytes, bin, 1);
  if (out(region)) {
    const std::size_t total = source.memory_info().total_bytes;
    if (total != 0 && bytes > total) return out_of_memory(bytes, "");  // nothing that is given back would help
    std::unique_lock guard(lock);
    auto unused = detach_unused();
    guard.unlock();
    std::size_t given_back = 0;
    if (Status status = release_all(std::move(unused), given_back); !status.ok())
      log(LogLevel::error, status.message());
    if (given_back != 0) region = make_region(block_bytes, bin, 1);
  }
  if (out(region)) return out_of_memory(bytes, region.status().text());
  if (!region.ok()) return std::move(region).status().with_context(options.name);

  std::unique_lock guard(lock);
  ++misses;
  Region& attached = attach(*std::move(region));
  return take(caches ? *next_block(bins[bin]) : cut(attached), bytes);
}

Status MemoryPool::State::free_to_source(RegionPtr region) {
  Status status = release(*region);
  if (status.ok()) return status;
  // Nothing has changed for the caller: the memory is still its own.
  const std::scoped_lock guard(lock);
  Block& block = attach(std::move(region)).blocks.front();
  --statistics.allocations;
  take(block, block.bytes);
  return status;
}

MemoryPool::MemoryPool(MemorySource& source, MemoryPoolOptions options)
    : m_state(std::make_unique<State>(source, std::move(options))) {}

MemoryPool::~MemoryPool() {
  if (m_state->closed) return;  // what close() failed to give back, its caller knows
  if (const Status status = close(); !status.ok()) report_close_error(m_state->options.name, status);
}

Result<void*> MemoryPool::allocate(std::size_t bytes) {
  State& state = *m_state;
  if (bytes > size_class::largest_request) return state.out_of_memory(bytes, "no address space is that large");
  {
    const std::scoped_lock guard(state.lock);
    if (state.closed) return Status::error(Code::device_closed, fmt::format("{}: is closed", state.options.name));
    if (state.caches) {
      if (Block* block = state.next_block(state.bins[size_class::of(bytes)])) return state.take(*block, bytes);
    }
  }
  return state.allocate_from_source(bytes);
}

Status MemoryPool::free(void* memory) {
  State& state = *m_state;
  std::unique_lock guard(state.lock);
  Block* block = state.find(memory);
  if (block == nullptr || !block->used) return state.explain_bad_free(memory);
  state.give_back(*block);
  if (state.caches) {
    block->next_free = std::exchange(state.bins[block->bin].free, block);
    return {};
  }
  RegionPtr region = state.detach(*block->region);
  guard.unlock();
  return state.free_to_source(std::move(region));
}

std::size_t MemoryPool::trim() {
  State& state = *m_state;
  std::unique_lock guard(state.lock);
  auto unused = state.detach_unused();
  guard.unlock();
  std::size_t bytes = 0;
  if (Status status = state.release_all(std::move(unused), bytes); !status.ok()) log(LogLevel::error, status.message());
  return bytes;
}

Status MemoryPool::close() {
  State& state = *m_state;
  std::vector<RegionPtr> all;
  {
    const std::scoped_lock guard(state.lock);
    state.closed = true;
    for (auto& [address, region] : state.regions) {
      for (Block& block : region->blocks) block.used = false;
    }
    state.statistics.used_bytes = 0;
    state.statistics.live = 0;
    all = state.detach_unused();
  }
  std::size_t bytes = 0;
  return state.release_all(std::move(all), bytes);
}

MemoryPoolStatistics MemoryPool::statistics() const {
  const std::scoped_lock guard(m_state->lock);
  MemoryPoolStatistics now = m_state->statistics;
  now.cached_bytes = now.source_bytes - now.used_bytes;
  now.hits = now.allocations - m_state->misses;
  return now;
}

}  // namespace gantry
