// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/client.hpp>
#include <gantry/rpc/watch_list.hpp>
#include <unit_tests/rpc/explored_program.hpp>
#include <unit_tests/rpc/exploring_platform.hpp>
#include <unit_tests/rpc/modelled_channel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gantry::rpc::model {

/// One call of a client. Payloads of 16, 56 and 112 bytes make records of one, two and three lines.
struct CallShape {
  bool answered;
  std::uint32_t bytes;
};
inline constexpr CallShape post{false, 16};
inline constexpr CallShape call{true, 16};
inline constexpr CallShape long_post{false, 56};
inline constexpr CallShape long_call{true, 56};
inline constexpr CallShape longest_post{false, 112};
inline constexpr CallShape longest_call{true, 112};

/// What a client sends while it has the port.
struct Session {
  unsigned port;
  std::vector<CallShape> calls;
};
using Script = std::vector<Session>;

struct Setup {
  std::vector<Script> clients;
  int most_a_visit = 16;        ///< records of a port that are served at once
  bool aborter = false;         ///< a thread that aborts the channel, some time
  bool list_full = false;       ///< the server watches as many idle ports as it can when it begins
  bool passes_again = true;     ///< whether the server may make another pass before it sleeps
  bool fences_to_sleep = true;  ///< false: the server forgets its fence
  bool clients_forget = true;   ///< false: states differ in more than matters
};

/// The real Client, ServerPort and WatchList: clients that follow their scripts, a server, maybe an aborter. Right is
/// that every record is served once, whole, in its port's order, that every answer is that of its call, and that in the
/// end all clients have ended and the server sleeps.
class Conversation : public exploration::Program {
 public:
  explicit Conversation(Setup setup);

  void reset() override;
  unsigned threads() const override { return server_thread() + 1; }
  void run(unsigned thread) override;
  std::string wrong_end() const override;

  std::span<std::byte> shared() override { return m_channel.shared(); }
  std::span<const std::span<std::byte>> owned() override { return m_owned; }

  std::string thread_name(unsigned thread) const override;
  std::string word_name(const Word& word) const override { return m_channel.word_name(word); }

 private:
  using ExploredClient = Client<ClientPlatform>;
  using ExploredPort = ServerPort<ExploringPlatform>;
  using ExploredList = WatchList<ExploringPlatform>;

  [[nodiscard]] unsigned server_thread() const {
    return static_cast<unsigned>(m_setup.clients.size()) + (m_setup.aborter ? 1 : 0);
  }
  void set_up_quiet();

  void run_client(unsigned me);
  void send(ExploredClient& client, unsigned number, const CallShape& one, Word id);
  void run_aborter();
  void run_server();
  [[nodiscard]] std::uint64_t server_state();
  bool serve(ExploredPort& port);
  void end() { ++m_channel.ended(); }

  Setup m_setup;
  ModelledChannel m_channel;
  std::optional<ExploredList> m_list;
  std::array<std::span<std::byte>, 3> m_owned;
  std::vector<std::byte> m_list_begin;
  std::vector<std::byte> m_ports_begin;
};

}  // namespace gantry::rpc::model
