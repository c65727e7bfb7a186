// SPDX-License-Identifier: Apache-2.0
#include "engine/kernel_launch.h"

#include <dlfcn.h>

#include <algorithm>

#include "host/format.h"

namespace aclsim {

namespace {

// A library that is loaded, as it was opened.
class Library {
 public:
  explicit Library(const Dl_info& info)
      : base_(info.dli_fbase), handle_(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
    if (handle_ == nullptr) {
      handle_ = dlopen(nullptr, RTLD_LAZY);  // the program itself, which has no name there
    }
  }
  ~Library() {
    if (handle_ != nullptr) {
      dlclose(handle_);
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Its own symbol; what it needs is searched too.
  const void* Own(const char* name) const {
    const void* const found = handle_ == nullptr ? nullptr : dlsym(handle_, name);
    Dl_info holder = {};
    const bool own = found != nullptr && dladdr(found, &holder) != 0 && holder.dli_fbase == base_;
    return own ? found : nullptr;
  }

 private:
  const void* base_;
  void* handle_;
};

// By aclsimKernelTypes of a kernel library: a count, then for each tiling key itself, its AICs and its AIVs. The default's key is
// UINT64_MAX.
CoreGroup GroupOfKey(const uint64_t* types, uint64_t key, CoreGroup otherwise) {
  for (const uint64_t wanted : {key, UINT64_MAX}) {
    for (uint64_t i = 0; i < types[0]; ++i) {
      const uint64_t* const type = types + 1 + 3 * i;
      if (type[0] == wanted) {
        return {static_cast<uint32_t>(type[1]), static_cast<uint32_t>(type[2])};
      }
    }
  }
  return otherwise;
}

}  // namespace

void FindCores(KernelLaunch* launch) {
  Dl_info info = {};
  if (dladdr(launch->entry, &info) == 0 || info.dli_fname == nullptr) {
    return;
  }
  const Library library(info);
  if (library.Own("aclsimCubeCode") != nullptr) {
    launch->group = {1, 0};
  }
  launch->matrix = library.Own("aclsimMatrixCode") != nullptr;
  const auto* const types = static_cast<const uint64_t*>(library.Own("aclsimKernelTypes"));
  if (types != nullptr) {
    launch->group = GroupOfKey(types, launch->tilingKey, launch->group);
  }
}

bool FindHalves(KernelLaunch* launch, std::string* why) {
  Dl_info info = {};
  FindCores(launch);
  if (launch->group.cubes == 0 || dladdr(launch->entry, &info) == 0 ||
      Library(info).Own("aclsimKernelTypes") == nullptr) {
    return true;
  }
  launch->cubeEntry = CubeHalfOf(launch->entry);
  if (launch->cubeEntry == nullptr) {
    *why = Format("kernel %s runs on AICs, and %s has no half for them. Next: build it once more",
                  launch->opType.c_str(), info.dli_fname);
    return false;
  }
  if (launch->group.vectors == 0) {
    launch->entry = launch->cubeEntry;
  }
  return true;
}

const void* CubeHalfOf(const void* function) {
  Dl_info info = {};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr || info.dli_sname == nullptr) {
    return nullptr;
  }
  return Library(info).Own((info.dli_sname + std::string(".cube")).c_str());
}

std::string KernelLaunch::NameOf(uint32_t core) const {
  const char* const word = !Mixed() ? "core" : KindOf(core) == CoreKind::kCube ? "AIC" : "AIV";
  return Format("%s %u", word, BlockIdxOf(core));
}

std::string KernelLaunch::NamesOf(const std::vector<uint32_t>& cores) const {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(cores.size(), kMost); ++i) {
    text += i == 0 ? "" : ", ";
    text += i == 0 || Mixed() ? NameOf(cores[i]) : std::to_string(cores[i]);
  }
  return cores.size() > kMost ? Format("%s and %zu more", text.c_str(), cores.size() - kMost)
                              : text;
}

}  // namespace aclsim
