// SPDX-License-Identifier: Apache-2.0
// Launches a kernel of this very program: a function, an instance of a template or a lambda, with whatever parameters it has.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "aclsim/aclsim.h"
#include "aclsim/toolkit_headers.h"

#if defined(__DAV_C220_CUBE__) || defined(__DAV_C310_CUBE__) || defined(__DAV_CUBE__)
#define ACLSIM_OF_CUBES
#endif
#ifdef ACLSIM_HALVES
#if ACLSIM_HALVES == 0 && !defined(ACLSIM_OF_CUBES)  // the name of a table
#define ACLSIM_CALLS_HALVES
#endif
// ascc finds the halves of a source by the same names.
#define ACLSIM_CORE_SPACE of_either
#define ACLSIM_TELL_CORE()
#endif
#ifndef ACLSIM_CORE_SPACE
// Launches of cube code are other functions than those of vector code: a program may have both.
#ifdef ACLSIM_OF_CUBES
#define ACLSIM_CORE_SPACE of_cube
#define ACLSIM_TELL_CORE() aclsimNextIsCube()
#else
#define ACLSIM_CORE_SPACE of_vector
#define ACLSIM_TELL_CORE()
#endif
#endif

namespace aclsim {
inline namespace ACLSIM_CORE_SPACE {

// A kernel and the arguments of one launch. Those that are pointers are device memory, which every launch has at addresses of
// its own.
template <typename Kernel, typename... Args>
class BoundKernel {
 public:
  BoundKernel(Kernel kernel, Args... args) : kernel_(kernel), args_(args...) {}

  // One per argument, null for those that are no pointers.
  std::array<void*, sizeof...(Args)> Pointers() const {
    return std::apply(
        [](const auto&... arg) { return std::array<void*, sizeof...(Args)>{Pointer(arg)...}; },
        args_);
  }

  // An address in the kernel's code.
  const void* Entry() const {
    if constexpr (std::is_pointer_v<Kernel>) {
      return reinterpret_cast<const void*>(kernel_);
    } else {
      return reinterpret_cast<const void*>(&BoundKernel::Run);
    }
  }

  static void Run(void* bound, void* const* pointers) {
    static_cast<const BoundKernel*>(bound)->Call(pointers, std::index_sequence_for<Args...>());
  }
  static void Release(void* bound) { delete static_cast<BoundKernel*>(bound); }

 private:
  // void* goes to a parameter of any type of pointer, as in CANN's launches.
  struct Untyped {
    template <typename T>
    operator T*() const {
      return static_cast<T*>(pointer);
    }
    void* pointer;
  };
  template <typename T>
  static void* Pointer(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
      return const_cast<void*>(static_cast<const volatile void*>(value));
    } else {
      return nullptr;
    }
  }
  template <size_t I>
  auto Argument(void* const* pointers) const {
    using T = std::tuple_element_t<I, std::tuple<Args...>>;
    if constexpr (std::is_same_v<T, void*>) {
      return Untyped{pointers[I]};
    } else if constexpr (std::is_pointer_v<T>) {
      return static_cast<T>(pointers[I]);
    } else {
      return std::get<I>(args_);
    }
  }
  template <size_t... I>
  void Call([[maybe_unused]] void* const* pointers, std::index_sequence<I...>) const {
    OfThisHalf()(Argument<I>(pointers)...);
  }
  // A function has another address in the AICs' half.
  Kernel OfThisHalf() const {
#if defined(ACLSIM_HALVES) && defined(ACLSIM_OF_CUBES)
    if constexpr (std::is_pointer_v<Kernel>) {
      return reinterpret_cast<Kernel>(
          const_cast<void*>(aclsimCubeHalf(reinterpret_cast<const void*>(kernel_))));
    }
#endif
    return kernel_;
  }

  Kernel kernel_;
  std::tuple<Args...> args_;
};

#ifdef ACLSIM_CALLS_HALVES
// How the AICs' half calls each kernel that is launched here: ascc writes it when it has that half.
struct CubeHalf {
  const char* type;  // std::type_info::name of the BoundKernel; null: the end
  aclsimKernelBody run;
};
extern "C" const CubeHalf ACLSIM_HALVES[];
inline aclsimKernelBody FindCubeHalf(const char* type) {
  for (const CubeHalf* half = ACLSIM_HALVES; half->type != nullptr; ++half) {
    if (std::strcmp(half->type, type) == 0) {
      return half->run;
    }
  }
  return nullptr;
}
#endif

// Launches kernel(args...) on a stream of the current device. Like every launch it is asynchronous; 0, or the aclError that
// refuses it.
template <typename Kernel, typename... Args>
int32_t LaunchOnStream(const char* name, uint32_t blockDim, void* stream, uint64_t tilingKey,
                       Kernel kernel, Args... args) {
  using Bound = BoundKernel<Kernel, Args...>;
  auto bound = std::make_unique<Bound>(kernel, args...);
  const auto pointers = bound->Pointers();
  const void* entry = bound->Entry();
  ACLSIM_TELL_CORE();
  return aclsimLaunchBody(name, entry, &Bound::Run, bound.release(), &Bound::Release, blockDim,
                          tilingKey, pointers.data(), pointers.size(), stream);
}

// Runs kernel(args...) on memory of aclsimGmAlloc; over when the call returns. argNames: the program's words for args.
template <typename Kernel, typename... Args>
int32_t RunHere(const char* name, uint32_t blockDim, uint64_t tilingKey, const char* argNames,
                Kernel kernel, Args... args) {
  using Bound = BoundKernel<Kernel, Args...>;
  Bound bound(kernel, args...);
  const auto pointers = bound.Pointers();
  ACLSIM_TELL_CORE();
#ifdef ACLSIM_CALLS_HALVES
  bool hasHalf = true;
  if constexpr (std::is_pointer_v<Kernel>) {
    hasHalf = aclsimCubeHalf(bound.Entry()) != nullptr;
  }
  aclsimNextCores(0, 0, hasHalf ? FindCubeHalf(typeid(Bound).name()) : nullptr);
#endif
  return aclsimRunBody(name, bound.Entry(), &Bound::Run, &bound, blockDim, tilingKey,
                       pointers.data(), pointers.size(), argNames);
}

}  // namespace ACLSIM_CORE_SPACE
}  // namespace aclsim
