// SPDX-License-Identifier: Apache-2.0
// A node of a graph, as far as op_host code names it. The simulator has no graph mode: nothing makes one.
#pragma once

#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/tensor.h"
#include "graph/types.h"

namespace ge {

// CANN's header brings these names into its namespace, and op_host code uses them from there.
using std::function;
using std::shared_ptr;
using std::string;

class Operator {
 public:
  Operator() = default;
  explicit Operator(const char_t* type) : type_(type) {}
  Operator(const char_t* name, const char_t* type) : name_(name), type_(type) {}

  graphStatus GetName(AscendString& name) const {
    name = name_;
    return GRAPH_SUCCESS;
  }
  graphStatus GetOpType(AscendString& type) const {
    type = type_;
    return GRAPH_SUCCESS;
  }
  // By std::string, as CANN has it: a literal 0 is a number.
  TensorDesc GetInputDesc(const std::string&) const { return {}; }
  TensorDesc GetInputDesc(uint32_t) const { return {}; }
  TensorDesc GetInputDescByName(const char_t*) const { return {}; }
  TensorDesc GetOutputDesc(const std::string&) const { return {}; }
  TensorDesc GetOutputDesc(uint32_t) const { return {}; }
  TensorDesc GetOutputDescByName(const char_t*) const { return {}; }
  template <typename T>
  graphStatus GetAttr(const char_t*, T&) const {
    return GRAPH_FAILED;
  }

 private:
  AscendString name_;
  AscendString type_;
};

}  // namespace ge
