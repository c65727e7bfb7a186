// SPDX-License-Identifier: Apache-2.0
// The ways of Ascend 950 between the memories of an AIC and of its AIVs: from L0C into UB, and from UB into L1.
#pragma once

#include <memory>

#include "ascendc/device_abi.h"
#include "engine/meeting.h"

namespace aclsim {

// Makes the handover of what the running instruction is about to write into the memory of core `to`.
std::shared_ptr<Handover> NewHandover(const Core& core, uint32_t to, Pipe pipe);
// Returns the number of the core in this one's AI core that has the kind, the sub-th of them.
uint32_t CoreBeside(const Core& core, CoreKind kind, uint32_t sub);

// Returns whether an AIV's tensor lies in L1 of its AIC, where the AIV itself writes.
inline bool IsLinked(const Core& core, const Ub& operand) {
  return core.IsInCube(operand) && core.ques[core.Info(operand.buf).que].linked;
}
// Copies of an AIV into such a tensor, in the terms of DataCopy.
void CopyUbToCube(Core& core, const Ub& dst, const Ub& src, const CopyCtl& ctl);
void CopyNd2NzToCube(Core& core, const Ub& dst, const Ub& src, const Nd2NzCtl& ctl);

}  // namespace aclsim
