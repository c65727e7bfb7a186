// SPDX-License-Identifier: Apache-2.0
#include "engine/kernel_launch.h"

#include <dlfcn.h>

namespace aclsim {

bool IsCubeCode(const void* entry) {
  Dl_info library = {};
  if (dladdr(entry, &library) == 0 || library.dli_fname == nullptr) {
    return false;
  }
  void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return false;
  }
  // What it needs is searched too: the mark has to be its own.
  const void* const mark = dlsym(handle, "aclsimCubeCode");
  Dl_info holder = {};
  const bool own =
      mark != nullptr && dladdr(mark, &holder) != 0 && holder.dli_fbase == library.dli_fbase;
  dlclose(handle);
  return own;
}

}  // namespace aclsim
