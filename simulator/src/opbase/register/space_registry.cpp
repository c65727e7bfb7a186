// SPDX-License-Identifier: Apache-2.0
// Operators' functions by type, for unit tests.
#include <dlfcn.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/registry/op_impl_space_registry_v2.h"
#include "host/fork.h"
#include "host/lock.h"
#include "opbase/register/registry.h"
#include "runtime/runtime.h"

namespace gert {

class OpImplSpaceRegistryImpl {
 public:
  ge::graphStatus Add(const std::string& path) {
    const aclsim::PackageId package = aclsim::PackageOf("unit test: " + path);
    {
      const aclsim::PackageScope scope(package);
      if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
        const char* why = dlerror();
        aclsim::ReportError("AddSoToRegistry: %s", why == nullptr ? path.c_str() : why);
        return ge::GRAPH_FAILED;
      }
    }
    const std::lock_guard lock(mutex_);
    packages_.push_back(package);
    return ge::GRAPH_SUCCESS;
  }

  const OpImplKernelRegistry::OpImplFunctionsV2* Find(const std::string& type) {
    const std::lock_guard lock(mutex_);
    const OpImplEntry* entry = nullptr;
    for (const aclsim::PackageId package : packages_) {
      if (entry == nullptr) entry = aclsim::FindOp(package, type);
    }
    // Operators that a library registered before it was added are the process's.
    if (entry == nullptr) entry = aclsim::FindOp(0, type);
    if (entry == nullptr) return nullptr;
    auto& functions = functions_[type];
    functions.infer_shape = entry->inferShape;
    functions.infer_shape_range = entry->inferShapeRange;
    functions.infer_datatype = entry->inferDataType;
    functions.tiling = entry->tiling;
    functions.tiling_parse = reinterpret_cast<OpImplRegisterV2::KernelFunc>(entry->tilingParse);
    functions.compile_info_creator = entry->createCompileInfo;
    functions.compile_info_deleter = entry->deleteCompileInfo;
    functions.gen_simplifiedkey = entry->genSimplifiedKey;
    functions.max_tiling_data_size = entry->maxTilingDataSize;
    return &functions;
  }

 private:
  aclsim::Mutex<3, "space registry"> mutex_;
  std::vector<aclsim::PackageId> packages_;
  std::map<std::string, OpImplKernelRegistry::OpImplFunctionsV2> functions_;
};

OpImplSpaceRegistryV2::OpImplSpaceRegistryV2()
    : impl_(std::make_shared<OpImplSpaceRegistryImpl>()) {}

ge::graphStatus OpImplSpaceRegistryV2::AddSoToRegistry(const OppSoDesc& libraries) {
  for (const ge::AscendString& path : libraries.GetSoPaths()) {
    const ge::graphStatus status = impl_->Add(path.GetString());
    if (status != ge::GRAPH_SUCCESS) return status;
  }
  return ge::GRAPH_SUCCESS;
}

const OpImplKernelRegistry::OpImplFunctionsV2* OpImplSpaceRegistryV2::GetOpImpl(
    const ge::char_t* type) const {
  return type == nullptr ? nullptr : impl_->Find(type);
}

namespace {

struct Defaults {
  aclsim::Mutex<3, "default space registry"> mutex;
  std::map<OppImplVersionTag, std::shared_ptr<OpImplSpaceRegistryV2>> registries;
};
aclsim::PerProcess<Defaults> defaults;

}  // namespace

DefaultOpImplSpaceRegistryV2& DefaultOpImplSpaceRegistryV2::GetInstance() {
  static DefaultOpImplSpaceRegistryV2 instance;
  return instance;
}

std::shared_ptr<OpImplSpaceRegistryV2> DefaultOpImplSpaceRegistryV2::GetSpaceRegistry(
    OppImplVersionTag tag) const {
  auto& [mutex, registries] = *defaults;
  const std::lock_guard lock(mutex);
  std::shared_ptr<OpImplSpaceRegistryV2>& registry = registries[tag];
  if (registry == nullptr) registry = std::make_shared<OpImplSpaceRegistryV2>();
  return registry;
}

ge::graphStatus DefaultOpImplSpaceRegistryV2::SetSpaceRegistry(
    const std::shared_ptr<OpImplSpaceRegistryV2>& registry, OppImplVersionTag tag) {
  if (tag >= OppImplVersionTag::kVersionEnd) return ge::GRAPH_FAILED;
  auto& [mutex, registries] = *defaults;
  const std::lock_guard lock(mutex);
  registries[tag] = registry;
  return ge::GRAPH_SUCCESS;
}

void DefaultOpImplSpaceRegistryV2::ClearSpaceRegistry() {
  auto& [mutex, registries] = *defaults;
  const std::lock_guard lock(mutex);
  registries.clear();
}

}  // namespace gert
