// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/conversation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gantry::rpc::model {
namespace {

using ExploredPort = ServerPort<ExploringPlatform>;
using ExploredList = WatchList<ExploringPlatform>;

// The private members that a server's state is made of, by way of explicit instantiation, which may name them.
std::vector<ExploredPort*>& watched(ExploredList& list);
std::size_t& first(ExploredList& list);
std::uint32_t place(const ExploredPort& port);
std::uint32_t freed(const ExploredPort& port);
template <auto Watched, auto First>
struct RevealList {
  friend std::vector<ExploredPort*>& watched(ExploredList& list) { return list.*Watched; }
  friend std::size_t& first(ExploredList& list) { return list.*First; }
};
template struct RevealList<&ExploredList::m_watched, &ExploredList::m_first>;
template <auto PlaceMember, auto Freed>
struct RevealPort {
  friend std::uint32_t place(const ExploredPort& port) { return port.*PlaceMember; }
  friend std::uint32_t freed(const ExploredPort& port) { return port.*Freed; }
};
template struct RevealPort<&ExploredPort::m_place, &ExploredPort::m_freed>;

/// What a record's payload should be, word by word. Where a line begins: what its turn will be when the ring comes
/// round to it again, so that who takes it for a turn finds a record that is not there.
Word payload_word(Word id, std::uint32_t bytes, std::uint32_t place, std::uint32_t offset) {
  const auto at = static_cast<std::uint32_t>(sizeof(Record)) + offset;
  if (at % line_bytes == 0) return posted_turn(place + at / line_bytes + ModelledChannel::ring_lines);
  return id << 16 | bytes << 8 | offset;
}
template <class Visit>
void each_word(std::uint32_t bytes, Visit&& visit) {
  for (std::uint32_t offset = 0; offset < bytes; offset += sizeof(Word)) visit(offset);
}

constexpr Opcode opcode_of(Word id) {
  return make_opcode(OpcodeClass::user, id);
}
constexpr Word answer_to(Word word, std::uint32_t offset) {
  return offset == 0 ? ~word : word;
}

}  // namespace

Conversation::Conversation(Setup setup) : m_setup(std::move(setup)), m_channel(m_setup.list_full ? group_ports : 0) {
  set_up_quiet();
  m_list.emplace(m_channel.channel());
  watched(*m_list).reserve(group_ports);
  m_owned = {std::as_writable_bytes(std::span(&*m_list, 1)), std::as_writable_bytes(std::span(m_list->ports())),
             std::as_writable_bytes(std::span(watched(*m_list).data(), group_ports))};
  m_list_begin.assign(m_owned[0].begin(), m_owned[0].end());
  m_ports_begin.assign(m_owned[1].begin(), m_owned[1].end());
}

void Conversation::reset() {
  m_channel.reset();
  set_up_quiet();
  std::copy(m_list_begin.begin(), m_list_begin.end(), m_owned[0].begin());
  std::copy(m_ports_begin.begin(), m_ports_begin.end(), m_owned[1].begin());
  if (m_setup.list_full)
    for (unsigned i = 0; i < group_ports; ++i) watched(*m_list).push_back(&m_list->ports()[i]);
}

void Conversation::run(unsigned thread) {
  if (thread < m_setup.clients.size()) {
    run_client(thread);
  } else if (thread == server_thread()) {
    run_server();
  } else {
    run_aborter();
  }
}

std::string Conversation::wrong_end() const {
  if (m_channel.ended() != server_thread()) return "deadlock";
  for (unsigned i = 0; i < ModelledChannel::used_ports; ++i)
    if (m_channel.sent(i).count != 0) return "lost call";
  if (*m_channel.channel().asleep != 1) return "the server stopped";
  for (unsigned i = 0; i < ModelledChannel::used_ports; ++i)
    if (m_channel.port(i).client.lock != 0 || m_channel.port(i).rare.asleep != 0) return "a client left its port open";
  return {};
}

std::string Conversation::thread_name(unsigned thread) const {
  if (thread < m_setup.clients.size()) return fmt::format("client {}", thread);
  return thread == server_thread() ? "server  " : "aborter ";
}

void Conversation::set_up_quiet() {
  g_quiet.first_shared = shared().data();
  std::vector<const Word*>& words = g_quiet.words;
  words = {&m_channel.channel().used};                                  // read by nobody here
  if (!m_setup.aborter) words.push_back(&m_channel.channel().aborted);  // written by nobody
  for (unsigned i = 0; i < ModelledChannel::used_ports; ++i) {
    // Of the lock's holder, who reads it as plain memory too and would not find it in its store buffer.
    words.push_back(&m_channel.port(i).client.next);
    const auto uses = [i](const Session& session) { return session.port == i; };
    const auto clients = std::count_if(m_setup.clients.begin(), m_setup.clients.end(), [&](const Script& script) {
      return std::any_of(script.begin(), script.end(), uses);
    });
    if (clients < 2) words.push_back(&m_channel.port(i).client.lock);
  }
}

// -- the threads

void Conversation::run_client(unsigned me) {
  Word number = me << 4;  // of the call, among those of all clients
  for (const Session& session : m_setup.clients[me]) {
    Explorer::checkpoint(number);
    ClientPlatform platform;
    platform.port = &m_channel.port(session.port);
    platform.ring_words = ModelledChannel::ring_words;
    platform.forgets = m_setup.clients_forget;
    ExploredClient client(m_channel.channel(), m_channel.number(session.port), platform);
    for (const CallShape& one : session.calls) {
      ++number;
      // The client's members do not change; what it knows of its port is in the port.
      Explorer::checkpoint(number);
      // Only this client reads it, and compares it with what it will read later: from where it counts does not
      // matter.
      m_channel.port(session.port).rare.signal = 0;
      send(client, session.port, one, number);
    }
  }
  end();
}

void Conversation::send(ExploredClient& client, unsigned number, const CallShape& one, Word id) {
  const Port& port = m_channel.port(number);
  std::uint32_t place = 0;
  const auto write = [&](char* payload) {
    place = port.client.next;
    each_word(one.bytes, [&](std::uint32_t offset) {
      const Word word = payload_word(id, one.bytes, place, offset);
      std::memcpy(payload + offset, &word, sizeof(word));
    });
    m_channel.sent(number).add(id);
  };
  bool arrived = false;
  if (one.answered) {
    const Answer answer = client.call(opcode_of(id), one.bytes, write, [&](const char* payload) {
      Explorer::pause();
      each_word(one.bytes, [&](std::uint32_t offset) {
        Word word;
        std::memcpy(&word, payload + offset, sizeof(word));
        if (word != answer_to(payload_word(id, one.bytes, place, offset), offset))
          Explorer::fail("the answer to another call");
      });
    });
    if (answer != Answer::ok && answer != Answer::aborted) Explorer::fail("a strange answer");
    arrived = answer == Answer::ok;
  } else {
    arrived = client.post(opcode_of(id), one.bytes, write);
  }
  if (!arrived && !m_setup.aborter) Explorer::fail("aborted by nobody");
}

void Conversation::run_aborter() {
  Explorer::store(m_channel.channel().aborted, 1);
  Explorer::heavy_fence();
  for (unsigned i = 0; i < ModelledChannel::used_ports; ++i)
    if (Explorer::load(m_channel.port(i).rare.asleep) != 0) Explorer::increment(m_channel.port(i).rare.signal);
  end();
}

void Conversation::run_server() {
  ExploredList& list = *m_list;
  Word& asleep = *m_channel.channel().asleep;
  const auto visit = [this](ExploredPort& port) { return serve(port); };
  for (;;) {
    // Among idle ports it does not matter which comes first, but as far as it does for two others afterwards.
    if (watched(list).size() == group_ports) first(list) %= 2;
    // Nothing lives from pass to pass but the list and its ports.
    Explorer::checkpoint(server_state() + 0);
    if (list.pass(visit)) continue;
    Explorer::checkpoint(server_state() + 1);
    if (m_setup.passes_again && Explorer::choose() != 0) continue;
    Explorer::store(asleep, 1);
    list.unwatch();
    if (m_setup.fences_to_sleep) Explorer::heavy_fence();
    Explorer::checkpoint(server_state() + 2);
    if (list.anything()) {
      Explorer::store(asleep, 0);
      continue;
    }
    Explorer::checkpoint(server_state() + 3);
    Explorer::block_while(asleep, 1);
  }
}

std::uint64_t Conversation::server_state() {
  std::uint64_t state = first(*m_list);
  for (unsigned i = 0; i < ModelledChannel::used_ports; ++i) {
    const ExploredPort& port = m_list->ports()[m_channel.number(i)];
    state = Explorer::mix(state, std::uint64_t{place(port)} << 32 | freed(port));
  }
  for (const ExploredPort* port : watched(*m_list)) state = Explorer::mix(state, port->number());
  return state;
}

bool Conversation::serve(ExploredPort& port) {
  const unsigned number = port.number() - m_channel.number(0);
  ExploredPort::Posted record{};
  int served = 0;
  for (; served < m_setup.most_a_visit && port.next(record); ++served) {
    Explorer::observe(std::uint64_t{record.head.opcode} << 32 | record.head.lines << 16 | record.head.bytes);
    Explorer::pause();
    ModelledChannel::Sent& sent = m_channel.sent(number);
    const Word id = sent.ids[0];
    if (sent.count == 0) {
      Explorer::fail("served what was not sent");
    } else if (!record.sound || record.head.opcode != opcode_of(id)) {
      Explorer::fail("served out of order");
    } else {
      each_word(record.head.bytes, [&](std::uint32_t offset) {
        Word word;
        std::memcpy(&word, record.payload + offset, sizeof(word));
        if (word != payload_word(id, record.head.bytes, place(port), offset)) Explorer::fail("another payload");
      });
      if (record.wants_answer()) {
        Word word;
        std::memcpy(&word, record.payload, sizeof(word));
        word = answer_to(word, 0);
        std::memcpy(record.payload, &word, sizeof(word));
      }
      sent.remove_first();
    }
    port.finish(record, Answer::ok);
  }
  if (served != 0) port.free_lines();
  return served != 0;
}

}  // namespace gantry::rpc::model
