// SPDX-License-Identifier: Apache-2.0
// Shared by the operators of this library, on the host and in kernels.
#pragma once

#include <cstdint>

constexpr uint32_t RoundUp(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }
