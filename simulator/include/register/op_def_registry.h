// SPDX-License-Identifier: Apache-2.0
// OP_ADD(Type) registers the definition class Type, which derives from ops::OpDef.
#ifndef REGISTER_OP_DEF_REGISTRY_H_
#define REGISTER_OP_DEF_REGISTRY_H_

#include "register/op_def.h"
#include "register/op_def_factory.h"

// More arguments than the type are for CANN's build and mean nothing here.
#define OP_ADD(opType, ...)                                                          \
  [[maybe_unused]] static int g_##opType##_added = ops::OpDefFactory::OpDefRegister( \
      #opType, [](const char* name) -> ops::OpDef { return opType(name); })

#endif  // REGISTER_OP_DEF_REGISTRY_H_
