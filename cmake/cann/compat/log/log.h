// SPDX-License-Identifier: Apache-2.0
// The two macros of opbase's log/log.h that op_host uses, for toolkits without that header: errors
// go to stderr.
#ifndef LOG_LOG_H_
#define LOG_LOG_H_

#include <cstdio>

#include "graph/ge_error_codes.h"
#include "graph/types.h"

namespace aclgrad_compat {

inline const char* OperatorName(const char* name) { return name; }

template <class Context>
const char* OperatorName(const Context* context) {
  const char* type = context == nullptr ? nullptr : context->GetNodeType();
  return type == nullptr ? "operator" : type;
}

}  // namespace aclgrad_compat

#define OP_LOGE(op, fmt, ...) \
  std::fprintf(stderr, "%s: " fmt "\n", aclgrad_compat::OperatorName(op), ##__VA_ARGS__)

#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer) \
  do {                                               \
    if ((pointer) == nullptr) {                      \
      OP_LOGE(context, "%s is null", #pointer);      \
      return ge::GRAPH_FAILED;                       \
    }                                                \
  } while (0)

#endif  // LOG_LOG_H_
