// SPDX-License-Identifier: Apache-2.0
// This reads what CANN's op compiler reads from the preprocessed text of a kernel source before it compiles anything: tiling keys, kernel
// types, tiling structs. It goes by the text alone, so code that nothing calls counts too.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace aclsim {

// Something that CANN's op compiler refuses, or leaves out without a word.
struct SourceFault {
  std::string file;
  size_t line;
  std::string text;
  bool warning = false;  // the pages refuse it, and published kernels do it
};

// REGISTER_TILING_FOR_TILINGKEY: the struct of the keys for which a preprocessor condition holds.
struct TilingCondition {
  std::string file;
  size_t line;
  std::string condition;
  std::string name;
};

// Cores that a kernel takes of each AI core of a split chip.
struct KernelCores {
  uint32_t cubes = 0;
  uint32_t vectors = 1;
};

struct KernelSource {
  std::set<std::string> keys;  // decimal
  std::vector<TilingCondition> conditions;
  std::vector<SourceFault> faults;
  bool vectorOnly = false;              // it names kernel types, and each is KERNEL_TYPE_AIV_ONLY
  std::set<std::string> vectorKernels;  // kernel functions that are marked __vector__
  bool cube = false;                    // its kernels run on the cube cores of a split chip
  bool halves = false;  // some run on cube cores, and some on vector cores: it is compiled for each
  std::map<std::string, KernelCores> types;  // by key, or "default"
  // Cores of kernel functions that are marked, or register Matmul objects.
  std::map<std::string, KernelCores> kernels;
  // The source calls matrix units, and the cores of its other kernels follow from what each instance of them calls.
  bool derived = false;
  // Its files tell the kinds of cores apart by what the device compiler defines for each, so that it may have code for cube cores
  // alone, which the text that was read lacks.
  bool branches = false;
};

// Reads a source that was preprocessed with the simulator's headers. Rules of the generations 8.1 and 9.x: what either refuses is
// a fault. entry: the name of the kernel function that the operator's definition asks for, or empty.
// toolkitHeaders: the folder of the simulator's headers. anyKernel: the cores of kernels follow from objects of Matmul that they have
// and do not register; a source with launches says more.
KernelSource ReadKernelSource(std::string_view text, uint32_t npuArch, const std::string& entry,
                              const std::string& toolkitHeaders, bool anyKernel);

// Tells whether the other text of a source, that for cube cores, calls matrix units while the cores of some kernel are open.
bool CallsMatrixUnits(std::string_view text, uint32_t npuArch, const std::string& toolkitHeaders);

}  // namespace aclsim
