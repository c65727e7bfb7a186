// SPDX-License-Identifier: Apache-2.0
// Facts of one SoC, generated from soc.json. Everything that differs between SoCs is a field here, never an #ifdef.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace aclsim {

// Memory that instructions address, in the order of the names of SpaceName. Instructions of vector kernels know GM and UB.
enum class Space : uint8_t { kGm, kUb, kL1, kL0a, kL0b, kL0c, kBt, kFb, kMxa, kMxb, kIndex };
inline constexpr size_t kSpaces = 11;
const char* SpaceName(Space space);

struct SpaceFacts {
  uint64_t bytes = 0;  // of one core; 0: it has none, or nobody says
  uint32_t align = 1;  // of addresses
};

// The matrix unit of an architecture; without a product it is not simulated.
struct MatrixFacts {
  struct Product {
    const char *a, *b, *c;  // types, as kernels call them
  };
  bool nzA = false;                      // L0A has fractals column by column, not row by row
  uint32_t tableBlock = 0;               // bytes of a block of copies to BT
  std::vector<std::string> tableTypes;   // "half float": types in L1 and in BT
  uint32_t floatK = 0;                   // columns of A that are multiplied in a cycle, of float
  std::array<uint16_t, kSpaces> ways{};  // by memory: a bit for each one that copies from it reach
  std::vector<std::string> lacks, unsimulated;  // instructions, as findings call them
  std::vector<Product> products;                // types of A, B and C
  std::vector<Product> scaledProducts;          // the same of MX formats

  bool Lacks(std::string_view name) const {
    return std::find(lacks.begin(), lacks.end(), name) != lacks.end();
  }
  bool HasWay(Space from, Space to) const {
    return (ways[static_cast<size_t>(from)] >> static_cast<size_t>(to) & 1) != 0;
  }
};

// The kind of a core. On split chips the vector and the cube unit are cores of their own, each with its code and its scalar unit. A coupled core
// has both; where a kernel leaves its matrix unit alone it is a vector core.
enum class CoreKind : uint8_t { kVector, kCube, kCoupled };

struct Soc {
  std::string name;  // "Ascend910B2", as ACLGRAD_SOC and aclrtGetSocName spell it
  std::string
      shortName;  // "Ascend910B": what PlatformAscendC and OpDef's AddConfig (lower case) use
  uint32_t npuArch = 0;    // 2201, 2002, 1001, 3002, 3510
  uint32_t cceAicore = 0;  // 220, 200, 100, 300, 310
  uint32_t aicCores = 0;   // AI cores (cube)
  uint32_t aivCores =
      0;  // cores that run a vector kernel: vector cores, or AI cores where they are one unit
  uint32_t vecFreqMhz = 0;
  uint64_t ubBytes = 0;          // what a kernel may address by the documentation
  uint64_t ubReservedBytes = 0;  // behind that: there, but not the kernel's
  uint64_t ubTilingBytes = 0;    // what PlatformAscendC::GetCoreMemSize(UB) reports to tiling
  uint64_t l2Bytes = 0, memBytes = 0;
  uint64_t l2Rate = 0, memRate = 0;  // bytes that a core moves in a cycle, as tiling is told
  uint64_t fixpipeTablesBytes = 0;   // of all tables of Fixpipe, of which FB is one
  bool dataCopyPad = false;          // byte-granular GM<->UB copies
  bool bf16 = false;
  bool coupled = false;  // CoreKind::kCoupled
  MatrixFacts matrix;
  std::map<std::string, std::string> intrinsics;  // types of the matrix unit that tiling is told
  std::array<SpaceFacts, kSpaces> spaces{};

  uint64_t BytesOf(Space space) const { return spaces[static_cast<size_t>(space)].bytes; }
  uint64_t UbMemory() const { return ubBytes + ubReservedBytes; }
};

const std::vector<Soc>& AllSocs();
// nullptr when the name is unknown. Exact match on Soc::name.
const Soc* FindSoc(const std::string& name);
// The simulated SoC: aclsimSetOption("soc"), else ACLGRAD_SOC, else Ascend910B2. An unknown name is an error at aclInit.
const Soc& CurrentSoc();
// aivCores, or fewer when ACLGRAD_SIM_CORES says so.
uint32_t DeviceVectorCores();
// As many as the work of this thread may use: fewer where the device or the stream has a limit.
uint32_t VectorCoreCount();
uint32_t CubeCoreCount();

}  // namespace aclsim
