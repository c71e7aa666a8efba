// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <gtest/gtest.h>

#define EXPECT_OK(expression)                       \
  do {                                              \
    const ::gantry::Status status_ = (expression);  \
    EXPECT_TRUE(status_.ok()) << status_.message(); \
  } while (false)
