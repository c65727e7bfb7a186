// SPDX-License-Identifier: Apache-2.0
// The functions of acl_base.h: data types, fp16, application logs.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "runtime/errors.h"

namespace aclsim {

namespace {

constexpr uint16_t kMaxFinite = 0x7BFF;  // 65504

// Round to nearest, ties to even; magnitude of a finite, non-negative value.
uint16_t RoundToHalf(float magnitude) {
  if (magnitude > 65504.0F) {
    return kMaxFinite;
  }
  if (magnitude == 0.0F) {
    return 0;  // has no exponent
  }
  constexpr int kMinExponent = -14;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, kMinExponent);
  // In units of the last place of that binade; below 2^-14 the unit no longer shrinks.
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // 1024 units are the implicit bit: adding lets a carry move to the next exponent by itself.
  return static_cast<uint16_t>((static_cast<uint32_t>(exponent - kMinExponent) << 10) + units);
}

int32_t LogLevel() {
  const char* text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  return text != nullptr && *text >= '0' && *text <= '4' ? *text - '0' : ACL_ERROR;
}

}  // namespace
}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

float aclFloat16ToFloat(aclFloat16 value) {
  const int exponent = (value >> 10) & 0x1F;
  const int mantissa = value & 0x3FF;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -24)
                              : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
  const uint16_t sign = std::signbit(value) && !std::isnan(value) ? 0x8000 : 0;
  const uint16_t magnitude =
      std::isfinite(value) ? aclsim::RoundToHalf(std::fabs(value)) : aclsim::kMaxFinite;
  return static_cast<aclFloat16>(sign | std::min(magnitude, aclsim::kMaxFinite));
}

// A table of types by their size, however many cases it has.
size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_STRING:
    case ACL_DT_UNDEFINED:
      return 0;
    case ACL_UINT1:
    case ACL_INT4:
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 8;
  }
}

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  constexpr const char* kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  const auto level = static_cast<unsigned>(logLevel);
  if (fmt == nullptr || level >= std::size(kLevels) ||
      static_cast<int32_t>(level) < aclsim::LogLevel()) {
    return;
  }
  va_list args;
  va_start(args, fmt);
  try {
    const std::string text = aclsim::FormatV(fmt, args);
    const char* slash = file != nullptr ? std::strrchr(file, '/') : nullptr;
    aclsim::PrintError(aclsim::Format("[%s] %s:%u %s: %s", kLevels[level],
                                      slash != nullptr ? slash + 1 : (file != nullptr ? file : "?"),
                                      line, func != nullptr ? func : "?", text.c_str()));
  } catch (const std::exception&) {
    // A log line that does not fit in memory is lost.
  }
  va_end(args);
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(majorVersion, "majorVersion"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(minorVersion, "minorVersion"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(patchVersion, "patchVersion"));
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return 0;
  });
}

}  // extern "C"
