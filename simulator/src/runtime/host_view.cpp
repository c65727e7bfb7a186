// SPDX-License-Identifier: Apache-2.0
// Device memory for host code that stands in for a kernel, such as a framework's CPU operators.
#include <atomic>

#include "aclsim/aclsim.h"
#include "engine/gm_shadow.h"
#include "runtime/errors.h"
#include "runtime/runtime.h"

namespace aclsim {

static std::atomic<bool> privateFormats = false;

void NotePrivateFormat() { privateFormats.store(true, std::memory_order_release); }

}  // namespace aclsim

extern "C" int32_t aclsimPrivateFormats() {
  return aclsim::privateFormats.load(std::memory_order_acquire) ? 1 : 0;
}

extern "C" void* aclsimHostView(const void* device, uint64_t bytes, int32_t written) {
  uint8_t* view = nullptr;
  aclsim::Enter(__func__, [&](const aclsim::Api& api) -> int32_t {
    std::string why;
    view = aclsim::ToBacking(device, bytes, &why);
    if (view == nullptr) {
      return api.Refuse(ACL_ERROR_RT_PARAM_INVALID, aclsim::MistakeOf(device), "device", why,
                        "pass memory of aclrtMalloc that has not been freed");
    }
    if (written != 0) {
      aclsim::MarkGm(view, bytes, true);
    }
    return 0;
  });
  return view;
}
