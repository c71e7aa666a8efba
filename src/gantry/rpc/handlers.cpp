// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/leaky.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/rpc/handlers.hpp>

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace gantry::rpc {
namespace impl {

struct HandlerRef::Entry {
  Handler handler;
  int calls = 0;  // guarded by Table::mutex
};

namespace {

struct Table {
  std::mutex mutex;  // guards all below; not held while a handler runs
  std::condition_variable left;
  /// Of one opcode, by backend; an empty name: for all.
  using Entries = std::map<std::string, std::shared_ptr<HandlerRef::Entry>, std::less<>>;
  std::unordered_map<Opcode, Entries> opcodes;
};

Table& table() {
  static Leaky<Table> all;
  return *all;
}

bool is_service(Opcode opcode) noexcept {
  return class_of(opcode) == OpcodeClass::gantry;
}

/// The calls that the thread is inside of: a chain on its stack.
struct Inside {
  const HandlerRef::Entry* entry;
  const Inside* outer;
};
constinit thread_local const Inside* t_inside = nullptr;

int calls_of_this_thread(const HandlerRef::Entry* entry) noexcept {
  int count = 0;
  for (const Inside* inside = t_inside; inside != nullptr; inside = inside->outer)
    count += inside->entry == entry ? 1 : 0;
  return count;
}

std::string named(std::string_view backend, Opcode opcode) {
  return fmt::format("call {:#010x}{}", opcode, backend.empty() ? "" : " of backend " + in_quotes(backend));
}

}  // namespace

constinit std::atomic<int> HandlerRef::s_services{0};

HandlerRef HandlerRef::find(std::string_view backend, Opcode opcode) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto entries = all.opcodes.find(opcode);
  if (entries == all.opcodes.end()) return {};
  auto found = entries->second.find(backend);
  if (found == entries->second.end() && !is_service(opcode)) found = entries->second.find("");
  if (found == entries->second.end()) return {};
  ++found->second->calls;
  return HandlerRef(found->second);
}

HandlerRef::~HandlerRef() {
  if (m_entry == nullptr) return;
  Table& all = table();
  std::shared_ptr<Entry> last;  // what the handler holds ends without the lock
  const std::lock_guard lock(all.mutex);
  --m_entry->calls;
  if (m_entry.use_count() == 1) last = std::move(m_entry);
  m_entry.reset();  // before who removes the handler goes on
  all.left.notify_all();
}

Status HandlerRef::operator()(Call& call) const {
  const Inside inside{m_entry.get(), t_inside};
  struct Scope {
    explicit Scope(const Inside& entered) noexcept { t_inside = &entered; }
    ~Scope() { t_inside = t_inside->outer; }
  } const scope(inside);
  return m_entry->handler(call);
}

Opcode next_function_opcode() noexcept {
  static constinit std::atomic<std::uint32_t> next{0};
  return make_opcode(OpcodeClass::function, next.fetch_add(1, std::memory_order_relaxed));
}

Status wrong_length(std::size_t bytes) {
  return Status::error(Code::invalid_argument, fmt::format("its payload of {} bytes has the wrong length", bytes));
}

Status add_handler(std::string_view backend, Opcode opcode, Handler handler) {
  if (!handler) return Status::error(Code::invalid_argument, named(backend, opcode) + ": the handler is empty");
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  auto entry = std::make_shared<HandlerRef::Entry>();
  entry->handler = std::move(handler);
  if (!all.opcodes[opcode].try_emplace(std::string(backend), std::move(entry)).second)
    return Status::error(Code::busy, named(backend, opcode) + " has a handler already: remove that one first");
  if (is_service(opcode)) HandlerRef::s_services.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status remove_handler(std::string_view backend, Opcode opcode) {
  Table& all = table();
  std::unique_lock lock(all.mutex);
  Table::Entries& entries = all.opcodes[opcode];
  const auto found = entries.find(backend);
  const std::shared_ptr<HandlerRef::Entry> entry = found != entries.end() ? found->second : nullptr;
  if (entry != nullptr) entries.erase(found);
  if (entries.empty()) all.opcodes.erase(opcode);
  if (entry == nullptr) return Status::error(Code::not_found, named(backend, opcode) + " has no handler");
  if (is_service(opcode)) HandlerRef::s_services.fetch_sub(1, std::memory_order_relaxed);
  const int own = calls_of_this_thread(entry.get());
  all.left.wait(lock, [&] { return entry->calls <= own; });
  lock.unlock();  // what the handler holds ends here, and may call in
  return {};
}

}  // namespace impl

namespace {

Status check_number(std::uint32_t number) {
  if (number < user_numbers) return {};
  return Status::error(
      Code::invalid_argument,
      fmt::format("the call number {} is too large: it must be smaller than {}", number, user_numbers));
}

}  // namespace

Status add_handler(std::string_view backend, std::uint32_t number, Handler handler) {
  if (Status status = check_number(number); !status.ok()) return status;
  return impl::add_handler(backend, make_opcode(OpcodeClass::user, number), std::move(handler));
}

Status remove_handler(std::string_view backend, std::uint32_t number) {
  if (Status status = check_number(number); !status.ok()) return status;
  return impl::remove_handler(backend, make_opcode(OpcodeClass::user, number));
}

}  // namespace gantry::rpc
