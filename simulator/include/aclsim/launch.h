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

// Returns 1 if this is the address of live device memory.
extern "C" ACLSIM_API int32_t aclsimIsDeviceMemory(const void* pointer);
// Structs among the arguments of this thread's next launch name its pointers from here on.
extern "C" ACLSIM_API void aclsimNextInside(size_t first);

namespace aclsim {
inline namespace ACLSIM_CORE_SPACE {

// Words of a parameter that may be pointers: kernels take their parameters in a struct, too.
template <typename T>
constexpr size_t kWords =
    std::is_class_v<T> && std::is_trivially_copyable_v<T> && alignof(T) >= alignof(void*)
        ? sizeof(T) / sizeof(void*)
        : 0;

// A kernel and the arguments of one launch. Those that are pointers are device memory, which every launch has at addresses of
// its own.
template <typename Kernel, typename... Args>
class BoundKernel {
 public:
  BoundKernel(Kernel kernel, Args... args) : kernel_(kernel), args_(args...) {}

  // One per argument, null for those that are no pointers, and one for each word of arguments that are structs, null for those that
  // are no device memory.
  std::array<void*, sizeof...(Args) + (kWords<Args> + ... + 0)> Pointers() const {
    return PointersOf(std::index_sequence_for<Args...>());
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
  template <size_t... I>
  auto PointersOf(std::index_sequence<I...>) const {
    std::array<void*, sizeof...(Args) + (kWords<Args> + ... + 0)> pointers{
        Pointer(std::get<I>(args_))...};
    const auto words = [&pointers](const auto& value, size_t first) {
      for (size_t word = 0; word < kWords<std::decay_t<decltype(value)>>; ++word) {
        void* pointer = nullptr;
        std::memcpy(&pointer, reinterpret_cast<const uint8_t*>(&value) + word * sizeof(pointer),
                    sizeof(pointer));
        pointers[first + word] = aclsimIsDeviceMemory(pointer) != 0 ? pointer : nullptr;
      }
    };
    (words(std::get<I>(args_), FirstWord(I)), ...);
    aclsimNextInside(sizeof...(Args));
    return pointers;
  }
  // Returns where the words of an argument begin.
  static constexpr size_t FirstWord(size_t argument) {
    const std::array<size_t, sizeof...(Args)> words{kWords<Args>...};
    size_t first = sizeof...(Args);
    for (size_t i = 0; i < argument; ++i) {
      first += words[i];
    }
    return first;
  }
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
      T value = std::get<I>(args_);
      for (size_t word = 0; word < kWords<T>; ++word) {
        if (void* const own = pointers[FirstWord(I) + word]; own != nullptr) {
          std::memcpy(reinterpret_cast<uint8_t*>(&value) + word * sizeof(own), &own, sizeof(own));
        }
      }
      return value;
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
  uint32_t cubes;  // of each AI core, as the kernel's code says
  uint32_t vectors;
};
extern "C" const CubeHalf ACLSIM_HALVES[];
// The row of the end, if there is no such half.
inline const CubeHalf& FindCubeHalf(const char* type) {
  const CubeHalf* half = ACLSIM_HALVES;
  while (half->type != nullptr && std::strcmp(half->type, type) != 0) {
    ++half;
  }
  return *half;
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
  aclsimNextCores(0, 0, hasHalf ? FindCubeHalf(typeid(Bound).name()).run : nullptr);
#endif
  return aclsimRunBody(name, bound.Entry(), &Bound::Run, &bound, blockDim, tilingKey,
                       pointers.data(), pointers.size(), argNames);
}

}  // namespace ACLSIM_CORE_SPACE
}  // namespace aclsim
