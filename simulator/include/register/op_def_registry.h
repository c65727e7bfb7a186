// SPDX-License-Identifier: Apache-2.0
// OP_ADD(Type) registers the definition class Type, which derives from ops::OpDef.
#pragma once

#include "register/op_def.h"
#include "register/op_def_factory.h"

// More arguments than the type are for CANN's build and mean nothing here.
#define OP_ADD(opType, ...)                                                          \
  [[maybe_unused]] static int g_##opType##_added = ops::OpDefFactory::OpDefRegister( \
      #opType, [](const char* name) -> ops::OpDef { return opType(name); })
