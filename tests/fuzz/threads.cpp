// SPDX-License-Identifier: Apache-2.0
// Threads that use, and destroy, one another's handles: threads THREADS STEPS SEED. The call that comes too late returns an error,
// none crashes, and a result of a call that returned 0 is right. ThreadSanitizer looks at the libraries meanwhile.
#include <acl/acl.h>
#include <acl/acl_op.h>
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_softmax_backward.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kRows = 48;  // a row for each core
constexpr int64_t kColumns = 64;
constexpr size_t kElements = kRows * kColumns;
constexpr size_t kBytes = kElements * sizeof(float);
constexpr size_t kSlots = 2;

using Random = std::minstd_rand;

// Handles that every thread may take, without asking whether another one has destroyed them.
template <typename T>
struct Shared {
  std::array<std::atomic<T>, kSlots> slots{};

  std::atomic<T>& Any(Random& random) { return slots[random() % kSlots]; }
};

Shared<aclTensor*> tensors;
Shared<aclOpExecutor*> executors;
Shared<aclTensorList*> lists;
Shared<aclIntArray*> arrays;
Shared<aclScalar*> scalars;
Shared<aclrtStream> streams;
Shared<aclrtEvent> events;
Shared<aclrtContext> contexts;
Shared<aclTensorDesc*> descriptions;
Shared<aclDataBuffer*> buffers;

void* input = nullptr;  // all threads read it
std::atomic<int> wrong{0};
std::mutex mutex;
std::map<std::string, std::map<int, int>> codes;

void Count(const char* function, int code) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++codes[function][code];
}

#define CALL(function, ...) Count(#function, function(__VA_ARGS__))

int Checked(int code, const char* function) {
  if (code != 0) {
    std::printf("%s: %d: %s\n", function, code, aclGetRecentErrMsg());
    ++wrong;
  }
  return code;
}
#define MUST(function, ...) Checked(function(__VA_ARGS__), #function)

aclTensor* MakeTensor(void* data) {
  const int64_t dims[] = {kRows, kColumns};
  return aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, data);
}

// The column, as a float: the gradient of a softmax of ones is the difference from the sum.
void Fill(std::vector<float>* values) {
  for (size_t i = 0; i < values->size(); ++i) (*values)[i] = static_cast<float>(i % 7) / 8;
}

class Worker {
 public:
  // Every other thread has tensors only, which meet in the first stage.
  explicit Worker(unsigned seed) : random_(seed), kinds_(seed % 2 == 0 ? 5 : 13) {
    MUST(aclrtSetDevice, 0);
    MUST(aclrtCreateStream, &stream_);
    MUST(aclrtMalloc, &output_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
    MUST(aclrtMalloc, &workspace_, kWorkspace, ACL_MEM_MALLOC_HUGE_FIRST);
  }

  void Step() {
    switch (random_() % kinds_) {
      case 0:
        return Operator(tensors.Any(random_), tensors.Any(random_));
      case 1:
      case 2:
      case 3:
        return Tensors();
      case 4:
        return LeaveExecutor();
      case 11:
        return RunAny();
      case 5:
        return Lists();
      case 6:
        return Values();
      case 7:
        return Streams();
      case 8:
        return Events();
      case 9:
        return Contexts();
      case 10:
        return Descriptions();
      default:
        return Compare();
    }
  }

  void End() {
    MUST(aclrtSetDevice, 0);
    MUST(aclrtSynchronizeStream, stream_);
    MUST(aclrtFree, output_);
    MUST(aclrtFree, workspace_);
    MUST(aclrtDestroyStream, stream_);
  }

 private:
  static constexpr uint64_t kWorkspace = 1 << 20;

  bool Often() { return random_() % 3 != 0; }

  // Inputs of others; the output is this thread's.
  void Operator(aclTensor* grad, aclTensor* y) {
    aclTensor* out = MakeTensor(output_);
    aclOpExecutor* executor = nullptr;
    uint64_t size = 0;
    int code = aclnnSoftmaxBackwardGetWorkspaceSize(grad, y, -1, out, &size, &executor);
    Count("aclnnSoftmaxBackwardGetWorkspaceSize", code);
    if (code == 0 && size <= kWorkspace) {
      code = aclnnSoftmaxBackward(workspace_, size, executor, stream_);
      Count("aclnnSoftmaxBackward", code);
    }
    MUST(aclrtSynchronizeStream, stream_);
    MUST(aclDestroyTensor, out);
    if (code == 0) CheckOutput();
  }

  // Tensors of this thread, on memory that all read: every call succeeds.
  void Compare() {
    aclTensor* shared = MakeTensor(input);
    aclTensor* out = MakeTensor(output_);
    aclOpExecutor* executor = nullptr;
    uint64_t size = 0;
    if (MUST(aclnnSoftmaxBackwardGetWorkspaceSize, shared, shared, -1, out, &size, &executor) ==
            0 &&
        MUST(aclnnSoftmaxBackward, workspace_, size, executor, stream_) == 0 &&
        MUST(aclrtSynchronizeStream, stream_) == 0) {
      CheckOutput();
    }
    MUST(aclDestroyTensor, shared);
    MUST(aclDestroyTensor, out);
  }

  void CheckOutput() {
    std::vector<float> got(kElements);
    std::vector<float> given(kElements);
    Fill(&given);
    MUST(aclrtMemcpy, got.data(), kBytes, output_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int64_t row = 0; row < kRows; ++row) {
      const float* x = given.data() + row * kColumns;
      double sum = 0;
      for (int64_t i = 0; i < kColumns; ++i) sum += static_cast<double>(x[i]) * x[i];
      for (int64_t i = 0; i < kColumns; ++i) {
        const double want = (x[i] - sum) * x[i];
        const double difference = got[row * kColumns + i] - want;
        if (difference > 1e-3 || difference < -1e-3) {
          std::printf("row %d, column %d: got %g, want %g\n", static_cast<int>(row),
                      static_cast<int>(i), got[row * kColumns + i], want);
          ++wrong;
          return;
        }
      }
    }
  }

  // For whichever thread is the first to run it. Its output has memory of its own, as nobody knows when that will be.
  void LeaveExecutor() {
    void* memory = nullptr;
    MUST(aclrtMalloc, &memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclTensor* out = MakeTensor(memory);
    aclOpExecutor* executor = nullptr;
    uint64_t size = 0;
    const int code = aclnnSoftmaxBackwardGetWorkspaceSize(
        tensors.Any(random_), tensors.Any(random_), -1, out, &size, &executor);
    Count("aclnnSoftmaxBackwardGetWorkspaceSize", code);
    if (code == 0) executors.Any(random_) = executor;
    if (Often()) CALL(aclDestroyTensor, out);
  }

  void RunAny() {
    aclOpExecutor* executor = executors.Any(random_);
    if (Often()) {
      CALL(aclnnSoftmaxBackward, workspace_, kWorkspace, executor, stream_);
    } else {
      CALL(aclDestroyAclOpExecutor, executor);
    }
    MUST(aclrtSynchronizeStream, stream_);
  }

  void Tensors() {
    std::atomic<aclTensor*>& slot = tensors.Any(random_);
    int64_t* dims = nullptr;
    uint64_t count = 0;
    int code = aclGetViewShape(slot, &dims, &count);
    Count("aclGetViewShape", code);
    if (code == 0) delete[] dims;
    code = aclGetViewStrides(slot, &dims, &count);
    Count("aclGetViewStrides", code);
    if (code == 0) delete[] dims;
    aclDataType type;
    CALL(aclGetDataType, slot, &type);
    void* data = nullptr;
    CALL(aclGetRawTensorAddr, slot, &data);
    CALL(aclDestroyTensor, slot);
    if (Often()) slot = MakeTensor(input);
  }

  void Lists() {
    std::atomic<aclTensorList*>& slot = lists.Any(random_);
    uint64_t size = 0;
    CALL(aclGetTensorListSize, slot, &size);
    if (Often()) CALL(aclDestroyTensorList, slot);
    const aclTensor* items[] = {MakeTensor(input), tensors.Any(random_)};
    slot = aclCreateTensorList(items, Often() ? 1 : 2);
  }

  void Values() {
    std::atomic<aclIntArray*>& array = arrays.Any(random_);
    uint64_t size = 0;
    CALL(aclGetIntArraySize, array, &size);
    CALL(aclDestroyIntArray, array);
    const int64_t numbers[] = {1, 2, 3};
    if (Often()) array = aclCreateIntArray(numbers, 3);
    std::atomic<aclScalar*>& scalar = scalars.Any(random_);
    CALL(aclDestroyScalar, scalar);
    float one = 1;
    if (Often()) scalar = aclCreateScalar(&one, ACL_FLOAT);
  }

  void Streams() {
    std::atomic<aclrtStream>& slot = streams.Any(random_);
    aclrtStreamStatus status;
    if (slot != nullptr) {  // which would be the default stream
      CALL(
          aclrtLaunchHostFunc, slot, [](void* count) { ++*static_cast<std::atomic<int>*>(count); },
          &hostCalls_);
      CALL(aclrtStreamQuery, slot, &status);
      CALL(aclrtStreamWaitEvent, slot, events.Any(random_));
      CALL(aclrtRecordEvent, events.Any(random_), slot);
      if (Often()) CALL(aclrtSynchronizeStreamWithTimeout, slot, 20);
      if (Often()) {
        CALL(aclrtDestroyStreamForce, slot);
      } else {
        return;
      }
    }
    aclrtStream made = nullptr;
    CALL(aclrtCreateStream, &made);
    // Another thread may have put one there, which nobody would destroy.
    if (aclrtStream other = slot.exchange(made)) CALL(aclrtDestroyStreamForce, other);
  }

  void Events() {
    std::atomic<aclrtEvent>& slot = events.Any(random_);
    aclrtEventRecordedStatus status;
    CALL(aclrtQueryEventStatus, slot, &status);
    CALL(aclrtRecordEvent, slot, stream_);
    CALL(aclrtSynchronizeEventWithTimeout, slot, 20);
    if (Often()) CALL(aclrtDestroyEvent, slot);
    aclrtEvent made = nullptr;
    CALL(aclrtCreateEvent, &made);
    slot = made;
  }

  void Contexts() {
    std::atomic<aclrtContext>& slot = contexts.Any(random_);
    CALL(aclrtSetCurrentContext, slot);
    aclrtStream stream = nullptr;
    const int code = aclrtCreateStream(&stream);
    Count("aclrtCreateStream", code);
    if (code == 0) CALL(aclrtSynchronizeStream, stream);
    if (Often()) CALL(aclrtDestroyContext, slot);
    aclrtContext made = nullptr;
    CALL(aclrtCreateContext, &made, 0);
    slot = made;
    MUST(aclrtSetDevice, 0);
  }

  void Descriptions() {
    std::atomic<aclTensorDesc*>& description = descriptions.Any(random_);
    aclGetTensorDescElementCount(description);
    aclDestroyTensorDesc(description);
    const int64_t dims[] = {3, 4};
    description = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    std::atomic<aclDataBuffer*>& buffer = buffers.Any(random_);
    aclGetDataBufferAddr(buffer);
    CALL(aclDestroyDataBuffer, buffer);
    buffer = aclCreateDataBuffer(input, kBytes);
    aclGetRecentErrMsg();
  }

  static std::atomic<int> hostCalls_;
  Random random_;
  unsigned kinds_;
  aclrtStream stream_ = nullptr;
  void* output_ = nullptr;
  void* workspace_ = nullptr;
};
std::atomic<int> Worker::hostCalls_{0};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::puts("threads THREADS STEPS SEED"), 2;
  const unsigned count = std::strtoul(argv[1], nullptr, 10);
  const unsigned steps = std::strtoul(argv[2], nullptr, 10);
  const unsigned seed = std::strtoul(argv[3], nullptr, 10);
  MUST(aclInit, nullptr);
  MUST(aclrtSetDevice, 0);
  std::vector<float> values(kElements);
  Fill(&values);
  MUST(aclrtMalloc, &input, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  MUST(aclrtMemcpy, input, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
  for (auto& slot : tensors.slots) slot = MakeTensor(input);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([=] {
      Worker worker(seed * 64 + i + 1);
      for (unsigned step = 0; step < steps; ++step) worker.Step();
      worker.End();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : streams.slots) {
    if (slot != nullptr) CALL(aclrtDestroyStreamForce, slot);
  }
  for (const auto& [function, counts] : codes) {
    std::printf("%-40s", function.c_str());
    for (const auto& [code, times] : counts) std::printf(" %d: %d", code, times);
    std::printf("\n");
  }
  aclFinalize();
  std::printf("%d wrong\n", wrong.load());
  return wrong == 0 ? 0 : 1;
}
