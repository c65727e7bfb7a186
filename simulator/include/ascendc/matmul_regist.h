// SPDX-License-Identifier: Apache-2.0
// REGIST_MATMUL_OBJ: the objects of a kernel of cube cores alone, and those of a MIX kernel, which its AICs serve.
#pragma once

#include "ascendc/matmul_client.h"
#include "ascendc/matmul_dual_master.h"

namespace AscendC {

namespace detail::mm {

// kIsTiling is true for an argument of REGIST_MATMUL_OBJ that is a tiling. is_pointer_v is false for pointers that are __restrict.
template <typename Argument>
inline constexpr bool kIsTiling = std::is_convertible_v<Argument, const TCubeTiling*>;

// REGIST_MATMUL_OBJ: objects, each with its tiling; one alone may get it later by Init.
template <typename Object>
void Regist(TPipe*, Object&) {}
template <typename Object, typename... Rest>
void Regist(TPipe* pipe, Object& object, const TCubeTiling* tiling, Rest&&... rest) {
  if (tiling != nullptr || Object::kHasConstantTiling) {
    object.Init(tiling, pipe);
  }
  if constexpr (sizeof...(Rest) > 0) {
    Regist(pipe, rest...);
  }
}

template <typename Object>
void List(uint32_t* count, TPipe* pipe, GM_ADDR workspace, Object& object) {
  object.Register((*count)++, pipe, workspace);
}
template <typename Object, typename... Rest>
void List(uint32_t* count, TPipe* pipe, GM_ADDR workspace, Object& object,
          const TCubeTiling* tiling, Rest&&... rest) {
  List(count, pipe, workspace, object);
  if (tiling != nullptr || Object::kHasConstantTiling) {
    object.Init(tiling);
  }
  if constexpr (sizeof...(Rest) > 0) {
    List(count, pipe, workspace, rest...);
  }
}

// In the kernel's own function, as calls of an object are: reports know few of the frames above an instruction.
template <typename Object, typename... Rest>
__attribute__((always_inline)) inline int32_t ServeBy(uint32_t at, TPipe* pipe, uint32_t vector,
                                                      const Request& request, Object& object,
                                                      Rest&&... rest) {
  if constexpr (kIsTiling<Object>) {
    if constexpr (sizeof...(Rest) > 0) {
      return ServeBy(at, pipe, vector, request, rest...);
    } else {
      return -1;
    }
  } else {
    if (request.object == at) {
      return object.Serve(pipe, vector, request);
    }
    if constexpr (sizeof...(Rest) > 0) {
      return ServeBy(at + 1, pipe, vector, request, rest...);
    } else {
      Misuse("REGIST_MATMUL_OBJ", "Both halves and both AIVs list the same objects in one order.",
             "an AIV calls object number %u, which the AIC does not have", request.object);
    }
  }
}

inline void EndEach() {}
template <typename Object, typename... Rest>
void EndEach(Object& object, Rest&&... rest) {
  if constexpr (!kIsTiling<Object>) {
    object.EndAll();
  }
  EndEach(rest...);
}

// Serves the AIVs of an AIC until they have left, and returns true; on the AIVs it returns false.
template <typename... Args>
__attribute__((always_inline)) inline bool ServeAll(TPipe* pipe, GM_ADDR workspace,
                                                    Args&&... args) {
  uint32_t count = 0;
  List(&count, pipe, workspace, args...);
  if (!aclsim::MatmulRegister(count, workspace)) {
    return false;
  }
  Request request;
  // An AIV whose tile, or whose half of one, is in L0C gets it before another one has its turn.
  int32_t holder = -1;
  for (int32_t vector; (vector = aclsim::MatmulServe(holder, &request, sizeof(request))) >= 0;) {
    holder = ServeBy(0, pipe, static_cast<uint32_t>(vector), request, args...);
  }
  EndEach(args...);
  return true;
}

// kIsDualMaster is true for an object with enableMixDualMaster, or a tiling.
template <typename Argument, typename = void>
inline constexpr bool kIsDualMaster = kIsTiling<Argument>;
template <typename Object>
inline constexpr bool kIsDualMaster<Object, std::void_t<decltype(Object::kIsDualMaster)>> = true;

// Registers in a MIX kernel. True on the AIC, which has served its AIVs until they have left.
template <typename... Args>
__attribute__((always_inline)) inline bool RegistMixed(TPipe* pipe, GM_ADDR workspace,
                                                       Args&&... args) {
  if constexpr ((kIsDualMaster<std::decay_t<Args>> && ...)) {
    Regist(pipe, args...);
    return false;
  } else {
    static_assert((!(kIsDualMaster<std::decay_t<Args>> && !kIsTiling<std::decay_t<Args>>) && ...),
                  "Matmul: all objects of a kernel have enableMixDualMaster, or none has");
    return ServeAll(pipe, workspace, args...);
  }
}

}  // namespace detail::mm

}  // namespace AscendC
