// SPDX-License-Identifier: Apache-2.0
// Log messages go from here. As with CANN, ASCEND_GLOBAL_LOG_LEVEL (0 debug, 1 info, 2 warning, 3
// error, 4 none) chooses and ASCEND_SLOG_PRINT_TO_STDOUT=1 prints; without the latter, only a level
// that was asked for prints, to stderr.
#include "log/log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/alog_pub.h"
#include "base/plog.h"
#include "graph/utils/type_utils.h"
#include "host/format.h"
#include "runtime/runtime.h"

namespace {

struct LogSettings {
  std::atomic<int32_t> level = DLOG_ERROR;
  FILE* stream = nullptr;
};

void Read(LogSettings& settings) {
  const char* level = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  if (level != nullptr && level[0] >= '0' && level[0] <= '4' && level[1] == '\0') {
    settings.level = level[0] - '0';
    settings.stream = stderr;
  }
  const char* print = std::getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
  if (print != nullptr && std::strcmp(print, "1") == 0) settings.stream = stdout;
}

LogSettings& Settings() {
  static LogSettings* settings = [] {
    auto* fresh = new LogSettings;
    Read(*fresh);
    return fresh;
  }();
  return *settings;
}

void Print(int32_t level, const char* fmt, va_list args) {
  static const char* const kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  const std::string text = aclsim::FormatV(fmt, args);
  const char* name = level >= 0 && level <= DLOG_ERROR ? kNames[level] : "EVENT";
  std::fprintf(Settings().stream, "[%s] %s\n", name, text.c_str());
}

}  // namespace

extern "C" {

int32_t CheckLogLevel(int32_t, int32_t level) {
  const LogSettings& settings = Settings();
  return settings.stream != nullptr && level >= settings.level ? 1 : 0;
}

void DlogRecord(int32_t moduleId, int32_t level, const char* fmt, ...) {
  if (CheckLogLevel(moduleId, level) == 0) return;
  va_list args;
  va_start(args, fmt);
  Print(level, fmt, args);
  va_end(args);
}

void DlogVaList(int32_t moduleId, int32_t level, const char* fmt, va_list list) {
  if (CheckLogLevel(moduleId, level) == 1) Print(level, fmt, list);
}

int32_t dlog_getlevel(int32_t, int32_t* enableEvent) {
  if (enableEvent != nullptr) *enableEvent = 0;
  return Settings().level;
}

int32_t dlog_setlevel(int32_t, int32_t level, int32_t) {
  if (level < DLOG_DEBUG || level > DLOG_NULL) return -1;
  Settings().level = level;
  return 0;
}

int32_t DlogSetAttr(LogAttr) { return 0; }
void DlogFlush() { std::fflush(nullptr); }

int32_t AlogCheckDebugLevel(uint32_t moduleId, int32_t level) {
  return CheckLogLevel(static_cast<int32_t>(moduleId), level);
}

int32_t AlogRecord(uint32_t moduleId, uint32_t, int32_t level, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  DlogVaList(static_cast<int32_t>(moduleId), level, fmt, args);
  va_end(args);
  return 0;
}

int DlogReportInitialize() { return 0; }
int DlogReportFinalize() { return 0; }
int DlogReportStart(int, int) { return 0; }
void DlogReportStop(int) {}

void ReportOpError(const char* op, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const std::string text = aclsim::FormatV(fmt, args);
  va_end(args);
  aclsim::ReportErrorText(std::string(op) + ": " + text);
}

}  // extern "C"

namespace Ops {
namespace Base {

std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
std::string ToString(ge::Format format) { return ge::GetFormatName(format); }

std::string ToString(const gert::Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape.GetDim(i));
  }
  return text + "]";
}

std::string ToString(const std::vector<const gert::Shape*>& shapes) {
  std::string text = "[";
  for (const gert::Shape* shape : shapes) {
    if (text.size() > 1) text += ", ";
    text += shape == nullptr ? "null" : ToString(*shape);
  }
  return text + "]";
}

}  // namespace Base
}  // namespace Ops
