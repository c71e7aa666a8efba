// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace gantry::test {

/// While one lives std::thread's stack is as large as no stack can be: no thread starts.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_getattr_default_np(&m_before);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoNewThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&m_before), 0);
    pthread_attr_destroy(&m_before);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t m_before;
};

}  // namespace gantry::test
