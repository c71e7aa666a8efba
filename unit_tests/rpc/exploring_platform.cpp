// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/exploring_platform.hpp>

#include <algorithm>

namespace gantry::rpc::model {

bool QuietWords::operator()(const Word& word) const {
  return reinterpret_cast<const std::byte*>(&word) < first_shared ||
         std::find(words.begin(), words.end(), &word) != words.end();
}

}  // namespace gantry::rpc::model
