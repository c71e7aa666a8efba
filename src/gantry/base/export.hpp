// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Marks what the shared libraries export; everything else is hidden.
#define GANTRY_API [[gnu::visibility("default")]]
