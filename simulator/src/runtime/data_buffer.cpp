// SPDX-License-Identifier: Apache-2.0
// The data buffers of acl_base.h: an address and a size that the program keeps. They need no aclInit.
#include <deque>
#include <mutex>
#include <unordered_map>

#include "engine/fork.h"
#include "runtime/errors.h"
#include "runtime/state.h"

struct aclDataBuffer {
  void* data = nullptr;
  size_t size = 0;
};

namespace aclsim {

namespace {

// Destroyed ones keep their memory for a while, so that nobody else gets the address.
class DataBuffers {
 public:
  aclDataBuffer* Add(void* data, size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto buffer = std::make_unique<aclDataBuffer>(aclDataBuffer{data, size});
    aclDataBuffer* const handle = buffer.get();
    all_[handle] = {std::move(buffer), true};
    return handle;
  }

  // Calls use(buffer) while nobody destroys it.
  template <typename Use>
  int32_t With(const Api& api, const aclDataBuffer* handle, Use&& use) {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(handle, "dataBuffer"));
    std::unique_lock<std::mutex> lock(mutex_);
    const auto found = all_.find(handle);
    if (found != all_.end() && found->second.live) {
      use(*found->second.buffer);
      return 0;
    }
    const bool destroyed = found != all_.end();
    lock.unlock();
    return Refuse(api, handle, destroyed, false);
  }

  int32_t Destroy(const Api& api, const aclDataBuffer* handle) {
    constexpr size_t kQuarantine = 1024;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(handle, "dataBuffer"));
    std::unique_lock<std::mutex> lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end() || !found->second.live) {
      const bool destroyed = found != all_.end();
      lock.unlock();
      return Refuse(api, handle, destroyed, true);
    }
    found->second.live = false;
    quarantine_.push_back(handle);
    if (quarantine_.size() > kQuarantine) {
      all_.erase(quarantine_.front());
      quarantine_.pop_front();
    }
    return 0;
  }

  void ForgetDestroyed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const aclDataBuffer* handle : quarantine_) {
      all_.erase(handle);
    }
    quarantine_.clear();
  }

 private:
  struct Entry {
    std::unique_ptr<aclDataBuffer> buffer;
    bool live = false;
  };

  static int32_t Refuse(const Api& api, const void* handle, bool destroyed, bool again) {
    const char* const what = destroyed          ? "was destroyed"
                             : ForkCount() == 0 ? "is none that aclCreateDataBuffer returned"
                                                : "is none that aclCreateDataBuffer returned in "
                                                  "this process";
    return api.Refuse(ACL_ERROR_INVALID_PARAM,
                      !destroyed ? "host-wrong-handle"
                      : again    ? "host-double-free"
                                 : "host-use-after-free",
                      "dataBuffer", Format("dataBuffer %p %s", handle, what),
                      destroyed && again ? "destroy it once"
                      : destroyed        ? "destroy it after its last use"
                                         : "pass a buffer of aclCreateDataBuffer");
  }

  std::mutex mutex_;
  std::unordered_map<const aclDataBuffer*, Entry> all_;
  std::deque<const aclDataBuffer*> quarantine_;  // of all_, from the oldest on
};
PerProcess<DataBuffers> dataBuffers;

}  // namespace

void ForgetDestroyedDataBuffers() { dataBuffers->ForgetDestroyed(); }

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  aclDataBuffer* made = nullptr;
  Enter(__func__, [&](const Api&) -> int32_t {
    made = aclsim::dataBuffers->Add(data, size);
    return 0;
  });
  return made;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::dataBuffers->Destroy(api, dataBuffer); });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::dataBuffers->With(api, dataBuffer,
                                     [&](aclDataBuffer& buffer) { buffer = {data, size}; });
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  void* data = nullptr;
  Enter(__func__, [&](const Api& api) {
    return aclsim::dataBuffers->With(api, dataBuffer,
                                     [&](const aclDataBuffer& buffer) { data = buffer.data; });
  });
  return data;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  size_t size = 0;
  Enter(__func__, [&](const Api& api) {
    return aclsim::dataBuffers->With(api, dataBuffer,
                                     [&](const aclDataBuffer& buffer) { size = buffer.size; });
  });
  return size;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

}  // extern "C"
