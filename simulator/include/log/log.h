// SPDX-License-Identifier: Apache-2.0
// Logging and checks of op_host sources. OP_LOG*(context or name, format, ...): the first argument
// names the operator. Errors are what aclGetRecentErrMsg returns; the rest is silent unless
// ASCEND_GLOBAL_LOG_LEVEL (0 debug .. 3 error) asks.
#pragma once

#include <cinttypes>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/dlog_pub.h"
#include "base/err_msg.h"
#include "exe_graph/runtime/shape.h"
#include "exe_graph/runtime/storage_shape.h"
#include "graph/error_codes.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"

constexpr int32_t OP_MODULE_ID = 63;

#ifndef OP_SUBMOD_NAME
#define OP_SUBMOD_NAME "OPS_BASE"
#endif

extern "C" {
// Adds to the calling thread's error message, as "op: text".
void ReportOpError(const char* op, const char* fmt, ...) __attribute__((format(printf, 2, 3)));
}

namespace Ops {
namespace Base {

inline std::string GetOpInfo(const char* name) { return name == nullptr ? "nil" : name; }
inline std::string GetOpInfo(const std::string& name) { return name; }
// An error code, which opdev/op_log.h has in the place of a name.
template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
std::string GetOpInfo(T code) {
  return "error " + std::to_string(code);
}
template <class T>
auto GetOpInfo(const T* context) -> decltype(context->GetNodeName(), std::string()) {
  if (context == nullptr) return "nil";
  const char* type = context->GetNodeType();
  const char* name = context->GetNodeName();
  const std::string typeText = type == nullptr ? "nil" : type;
  if (name == nullptr || typeText == name) return typeText;
  return typeText + ":" + name;
}

// A name for a %s, whichever way it is held.
inline const char* GetSafeStr(const char* text) { return text; }
inline const char* GetSafeStr(const std::string& text) { return text.c_str(); }

// Returns what an error says of a name or value, text or number.
inline std::string ToText(const char* text) { return text == nullptr ? "nil" : text; }
inline std::string ToText(const std::string& text) { return text; }
template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
std::string ToText(T value) {
  return std::to_string(value);
}

std::string ToString(ge::DataType type);
std::string ToString(ge::Format format);
std::string ToString(const gert::Shape& shape);
std::string ToString(const std::vector<const gert::Shape*>& shapes);

}  // namespace Base
}  // namespace Ops

#ifndef unlikely
#define unlikely(x) __builtin_expect((x), 0)
#endif
#ifndef likely
#define likely(x) __builtin_expect((x), 1)
#endif

#define OP_HOST_LOG_(level, op, fmt, ...)                                     \
  do {                                                                        \
    if (CheckLogLevel(OP_MODULE_ID, level) == 1) {                            \
      DlogRecord(OP_MODULE_ID, level, "[%s:%d] %s: " fmt, __FILE__, __LINE__, \
                 Ops::Base::GetOpInfo(op).c_str(), ##__VA_ARGS__);            \
    }                                                                         \
  } while (0)

// opdev/op_log.h has its own meaning for some of these names; the header that comes last counts.
#undef D_OP_LOGD
#undef D_OP_LOGI
#undef D_OP_LOGW
#undef D_OP_LOGE
#undef OpLogSub
#undef OpLogErrSub
#define D_OP_LOGD(op, ...) OP_HOST_LOG_(DLOG_DEBUG, op, __VA_ARGS__)
#define D_OP_LOGI(op, ...) OP_HOST_LOG_(DLOG_INFO, op, __VA_ARGS__)
#define D_OP_LOGW(op, ...) OP_HOST_LOG_(DLOG_WARN, op, __VA_ARGS__)
#define D_OP_LOGE(op, ...) OP_HOST_LOG_(DLOG_ERROR, op, __VA_ARGS__)
#define OpLogSub(module, level, op, ...) OP_HOST_LOG_(level, op, __VA_ARGS__)
#define OpLogErrSub(module, level, op, ...) OP_HOST_LOG_(level, op, __VA_ARGS__)
#define OP_LOGE_LIBOPAPI_REPORT(op, ...) OP_HOST_LOG_(DLOG_ERROR, op, __VA_ARGS__)
#define OP_LOGE_REPORTED_(op, ...)                                \
  do {                                                            \
    OP_HOST_LOG_(DLOG_ERROR, op, __VA_ARGS__);                    \
    ReportOpError(Ops::Base::GetOpInfo(op).c_str(), __VA_ARGS__); \
  } while (0)

#ifndef OP_LOG_LIBOPAPI_ONLY  // for sources whose OP_LOG forms are those of opdev/op_log.h
#undef OP_LOGD
#undef OP_LOGI
#undef OP_LOGW
#undef OP_LOGE
#undef OP_LOGE_WITHOUT_REPORT
#define OP_LOGD(op, ...) OP_HOST_LOG_(DLOG_DEBUG, op, __VA_ARGS__)
#define OP_LOGI(op, ...) OP_HOST_LOG_(DLOG_INFO, op, __VA_ARGS__)
#define OP_LOGW(op, ...) OP_HOST_LOG_(DLOG_WARN, op, __VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(op, ...) OP_HOST_LOG_(DLOG_ERROR, op, __VA_ARGS__)
#define OP_LOGE(op, ...) OP_LOGE_REPORTED_(op, __VA_ARGS__)

#define OP_CHECK_IF(condition, log, returnExpr) \
  do {                                          \
    if (unlikely(condition)) {                  \
      log;                                      \
      returnExpr;                               \
    }                                           \
  } while (0)

#define OP_CHECK_NULL_WITH_CONTEXT(context, ptr) \
  do {                                           \
    if (unlikely((ptr) == nullptr)) {            \
      OP_LOGE(context, "%s is nullptr", #ptr);   \
      return ge::GRAPH_FAILED;                   \
    }                                            \
  } while (0)
#endif  // OP_LOG_LIBOPAPI_ONLY

// Errors with a fixed shape: which parameter, what it is, and what it should be or why it is wrong.
#define OP_LOGE_SHOULD_BE_(op, what, name, got, want)                                \
  OP_LOGE_REPORTED_(op, "parameter %s has incorrect " what " %s, it should be %s",   \
                    Ops::Base::ToText(name).c_str(), Ops::Base::ToText(got).c_str(), \
                    Ops::Base::ToText(want).c_str())
#define OP_LOGE_BECAUSE_(op, what, name, got, reason)                                \
  OP_LOGE_REPORTED_(op, "parameter %s has incorrect " what " %s: %s",                \
                    Ops::Base::ToText(name).c_str(), Ops::Base::ToText(got).c_str(), \
                    Ops::Base::ToText(reason).c_str())
#define OP_LOGE_FOR_INVALID_SHAPE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "shape", name, got, want)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "shape dim", name, got, want)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "shape size", name, got, want)
#define OP_LOGE_FOR_INVALID_FORMAT(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "format", name, got, want)
#define OP_LOGE_FOR_INVALID_DTYPE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "dtype", name, got, want)
#define OP_LOGE_FOR_INVALID_VALUE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "value", name, got, want)
#define OP_LOGE_FOR_INVALID_TENSORNUM(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "number of tensors", name, got, want)
#define OP_LOGE_FOR_INVALID_LISTSIZE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "list size", name, got, want)
#define OP_LOGE_FOR_INVALID_STRIDE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "stride", name, got, want)
#define OP_LOGE_FOR_INVALID_CONFIG(op, file, item, got, want) \
  OP_LOGE_SHOULD_BE_(op, "item of a configuration file", item, got, want)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(op, file, item, got, reason) \
  OP_LOGE_BECAUSE_(op, "item of a configuration file", item, got, reason)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "shape", name, got, reason)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "shapes", name, got, reason)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "shape dim", name, got, reason)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "shape dims", name, got, reason)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "shape size", name, got, reason)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "shape sizes", name, got, reason)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "format", name, got, reason)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "formats", name, got, reason)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "dtype", name, got, reason)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "dtypes", name, got, reason)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "numbers of tensors", name, got, reason)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "value", name, got, reason)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "values", name, got, reason)
#define OP_LOGE_FOR_INVALID_LISTSIZE_WITH_REASON(op, name, got, reason) \
  OP_LOGE_BECAUSE_(op, "list size", name, got, reason)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(op, name, reason)                    \
  OP_LOGE_REPORTED_(op, "parameter %s is wrong: %s", Ops::Base::ToText(name).c_str(), \
                    Ops::Base::ToText(reason).c_str())
#define OP_LOGE_FOR_INVALID_CONFIGS_WITH_REASON(op, file, items, got, reason) \
  OP_LOGE_BECAUSE_(op, "items of a configuration file", items, got, reason)
#define OP_LOGE_FOR_FILE_(op, what, file, reason)                        \
  OP_LOGE_REPORTED_(op, what " %s: %s", Ops::Base::ToText(file).c_str(), \
                    Ops::Base::ToText(reason).c_str())
#define OP_LOGE_FOR_FILE_PATH(op, file, reason) \
  OP_LOGE_FOR_FILE_(op, "wrong path of file", file, reason)
#define OP_LOGE_FOR_FILE_OPEN(op, file, reason) OP_LOGE_FOR_FILE_(op, "cannot open", file, reason)
#define OP_LOGE_FOR_FILE_PARSE(op, file, reason) OP_LOGE_FOR_FILE_(op, "cannot parse", file, reason)
#define OP_LOGE_FOR_INVALID_GRAPH_NODE(node, reason) \
  OP_LOGE_REPORTED_(node, "wrong node of the graph: %s", Ops::Base::ToText(reason).c_str())
#define OP_LOGE_WITH_INVALID_INPUT(op, name) \
  OP_LOGE_REPORTED_(op, "input %s is wrong", Ops::Base::ToText(name).c_str())
#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(op, index, got, want) \
  OP_LOGE_SHOULD_BE_(op, "shape", std::to_string(index), got, want)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPESIZE(op, index, got, want) \
  OP_LOGE_SHOULD_BE_(op, "shape size", std::to_string(index), got, want)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "format", name, got, want)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "dtype", name, got, want)
#define OP_LOGE_WITH_INVALID_ATTR(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "value", name, got, want)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(op, name, got, want) \
  OP_LOGE_SHOULD_BE_(op, "size", name, got, want)
