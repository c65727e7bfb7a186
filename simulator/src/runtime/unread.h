// SPDX-License-Identifier: Apache-2.0
// The code of a thread's last synchronisation, until somebody reads the text that belongs to it. PyTorch's backend keeps such a code
// while it copies to the host, throws the text away, and asks the copy for one.
#pragma once

#include <cstdint>

namespace aclsim {

void SetUnread(int32_t code);
int32_t TakeUnread();

}  // namespace aclsim
