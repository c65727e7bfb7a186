// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <functional>

namespace aclsim {

// Starts a host thread that kernels may run on: the caller's to join, or nobody's where `thread` is null. False: the system gives no
// more of them.
bool StartKernelThread(std::function<void()> work, pthread_t* thread = nullptr);

}  // namespace aclsim
