// SPDX-License-Identifier: Apache-2.0
// The opening macros of aclnn and level-0 functions. They name the call for messages and refuse
// handles that are not alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "opdev/common_types.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

namespace op {

constexpr bool ValidDfxName(const char* expected, const char* actual) {
  return std::string_view(expected) == actual;
}

// A number for opName, the same at every call.
uint32_t GenOpTypeId(const char* opName);

namespace internal {

// The handles among DFX_IN / DFX_OUT arguments; other arguments are kOther.
enum class HandleKind {
  kOther,
  kTensor,
  kTensorList,
  kScalar,
  kScalarList,
  kIntArray,
  kFloatArray,
  kBoolArray
};
struct HandleArg {
  HandleKind kind;
  const void* handle;
};

inline HandleArg ToHandleArg(const aclTensor* p) { return {HandleKind::kTensor, p}; }
inline HandleArg ToHandleArg(const aclTensorList* p) { return {HandleKind::kTensorList, p}; }
inline HandleArg ToHandleArg(const aclScalar* p) { return {HandleKind::kScalar, p}; }
inline HandleArg ToHandleArg(const aclScalarList* p) { return {HandleKind::kScalarList, p}; }
inline HandleArg ToHandleArg(const aclIntArray* p) { return {HandleKind::kIntArray, p}; }
inline HandleArg ToHandleArg(const aclFloatArray* p) { return {HandleKind::kFloatArray, p}; }
inline HandleArg ToHandleArg(const aclBoolArray* p) { return {HandleKind::kBoolArray, p}; }
template <typename T>
HandleArg ToHandleArg(const T&) {
  return {HandleKind::kOther, nullptr};
}

template <typename... Ts>
std::vector<HandleArg> ToHandleArgs(const std::tuple<Ts...>& args) {
  return std::apply(
      [](const auto&... arg) {
        return std::vector<HandleArg>{ToHandleArg(
            static_cast<std::conditional_t<std::is_pointer_v<std::decay_t<decltype(arg)>>,
                                           std::add_pointer_t<std::add_const_t<
                                               std::remove_pointer_t<std::decay_t<decltype(arg)>>>>,
                                           const std::decay_t<decltype(arg)>&>>(arg))...};
      },
      args);
}

// names is the text "DFX_IN(a, b)". NULL handles pass: they are the operator's to check.
aclnnStatus EnterPhase1(const char* api, aclOpExecutor** executor, const uint64_t* workspaceSize,
                        const char* inNames, const std::vector<HandleArg>& in, const char* outNames,
                        const std::vector<HandleArg>& out);
// For functions that check the two pointers themselves, later.
aclnnStatus EnterPhase1WithoutPointers(const char* api, const char* inNames,
                                       const std::vector<HandleArg>& in, const char* outNames,
                                       const std::vector<HandleArg>& out);
void EnterPhase2(const char* api);

// A handle that is alive keeps its members while one of these exists, whichever thread destroys it.
class HoldHandles {
 public:
  HoldHandles();
  ~HoldHandles();
  HoldHandles(const HoldHandles&) = delete;
  HoldHandles& operator=(const HoldHandles&) = delete;
};
void EnterL0(const char* name);
template <typename... Ts>
void Unused(const Ts&...) {}

}  // namespace internal
}  // namespace op

// A constant that any thread may find and none makes: what is being made during a fork never is in the child.
#define OP_TYPE_REGISTER(kernelName)                        \
  [[maybe_unused]] inline uint32_t kernelName##OpTypeId() { \
    static std::atomic<uint32_t> known{UINT32_MAX};         \
    uint32_t id = known.load(std::memory_order_relaxed);    \
    if (id == UINT32_MAX) {                                 \
      id = op::GenOpTypeId(#kernelName);                    \
      known.store(id, std::memory_order_relaxed);           \
    }                                                       \
    return id;                                              \
  }                                                         \
  static_assert(true, "")

#define DFX_IN(...) std::make_tuple(__VA_ARGS__)
#define DFX_OUT(...) std::make_tuple(__VA_ARGS__)

// Returns 161001 when executor or workspaceSize is null, 161002 for a tensor that was destroyed or
// never was one.
#define L2_DFX_PHASE_1(APIName, IN, OUT)                                                \
  static_assert(op::ValidDfxName(#APIName "GetWorkspaceSize", __func__),                \
                "L2_DFX_PHASE_1 must name its function, " #APIName "GetWorkspaceSize"); \
  const op::internal::HoldHandles dfxHold;                                              \
  do {                                                                                  \
    const aclnnStatus dfxStatus = op::internal::EnterPhase1(                            \
        #APIName, executor, workspaceSize, #IN, op::internal::ToHandleArgs(IN), #OUT,   \
        op::internal::ToHandleArgs(OUT));                                               \
    if (dfxStatus != ACLNN_SUCCESS) return dfxStatus;                                   \
  } while (false)

// This macro does the same without a look at executor and workspaceSize.
#define L2_DFX_PHASE_1_WITHOUT_CACHE(APIName, IN, OUT)                                         \
  static_assert(op::ValidDfxName(#APIName "GetWorkspaceSize", __func__),                       \
                "L2_DFX_PHASE_1_WITHOUT_CACHE must name its function, " #APIName               \
                "GetWorkspaceSize");                                                           \
  const op::internal::HoldHandles dfxHold;                                                     \
  do {                                                                                         \
    const aclnnStatus dfxStatus = op::internal::EnterPhase1WithoutPointers(                    \
        #APIName, #IN, op::internal::ToHandleArgs(IN), #OUT, op::internal::ToHandleArgs(OUT)); \
    if (dfxStatus != ACLNN_SUCCESS) return dfxStatus;                                          \
  } while (false)

#define L2_DFX_PHASE_2(APIName)                                      \
  static_assert(op::ValidDfxName(#APIName, __func__),                \
                "L2_DFX_PHASE_2 must name its function, " #APIName); \
  op::internal::EnterPhase2(#APIName)

#define L0_DFX(name, ...)                                                                    \
  static_assert(op::ValidDfxName(#name, __func__), "L0_DFX must name its function, " #name); \
  op::internal::EnterL0(#name);                                                              \
  op::internal::Unused(__VA_ARGS__);
