// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors and attributes of single operators. They need no aclInit.
#include "runtime/op_desc.h"

#include "runtime/kept_objects.h"
#include "runtime/state.h"

size_t aclTensorDesc::Elements() const {
  size_t elements = 1;
  for (const int64_t dim : dims) {
    elements *= dim < 0 ? 0 : static_cast<size_t>(dim);
  }
  return elements;
}

namespace aclsim {

namespace {

PerProcess<KeptObjects<aclTensorDesc>> descriptions;
PerProcess<KeptObjects<aclopAttr>> attributes;

constexpr int kMostDims = 25;

int32_t CheckDims(const Api& api, int numDims, const int64_t* dims) {
  if (numDims < 0 || numDims > kMostDims) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "numDims is %d, want 0 to %d", numDims, kMostDims);
  }
  return numDims == 0 ? 0 : api.NotNull(dims, "dims");
}

// Calls change(desc) on a live description.
template <typename Change>
int32_t ChangeDesc(const char* name, aclTensorDesc* handle, Change&& change) {
  return Enter(name, [&](const Api& api) -> int32_t {
    return descriptions->With(api, handle, [&](aclTensorDesc& desc) { change(desc); });
  });
}

template <typename T, typename Read>
T Ask(const char* name, const aclTensorDesc* handle, T otherwise, Read&& read) {
  T value = otherwise;
  Enter(name, [&](const Api& api) {
    return descriptions->With(api, handle, [&](const aclTensorDesc& desc) { value = read(desc); });
  });
  return value;
}

int32_t SetAttr(const char* name, aclopAttr* handle, const char* attrName, aclopAttr::Value value) {
  return Enter(name, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(attrName, "attrName"));
    return attributes->With(api, handle,
                            [&](aclopAttr& attr) { attr.values[attrName] = std::move(value); });
  });
}

// Count values of any type as whole numbers.
template <typename T>
int32_t SetNumbers(const char* name, aclopAttr* handle, const char* attrName, aclopAttr::Kind kind,
                   int count, const T* values) {
  return Enter(name, [&](const Api& api) -> int32_t {
    if (count < 0) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "numValues is %d, want 0 or more", count);
    }
    ACLSIM_RETURN_IF_ERROR(count == 0 ? 0 : api.NotNull(values, "values"));
    aclopAttr::Value value;
    value.kind = kind;
    value.numbers.assign(values, values + count);
    return SetAttr(name, handle, attrName, std::move(value));
  });
}

}  // namespace

int32_t ReadTensorDesc(const Api& api, const aclTensorDesc* handle, aclTensorDesc* desc) {
  return descriptions->With(api, handle, [&](const aclTensorDesc& found) { *desc = found; });
}

int32_t ReadOpAttr(const Api& api, const aclopAttr* handle, aclopAttr* attr) {
  return attributes->With(api, handle, [&](const aclopAttr& found) { *attr = found; });
}

int32_t SetTensorDims(const Api& api, aclTensorDesc* handle, const std::vector<int64_t>& dims) {
  return descriptions->With(api, handle,
                            [&](aclTensorDesc& desc) { desc.dims = desc.storageDims = dims; });
}

void ForgetDestroyedDescriptions() {
  descriptions->ForgetDestroyed();
  attributes->ForgetDestroyed();
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Ask;
using aclsim::ChangeDesc;
using aclsim::Enter;
using Kind = aclopAttr::Kind;

extern "C" {

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
  aclTensorDesc* made = nullptr;
  Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDims(api, numDims, dims));
    aclTensorDesc desc;
    desc.dataType = dataType;
    desc.format = desc.storageFormat = format;
    desc.dims.assign(dims, dims + numDims);
    desc.storageDims = desc.dims;
    made = aclsim::descriptions->Add(std::move(desc));
    return 0;
  });
  return made;
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  Enter(__func__, [&](const Api& api) { return aclsim::descriptions->Destroy(api, desc); });
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return Ask(__func__, desc, ACL_DT_UNDEFINED, [](const auto& found) { return found.dataType; });
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return Ask(__func__, desc, ACL_FORMAT_UNDEFINED, [](const auto& found) { return found.format; });
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  return Ask(__func__, desc, size_t{0}, [](const auto& found) { return found.Elements(); });
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  return Ask(__func__, desc, size_t{0},
             [](const auto& found) { return found.Elements() * aclDataTypeSize(found.dataType); });
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return Ask(__func__, desc, size_t{0}, [](const auto& found) { return found.dims.size(); });
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    aclTensorDesc found;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(dimSize, "dimSize"));
    ACLSIM_RETURN_IF_ERROR(aclsim::ReadTensorDesc(api, desc, &found));
    if (index >= found.dims.size()) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "index is %zu, the tensor has %zu dimensions", index,
                      found.dims.size());
    }
    *dimSize = found.dims[index];
    return 0;
  });
}

int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  int64_t size = -1;
  return aclGetTensorDescDimV2(desc, index, &size) == 0 ? size : -1;
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  ChangeDesc(__func__, desc,
             [&](aclTensorDesc& found) { found.name = name != nullptr ? name : ""; });
}

const char* aclGetTensorDescName(aclTensorDesc* desc) {
  return Ask(__func__, desc, "", [](const auto& found) { return found.name.c_str(); });
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  return ChangeDesc(__func__, desc, [&](aclTensorDesc& found) { found.storageFormat = format; });
}

aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
  return ChangeDesc(__func__, desc, [&](aclTensorDesc& found) { found.format = format; });
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDims(api, numDims, dims));
    return aclsim::descriptions->With(
        api, desc, [&](aclTensorDesc& found) { found.storageDims.assign(dims, dims + numDims); });
  });
}

aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDims(api, numDims, dims));
    return aclsim::descriptions->With(
        api, desc, [&](aclTensorDesc& found) { found.dims.assign(dims, dims + numDims); });
  });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(length == 0 ? 0 : api.NotNull(dataBuffer, "dataBuffer"));
    const auto* bytes = static_cast<const uint8_t*>(dataBuffer);
    return aclsim::descriptions->With(api, desc, [&](aclTensorDesc& found) {
      found.constant = true;
      found.value.assign(bytes, bytes + length);
    });
  });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (static_cast<unsigned>(memType) > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "memType is %d, want an aclMemType of 0 to 2",
                      static_cast<int>(memType));
    }
    return aclsim::descriptions->With(api, desc,
                                      [&](aclTensorDesc& found) { found.place = memType; });
  });
}

aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(dynamicInputName, "dynamicInputName"));
    return aclsim::descriptions->With(
        api, desc, [&](aclTensorDesc& found) { found.dynamicInput = dynamicInputName; });
  });
}

aclopAttr* aclopCreateAttr() {
  aclopAttr* made = nullptr;
  Enter(__func__, [&](const Api&) -> int32_t {
    made = aclsim::attributes->Add({});
    return 0;
  });
  return made;
}

void aclopDestroyAttr(const aclopAttr* attr) {
  Enter(__func__, [&](const Api& api) { return aclsim::attributes->Destroy(api, attr); });
}

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  aclopAttr::Value value;
  value.kind = Kind::kBool;
  value.number = attrValue != 0 ? 1 : 0;
  return aclsim::SetAttr(__func__, attr, attrName, std::move(value));
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  aclopAttr::Value value;
  value.number = attrValue;
  return aclsim::SetAttr(__func__, attr, attrName, std::move(value));
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  aclopAttr::Value value;
  value.kind = Kind::kFloat;
  value.real = attrValue;
  return aclsim::SetAttr(__func__, attr, attrName, std::move(value));
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(attrValue, "attrValue"));
    aclopAttr::Value value;
    value.kind = Kind::kString;
    value.text = attrValue;
    return aclsim::SetAttr(api.name(), attr, attrName, std::move(value));
  });
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  aclopAttr::Value value;
  value.kind = Kind::kDataType;
  value.number = attrValue;
  return aclsim::SetAttr(__func__, attr, attrName, std::move(value));
}

aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues,
                                  const aclDataType values[]) {
  return aclsim::SetNumbers(__func__, attr, attrName, Kind::kListDataType, numValues, values);
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues,
                              const uint8_t* values) {
  return aclsim::SetNumbers(__func__, attr, attrName, Kind::kListBool, numValues, values);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues,
                             const int64_t* values) {
  return aclsim::SetNumbers(__func__, attr, attrName, Kind::kListInt, numValues, values);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues,
                               const float* values) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (numValues < 0) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "numValues is %d, want 0 or more", numValues);
    }
    ACLSIM_RETURN_IF_ERROR(numValues == 0 ? 0 : api.NotNull(values, "values"));
    aclopAttr::Value value;
    value.kind = Kind::kListFloat;
    value.reals.assign(values, values + numValues);
    return aclsim::SetAttr(api.name(), attr, attrName, std::move(value));
  });
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists,
                                 const int* numValues, const int64_t* const values[]) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (numLists < 0) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "numLists is %d, want 0 or more", numLists);
    }
    ACLSIM_RETURN_IF_ERROR(numLists == 0 ? 0 : api.NotNull(numValues, "numValues"));
    ACLSIM_RETURN_IF_ERROR(numLists == 0 ? 0 : api.NotNull(values, "values"));
    aclopAttr::Value value;
    value.kind = Kind::kListListInt;
    for (int i = 0; i < numLists; ++i) {
      if (numValues[i] < 0 || (numValues[i] > 0 && values[i] == nullptr)) {
        return api.Fail(ACL_ERROR_INVALID_PARAM, "list %d has %d values at %p", i, numValues[i],
                        static_cast<const void*>(values[i]));
      }
      value.lists.emplace_back(values[i], values[i] + numValues[i]);
    }
    return aclsim::SetAttr(api.name(), attr, attrName, std::move(value));
  });
}

}  // extern "C"
