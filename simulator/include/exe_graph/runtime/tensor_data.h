// SPDX-License-Identifier: Apache-2.0
// Address, size and placement of a tensor's bytes. Never owns them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/error_codes.h"

namespace gert {

using TensorAddress = void*;
using ConstTensorAddressPtr = const void*;

enum TensorPlacement : int32_t {
  kOnDeviceHbm,
  kOnHost,
  kFollowing,
  kOnDeviceP2p,
  kTensorPlacementEnd
};

class TensorPlacementUtils {
 public:
  static bool IsOnDevice(TensorPlacement placement) {
    return placement == kOnDeviceHbm || placement == kOnDeviceP2p;
  }
  static bool IsOnHost(TensorPlacement placement) {
    return placement == kOnHost || placement == kFollowing;
  }
};

class TensorData {
 public:
  TensorData() = default;
  TensorData(TensorAddress addr, size_t size, TensorPlacement placement)
      : addr_(addr), size_(size), placement_(placement) {}

  TensorAddress GetAddr() const { return addr_; }
  void SetAddr(ConstTensorAddressPtr addr) { addr_ = const_cast<TensorAddress>(addr); }
  size_t GetSize() const { return size_; }
  void SetSize(size_t size) { size_ = size; }
  TensorPlacement GetPlacement() const { return placement_; }
  void SetPlacement(TensorPlacement placement) { placement_ = placement; }

 private:
  TensorAddress addr_ = nullptr;
  size_t size_ = 0;
  TensorPlacement placement_ = kTensorPlacementEnd;
};

}  // namespace gert
