// SPDX-License-Identifier: Apache-2.0
// What opbase needs from the ACL runtime below the public acl* functions: address translation,
// stream tasks, error text.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "engine/launch.h"

namespace aclsim {

// Backing bytes of [devicePtr, devicePtr + bytes). On failure returns nullptr and says in *why what
// the pointer is instead (host memory, freed, too small by how much, ...). bytes == 0 only asks for
// a live block.
uint8_t* ToBacking(const void* devicePtr, uint64_t bytes, std::string* why);

// Bytes from devicePtr to the end of its allocation; 0 when it is not a live device address.
uint64_t DeviceBytesFrom(const void* devicePtr);

// Runs task after everything enqueued before it on this stream (nullptr: the default stream). A
// non-zero status puts the stream in error: later tasks are dropped, aclrtSynchronizeStream returns
// that status and hands message to aclGetRecentErrMsg of the calling thread. Returns 0 or the error
// that refuses the enqueue (unknown or destroyed stream).
struct TaskResult {
  int32_t status = 0;
  std::string message;
};
int32_t EnqueueTask(void* stream, std::function<TaskResult()> task);

// Launch() plus the counters of aclsimGetStats. Every launch goes through here, inside the task
// given to EnqueueTask.
LaunchResult LaunchCounted(const KernelLaunch& launch) noexcept;

// Sets the calling thread's message for aclGetRecentErrMsg (several calls add up until it is read,
// newest first).
void ReportError(const char* fmt, ...) __attribute__((format(printf, 1, 2)));
void ReportErrorText(const std::string& text);

// aclInit was called and aclFinalize was not.
bool RuntimeReady();

}  // namespace aclsim
