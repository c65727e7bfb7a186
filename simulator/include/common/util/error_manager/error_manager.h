// SPDX-License-Identifier: Apache-2.0
// The reports of earlier releases: see base/err_msg.h.
#pragma once

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/err_msg.h"

constexpr size_t LIMIT_PER_MESSAGE = 1024;

namespace error_message {

struct Context {
  uint64_t work_stream_id = 0;
  std::string first_stage;
  std::string second_stage;
  std::string log_header;
};

enum class ErrorMsgMode : uint32_t { INTERNAL_MODE = 0, PROCESS_MODE = 1, ERR_MSG_MODE_MAX = 2 };

// The file's name without its folders.
std::string TrimPath(const std::string& path);
int32_t FormatErrorMessage(char_t* text, size_t size, const char_t* format, ...)
    __attribute__((format(printf, 3, 4)));
void ReportInnerError(const char_t* file, const char_t* function, uint32_t line,
                      const std::string code, const char_t* format, ...)
    __attribute__((format(printf, 5, 6)));

}  // namespace error_message

// Holds nothing: messages are the calling thread's. Functions that return a number give 0.
class ErrorManager {
 public:
  static ErrorManager& GetInstance();

  int32_t Init();
  int32_t Init(error_message::ErrorMsgMode mode);
  int32_t Init(const std::string path);
  int32_t ReportInterErrMessage(const std::string code, const std::string& text);
  int32_t ReportErrMessage(const std::string code,
                           const std::map<std::string, std::string>& arguments);
  int32_t ReportErrMsgWithoutTpl(const std::string& code, const std::string& text);
  void ATCReportErrMessage(const std::string code, const std::vector<std::string>& key = {},
                           const std::vector<std::string>& value = {});
  // Returns what was reported since the last call, and forgets it.
  std::string GetErrorMessage();
  std::string GetWarningMessage();
  int32_t OutputErrMessage(int32_t handle);
  int32_t OutputMessage(int32_t handle);
  void GenWorkStreamIdDefault();
  void GenWorkStreamIdBySessionGraph(uint64_t session, uint64_t graph);
  const std::string& GetLogHeader();
  error_message::Context& GetErrorManagerContext();
  void SetErrorContext(error_message::Context context);
  void SetStage(const std::string& first, const std::string& second);

 private:
  ErrorManager() = default;
};

#define REPORT_INPUT_ERROR(error_code, key, value) \
  ErrorManager::GetInstance().ATCReportErrMessage(error_code, key, value)
#define REPORT_ENV_ERROR(error_code, key, value) \
  ErrorManager::GetInstance().ATCReportErrMessage(error_code, key, value)
#define REPORT_INNER_ERROR(error_code, fmt, ...)                                         \
  error_message::ReportInnerError(__FILE__, &__FUNCTION__[0], __LINE__, error_code, fmt, \
                                  ##__VA_ARGS__)
#define REPORT_CALL_ERROR REPORT_INNER_ERROR
