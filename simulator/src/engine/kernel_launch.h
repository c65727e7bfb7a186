// SPDX-License-Identifier: Apache-2.0
// One launch of a kernel: what it runs on, and what observers make of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "soc/soc.h"

namespace aclsim {

// kConstant and kGlobal are arrays of the kernel's own source.
enum class RegionKind { kInput, kOutput, kWorkspace, kTiling, kConstant, kGlobal };
constexpr bool IsGlobal(RegionKind kind) {
  return kind == RegionKind::kConstant || kind == RegionKind::kGlobal;
}
// Returns whether nobody writes a region of the kind, which then needs no order.
constexpr bool IsReadOnly(RegionKind kind) {
  return kind == RegionKind::kTiling || kind == RegionKind::kConstant;
}

// Bytes of GM that the kernel may touch, at their backing address. Anything outside every region is a fault.
struct GmRegion {
  RegionKind kind = RegionKind::kInput;
  uint8_t* addr = nullptr;
  uint64_t bytes = 0;
  std::string name;    // as the op definition names it: "grad_softmax", "workspace", ...
  bool whole = false;  // an output that the launch writes from end to end
  uint32_t width = 0;  // bytes of an element; 0: unknown
};

// The cores that a kernel takes of each AI core of a split chip. Both: a MIX kernel, whose halves are compiled apart.
struct CoreGroup {
  uint32_t cubes = 0;
  uint32_t vectors = 1;
};

struct KernelLaunch {
  std::string opType;           // "SoftmaxGrad", for messages
  const void* entry = nullptr;  // extern "C" __global__ function of the kernel library
  // Calls the kernel with args, in place of entry: a kernel of this process, whatever its parameters are. entry then only says
  // where its code is.
  std::function<void(const std::vector<uint8_t*>& args)> body;
  // The same for the AICs' half of a MIX kernel.
  const void* cubeEntry = nullptr;
  std::function<void(const std::vector<uint8_t*>& args)> cubeBody;
  std::vector<uint8_t*> args;  // backing addresses in order: inputs, outputs, workspace, tiling
  std::vector<GmRegion> regions;
  uint32_t blockDim = 1;  // AI cores of a MIX kernel, else cores
  uint64_t tilingKey = 0;
  bool twin = false;       // by tikicpulib.h
  std::string tilingText;  // printed with a fault; may be empty
  const Soc* soc = nullptr;
  CoreGroup group;
  bool matrix = false;  // on a coupled core the kernel uses the matrix unit

  // Cores have numbers from 0 on: those of one AI core follow one another, the AIC first.
  bool Mixed() const { return group.cubes > 0 && group.vectors > 0; }
  uint32_t PerGroup() const { return Mixed() ? group.cubes + group.vectors : 1; }
  uint32_t Cores() const { return blockDim * PerGroup(); }
  uint32_t GroupOf(uint32_t core) const { return core / PerGroup(); }
  // Among the cores of its kind in its AI core.
  uint32_t SubOf(uint32_t core) const {
    const uint32_t place = core % PerGroup();
    return place < group.cubes ? place : place - group.cubes;
  }
  CoreKind KindOf(uint32_t core) const {
    const bool cube = group.vectors == 0 || (Mixed() && core % PerGroup() < group.cubes);
    return soc->coupled ? (matrix ? CoreKind::kCoupled : CoreKind::kVector)
           : cube       ? CoreKind::kCube
                        : CoreKind::kVector;
  }
  uint32_t CoresOf(CoreKind kind) const {
    return blockDim * (!Mixed() ? 1 : kind == CoreKind::kCube ? group.cubes : group.vectors);
  }
  // GetBlockIdx of a core.
  uint32_t BlockIdxOf(uint32_t core) const {
    return !Mixed() ? core : GroupOf(core) * CoresOf(KindOf(core)) / blockDim + SubOf(core);
  }
  // "core 3", or of a MIX kernel "AIV 3".
  std::string NameOf(uint32_t core) const;
  std::string NamesOf(const std::vector<uint32_t>& cores) const;
};

// Finds out of the library that holds a kernel's entry which cores the kernel runs on.
void FindCores(KernelLaunch* launch);
// The same, and where its AICs' half is. False with the reason in *why.
bool FindHalves(KernelLaunch* launch, std::string* why);
// The function's place in the AICs' half of its library; null if it has none.
const void* CubeHalfOf(const void* function);

// Traffic and instruction counts of one launch; zero in fast mode except for blockDim.
struct LaunchStats {
  uint64_t gmReadBytes = 0;
  uint64_t gmWriteBytes = 0;
  uint64_t instructions = 0;
  uint32_t blockDim = 0;
  uint64_t ubPeakBytes = 0;
};

// Memory that a launch may have been meant to fill and has left unwritten in part.
struct UnwrittenMemory {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
  Finding finding;  // counts once the host reads the memory
};

// Bytes of GM that a launch has used, at their backing address.
struct GmTouch {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool write = false;
};

}  // namespace aclsim
