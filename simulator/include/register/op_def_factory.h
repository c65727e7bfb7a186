// SPDX-License-Identifier: Apache-2.0
// OP_ADD puts definitions here.
#pragma once

#include "register/op_def.h"

namespace ops {

class OpDefFactory {
 public:
  using Creator = OpDef (*)(const char* name);
  // Builds the definition at once and records it together with the functions set on it. Returns 0.
  static int OpDefRegister(const char* name, Creator creator);
};

}  // namespace ops
