// SPDX-License-Identifier: Apache-2.0
// opdev helpers: data types, formats, shapes, views, platform.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "graph/utils/type_utils.h"
#include "opbase/view.h"
#include "opdev/data_type_utils.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/platform.h"
#include "opdev/shape_utils.h"
#include "opdev/tensor_view_utils.h"
#include "soc/soc.h"

namespace op {

ge::AscendString ToString(DataType dataType) {
  return ge::TypeUtils::DataTypeToAscendString(dataType);
}

ge::AscendString ToString(const std::initializer_list<DataType>& dataTypes) {
  std::string text = "[";
  for (DataType type : dataTypes) {
    text += (text.size() > 1 ? ", " : "") + std::string(ToString(type).GetString());
  }
  return (text + "]").c_str();
}

DataType ToDataType(const std::string& name) {
  for (int i = 0; i < static_cast<int>(DataType::DT_MAX); ++i) {
    const DataType type = static_cast<DataType>(i);
    if (ToString(type) == name.c_str()) return type;
  }
  return DataType::DT_UNDEFINED;
}

size_t TypeSize(DataType dataType) {
  const int size = ge::GetSizeByDataType(dataType);
  return size < 0 ? 16 : static_cast<size_t>(size);
}

int64_t CalcShapeBytes(int64_t size, DataType dataType, bool) {
  if (size < 0) return -CalcShapeBytes(-size, dataType);
  const int64_t bytes = ge::GetSizeInBytes(size, dataType);
  return bytes < 0 ? size * static_cast<int64_t>(TypeSize(dataType)) : bytes;
}

aclDataType ToAclDataType(DataType type) {
  switch (type) {
    case DataType::DT_DUAL_SUB_INT8:
    case DataType::DT_DUAL_SUB_UINT8:
    case DataType::DT_QINT8:
    case DataType::DT_QINT16:
    case DataType::DT_QINT32:
    case DataType::DT_QUINT8:
    case DataType::DT_QUINT16:
    case DataType::DT_RESOURCE:
    case DataType::DT_STRING_REF:
    case DataType::DT_DUAL:
    case DataType::DT_VARIANT:
    case DataType::DT_UNDEFINED:
    case DataType::DT_MAX:
      return ACL_DT_UNDEFINED;
    default:
      return static_cast<aclDataType>(type);
  }
}

namespace {

bool IsWideUnsigned(DataType type) {
  return CheckType(type, {DataType::DT_UINT16, DataType::DT_UINT32, DataType::DT_UINT64});
}

int ComplexBits(DataType type) {
  switch (type) {
    case DataType::DT_COMPLEX32:
    case DataType::DT_FLOAT16:
      return 16;
    case DataType::DT_DOUBLE:
    case DataType::DT_COMPLEX128:
    case DataType::DT_UINT64:
      return 64;
    case DataType::DT_COMPLEX64:
    case DataType::DT_FLOAT:
    case DataType::DT_BF16:
      return 32;
    default:
      return 0;  // integers and bool take the other side's precision
  }
}

bool IsPromotable(DataType type) {
  return CheckType(type,
                   {DataType::DT_BOOL, DataType::DT_INT8, DataType::DT_UINT8, DataType::DT_INT16,
                    DataType::DT_INT32, DataType::DT_INT64, DataType::DT_FLOAT16, DataType::DT_BF16,
                    DataType::DT_FLOAT, DataType::DT_DOUBLE, DataType::DT_COMPLEX32,
                    DataType::DT_COMPLEX64, DataType::DT_COMPLEX128});
}

}  // namespace

// The rules from the first that applies on, as the documents have them: a table that reads best as a whole.
DataType PromoteType(DataType a, DataType b) {
  if (a == b) return a;
  if (IsComplexType(a) || IsComplexType(b)) {
    const bool known =
        (IsPromotable(a) || IsWideUnsigned(a)) && (IsPromotable(b) || IsWideUnsigned(b));
    if (!known) return DataType::DT_UNDEFINED;
    const int bits = std::max(ComplexBits(a), ComplexBits(b));
    if (IsWideUnsigned(a) || IsWideUnsigned(b)) {
      if (bits == 16) return DataType::DT_UNDEFINED;
    }
    return bits == 64 ? DataType::DT_COMPLEX128
                      : (bits == 32 ? DataType::DT_COMPLEX64 : DataType::DT_COMPLEX32);
  }
  if (!IsPromotable(a) || !IsPromotable(b)) return DataType::DT_UNDEFINED;
  if (IsFloatingType(a) && IsFloatingType(b)) {
    // float16 and bfloat16 have no common 16-bit type.
    return a == DataType::DT_DOUBLE || b == DataType::DT_DOUBLE ? DataType::DT_DOUBLE
                                                                : DataType::DT_FLOAT;
  }
  if (IsFloatingType(a)) return a;
  if (IsFloatingType(b)) return b;
  if (a == DataType::DT_BOOL) return b;
  if (b == DataType::DT_BOOL) return a;
  const size_t sizeA = TypeSize(a);
  const size_t sizeB = TypeSize(b);
  // int8 and uint8 are the only pair of one size.
  if (sizeA == sizeB) return DataType::DT_INT16;
  return sizeA > sizeB ? a : b;
}

bool IsPrivateFormat(Format format) {
  switch (GetPrimaryFormat(format)) {
    case Format::FORMAT_NC1HWC0:
    case Format::FORMAT_FRACTAL_Z:
    case Format::FORMAT_NC1HWC0_C04:
    case Format::FORMAT_FRACTAL_Z_C04:
    case Format::FORMAT_C1HWNCoC0:
    case Format::FORMAT_FRACTAL_ZZ:
    case Format::FORMAT_FRACTAL_NZ:
    case Format::FORMAT_NDC1HWC0:
    case Format::FORMAT_FRACTAL_Z_3D:
    case Format::FORMAT_FRACTAL_Z_G:
    case Format::FORMAT_FRACTAL_ZN_LSTM:
    case Format::FORMAT_FRACTAL_ZN_RNN:
    case Format::FORMAT_FRACTAL_NZ_C0_2:
    case Format::FORMAT_FRACTAL_NZ_C0_4:
    case Format::FORMAT_FRACTAL_NZ_C0_8:
    case Format::FORMAT_FRACTAL_NZ_C0_16:
    case Format::FORMAT_FRACTAL_NZ_C0_32:
      return true;
    default:
      return false;
  }
}

Format ToFormat(const std::string& name) {
  for (int i = 0; i < static_cast<int>(Format::FORMAT_END); ++i) {
    const Format format = static_cast<Format>(i);
    if (name == ge::GetFormatName(format)) return format;
  }
  return Format::FORMAT_MAX;
}

ge::AscendString ToString(Format format) { return ge::GetFormatName(format); }

ge::AscendString ToString(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return (text + "]").c_str();
}

ge::AscendString ToString(const Strides& strides) {
  std::string text = "[";
  for (size_t i = 0; i < strides.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(strides[i]);
  }
  return (text + "]").c_str();
}

void ToShape(const int64_t* dims, uint64_t dimNum, Shape& shape) {
  shape.SetDimNum(0);
  for (uint64_t i = 0; i < dimNum; ++i) shape.AppendDim(dims[i]);
}

void ToShape(const ShapeVector& dims, Shape& shape) { ToShape(dims.data(), dims.size(), shape); }

ShapeVector ToShapeVector(const Shape& shape) {
  ShapeVector dims;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) dims.push_back(shape[i]);
  return dims;
}

void ToContiguousStrides(const Shape& shape, Strides& strides) {
  strides.resize(shape.GetDimNum());
  int64_t stride = 1;
  for (size_t i = shape.GetDimNum(); i-- > 0;) {
    strides[i] = stride;
    // Shapes too large for memory are refused where their elements are counted.
    if (__builtin_mul_overflow(stride, shape[i], &stride)) stride = 0;
  }
}

bool BroadcastInferShape(const Shape& self, const Shape& other, Shape& broadcastShape) {
  const size_t rank = std::max(self.GetDimNum(), other.GetDimNum());
  Shape result;
  for (size_t i = 0; i < rank; ++i) {
    const size_t fromEnd = rank - i;
    const int64_t a = fromEnd > self.GetDimNum() ? 1 : self[self.GetDimNum() - fromEnd];
    const int64_t b = fromEnd > other.GetDimNum() ? 1 : other[other.GetDimNum() - fromEnd];
    if (a != b && a != 1 && b != 1) return false;
    result.AppendDim(a == 1 ? b : a);
  }
  broadcastShape = result;
  return true;
}

bool CheckBroadcastShape(const Shape& self, const Shape& other) {
  Shape ignored;
  return BroadcastInferShape(self, other, ignored);
}

bool IsContiguous(const aclTensor* tensor) {
  if (tensor == nullptr || IsPrivateFormat(tensor->GetStorageFormat())) return true;
  return internal::IsRowMajor(tensor->GetViewShape(), tensor->GetViewStrides());
}

bool CanPickViewAsContiguous(const aclTensor* tensor) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t i = 0; i < tensor->GetViewShape().GetDimNum(); ++i) {
    if (tensor->GetViewShape()[i] == 1) continue;
    dims.emplace_back(tensor->GetViewStrides()[i], tensor->GetViewShape()[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

bool CanPickViewAsContiguous(std::initializer_list<const aclTensor*> tensors) {
  if (tensors.size() == 0) return true;
  const aclTensor* first = *tensors.begin();
  for (const aclTensor* tensor : tensors) {
    if (tensor->GetViewShape() != first->GetViewShape() ||
        tensor->GetViewStrides() != first->GetViewStrides()) {
      return false;
    }
  }
  return CanPickViewAsContiguous(first);
}

bool Validate(const aclTensor* tensor) { return internal::CheckView(tensor, "the tensor"); }

SocVersion PlatformInfo::GetSocVersion() const {
  static const std::pair<const char*, SocVersion> kVersions[] = {
      {"Ascend910", SocVersion::ASCEND910},         {"Ascend910B", SocVersion::ASCEND910B},
      {"Ascend910_93", SocVersion::ASCEND910_93},   {"Ascend950", SocVersion::ASCEND950},
      {"Ascend910_95", SocVersion::ASCEND910_95},   {"Ascend310", SocVersion::ASCEND310},
      {"Ascend310P", SocVersion::ASCEND310P},       {"Ascend310B", SocVersion::ASCEND310B},
      {"Ascend610Lite", SocVersion::ASCEND610LITE},
  };
  for (const auto& [name, version] : kVersions) {
    if (aclsim::CurrentSoc().shortName == name) return version;
  }
  return SocVersion::RESERVED_VERSION;
}

const std::string& PlatformInfo::GetSocLongVersion() const { return aclsim::CurrentSoc().name; }

NpuArch PlatformInfo::GetCurNpuArch() const {
  return static_cast<NpuArch>(aclsim::CurrentSoc().npuArch);
}

int32_t PlatformInfo::GetDeviceId() const { return 0; }
uint32_t PlatformInfo::GetCubeCoreNum() const { return aclsim::CurrentSoc().aicCores; }
uint32_t PlatformInfo::GetVectorCoreNum() const { return aclsim::VectorCoreCount(); }

fe::PlatFormInfos* PlatformInfo::GetPlatformInfos() const {
  static fe::PlatFormInfos infos;
  return &infos;
}

const PlatformInfo& GetCurrentPlatformInfo() {
  static const PlatformInfo info;
  return info;
}

ge::AscendString ToString(SocVersion socVersion) {
  switch (socVersion) {
    case SocVersion::ASCEND910:
      return "Ascend910";
    case SocVersion::ASCEND910B:
      return "Ascend910B";
    case SocVersion::ASCEND910_93:
      return "Ascend910_93";
    case SocVersion::ASCEND950:
      return "Ascend950";
    case SocVersion::ASCEND910E:
      return "Ascend910E";
    case SocVersion::ASCEND310:
      return "Ascend310";
    case SocVersion::ASCEND310P:
      return "Ascend310P";
    case SocVersion::ASCEND310B:
      return "Ascend310B";
    case SocVersion::ASCEND310C:
      return "Ascend310C";
    case SocVersion::ASCEND610LITE:
      return "Ascend610Lite";
    case SocVersion::KIRINX90:
      return "KirinX90";
    case SocVersion::KIRIN9030:
      return "Kirin9030";
    case SocVersion::ASCEND350:
      return "Ascend350";
    case SocVersion::RESERVED_VERSION:
      break;
  }
  return "unknown";
}

}  // namespace op
