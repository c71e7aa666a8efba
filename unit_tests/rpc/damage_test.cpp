// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rpc_fixture.hpp"

#include <gmock/gmock.h>

namespace gantry::rpc {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A record as no client writes it, of one line unless `advance` says where its client goes on.
struct Damage {
  const char* what;
  std::uint16_t lines = 1;
  std::uint32_t bytes = 8;
  std::uint64_t lanes = 1;
  std::uint32_t advance = 1;
};
void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.what;
}

constexpr Damage all_damages[] = {
    {.what = "no lines", .lines = 0},
    {.what = "no lines, but its client goes on later", .lines = 0, .advance = 3},
    {.what = "lines behind the end of the ring", .lines = 65535},
    {.what = "bytes that do not fit the lines", .bytes = 48},
    {.what = "bytes that fit no ring", .bytes = 0xfffffff8},
    {.what = "lanes that do not fit", .lanes = ~std::uint64_t{0}},
    {.what = "bytes and lanes that fit no ring", .bytes = 0xfffffff8, .lanes = ~std::uint64_t{0}},
    {.what = "bytes that are no multiple of 8", .bytes = 12},
    {.what = "no lanes", .lanes = 0},
};

class DamageTest : public testing::TestWithParam<Damage> {
 protected:
  /// Writes the record where the port's next one comes; its client rings later, or never.
  std::uint32_t write(std::uint32_t number, const Damage& damage, std::uint16_t flags) {
    Channel& channel = device.channel();
    Port& port = channel.port(number);
    const std::uint32_t place = port.client.next;
    Record& record = port.record(place, channel.ring_lines);
    record.opcode = echo_opcode;
    record.lines = damage.lines;
    record.flags = flags;
    record.bytes = damage.bytes;
    record.lanes = damage.lanes;
    HostPlatform::store(port.record(place + damage.advance, channel.ring_lines).turn, 0);
    HostPlatform::store(port.client.next, place + damage.advance);
    HostPlatform::store(record.turn, posted_turn(place));
    return place;
  }
  void ring(std::uint32_t number) {
    Channel& channel = device.channel();
    HostPlatform::store(channel.used, 1);
    HostPlatform::store(channel.bells[number], 1);
    HostPlatform::store(channel.summary[number / group_ports], 1);
    HostPlatform::store(channel.rung, 1);
    AsymmetricFence::full();
    if (HostPlatform::load(*channel.asleep) != 0) HostPlatform::wake(channel);
  }
  /// Until the client of an idle port has posted the record at a place, and rung.
  void await_posted(std::uint32_t number, std::uint32_t place) {
    Channel& channel = device.channel();
    await([&] { return HostPlatform::load(channel.port(number).client.next) != place; });
    await([&] { return HostPlatform::load(channel.used) != 0; });
  }
  Answer answer(std::uint32_t number, std::uint32_t place) {
    Record& record = device.channel().port(number).record(place, device.channel().ring_lines);
    await([&] { return HostPlatform::load(record.turn) == answered_turn(place); });
    return static_cast<Answer>(record.flags);
  }

  Server server{{.name = "test", .on_thread_start = {}}};
  OpenEndpoint device{server, 3};
};

TEST_P(DamageTest, IsRefusedAndTheChannelGoesOn) {
  device.printed.with_log();
  for (int round = 1; round <= 100; ++round) {  // at many places of the ring
    const std::uint32_t place = write(1, GetParam(), Record::wants_answer);
    ring(1);
    ASSERT_EQ(answer(1, place), Answer::refused);
    EXPECT_TRUE(device.answers(0));
    EXPECT_TRUE(device.answers(1));
    EXPECT_TRUE(device.answers(2));
  }
  device->flush();
  EXPECT_EQ(device->statistics().failed, 100U);
  EXPECT_THAT(device.text(), AllOf(HasSubstr(": port 1, call 0x"), HasSubstr(": refused: its record is damaged")));
}

TEST_P(DamageTest, IsLoggedWhereNobodyWaits) {
  device.printed.with_log();
  write(1, GetParam(), 0);
  ring(1);
  device->flush();
  EXPECT_THAT(device.text(), AllOf(HasSubstr(": port 1, call 0x"), HasSubstr(": refused: its record is damaged")));
  EXPECT_TRUE(device.answers(1));
}

TEST_P(DamageTest, LosesNoCallBehindIt) {
  device.printed.with_log();
  write(1, GetParam(), 0);  // the server learns of it by the ring of the call behind it
  const std::uint32_t place = device.channel().port(1).client.next;
  std::jthread client([&] { device.answers(1); });
  await_posted(1, place);
  device->flush();  // all has been served, so it has its answer
  Record& record = device.channel().port(1).record(place, device.channel().ring_lines);
  EXPECT_EQ(HostPlatform::load(record.turn), answered_turn(place));
  device->abort();  // lets a client go that was forgotten
}

INSTANTIATE_TEST_SUITE_P(All, DamageTest, testing::ValuesIn(all_damages));

TEST_F(DamageTest, ASkipThatWantsAnAnswerGetsOne) {
  std::uint64_t argument = 0;
  Answer answer = Answer::ok;
  std::jthread client([&] { answer = device.call(1, skip_opcode, argument); });
  await_posted(1, 0);
  device->flush(std::chrono::seconds(10));  // would never return if it were forgotten
  Record& record = device.channel().port(1).record(0, device.channel().ring_lines);
  EXPECT_EQ(HostPlatform::load(record.turn), answered_turn(0));
  device->abort();
}

TEST_F(DamageTest, UnknownCallsAreAnswered) {
  device.printed.with_log();
  for (const Opcode opcode : {user(1), make_opcode(OpcodeClass::gantry, 1000), make_opcode(OpcodeClass::port, 1),
                              make_opcode(OpcodeClass::function, 0xffffff), ~Opcode{0}}) {
    std::uint64_t argument = 0;
    EXPECT_EQ(device.call(1, opcode, argument), Answer::unknown);
    EXPECT_TRUE(device.answers(1));
  }
  EXPECT_THAT(device.text(), HasSubstr("call 0xffffffff: there is no handler for it"));
}

}  // namespace
}  // namespace gantry::rpc
