// SPDX-License-Identifier: Apache-2.0
// Unit tests find an operator's functions here by its type.
#pragma once

#include <memory>

#include "base/registry/opp_package_utils.h"
#include "register/op_impl_kernel_registry.h"

namespace gert {

class OpImplSpaceRegistryImpl;

// The operators of libraries that were added, then those that the process has itself.
class OpImplSpaceRegistryV2 {
 public:
  OpImplSpaceRegistryV2();
  // Loads libraries that are not loaded yet; fails with a report when one cannot be.
  ge::graphStatus AddSoToRegistry(const OppSoDesc& libraries);
  // nullptr when nothing of this type was registered.
  const OpImplKernelRegistry::OpImplFunctionsV2* GetOpImpl(const ge::char_t* type) const;

 private:
  std::shared_ptr<OpImplSpaceRegistryImpl> impl_;
};

class DefaultOpImplSpaceRegistryV2 {
 public:
  DefaultOpImplSpaceRegistryV2(const DefaultOpImplSpaceRegistryV2&) = delete;
  DefaultOpImplSpaceRegistryV2& operator=(const DefaultOpImplSpaceRegistryV2&) = delete;
  static DefaultOpImplSpaceRegistryV2& GetInstance();

  // Before one is set, the one of the process itself.
  std::shared_ptr<OpImplSpaceRegistryV2> GetSpaceRegistry(
      OppImplVersionTag tag = OppImplVersionTag::kOpp) const;
  ge::graphStatus SetSpaceRegistry(const std::shared_ptr<OpImplSpaceRegistryV2>& registry,
                                   OppImplVersionTag tag = OppImplVersionTag::kOpp);
  void ClearSpaceRegistry();

 private:
  DefaultOpImplSpaceRegistryV2() = default;
};

}  // namespace gert
