// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/sink.hpp>
#include <unit_tests/support/expect_ok.hpp>
#include <unit_tests/support/log_capture.hpp>

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gantry::rpc {
namespace {

using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr;
using testing::internal::GetCapturedStdout;

class SinkTest : public testing::Test {
 protected:
  static constexpr DeviceId device = 900;  // none of the process
  void TearDown() override {
    EXPECT_OK(set_output(device, {}));
    std::filesystem::remove(path());
  }
  static std::string path() {
    return testing::TempDir() + "gantry_sink_test." + std::to_string(getpid()) + "." +
           testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static std::string content() {
    std::ifstream file(path());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static Output to(Output::Kind kind, bool prefix = false) {
    Output output;
    output.kind = kind;
    output.prefix = prefix;
    return output;
  }
  static Output to_file(const std::string& name) {
    Output output = to(Output::Kind::file);
    output.path = name;
    return output;
  }
  void print(const char* text) {
    sink.text() += text;
    sink.flush();
  }

  Sink sink{device, "name"};
};

TEST_F(SinkTest, WritesToTheStandardOutputUnlessToldOtherwise) {
  EXPECT_OK(sink.check());
  CaptureStdout();
  CaptureStderr();
  print("one\n");
  EXPECT_EQ(sink.text(), "");
  print("");
  print("two");
  EXPECT_EQ(GetCapturedStdout(), "one\ntwo");
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST_F(SinkTest, WritesToTheStandardError) {
  EXPECT_OK(set_output(device, to(Output::Kind::standard_error)));
  CaptureStdout();
  CaptureStderr();
  print("text\n");
  EXPECT_EQ(GetCapturedStdout(), "");
  EXPECT_EQ(GetCapturedStderr(), "text\n");
}

TEST_F(SinkTest, WritesToAFileThatIsMadeEmptyOnce) {
  std::ofstream(path()) << "before\n";
  EXPECT_OK(set_output(device, to_file(path())));
  print("one\n");
  EXPECT_EQ(content(), "one\n") << "visible at once";
  EXPECT_OK(set_output(device, to_file(path())));
  Sink other(device, "other");
  other.text() = "two\n";
  other.flush();
  print("three\n");
  EXPECT_EQ(content(), "one\ntwo\nthree\n");
}

TEST_F(SinkTest, AFileIsAsItWasUntilSomethingIsPrinted) {
  std::ofstream(path()) << "before\n";
  EXPECT_OK(set_output(device, to_file(path())));
  EXPECT_OK(sink.check());
  EXPECT_EQ(content(), "before\n");
  print("");
  EXPECT_EQ(content(), "before\n");
}

TEST_F(SinkTest, AFileIsOneWhateverItIsCalled) {
  constexpr DeviceId second = device + 1;
  Sink other(second, "other");
  EXPECT_OK(set_output(device, to_file(path())));
  EXPECT_OK(set_output(second, to_file(std::filesystem::relative(path()).string())));
  print("one\n");
  other.text() = "two\n";
  other.flush();
  print("three\n");
  EXPECT_EQ(content(), "one\ntwo\nthree\n");
  EXPECT_OK(set_output(second, {}));
}

TEST_F(SinkTest, AFifoThatNobodyReadsIsAnError) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(set_output(device, to_file(path())).code(), Code::driver_error);
}

TEST_F(SinkTest, RefusesWhatCannotBeADeviceOrAPath) {
  EXPECT_EQ(set_output(-1, {}).code(), Code::invalid_argument);
  EXPECT_EQ(set_output(device, to_file(std::string("/tmp/a\0b", 8))).code(), Code::driver_error);
}

TEST_F(SinkTest, CallsACallbackWithItsDevice) {
  struct Seen {
    DeviceId id = -1;
    std::string text;
  } seen;
  Output output = to(Output::Kind::callback);
  output.callback = [](DeviceId id, std::string_view text, void* to) {
    *static_cast<Seen*>(to) = {id, std::string(text)};
  };
  output.user = &seen;
  EXPECT_OK(set_output(device, output));
  const std::string all("with a \0 and \xff", 14);
  sink.text() = all;
  sink.flush();
  EXPECT_EQ(seen.id, device);
  EXPECT_EQ(seen.text, all);
}

TEST_F(SinkTest, PutsThePrefixBeforeEachLineOnce) {
  EXPECT_OK(set_output(device, to(Output::Kind::standard_output, true)));
  print("\n");  // ends what others have begun
  CaptureStdout();
  print("one\ntwo\n\n");
  print("thr");
  print("ee");
  print("\nfour\nfi");
  print("ve\n");
  EXPECT_EQ(GetCapturedStdout(), "[name] one\n[name] two\n[name] \n[name] three\n[name] four\n[name] five\n");
}

TEST_F(SinkTest, WithPrefixesALineGoesOnOnlyWithTextOfItsDevice) {
  constexpr DeviceId second = device + 1;
  Sink other(second, "other");
  for (const DeviceId id : {device, second}) EXPECT_OK(set_output(id, to(Output::Kind::standard_output, true)));
  print("\n");
  CaptureStdout();
  print("one");
  other.text() = "two";
  other.flush();
  print(" three");
  Sink reopened(device, "name");
  reopened.text() = " four\n";
  reopened.flush();
  EXPECT_EQ(GetCapturedStdout(), "[name] one\n[other] two\n[name]  three four\n");
  EXPECT_OK(set_output(second, {}));
}

TEST_F(SinkTest, ChangesItsOutputBetweenTwoFlushes) {
  EXPECT_OK(set_output(device, to_file(path())));
  print("one\n");
  sink.text() = "two\n";
  EXPECT_OK(set_output(device, to(Output::Kind::standard_output)));
  CaptureStdout();
  sink.flush();
  EXPECT_EQ(GetCapturedStdout(), "two\n");
  EXPECT_EQ(content(), "one\n");
}

TEST_F(SinkTest, AFileThatCannotBeOpenedChangesNothing) {
  EXPECT_OK(set_output(device, to_file(path())));
  for (const char* bad : {"/nowhere/at/all", "/proc/version/x", "/tmp", ""}) {
    const Status status = set_output(device, to_file(bad));
    EXPECT_EQ(status.code(), Code::driver_error);
    EXPECT_THAT(status.text(), HasSubstr(std::string("'") + bad + "'"));
  }
  EXPECT_THAT(set_output(device, to_file("/nowhere/at/all")).text(), HasSubstr("No such file"));
  EXPECT_EQ(set_output(device, to(Output::Kind::callback)).code(), Code::invalid_argument);
  print("text\n");
  EXPECT_EQ(content(), "text\n");
}

TEST_F(SinkTest, WhatCannotBeWrittenGoesToTheStandardError) {
  EXPECT_OK(set_output(device, to_file("/dev/full")));
  CaptureStderr();
  std::string logged;
  {
    test::LogCapture log;
    print("one\n");
    print("two\n");
    logged = log.text();
  }
  EXPECT_EQ(GetCapturedStderr(), "one\ntwo\n");
  EXPECT_THAT(logged, HasSubstr("name: printing, now to standard error"));
  EXPECT_THAT(logged, HasSubstr("No space left on device"));
  EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1);
}

TEST_F(SinkTest, WhatWentToTheStandardErrorIsNotWrittenAgainWhenThereIsRoom) {
  EXPECT_OK(set_output(device, to_file(path())));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit none = before;
  none.rlim_cur = 0;
  const test::LogCapture quiet;
  setrlimit(RLIMIT_FSIZE, &none);
  print("lost and found on the standard error\n");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  print("there is room again\n");
  EXPECT_EQ(content(), "there is room again\n");
}

TEST_F(SinkTest, ACallbackThatThrowsLosesNoText) {
  Output output = to(Output::Kind::callback);
  output.callback = [](DeviceId, std::string_view, void*) { throw std::runtime_error("its reason"); };
  EXPECT_OK(set_output(device, output));
  CaptureStderr();
  test::LogCapture log;
  print("text\n");
  EXPECT_EQ(GetCapturedStderr(), "text\n");
  EXPECT_THAT(log.text(), HasSubstr("name: printing, now to standard error: its reason"));
}

TEST_F(SinkTest, ACallbackThatThrowsAnythingLosesNoText) {
  Output output = to(Output::Kind::callback);
  output.callback = [](DeviceId, std::string_view, void*) { throw 42; };
  EXPECT_OK(set_output(device, output));
  CaptureStderr();
  const test::LogCapture quiet;
  print("text\n");
  EXPECT_EQ(GetCapturedStderr(), "text\n");
}

}  // namespace
}  // namespace gantry::rpc
