// SPDX-License-Identifier: Apache-2.0
// What unit tests of a library share: an operator's tiling, by a context that the test makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op_tiling_context_builder.h"

struct Tiled {
  bool done = false;
  uint64_t key = 0;
  uint32_t blocks = 0;
  uint64_t workspace = 0;
  std::vector<uint8_t> data;
};

// Of an operator with one attribute.
Tiled TilingOf(const std::string& type, const std::vector<gert::Tensor*>& inputs,
               const std::vector<gert::Tensor*>& outputs, const std::vector<float>& attr);
