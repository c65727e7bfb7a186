// SPDX-License-Identifier: Apache-2.0
// opbase needs these from the ACL runtime below the public acl* functions: address translation,
// stream tasks, error text.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aclsim/aclsim.h"
#include "launch/launch.h"

namespace aclsim {

// Backing bytes of [devicePtr, devicePtr + bytes). On failure returns nullptr and says in *why what
// the pointer is instead (host memory, freed, too small by how much, ...). bytes == 0 only asks for
// a live block.
uint8_t* ToBacking(const void* devicePtr, uint64_t bytes, std::string* why);

// Fills backing bytes as new memory is filled in checked mode, and marks them as not written. A large block takes memory of the host
// only where it is used after that.
void FillAsNew(uint8_t* backing, uint64_t bytes);

// Why [devicePtr, devicePtr + bytes) is no device memory, as the kind of a Misuse: "host-wrong-memory",
// "host-use-after-free", "host-out-of-bounds".
const char* MistakeOf(const void* devicePtr);

// Bytes from devicePtr to the end of its allocation; 0 when it is not a live device address.
uint64_t DeviceBytesFrom(const void* devicePtr);

// Runs task after everything enqueued before it on this stream (nullptr: the default stream). A
// non-zero status puts the stream in error: later tasks are dropped, aclrtSynchronizeStream returns
// that status and hands message to aclGetRecentErrMsg of the calling thread. Returns 0 or the error
// that refuses the enqueue (unknown or destroyed stream).
struct TaskResult {
  int32_t status = 0;
  std::string message;
  bool goesOn = false;  // what comes after it runs all the same
};
// uses: the device memory that the task works on, so that host calls that touch it before they have
// waited for the task are found; by: the function that was called.
struct DeviceUse {
  const void* start = nullptr;
  uint64_t bytes = 0;
  bool write = false;
  bool gaps = false;  // the first and the last byte are used, and not every one between
  std::string name;   // "argument out"
};
int32_t EnqueueTask(void* stream, std::function<TaskResult()> task,
                    const std::vector<DeviceUse>& uses = {}, const std::string& by = "");

// Launch() plus the counters of aclsimGetStats. Every launch goes through here, inside the task
// given to EnqueueTask.
LaunchResult LaunchCounted(const KernelLaunch& launch) noexcept;
// Kernels of split chips get it as an argument, which says where the hardware has its flags between cores. No memory is there.
inline constexpr uint64_t kHardwareSyncAddress = 0xFF5C0000000ull;
// The cores of the next launch of this thread, as aclsimNextIsCube or aclsimNextCores has set them.
struct NextCores {
  CoreGroup group;
  aclsimKernelBody cubeBody = nullptr;
};
std::optional<NextCores> TakeNextCores();

// Sets the calling thread's message for aclGetRecentErrMsg (several calls add up until it is read,
// newest first).
void ReportError(const char* fmt, ...) __attribute__((format(printf, 1, 2)));
void ReportErrorText(const std::string& text);

// A host program's mistake, for the list of findings. Does nothing in fast mode.
struct HostEnd {
  std::string function;
  std::string note;
  const void* caller = nullptr;
};
struct Misuse {
  const char* kind = "";  // "host-...", one that misuse.cpp knows
  std::string api;        // the function that was called
  std::string argument;
  std::string detail;  // argument, got, wanted
  std::string next;    // how to mend it
  HostEnd other;       // the call that it collides with, if any
};
void ReportMisuse(const Misuse& misuse);
// The return address of the innermost call from the program itself.
const void* ProgramCaller();

// Lists what a library above has made for the program and not destroyed yet, for the list at aclFinalize.
struct LiveObject {
  std::string what;
  std::string function;          // that made it
  const void* caller = nullptr;  // where the program called it
};
struct LiveObjects {
  std::string kind;
  uint64_t count = 0;
  std::vector<LiveObject> first;  // the oldest, a few
};
// Returns whether a place is in a framework that keeps streams, memory and handles until the process ends, by design: what it holds at
// aclFinalize is no leak of the program's.
bool OfFramework(const void* caller);
inline constexpr size_t kLeakLines = 5;
struct ObjectKeeper {
  std::vector<LiveObjects> (*list)();
  void (*forgetDestroyed)();  // gives back what is kept of them to name a use after their end
};
// nullptr: there are none any more.
void SetObjectKeeper(const ObjectKeeper* keeper);

// aclInit was called and aclFinalize was not.
bool RuntimeReady();

// A tensor is described in a private format.
void NotePrivateFormat();

}  // namespace aclsim
