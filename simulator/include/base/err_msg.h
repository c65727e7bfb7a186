// SPDX-License-Identifier: Apache-2.0
// Reports to the calling thread's error message, which aclGetRecentErrMsg returns. A code is text
// like "E89999"; CANN looks up a sentence for a predefined one, the simulator says its keys and
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace error_message {

using char_t = char;
constexpr size_t LIMIT_PER_MSG = 1024;

int32_t ReportInnerErrMsg(const char* file, const char* function, uint32_t line, const char* code,
                          const char* format, ...) __attribute__((format(printf, 5, 6)));
int32_t ReportUserDefinedErrMsg(const char* code, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
int32_t ReportPredefinedErrMsg(const char* code, const std::vector<const char*>& key,
                               const std::vector<const char*>& value);
int32_t ReportPredefinedErrMsg(const char* code);
// Sentences of one's own for codes, as JSON: accepted, and not used.
int32_t RegisterFormatErrorMessage(const char* text, size_t size);

}  // namespace error_message

namespace ge {
using error_message::ReportInnerErrMsg;
using error_message::ReportPredefinedErrMsg;
using error_message::ReportUserDefinedErrMsg;
}  // namespace ge

#define REPORT_INNER_ERR_MSG(error_code, format, ...)                                          \
  (void)error_message::ReportInnerErrMsg(__FILE__, __FUNCTION__, __LINE__, error_code, format, \
                                         ##__VA_ARGS__)
#define REPORT_USER_DEFINED_ERR_MSG(error_code, format, ...) \
  (void)error_message::ReportUserDefinedErrMsg(error_code, format, ##__VA_ARGS__)
// (code) or (code, keys, values).
#define REPORT_PREDEFINED_ERR_MSG(...) (void)error_message::ReportPredefinedErrMsg(__VA_ARGS__)

#define ACLSIM_JOIN_(a, b) a##b
#define ACLSIM_FORMAT_NAME_(number) ACLSIM_JOIN_(register_error_msg_, number)
#define REG_FORMAT_ERROR_MSG(text, size)                                   \
  [[maybe_unused]] static const int32_t ACLSIM_FORMAT_NAME_(__COUNTER__) = \
      error_message::RegisterFormatErrorMessage(text, size)
