// SPDX-License-Identifier: Apache-2.0
#include "opapi.h"

#include <dlfcn.h>

#include <array>
#include <string>

#include "aclnn/acl_meta.h"

namespace {

// A library beside that of the runtime, or wherever the loader finds it: not every installation has the operators'.
void* Library(const char* name) {
  if (void* found = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) {
    return found;
  }
  Dl_info runtime{};
  if (dladdr(reinterpret_cast<void*>(&aclInit), &runtime) == 0 || runtime.dli_fname == nullptr) {
    return nullptr;
  }
  const std::string path = runtime.dli_fname;
  return dlopen((path.substr(0, path.rfind('/') + 1) + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = library != nullptr ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  return *function != nullptr;
}

struct Functions {
  decltype(&aclCreateTensor) createTensor = nullptr;
  decltype(&aclDestroyTensor) destroyTensor = nullptr;
  decltype(&aclCreateScalar) createScalar = nullptr;
  decltype(&aclDestroyScalar) destroyScalar = nullptr;
  int (*plan)(const aclTensor*, const aclScalar*, aclTensor*, uint64_t*, aclOpExecutor**) = nullptr;
  int (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream) = nullptr;

  bool Load() {
    void* const base = Library("libnnopbase.so");
    void* const operators = Library("libopapi.so");
    return Find(base, "aclCreateTensor", &createTensor) &&
           Find(base, "aclDestroyTensor", &destroyTensor) &&
           Find(base, "aclCreateScalar", &createScalar) &&
           Find(base, "aclDestroyScalar", &destroyScalar) &&
           Find(operators, "aclnnEqScalarGetWorkspaceSize", &plan) &&
           Find(operators, "aclnnEqScalar", &run);
  }
};

// One element at `in`, of a type, with a number, into a bool at `out`.
int Equal(const Functions& call, aclDataType type, aclScalar* number, void* in, void* out,
          aclrtStream stream) {
  const int64_t one = 1;
  aclTensor* const self = call.createTensor(&one, 1, type, &one, 0, ACL_FORMAT_ND, &one, 1, in);
  aclTensor* const result =
      call.createTensor(&one, 1, ACL_BOOL, &one, 0, ACL_FORMAT_ND, &one, 1, out);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  int error = call.plan(self, number, result, &bytes, &executor);
  void* workspace = nullptr;
  if (error == 0 && bytes > 0) {
    error = aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  }
  error = error != 0 ? error : call.run(workspace, bytes, executor, stream);
  error = error != 0 ? error : aclrtSynchronizeStream(stream);
  if (workspace != nullptr) {
    aclrtFree(workspace);
  }
  call.destroyTensor(self);
  call.destroyTensor(result);
  return error;
}

}  // namespace

int CompareNumbers(aclrtStream stream, void* in, void* out) {
  Functions call;
  if (!call.Load()) {
    return ACL_ERROR_API_NOT_SUPPORT;
  }
  float half = 2.5f;
  double tenth = 0.1;
  int64_t odd = 16777217;  // no float
  struct Case {
    aclDataType type, numberType;
    void* number;
  };
  const std::array<Case, 3> cases{{{ACL_INT32, ACL_FLOAT, &half},
                                   {ACL_FLOAT16, ACL_DOUBLE, &tenth},
                                   {ACL_FLOAT, ACL_INT64, &odd}}};
  for (size_t i = 0; i < cases.size(); ++i) {
    constexpr size_t kElement = 32;
    aclScalar* const number = call.createScalar(cases[i].number, cases[i].numberType);
    const int error = Equal(call, cases[i].type, number, static_cast<char*>(in) + i * kElement,
                            static_cast<char*>(out) + i * kElement, stream);
    call.destroyScalar(number);
    if (error != 0) {
      return error;
    }
  }
  return 0;
}
