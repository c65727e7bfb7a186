// SPDX-License-Identifier: Apache-2.0
// Matmul objects of MIX kernels ask this of the simulator.
#pragma once

#include "ascendc/cube_abi.h"

namespace aclsim {

// Matmul objects that an AIV's calls work on and its AIC has. MatmulRegister: the core has so many; returns whether it is the AIC,
// which serves. A request takes effect behind what MTE3 has copied, an answer behind Fixpipe. MatmulServe: the next request and
// whose it is, as GetSubBlockIdx; -1 when all AIVs have left. holder: the only AIV whose requests are taken; -1: none.
// workspace: GetSysWorkSpacePtr.
ACLSIM_DEVICE_API bool MatmulRegister(uint32_t objects, uint8_t* workspace);
ACLSIM_DEVICE_API void MatmulRequest(uint32_t object, const void* request, uint32_t bytes);
ACLSIM_DEVICE_API int32_t MatmulServe(int32_t holder, void* request, uint32_t bytes);
ACLSIM_DEVICE_API void MatmulAnswer(uint32_t vector, uint32_t object, const void* answer,
                                    uint32_t bytes);
ACLSIM_DEVICE_API void MatmulAwait(uint32_t object, void* answer, uint32_t bytes);
// Bytes of a tile of C that goes to UB: L0C.
#if __NPU_ARCH__ == 3510
inline constexpr uint32_t kMatmulSlotBytes = 256 * 1024;
#else
inline constexpr uint32_t kMatmulSlotBytes = 128 * 1024;
#endif
// The toolkit's own part of the launch's workspace has a share for each AIV: a tile of C, and an image of UB. Returns where the tile lies
// (local: null), or `what` that the AIV has at `local` in UB. given: GetSysWorkSpacePtr. Ascend 950 has memory between cores in place of
// the workspace.
ACLSIM_DEVICE_API uint8_t* MatmulWorkspace(uint8_t* given, const void* local, uint64_t bytes,
                                           const char* what);

// The offset in L1 of its AIC of a tensor of an AIV.
ACLSIM_DEVICE_API uint32_t TscmOffset(const Ub& operand);
// A matrix of UB into TSCM: out of UB as `out` says, by DataCopyPad or DataCopy, and into fractals.
ACLSIM_DEVICE_API void TscmNd2NzFromUb(const Ub& dst, const Ub& src, const CopyCtl& out,
                                       bool isPadded, const Nd2NzCtl& ctl);

}  // namespace aclsim
