// SPDX-License-Identifier: Apache-2.0
// PlatformAscendC: what tiling asks about the chip.
#pragma once

#include <cstdint>
#include <mutex>  // op_host sources take it from here

#include "platform/soc_spec.h"

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {

enum class CoreMemType {
  L0_A = 0,
  L0_B = 1,
  L0_C = 2,
  L1 = 3,
  L2 = 4,
  UB = 5,
  HBM = 6,
  FB = 7,
  BT = 8,
  RESERVED
};

enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,
  ASCEND310P,
  ASCEND310B,
  ASCEND950,
  ASCEND910_55,
  ASCEND910_95 = ASCEND950,
  AS31XM1,
  ASCEND031,
  ASCEND035,
  ASCEND310,
  ASCEND610,
  ASCEND610Lite,
  ASCEND910_93,
  BS9SX1A,
  BS9SX2A,
  HI3796CV300CS,
  HI3796CV300ES,
  MC61AM21A,
  MC62,
  SD3403,
  KIRINX90,
  KIRIN9030,
  MC32DM11A,
  ASCEND350,
  RESERVED_VERSION = 99999
};

enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

// Answers for the simulated SoC. With a nullptr all sizes and counts are 0 and an error is
// reported.
class PlatformAscendC {
 public:
  PlatformAscendC() = delete;
  explicit PlatformAscendC(fe::PlatFormInfos* platformInfo);

  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumAic() const;
  // Cores that run a vector kernel, ACLGRAD_SIM_CORES considered.
  uint32_t GetCoreNumAiv() const;
  // Vector cores besides the AI cores, which only chips of the 2002 architecture have.
  uint32_t GetCoreNumVector() const;
  uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const;
  uint32_t CalcTschNumBlocks(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const {
    return CalcTschBlockDim(sliceNum, aicCoreNum, aivCoreNum);
  }
  // Bytes of workspace that high-level APIs need; add them to a workspace size when using those.
  uint32_t GetLibApiWorkSpaceSize() const;
  void GetCoreMemSize(const CoreMemType& memType, uint64_t& size) const;
  // Bytes per cycle of L2 and HBM, 0 for the memories of a core.
  void GetCoreMemBw(const CoreMemType& memType, uint64_t& bwSize) const;
  void ReserveLocalMemory(ReservedSize size);
  SocVersion GetSocVersion() const;
  NpuArch GetCurNpuArch() const;
  // Bytes of a vector register, 0 for architectures without addressable ones.
  uint32_t GetVecRegLen() const;

 private:
  fe::PlatFormInfos* platformInfo_;
  uint32_t reservedMemSize_ = 0;
};

class PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance();
  // The simulator has one chip at a time: customSocVersion is not looked at.
  static PlatformAscendC* GetInstance(const char* customSocVersion);
};

}  // namespace platform_ascendc
