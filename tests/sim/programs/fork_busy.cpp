// SPDX-License-Identifier: Apache-2.0
// Forks again and again while threads use everything that the libraries have: fork_busy <forks> <threads> [<calls>]. Every child
// uses the library from its start to its end, forks once more, and leaves through its exit handlers. Ends when the threads have
// made so many calls: without forks it is a program for ThreadSanitizer. Prints nothing and returns 0.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_softmax_backward.h"

namespace {

constexpr int kRows = 3;
constexpr int kColumns = 40;
constexpr int kCount = kRows * kColumns;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr unsigned kSecondsOfAChild = 60;

[[noreturn]] void Fail(const char* what, int error) {
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%d: %s: error %d: %s\n", getpid(), what, error,
               message != nullptr ? message : "");
  _exit(3);
}

#define OK(call)                    \
  do {                              \
    if (const int error = (call)) { \
      Fail(#call, error);           \
    }                               \
  } while (false)

struct Tensor {
  void* memory = nullptr;
  aclTensor* handle = nullptr;

  Tensor(float value) {
    const std::vector<float> values(kCount, value);
    const int64_t dims[] = {kRows, kColumns};
    const int64_t strides[] = {kColumns, 1};
    OK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(memory, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    handle = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, memory);
    OK(handle == nullptr);
  }
  void Release() const {
    OK(aclDestroyTensor(handle));
    OK(aclrtFree(memory));
  }
};

void Call(aclrtStream stream) {
  const Tensor grad(2.0F);
  const Tensor output(0.5F);
  const Tensor out(0.0F);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  void* workspace = nullptr;
  OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad.handle, output.handle, -1, out.handle, &bytes,
                                          &executor));
  if (bytes > 0) {
    OK(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  OK(aclnnSoftmaxBackward(workspace, bytes, executor, stream));
  OK(aclrtSynchronizeStream(stream));
  std::vector<float> got(kCount);
  OK(aclrtMemcpy(got.data(), kBytes, out.memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (const float value : got) {
    if (std::fabs(value - (1.0F - kColumns * 0.5F)) > 1e-4F) {
      Fail("a wrong number", static_cast<int>(value));
    }
  }
  if (workspace != nullptr) {
    OK(aclrtFree(workspace));
  }
  grad.Release();
  output.Release();
  out.Release();
}

std::atomic<bool> done{false};
std::atomic<int> used{0};

void Count(void*) { ++used; }

void Operators() {
  aclrtStream stream = nullptr;
  OK(aclrtSetDevice(0));
  OK(aclrtCreateStream(&stream));
  while (!done) {
    Call(stream);
    ++used;
  }
  OK(aclrtDestroyStream(stream));
}

void Runtime() {
  OK(aclrtSetDevice(0));
  while (!done) {
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    void* memory = nullptr;
    void* host = nullptr;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEvent(&event));
    OK(aclrtMalloc(&memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, 4096));
    OK(aclrtMemsetAsync(memory, 1 << 20, 1, 1 << 20, stream));
    OK(aclrtLaunchHostFunc(stream, Count, nullptr));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeEvent(event));
    aclrtFree(host);  // a mistake, which is looked up and listed
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtFreeHost(host));
    OK(aclrtFree(memory));
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyStream(stream));
  }
}

std::atomic<pid_t> forkedInCallback{0};

void ForkHere(void*) {
  const pid_t child = fork();
  if (child != 0) {
    forkedInCallback = child;
  }
  // The child returns from the callback: there is nothing more that it could do.
}

void Session() {
  aclrtStream stream = nullptr;
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  OK(aclrtCreateStream(&stream));
  Call(stream);
  OK(aclrtDestroyStream(stream));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
}

void Wait(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    std::fprintf(stderr, "%d: child %d ended with status %#x\n", getpid(), child, status);
    _exit(4);
  }
}

void Child(aclrtStream parents, void* memory) {
  alarm(kSecondsOfAChild);
  char byte = 0;
  if (aclrtSynchronizeStream(parents) != ACL_ERROR_UNINITIALIZE) {
    Fail("the child begins initialised", 0);
  }
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  if (aclrtSynchronizeStream(parents) != ACL_ERROR_RT_INVALID_HANDLE) {
    Fail("the child takes its parent's stream", 0);
  }
  if (aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST) == 0 || aclrtFree(memory) == 0) {
    Fail("the child takes its parent's memory", 0);
  }
  OK(aclFinalize());
  aclGetRecentErrMsg();
  Session();
  const pid_t grandchild = fork();
  if (grandchild == 0) {
    alarm(kSecondsOfAChild);
    Session();
    std::exit(0);
  }
  Wait(grandchild);
  std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const int forks = argc > 1 ? std::atoi(argv[1]) : 20;
  const int count = argc > 2 ? std::atoi(argv[2]) : 8;
  const int calls = argc > 3 ? std::atoi(argv[3]) : 1;
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  const char kept = 7;
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  OK(aclrtCreateStream(&stream));
  OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(memory, 64, &kept, 1, ACL_MEMCPY_HOST_TO_DEVICE));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back(i % 4 == 3 ? Runtime : Operators);
  }
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      Child(stream, memory);
    }
    // From the first moment on: packages and operators are being looked up for the first time.
    Wait(child);
    OK(aclrtLaunchHostFunc(stream, ForkHere, nullptr));
    OK(aclrtSynchronizeStream(stream));
    Wait(forkedInCallback);
  }
  while (used < calls) {
    usleep(1000);
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  char byte = 0;
  OK(aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  OK(byte != kept);
  OK(aclrtFree(memory));
  OK(aclrtDestroyStream(stream));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  return 0;
}
