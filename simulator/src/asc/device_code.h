// SPDX-License-Identifier: Apache-2.0
// This finds what CANN's device compiler refuses in the functions that a kernel reaches, read from what the host's compiler makes of them:
// assembly for no optimisation, which has every call, every object and every instruction of the source, with its line.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "asc/front_end.h"

namespace aclsim {

struct DeviceCodeRules {
  uint32_t npuArch = 0;
  std::string
      toolkitHeaders;  // the folder of the simulator's headers: what they do is not the kernel's
  std::vector<std::string> systemHeaders;  // folders of the host compiler's headers
  bool cube = false;                       // compiled for cube cores
  bool vectorOnly = false;  // every kernel type that the source names is KERNEL_TYPE_AIV_ONLY
  std::set<std::string> vectorKernels;  // kernel functions that are marked __vector__
};

// `__global__` is the first in preprocessed text, and has to be the second in what is compiled for ReadDeviceCode: kernel functions are
// known by a visibility that nothing else has. The comma sets them apart from what libraries export.
inline constexpr std::string_view kKernelMark = R"(__attribute__((__visibility__("default"), )))";
inline constexpr std::string_view kKernelMarkForDeviceCode =
    R"(__attribute__((__visibility__("protected"), )))";

// A launch calls its kernel through BoundKernel<...>::Run of aclsim/launch.h: these are such functions, by their symbols.
using LaunchSet = std::set<std::string>;
inline constexpr std::string_view kRunOfLaunch = "3RunE";
bool IsRunOfLaunch(std::string_view symbol);

// Reads GNU assembly, of x86-64 or aarch64. working: if not null, gets the launches whose kernels have work for this
// kind of core.
std::vector<SourceFault> ReadDeviceCode(const std::string& assembly, const DeviceCodeRules& rules,
                                        LaunchSet* working);

// Tells whether the kernel function of a name, or any if none has it, has work for this kind of core.
bool KernelHasWork(const std::string& assembly, const std::string& entry, bool cube);

}  // namespace aclsim
