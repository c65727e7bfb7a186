// SPDX-License-Identifier: Apache-2.0
// LocalTensor and GlobalTensor: typed views of UB and GM. Only scalar access happens here; instructions take the views.
#pragma once

#include <algorithm>

#include "ascendc/device_abi.h"
#include "ascendc/types.h"

namespace AscendC {

template <typename T>
using PrimT = T;

// Two of them share a byte, the first in the lower half. Only Cast and copies know the type.
struct int4b_t {
  int4b_t() = default;
  int4b_t(int value) : bits(static_cast<uint8_t>(value & 15)) {}
  uint8_t bits;
};

template <typename T>
struct SizeOfBits {
  static constexpr uint32_t value = 8 * sizeof(T);
};
template <>
struct SizeOfBits<int4b_t> {
  static constexpr uint32_t value = 4;
};

namespace detail {
// Types of which tensors count elements of four bits, two of them in a byte.
template <typename T>
constexpr bool kNibbles = std::is_same_v<T, int4b_t> || std::is_same_v<T, fp4x2_e2m1_t> ||
                          std::is_same_v<T, fp4x2_e1m2_t>;
template <typename T>
constexpr uint64_t BytesOf(uint64_t count) {
  return kNibbles<T> ? count / 2 : count * sizeof(T);
}
template <typename T>
constexpr uint64_t CountIn(uint64_t bytes) {
  return kNibbles<T> ? bytes * 2 : bytes / sizeof(T);
}
}  // namespace detail

}  // namespace AscendC

namespace aclsim {
template <>
struct DTypeOf<AscendC::int4b_t> {
  static constexpr DType value = DType::kInt8;  // its bytes
};
}  // namespace aclsim

namespace AscendC {

struct ShapeInfo {
  ShapeInfo() = default;
  ShapeInfo(uint8_t dims, const uint32_t* sizes, DataFormat format = DataFormat::ND)
      : shapeDim(dims), originalShapeDim(dims), dataFormat(format) {
    for (uint8_t i = 0; i < dims && i < 8; ++i) {
      shape[i] = originalShape[i] = sizes[i];
    }
  }
  ShapeInfo(uint8_t dims, const uint32_t* sizes, uint8_t originalDims, const uint32_t* originals,
            DataFormat format)
      : ShapeInfo(dims, sizes, format) {
    originalShapeDim = originalDims;
    for (uint8_t i = 0; i < originalDims && i < 8; ++i) {
      originalShape[i] = originals[i];
    }
  }
  uint8_t shapeDim = 0;
  uint8_t originalShapeDim = 0;
  uint32_t shape[8] = {};
  uint32_t originalShape[8] = {};
  DataFormat dataFormat = DataFormat::ND;
};

// Place and extent of a local tensor. Kernels copy it from one tensor to another; those that are older than the constructor with
// an address call InitBuffer, and then assign logicPos.
struct TBuffAddr {
  struct Position {
    Position& operator=(uint8_t to) {
      value = to;
      isNamed = true;
      // It is the first member: its address is that of the whole.
      reinterpret_cast<TBuffAddr*>(this)->Find();
      return *this;
    }
    operator uint8_t() const { return value; }
    uint8_t value = static_cast<uint8_t>(TPosition::VECCALC);
    bool isNamed = false;
  };
  void Find() {
    if (isByAddress) {
      const aclsim::Buffer found = aclsim::LocalAt(logicPos, bufferAddr, dataLen);
      addr = found.addr;
      buf = found.buf;
      generation = found.generation;
    }
  }

  Position logicPos;
  bool isByAddress = false;  // InitBuffer has said bufferAddr
  uint16_t generation = 0;
  uint32_t buf = 0;
  uint8_t* addr = nullptr;
  uint32_t bufferAddr = 0;
  uint32_t dataLen = 0;  // bytes
};

template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  explicit LocalTensor(const aclsim::Buffer& buffer, TPosition pos = TPosition::VECCALC) {
    address_.logicPos.value = static_cast<uint8_t>(pos);
    address_.generation = buffer.generation;
    address_.buf = buffer.buf;
    address_.addr = buffer.addr;
    address_.dataLen = static_cast<uint32_t>(buffer.bytes);
  }
  LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize)
      : LocalTensor(aclsim::LocalAt(static_cast<uint8_t>(pos), addr, detail::BytesOf<T>(tileSize)),
                    pos) {}

  // c = a + b and its like, see vec_operators.h: the instruction over the whole of this tensor.
  template <typename Expression, typename = typename Expression::TensorExpression>
  void operator=(const Expression& expression) const {
    expression.StoreIn(*this);
  }

  // bufferSize: in elements. A vector core has one local memory; elsewhere address_.logicPos names it.
  void InitBuffer(uint32_t bufferOffset, uint32_t bufferSize) {
    address_.bufferAddr = bufferOffset;
    address_.dataLen = static_cast<uint32_t>(detail::BytesOf<T>(bufferSize));
    address_.isByAddress = true;
#ifdef ACLSIM_FOR_CUBE
    if (!address_.logicPos.isNamed) {
      return;
    }
#endif
    address_.Find();
  }

  T GetValue(uint32_t offset) const { return *At(offset, aclsim::ScalarUse::kRead); }
  template <typename S>
  void SetValue(uint32_t offset, S value) const {
    *At(offset, aclsim::ScalarUse::kWrite) = static_cast<T>(value);
  }
  T& operator()(uint32_t offset) const { return *At(offset, aclsim::ScalarUse::kReference); }

  LocalTensor operator[](uint32_t offset) const {
    LocalTensor view = *this;
    const uint64_t bytes = detail::BytesOf<T>(offset);
    view.address_.addr += bytes;
    view.address_.bufferAddr += static_cast<uint32_t>(bytes);
    view.address_.dataLen -= static_cast<uint32_t>(std::min<uint64_t>(bytes, address_.dataLen));
    return view;
  }
  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> view;
    view.address_ = address_;
    return view;
  }

  // An integer, as on the device: kernels keep it in lists and cast it to __ubuf__ pointers.
  uint64_t GetPhyAddr() const { return GetPhyAddr(0); }
  uint64_t GetPhyAddr(uint32_t offset) const {
    return reinterpret_cast<uint64_t>(address_.addr + detail::BytesOf<T>(offset));
  }
  uint32_t GetSize() const { return static_cast<uint32_t>(detail::CountIn<T>(address_.dataLen)); }
  uint32_t GetLength() const { return address_.dataLen; }
  void SetSize(uint32_t size) { SetBufferLen(static_cast<uint32_t>(detail::BytesOf<T>(size))); }
  void SetBufferLen(uint32_t length) { address_.dataLen = length; }
  int32_t GetPosition() const { return address_.logicPos; }
  void SetAddr(const TBuffAddr& address) { address_ = address; }
  // TBuf::GetBufferAddr takes it. It stands for the buffer and is no address.
  uint8_t* GetBufferHandle() const {
    return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address_.buf));
  }
  const TBuffAddr& Address() const { return address_; }
  void SetShapeInfo(const ShapeInfo& info) { shapeInfo_ = info; }
  ShapeInfo GetShapeInfo() const { return shapeInfo_; }

  operator aclsim::Ub() const {
    return aclsim::Ub{address_.addr, address_.buf, aclsim::DTypeOf<T>::value, address_.generation};
  }
  uint32_t BufferHandle() const { return address_.buf; }

  TBuffAddr address_;

 private:
  T* At(uint32_t offset, aclsim::ScalarUse use) const {
    static_assert(!std::is_same_v<T, int4b_t>,
                  "GetValue and SetValue of int4b_t do not exist: reinterpret it as int8_t");
    return reinterpret_cast<T*>(
        aclsim::UbScalar(*this, uint64_t(offset) * sizeof(T), sizeof(T), use));
  }

  ShapeInfo shapeInfo_;
};

template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  void SetGlobalBuffer(__gm__ T* buffer, uint64_t size) {
    address_ = buffer;
    bufferSize_ = size;
    aclsim::NoteGlobalTensor(buffer);
  }
  void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }

  T GetValue(uint64_t offset) const { return *At(offset, aclsim::ScalarUse::kRead); }
  void SetValue(uint64_t offset, T value) { *At(offset, aclsim::ScalarUse::kWrite) = value; }
  T& operator()(uint64_t offset) const { return *At(offset, aclsim::ScalarUse::kReference); }
  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor view = *this;
    view.address_ = address_ + detail::BytesOf<T>(offset) / sizeof(T);
    view.bufferSize_ = bufferSize_ > offset ? bufferSize_ - offset : 0;
    return view;
  }

  T* GetPhyAddr() const { return address_; }
  T* GetPhyAddr(uint64_t offset) const { return address_ + offset; }
  uint64_t GetSize() const { return bufferSize_; }
  void SetShapeInfo(const ShapeInfo& info) { shapeInfo_ = info; }
  ShapeInfo GetShapeInfo() const { return shapeInfo_; }
  template <CacheRwMode mode = CacheRwMode::RW>
  // Results do not depend on where a line is cached; the time of copies does.
  void SetL2CacheHint(CacheMode hint) {
    aclsim::HintL2(address_, mode != CacheRwMode::WRITE, mode != CacheRwMode::READ,
                   hint == CacheMode::CACHE_MODE_DISABLE);
  }
#if __NPU_ARCH__ == 3510
  // Returns a tensor of the same memory, with elements of another type.
  template <typename U>
  GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> view;
    view.address_ = reinterpret_cast<__gm__ U*>(address_);
    view.bufferSize_ = bufferSize_ * sizeof(T) / sizeof(U);
    return view;
  }
#endif

  // Kernels reach for these two by their names in the toolkit.
  __gm__ T* address_ = nullptr;
  uint64_t bufferSize_ = 0;

 private:
  T* At(uint64_t offset, aclsim::ScalarUse use) const {
    return reinterpret_cast<T*>(aclsim::GmScalar(address_, offset * sizeof(T), sizeof(T), use));
  }

  ShapeInfo shapeInfo_;
};

}  // namespace AscendC
