// SPDX-License-Identifier: Apache-2.0
// System variables, scalar helpers and debugging aids.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdio>

#include "ascendc/std_names.h"
#include "ascendc/tensor.h"

namespace AscendC {

inline int64_t GetBlockIdx() { return aclsim::BlockIdx(); }
inline int64_t GetBlockNum() { return aclsim::BlockNum(); }
inline int64_t GetSubBlockIdx() { return aclsim::SubBlockIdx(); }
inline int64_t GetSubBlockNum() { return aclsim::SubBlockNum(); }
inline int64_t GetTaskRation() { return aclsim::SubBlockNum(); }
inline int64_t GetTaskRatio() { return aclsim::SubBlockNum(); }
inline int64_t GetSystemCycle() { return aclsim::SystemCycle(); }
constexpr int64_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
inline void InitSocState() { aclsim::InitSoc(); }
[[noreturn]] inline void Trap() {
  aclsim::Trap();
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC
namespace aclsim {
// The part of a workspace that is the kernel's.
ACLSIM_DEVICE_API uint8_t* UserWorkspace(uint8_t* workspace);
// A core keeps what its kernel sets. Until then it is no address of GM, so that an access is a fault.
ACLSIM_DEVICE_API void SetSystemWorkspace(uint8_t* workspace);
ACLSIM_DEVICE_API uint8_t* SystemWorkspace();
}  // namespace aclsim
namespace AscendC {
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) { return aclsim::UserWorkspace(workspace); }
inline void SetSysWorkspace(GM_ADDR workspace) { aclsim::SetSystemWorkspace(workspace); }
inline GM_ADDR GetSysWorkSpacePtr() { return aclsim::SystemWorkspace(); }

// Mixed integer types are common in tiling arithmetic.
template <typename T, typename U>
constexpr std::common_type_t<T, U> DivCeil(T value, U divisor) {
  return divisor == 0 ? value : (value + divisor - 1) / divisor;
}
template <typename T, typename U>
constexpr std::common_type_t<T, U> AlignUp(T value, U align) {
  return align == 0 ? value : DivCeil(value, align) * align;
}
template <typename T, typename U>
constexpr std::common_type_t<T, U> CeilDivision(T value, U divisor) {
  return DivCeil(value, divisor);
}
template <typename T, typename U,
          typename = std::enable_if_t<std::is_integral_v<T> && std::is_integral_v<U>>>
constexpr uint32_t Ceil(T value, U divisor) {
  return static_cast<uint32_t>(DivCeil(value, divisor));
}
inline float ToFloat(const bfloat16_t& value) { return static_cast<float>(value); }
// Kernels call it with half too, in branches of templates that are not taken for half.
template <typename T, typename = std::enable_if_t<std::is_same_v<T, half>>>
float ToFloat(T value) {
  return ToFloat(bfloat16_t(static_cast<float>(value)));
}
inline bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }

template <typename T>
void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
  static_assert(!detail::kNibbles<T>,
                "DumpTensor of types of 4 bits does not exist: reinterpret it as uint8_t");
  aclsim::Dump(tensor, desc, dumpSize);
}
template <typename T>
void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
  static_assert(!detail::kNibbles<T>,
                "DumpTensor of types of 4 bits does not exist: reinterpret it as uint8_t");
  aclsim::DumpGm(tensor.GetPhyAddr(), aclsim::DTypeOf<T>::value, desc, dumpSize);
}
template <typename T>
void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo&) {
  DumpTensor(tensor, desc, dumpSize);
}
template <typename T>
void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo&) {
  DumpTensor(tensor, desc, dumpSize);
}

namespace detail {
template <typename T>
T PrintArg(T value) {
  return value;
}
inline double PrintArg(half value) { return static_cast<float>(value); }
inline double PrintArg(bfloat16_t value) { return static_cast<float>(value); }
}  // namespace detail

template <typename... Args>
void PRINTF(const char* format, Args... args) {
  aclsim::Print(format, detail::PrintArg(args)...);
}
template <typename... Args>
void printf(const char* format, Args... args) {
  aclsim::Print(format, detail::PrintArg(args)...);
}

}  // namespace AscendC

// The log of CPU debugging: errors and warnings.
#define ACLSIM_KERNEL_LOG_KERNEL_ERROR(format, ...) \
  ::AscendC::PRINTF("[ERROR] " format "\n", ##__VA_ARGS__)
#define ACLSIM_KERNEL_LOG_KERNEL_WARN(format, ...) \
  ::AscendC::PRINTF("[WARNING] " format "\n", ##__VA_ARGS__)
#define ACLSIM_KERNEL_LOG_KERNEL_INFO(...) static_cast<void>(0)
#define ACLSIM_KERNEL_LOG_KERNEL_DEBUG(...) static_cast<void>(0)
#ifndef KERNEL_LOG
#define KERNEL_LOG(level, ...) ACLSIM_KERNEL_LOG_##level(__VA_ARGS__)
#endif
#define ASCENDC_ASSERT_FAIL_(cond, text) aclsim::AssertFail(#cond, __FILE__, __LINE__, text)
#define ASCENDC_ASSERT(cond, behavior) \
  do {                                 \
    if (!(cond)) {                     \
      behavior;                        \
      ASCENDC_ASSERT_FAIL_(cond, "");  \
    }                                  \
  } while (0)
namespace AscendC::detail {

template <typename... Args>
[[noreturn]] void AssertFailed(const char* condition, const char* file, int line,
                               const Args&... args) {
  char text[512] = "";
  if constexpr (sizeof...(Args) > 0) {
    std::snprintf(text, sizeof(text), PrintArg(args)...);
  }
  aclsim::AssertFail(condition, file, line, text);
}

template <typename Holds>
struct Assertion {
  Holds holds;
  const char* condition;
  const char* file;
  int line;
};
template <typename Holds>
Assertion(Holds, const char*, const char*, int) -> Assertion<Holds>;
template <typename Holds>
constexpr void operator+(const Assertion<Holds>& assertion) {
  if (!assertion.holds()) {
    AssertFailed(assertion.condition, assertion.file, assertion.line);
  }
}
// A device build leaves nothing of ASSERT, so that kernels in use have `a = b ASSERT(condition);` for want of a semicolon. Nothing
// is checked there: the condition may be about what is being set. For the same reason a condition may name functions of AscendC
// without their namespace, wherever it stands.
template <typename T, typename Holds>
constexpr T&& operator+(T&& value, const Assertion<Holds>&) {
  return static_cast<T&&>(value);
}

}  // namespace AscendC::detail

#ifndef ASSERT
#define ASSERT(cond, ...)             \
  +::AscendC::detail::Assertion {     \
    [&]() -> bool {                   \
      using namespace ::AscendC;      \
      return static_cast<bool>(cond); \
    },                                \
        #cond, __FILE__, __LINE__     \
  }
#endif
#ifndef ASSERT_MSG
#define ASSERT_MSG(cond, ...)                                                    \
  do {                                                                           \
    if (!(cond)) {                                                               \
      ::AscendC::detail::AssertFailed(#cond, __FILE__, __LINE__, ##__VA_ARGS__); \
    }                                                                            \
  } while (0)
#endif
// An expression, as in a device build with dumps.
#ifndef ascendc_assert
#define ascendc_assert(cond, ...) \
  (static_cast<bool>(cond)        \
       ? void(0)                  \
       : ::AscendC::detail::AssertFailed(#cond, __FILE__, __LINE__, ##__VA_ARGS__))
#endif
