// SPDX-License-Identifier: Apache-2.0
// kernel<<<blocks, l2ctrl, stream>>>(arguments) becomes this. ascc includes this in every .asc file, with the words of the device
// compiler, which are built in there.
#pragma once

#include "aclsim/launch.h"
#include "ascendc/lang.h"

namespace aclsim {
inline namespace ACLSIM_CORE_SPACE {

// For the number of cubes of a kernel that is not marked.
constexpr uint32_t kAsItsCodeSays = ~0u;

template <uint32_t kArch, typename Kernel>
class AscLaunch {
 public:
  // cubes, vectors: of each AI core, that the kernel runs on.
  AscLaunch(const char* name, Kernel kernel, uint32_t cubes = 0, uint32_t vectors = 1)
      : name_(name), kernel_(kernel), cubes_(cubes), vectors_(vectors) {}

  // l2ctrl is reserved.
  template <typename Reserved = std::nullptr_t>
  AscLaunch& On(int64_t blocks, Reserved&& = nullptr, void* stream = nullptr) {
    blocks_ = blocks;
    stream_ = stream;
    return *this;
  }

  // The reason why a launch is refused is printed: the language has no value for it.
  template <typename... Args>
  void operator()(Args... args) const {
    using Bound = BoundKernel<Kernel, Args...>;
    auto bound = std::make_unique<Bound>(kernel_, args...);
    const auto pointers = bound->Pointers();
    const void* entry = bound->Entry();
    ACLSIM_TELL_CORE();
#ifdef ACLSIM_CALLS_HALVES
    if (cubes_ > 0) {
      const CubeHalf& half = FindCubeHalf(typeid(Bound).name());
      const bool derived = cubes_ == kAsItsCodeSays;
      if (!derived || half.cubes > 0) {
        aclsimNextCores(derived ? half.cubes : cubes_, derived ? half.vectors : vectors_, half.run);
      }
    }
#endif
    aclsimLaunchAsc(name_, kArch, entry, &Bound::Run, bound.release(), &Bound::Release, blocks_,
                    pointers.data(), pointers.size(), stream_);
  }

 private:
  const char* name_;
  Kernel kernel_;
  [[maybe_unused]] uint32_t cubes_;
  [[maybe_unused]] uint32_t vectors_;
  int64_t blocks_ = 0;
  void* stream_ = nullptr;
};

template <uint32_t kArch, typename Kernel>
AscLaunch<kArch, Kernel> AscKernel(const char* name, Kernel kernel, uint32_t cubes = 0,
                                   uint32_t vectors = 1) {
  return {name, kernel, cubes, vectors};
}

}  // namespace ACLSIM_CORE_SPACE
}  // namespace aclsim

// This file has these names. Launches name it, because they are rewritten when macros are gone.
static constexpr uint32_t aclsimProgramArch = __NPU_ARCH__;
[[maybe_unused]] static const int32_t aclsimArchInUse = aclsimUseArch(aclsimProgramArch);
