// SPDX-License-Identifier: Apache-2.0
// The ways of Ascend 950 between the memories of an AIC and of its AIVs: from L0C into UB, and from UB into L1.
#pragma once

#include <memory>

#include "ascendc/device_abi.h"
#include "engine/meeting.h"

namespace aclsim {

// What this core is about to write into the memory of core `to`, by the running instruction.
std::shared_ptr<Handover> NewHandover(const Core& core, uint32_t to, Pipe pipe);
// The core of this one's AI core that has the kind, the sub-th of them.
uint32_t CoreBeside(const Core& core, CoreKind kind, uint32_t sub);

// Returns whether an AIV's tensor lies in L1 of its AIC, where the AIV itself writes.
inline bool IsLinked(const Core& core, const Ub& operand) {
  return core.IsInCube(operand) && core.ques[core.Info(operand.buf).que].linked;
}
// Copies of an AIV into such a tensor, in the terms of DataCopy.
void CopyUbToCube(Core& core, const Ub& dst, const Ub& src, const CopyCtl& ctl);
void CopyNd2NzToCube(Core& core, const Ub& dst, const Ub& src, const Nd2NzCtl& ctl);

}  // namespace aclsim
