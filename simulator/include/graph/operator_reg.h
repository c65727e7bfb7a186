// SPDX-License-Identifier: Apache-2.0
// REG_OP prototypes of graph mode. The simulator has no graphs: a prototype becomes a type with its name and nothing else, so that
// op_host code that includes one compiles.
#pragma once

#include "graph/operator.h"

namespace ge {

// Answers every link of a prototype's chain.
struct PrototypeChain {
  const PrototypeChain& Link() const { return *this; }
};

}  // namespace ge

// The arguments of the links (TensorType({...}), kinds of attributes) are no C++ here, so they are dropped.
#define REG_OP(x)                                        \
  namespace op {                                         \
  class x : public ::ge::Operator {                      \
   public:                                               \
    x() : ::ge::Operator(#x) {}                          \
    explicit x(const char* name) : Operator(name, #x) {} \
  };                                                     \
  inline void DescribePrototype_##x() {                  \
    ::ge::PrototypeChain()
#define INPUT(...) Link()
#define OPTIONAL_INPUT(...) Link()
#define DYNAMIC_INPUT(...) Link()
#define OUTPUT(...) Link()
#define DYNAMIC_OUTPUT(...) Link()
#define ATTR(...) Link()
#define REQUIRED_ATTR(...) Link()
#define GRAPH(...) Link()
#define DYNAMIC_GRAPH(...) Link()
#define DATATYPE(...) Link()
#define OP_END_FACTORY_REG(x) \
  Link();                     \
  }                           \
  }
