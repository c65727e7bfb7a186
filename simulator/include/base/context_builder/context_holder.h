// SPDX-License-Identifier: Apache-2.0
// The builders of contexts return this holder.
#pragma once

#include <memory>
#include <utility>

namespace gert {

// Not part of CANN: a context with all that it hands out.
class BuiltContext {
 public:
  BuiltContext() = default;
  BuiltContext(const BuiltContext&) = delete;
  BuiltContext& operator=(const BuiltContext&) = delete;
  virtual ~BuiltContext() = default;
  virtual void* Get() = 0;
};

// Pointers that the context gives are good for as long as its holder lives. Without a context when it could not be built; the
// reason is reported.
template <typename ContextT>
class ContextHolder {
 public:
  ContextHolder() = default;
  explicit ContextHolder(std::unique_ptr<BuiltContext> built) : built_(std::move(built)) {}
  ContextT* GetContext() {
    return built_ == nullptr ? nullptr : static_cast<ContextT*>(built_->Get());
  }

 private:
  std::unique_ptr<BuiltContext> built_;
};

}  // namespace gert
