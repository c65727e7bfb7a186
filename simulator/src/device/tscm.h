// SPDX-License-Identifier: Apache-2.0
// TSCM of an AIV: L1 of the AIC that serves its Matmul objects. A copy there is a request, which the AIC does.
#pragma once

#include "ascendc/cube_abi.h"
#include "engine/meeting.h"

namespace aclsim {

// Returns whether an AIV's tensor lies there.
inline bool IsInTscm(const Core& core, const Ub& operand) {
  return core.IsInCube(operand) && core.ques[core.Info(operand.buf).que].inCube;
}
// Copies of an AIV into such a tensor, in the terms of DataCopy.
void CopyGmToTscm(Core& core, const Ub& dst, const void* src, const CopyCtl& ctl);
void CopyUbToTscm(Core& core, const Ub& dst, const Ub& src, const CopyCtl& ctl);
void CopyNd2NzToTscm(Core& core, const Ub& dst, const void* src, const Nd2NzCtl& ctl);
// On the AIC: does it, if the request of the AIV with this number is for a copy.
bool CopiedToTscm(Core& core, uint32_t vector, const Request& request);
// On an AIV: what lies in its part of the workspace for a copy is read.
void AwaitTscmCopies(Core& core);

}  // namespace aclsim
