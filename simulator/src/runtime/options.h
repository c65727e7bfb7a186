// SPDX-License-Identifier: Apache-2.0
// The options of aclsimSetOption and their environment variables.
#pragma once

#include <cstdint>
#include <string>

namespace aclsim {

// Reads the environment for every option that aclsimSetOption has not set. Returns 0 or an aclError
// with the reason.
int32_t ApplyEnvironment(std::string* why);

// The architecture that the program's own kernels are compiled for; the first one counts. Where nothing else names a SoC, it has
// this one.
void SetProgramArch(uint32_t npuArch);

// Simulated devices: ACLGRAD_DEVICES, 1 without.
uint32_t DeviceCount();

// Memory of one of them.
uint64_t DeviceMemoryBytes();

// A tiling function finds this where it writes the tiling data. Anything but cleared also tells, as a hint, which bytes it leaves as
// they are. ACLGRAD_SIM_TILING_BUFFER.
enum class TilingBuffer : uint8_t {
  kCleared,  // zeros
  kWatched,  // zeros; the function runs twice
  kFilled,   // other bytes, as another call may have left them: the kernel gets these
};
TilingBuffer BufferOfTiling();
void SetBufferOfTiling(TilingBuffer buffer);

// Says whether a stream works again once a synchronisation has returned its failure. ACLGRAD_SIM_RECOVER.
bool Recovers();
void SetRecovers(bool on);

}  // namespace aclsim
