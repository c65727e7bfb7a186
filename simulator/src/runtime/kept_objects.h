// SPDX-License-Identifier: Apache-2.0
// Small objects that a program makes and destroys by their address: data buffers, descriptions, attributes.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "host/fork.h"
#include "host/lock.h"
#include "runtime/errors.h"

namespace aclsim {

// T says how messages name it: kArgument, kNoun, kMaker.
// Destroyed ones keep their memory for a while, so that nobody else gets the address.
template <typename T>
class KeptObjects {
 public:
  T* Add(T object) {
    const std::lock_guard lock(mutex_);
    auto kept = std::make_unique<T>(std::move(object));
    T* const handle = kept.get();
    all_[handle] = {std::move(kept), true};
    return handle;
  }

  // Calls use(object) while nobody destroys it.
  template <typename Use>
  int32_t With(const Api& api, const T* handle, Use&& use) {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(handle, T::kArgument));
    std::unique_lock lock(mutex_);
    const auto found = all_.find(handle);
    if (found != all_.end() && found->second.live) {
      use(*found->second.kept);
      return 0;
    }
    const bool destroyed = found != all_.end();
    lock.unlock();
    return Refuse(api, handle, destroyed, false);
  }

  int32_t Destroy(const Api& api, const T* handle) {
    constexpr size_t kQuarantine = 1024;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(handle, T::kArgument));
    std::unique_lock lock(mutex_);
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
    const std::lock_guard lock(mutex_);
    for (const T* handle : quarantine_) {
      all_.erase(handle);
    }
    quarantine_.clear();
  }

 private:
  struct Entry {
    std::unique_ptr<T> kept;
    bool live = false;
  };

  static int32_t Refuse(const Api& api, const void* handle, bool destroyed, bool again) {
    const std::string none = std::string("is none that ") + T::kMaker + " returned";
    const std::string what = destroyed          ? "was destroyed"
                             : ForkCount() == 0 ? none
                                                : none + " in this process";
    return api.Refuse(ACL_ERROR_INVALID_PARAM,
                      !destroyed ? "host-wrong-handle"
                      : again    ? "host-double-free"
                                 : "host-use-after-free",
                      T::kArgument, Format("%s %p %s", T::kArgument, handle, what.c_str()),
                      destroyed && again ? std::string("destroy it once")
                      : destroyed        ? std::string("destroy it after its last use")
                                         : std::string("pass ") + T::kNoun + " of " + T::kMaker);
  }

  Mutex<6, "objects of acl"> mutex_;
  std::unordered_map<const T*, Entry> all_;
  std::deque<const T*> quarantine_;  // of all_, from the oldest on
};

}  // namespace aclsim
