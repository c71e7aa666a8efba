// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/leak_report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gantry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LiveObject object(ObjectKind kind, std::string label, std::size_t bytes, std::string device, std::uint64_t sequence) {
  return {.kind = kind,
          .address = reinterpret_cast<const void*>(0x1000 * sequence),
          .bytes = bytes,
          .label = std::move(label),
          .device = {0, 1},
          .device_name = std::move(device),
          .sequence = sequence};
}

TEST(LeakReportTest, EmptyMeansNothingWasForgotten) {
  const LeakReport report;
  EXPECT_TRUE(report.empty());
  EXPECT_EQ(report.bytes(), 0u);
  const auto json = nlohmann::json::parse(report.to_json());
  EXPECT_EQ(json["count"], 0);
  EXPECT_TRUE(json["objects"].is_array());
}

TEST(LeakReportTest, TextFoldsObjectsThatAreAlike) {
  LeakReport report;
  report.objects = {
      object(ObjectKind::device_memory, "x", 1024, "host", 1), object(ObjectKind::queue, "solver", 0, "host:1", 2),
      object(ObjectKind::device_memory, "x", 1024, "host", 3), object(ObjectKind::device_memory, "x", 8, "host", 4)};
  EXPECT_EQ(report.to_text(),
            "4 objects still held, 2056 bytes\n"
            "  host: 2 x device_memory 'x', 1024 bytes each\n"
            "  host:1: queue 'solver', at 0x2000\n"
            "  host: device_memory 'x', 8 bytes, at 0x4000");
}

TEST(LeakReportTest, LabelsCannotBreakLinesOrDriveATerminal) {
  LeakReport report;
  report.objects = {object(ObjectKind::device_memory, "a\nb\x1b[2J", 1, "host", 1)};
  EXPECT_THAT(report.to_text(), HasSubstr("'a\\x0ab\\x1b[2J'"));
}

TEST(LeakReportTest, JsonIsValidWhateverTheLabelsHold) {
  LeakReport report;
  report.objects = {object(ObjectKind::device_memory, "quote \" slash \\ \x01 \n", 16, "host", 1),
                    object(ObjectKind::event, "not utf-8 \xff\xfe", 0, "host", 2)};
  const auto json = nlohmann::json::parse(report.to_json());
  EXPECT_EQ(json["count"], 2);
  EXPECT_EQ(json["bytes"], 16);
  EXPECT_EQ(json["objects"][0]["label"], report.objects[0].label);
  EXPECT_EQ(json["objects"][0]["kind"], "device_memory");
  EXPECT_EQ(json["objects"][0]["address"], "0x1000");
  EXPECT_EQ(json["objects"][1]["sequence"], 2);
  EXPECT_EQ(json["objects"][1]["device"], "host");
}

}  // namespace
}  // namespace gantry
