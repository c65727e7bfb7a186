// SPDX-License-Identifier: Apache-2.0
// Operators that have registered themselves, one table per operator package.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "register/op_def.h"
#include "register/op_impl_registry.h"

namespace gert {

// An attribute that the definition does not have: it comes after the others.
struct PrivateAttr {
  std::string name;
  std::function<std::unique_ptr<uint8_t[]>()> value;  // makes its default; empty without one
};

struct OpImplEntry {
  std::string type;
  std::optional<ops::OpDef> def;
  OpImplRegisterV2::InferShapeKernelFunc inferShape = nullptr;
  OpImplRegisterV2::InferShapeRangeKernelFunc inferShapeRange = nullptr;
  OpImplRegisterV2::InferDataTypeKernelFunc inferDataType = nullptr;
  OpImplRegisterV2::GenSimplifiedKeyKernelFunc genSimplifiedKey = nullptr;
  bool outputTypeIsFirstInputs = false;
  OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
  size_t maxTilingDataSize = 2048;
  std::vector<int32_t> shapesFromResult;  // outputs of OutputShapeDependOnCompute
  // Inputs whose values inference and tiling read, by their place in the definition.
  std::vector<int32_t> inferenceReads;
  std::vector<int32_t> tilingReads;
  std::vector<PrivateAttr> privateAttrs;
  OpImplRegisterV2::TilingParseFunc tilingParse = nullptr;
  OpImplRegisterV2::CompileInfoCreatorFunc createCompileInfo = nullptr;
  OpImplRegisterV2::CompileInfoDeleterFunc deleteCompileInfo = nullptr;
};

}  // namespace gert

namespace aclsim {

// Package 0 is the process itself: operators linked into it or loaded by somebody else.
using PackageId = size_t;

// The package in a folder. A forked child finds the operators that its parent has loaded from there.
PackageId PackageOf(const std::string& root);

// While it lives, registrations of this thread go to the package: put it around dlopen.
class PackageScope {
 public:
  explicit PackageScope(PackageId package);
  ~PackageScope();
  PackageScope(const PackageScope&) = delete;
  PackageScope& operator=(const PackageScope&) = delete;

 private:
  PackageId previous_;
};

// nullptr when nothing of this type was registered there. Entries live as long as the process.
gert::OpImplEntry* FindOp(PackageId package, const std::string& type);

// Every operator that libraries registered in the process itself, by type.
std::vector<const gert::OpImplEntry*> AllOps();

// An operator's parameters on one SoC, with the SoC's own configuration applied.
struct ResolvedOp {
  std::vector<ops::ParamRecord> inputs;
  std::vector<ops::ParamRecord> outputs;
};
// False with a reason when the SoC (short name, any case) is not configured.
bool ResolveOp(const ops::OpDef& def, const std::string& socShortName, ResolvedOp* resolved,
               std::string* why);

// The column of the dtype table that fits; DT_UNDEFINED stands for an absent tensor and fits
// anything. -1 when none does. On success the types of every parameter, absent ones included, are
// in *types.
int MatchDataTypes(const ResolvedOp& op, const std::vector<ge::DataType>& inputs,
                   const std::vector<ge::DataType>& outputs, std::vector<ge::DataType>* types);

}  // namespace aclsim
