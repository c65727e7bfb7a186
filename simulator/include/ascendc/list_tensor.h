// SPDX-License-Identifier: Apache-2.0
// Tensor lists: one block of GM words with the shapes first and the addresses behind them.
#pragma once

#include "ascendc/tensor.h"

namespace AscendC {

class ListTensorDesc;

template <typename T>
class TensorDesc {
 public:
  // GetDesc stores here the sizes of the dimensions.
  void SetShapeAddr(uint64_t* shapePtr) { shape_ = shapePtr; }
  uint64_t GetDim() { return dim_; }
  uint64_t GetIndex() { return index_; }
  uint64_t GetShape(uint32_t offset) { return shape_[offset]; }
  __gm__ T* GetDataPtr() { return data_; }
  GlobalTensor<T> GetDataObj() {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(data_);
    return tensor;
  }

 private:
  friend class ListTensorDesc;
  uint64_t* shape_ = nullptr;
  uint64_t dim_ = 0;
  uint64_t index_ = 0;
  __gm__ T* data_ = nullptr;
};

class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  ListTensorDesc(__gm__ void* data, uint32_t length = UINT32_MAX, uint32_t shapeSize = UINT32_MAX) {
    Init(data, length, shapeSize);
  }

  // The first word is the distance of the addresses in bytes; between the two, for each tensor, its number of dimensions and
  // its index in one word, then the dimensions. A list without shapes has one word that counts the addresses.
  void Init(__gm__ void* data, uint32_t length = UINT32_MAX, uint32_t shapeSize = UINT32_MAX) {
    base_ = static_cast<uint8_t*>(data);
    addresses_ = Word(0) / sizeof(uint64_t);
    shapes_ = Dims(1) != 0;
    size_ = shapes_ ? 0 : static_cast<uint32_t>(Index(1));
    for (uint64_t at = 1; shapes_ && at < addresses_; at += 1 + Dims(at)) {
      ++size_;
    }
    const bool fits = (length == UINT32_MAX || (addresses_ + size_) * sizeof(uint64_t) <= length) &&
                      (shapeSize == UINT32_MAX || size_ == shapeSize);
    if (!fits) {
      aclsim::AssertFail("ListTensorDesc: length and shapeSize describe the list", __FILE__,
                         __LINE__, "");
    }
  }
  template <typename T>
  void GetDesc(TensorDesc<T>& desc, uint32_t index) {
    for (uint64_t at = 1; shapes_ && at < addresses_; at += 1 + Dims(at)) {
      if (Index(at) != index) {
        continue;
      }
      desc.dim_ = Dims(at);
      desc.index_ = index;
      for (uint64_t i = 0; i < desc.dim_ && desc.shape_ != nullptr; ++i) {
        desc.shape_[i] = Word(at + 1 + i);
      }
      break;
    }
    desc.data_ = GetDataPtr<T>(index);
  }
  template <typename T>
  __gm__ T* GetDataPtr(uint32_t index) {
    return reinterpret_cast<T*>(Word(addresses_ + index));
  }
  uint32_t GetSize() { return size_; }

 private:
  uint64_t Word(uint64_t i) const {
    uint64_t word;
    __builtin_memcpy(
        &word, aclsim::GmScalar(base_, i * sizeof(word), sizeof(word), aclsim::ScalarUse::kRead),
        sizeof(word));
    return word;
  }
  uint64_t Dims(uint64_t at) const { return Word(at) & UINT32_MAX; }
  uint64_t Index(uint64_t at) const { return Word(at) >> 32; }

  uint8_t* base_ = nullptr;
  uint64_t addresses_ = 0;  // index of the first one
  bool shapes_ = false;
  uint32_t size_ = 0;
};

}  // namespace AscendC
