// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

constexpr uint32_t kCount = 64;  // elements of a core
