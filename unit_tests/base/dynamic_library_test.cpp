// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/dynamic_library.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gantry {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DynamicLibraryTest, FindsFunctionsByName) {
  auto library = DynamicLibrary::open("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().message();
  auto floor = library->function<double(double)>("floor");
  ASSERT_TRUE(floor.ok());
  EXPECT_EQ((*floor)(2.5), 2.0);
  EXPECT_TRUE(library->close().ok());
  EXPECT_EQ(library->symbol("floor").status().code(), Code::refused);
}

TEST(DynamicLibraryTest, AMissingSymbolIsNamedWithItsLibrary) {
  auto library = DynamicLibrary::open("libm.so.6");
  ASSERT_TRUE(library.ok());
  const Status status = library->symbol("gantry_no_such_function").status();
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("gantry_no_such_function"), HasSubstr("libm.so.6")));
}

TEST(DynamicLibraryTest, AMissingLibraryIsUnavailable) {
  const Status status = DynamicLibrary::open("libgantry_no_such_library.so.1").status();
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_THAT(status.text(), HasSubstr("libgantry_no_such_library.so.1"));
  EXPECT_EQ(DynamicLibrary::open("/no/such/path.so").status().code(), Code::unavailable);
}

TEST(DynamicLibraryTest, RelativePathsAreRefused) {
  for (const std::string name : {"", "./libm.so.6", "lib/libm.so.6", "../libm.so.6"}) {
    EXPECT_EQ(DynamicLibrary::open(name).status().code(), Code::invalid_argument) << name;
  }
  EXPECT_EQ(DynamicLibrary::open(std::string("libm.so.6\0x", 11)).status().code(), Code::invalid_argument);
}

class LibraryPathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* path = std::getenv("LD_LIBRARY_PATH")) m_path = path;
    m_had_path = std::getenv("LD_LIBRARY_PATH") != nullptr;
    m_home = std::filesystem::current_path();
    std::string name = (std::filesystem::temp_directory_path() / "gantry_libraryXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    m_folder = name;
    std::filesystem::current_path(m_folder);
    std::ofstream(m_folder / "libplanted.so") << "not a library";
  }
  void TearDown() override {
    std::filesystem::current_path(m_home);
    std::filesystem::remove_all(m_folder);
    if (m_had_path) {
      ::setenv("LD_LIBRARY_PATH", m_path.c_str(), 1);
    } else {
      ::unsetenv("LD_LIBRARY_PATH");
    }
  }
  std::filesystem::path m_home;
  std::filesystem::path m_folder;
  std::string m_path;
  bool m_had_path = false;
};

TEST_F(LibraryPathTest, NothingIsTakenFromTheWorkingDirectory) {
  for (const char* path : {"/usr/lib:", ":/usr/lib", ".", "/usr/lib:.:/lib"}) {
    ::setenv("LD_LIBRARY_PATH", path, 1);
    const Status status = DynamicLibrary::open("libplanted.so").status();
    EXPECT_EQ(status.code(), Code::unavailable);
    EXPECT_THAT(status.text(), HasSubstr("working directory")) << path;
  }
  ::setenv("LD_LIBRARY_PATH", "/usr/lib", 1);
  EXPECT_THAT(DynamicLibrary::open("libplanted.so").status().text(), Not(HasSubstr("working directory")));
}

}  // namespace
}  // namespace gantry
