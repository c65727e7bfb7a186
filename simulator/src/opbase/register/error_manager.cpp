// SPDX-License-Identifier: Apache-2.0
// Error reports of op_host sources, in the forms of each release: all of them add to the calling
// thread's message, as "code: text".
#include "common/util/error_manager/error_manager.h"

#include <cstdarg>

#include "acl/acl_rt.h"
#include "host/format.h"
#include "runtime/runtime.h"

namespace {

void Report(const std::string& code, const std::string& text) {
  aclsim::ReportErrorText(text.empty() ? code : code + ": " + text);
}

std::string Text(const char* text) { return text == nullptr ? "nil" : text; }
const std::string& Text(const std::string& text) { return text; }

template <typename T>
std::string Pairs(const std::vector<T>& key, const std::vector<T>& value) {
  std::string text;
  for (size_t i = 0; i < key.size(); ++i) {
    text += (i == 0 ? "" : ", ") + Text(key[i]) + " = ";
    text += i < value.size() ? Text(value[i]) : "?";
  }
  return text;
}

}  // namespace

namespace error_message {

int32_t ReportInnerErrMsg(const char*, const char*, uint32_t, const char* code, const char* format,
                          ...) {
  va_list args;
  va_start(args, format);
  Report(Text(code), aclsim::FormatV(format, args));
  va_end(args);
  return 0;
}

int32_t ReportUserDefinedErrMsg(const char* code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Report(Text(code), aclsim::FormatV(format, args));
  va_end(args);
  return 0;
}

int32_t ReportPredefinedErrMsg(const char* code, const std::vector<const char*>& key,
                               const std::vector<const char*>& value) {
  Report(Text(code), Pairs(key, value));
  return 0;
}

int32_t ReportPredefinedErrMsg(const char* code) {
  Report(Text(code), "");
  return 0;
}

int32_t RegisterFormatErrorMessage(const char*, size_t) { return 0; }

std::string TrimPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

int32_t FormatErrorMessage(char_t* text, size_t size, const char_t* format, ...) {
  va_list args;
  va_start(args, format);
  const int32_t wrote = vsnprintf(text, size, format, args);
  va_end(args);
  return wrote < 0 || static_cast<size_t>(wrote) >= size ? -1 : wrote;
}

void ReportInnerError(const char_t*, const char_t*, uint32_t, const std::string code,
                      const char_t* format, ...) {
  va_list args;
  va_start(args, format);
  Report(code, aclsim::FormatV(format, args));
  va_end(args);
}

}  // namespace error_message

ErrorManager& ErrorManager::GetInstance() {
  static ErrorManager* manager = new ErrorManager;
  return *manager;
}

int32_t ErrorManager::Init() { return 0; }
int32_t ErrorManager::Init(error_message::ErrorMsgMode) { return 0; }
int32_t ErrorManager::Init(const std::string) { return 0; }

int32_t ErrorManager::ReportInterErrMessage(const std::string code, const std::string& text) {
  Report(code, text);
  return 0;
}

int32_t ErrorManager::ReportErrMsgWithoutTpl(const std::string& code, const std::string& text) {
  Report(code, text);
  return 0;
}

int32_t ErrorManager::ReportErrMessage(const std::string code,
                                       const std::map<std::string, std::string>& arguments) {
  std::vector<std::string> key;
  std::vector<std::string> value;
  for (const auto& [name, text] : arguments) {
    key.push_back(name);
    value.push_back(text);
  }
  Report(code, Pairs(key, value));
  return 0;
}

void ErrorManager::ATCReportErrMessage(const std::string code, const std::vector<std::string>& key,
                                       const std::vector<std::string>& value) {
  Report(code, Pairs(key, value));
}

std::string ErrorManager::GetErrorMessage() { return Text(aclGetRecentErrMsg()); }
std::string ErrorManager::GetWarningMessage() { return ""; }
int32_t ErrorManager::OutputErrMessage(int32_t) { return 0; }
int32_t ErrorManager::OutputMessage(int32_t) { return 0; }
void ErrorManager::GenWorkStreamIdDefault() {}
void ErrorManager::GenWorkStreamIdBySessionGraph(uint64_t, uint64_t) {}

const std::string& ErrorManager::GetLogHeader() { return GetErrorManagerContext().log_header; }

error_message::Context& ErrorManager::GetErrorManagerContext() {
  thread_local error_message::Context context;
  return context;
}

void ErrorManager::SetErrorContext(error_message::Context context) {
  GetErrorManagerContext() = std::move(context);
}

void ErrorManager::SetStage(const std::string& first, const std::string& second) {
  GetErrorManagerContext().first_stage = first;
  GetErrorManagerContext().second_stage = second;
}
