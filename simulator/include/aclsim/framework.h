// SPDX-License-Identifier: Apache-2.0
// Frameworks above the runtime call these functions of the simulator, beside aclsim.h.
#ifndef ACLSIM_FRAMEWORK_H_
#define ACLSIM_FRAMEWORK_H_

#include "aclsim/aclsim.h"

#ifdef __cplusplus
extern "C" {
#endif

// Frameworks that divide one allocation among tensors know where each of them lies: list writes the memories of their allocations by
// address, up to `room` of them, and returns how many there are. bytes is 0 where no tensor is now, and room says how much the
// framework has set aside there. A launch of aclsimLaunchBody in checked mode asks on its own thread, and its kernel may then touch
// what the tensors of its arguments have instead of all of the allocation. NULL: nobody knows. Returns 0.
typedef struct aclsimTensorMemory {
  uint64_t start;
  uint64_t bytes;
  uint64_t room;
} aclsimTensorMemory;
typedef uint64_t (*aclsimListTensors)(aclsimTensorMemory* memories, uint64_t room);
ACLSIM_API int32_t aclsimSetListTensors(aclsimListTensors list);

// Returns what was launched since the process began: a JSON array by name, of {"kernel","launches","checked","failed"}; checked: launches in
// checked mode, failed: those that ended with an error. The string lives until the next call on this thread.
ACLSIM_API const char* aclsimLaunched(void);

#ifdef __cplusplus
}
#endif

#endif  // ACLSIM_FRAMEWORK_H_
