// SPDX-License-Identifier: Apache-2.0
// Memory that the ranks of a communicator share: who is there, what they call, and a ring of bytes from each rank to each other. It has
// no name in the file system: the host takes it back with the last process, however that ends, and only its owner can open it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "hccl/hccl_types.h"

namespace aclsim {

// A message belongs to a call; both ends must say the same.
struct HcclCall {
  uint32_t function = 0;
  uint32_t type = 0;
  uint32_t reduce = 0;
  uint32_t root = 0;
  uint64_t number = 0;  // of the communicator's collective calls, from 1
  uint64_t count = 0;
  uint64_t bytes = 0;  // of this message
};

class SharedMemory {
 public:
  static constexpr uint32_t kMostRanks = 64;
  static constexpr uint64_t kRing = 256 << 10;

  // From one rank to another. A message is announced, its bytes go through the ring, and it is finished when all were taken.
  struct Channel {
    alignas(64) std::atomic<uint64_t> announced;
    HcclCall call;
    std::atomic<uint64_t> sent;
    alignas(64) std::atomic<uint64_t> taken;
    std::atomic<uint64_t> finished;
  };

  // Makes one, or returns null with the reason. What others need to open it is in *root.
  static std::shared_ptr<SharedMemory> Create(HcclRootInfo* root, std::string* why);
  static std::shared_ptr<SharedMemory> Open(const HcclRootInfo& root, std::string* why);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Becomes a rank, and makes room for all. False with the reason.
  bool Join(uint32_t ranks, uint32_t rank, int32_t device, std::string* why);
  void Leave(uint32_t rank);
  uint32_t Joined() const;
  // Another rank is on the device of this one.
  bool SharesDevice(uint32_t rank, uint32_t* other) const;

  Channel& ChannelOf(uint32_t from, uint32_t to) const;
  uint8_t* RingOf(uint32_t from, uint32_t to) const;

  // Wakes a rank that waits; the value changes with every call.
  void Ring(uint32_t rank);
  uint32_t Rings(uint32_t rank) const;
  // Waits until it has another value, or for that time.
  void AwaitRing(uint32_t rank, uint32_t known, std::chrono::milliseconds atMost) const;

  // Why nothing comes from that rank any more: it left the communicator, or its process has ended. Empty while it is there.
  std::string Missing(uint32_t rank) const;
  // The first failure is that of all ranks.
  void Fail(const std::string& text);
  std::string Failure() const;

  const std::string& name() const { return name_; }

 private:
  struct Header;
  struct Member;
  SharedMemory() = default;
  bool Map(uint64_t bytes, std::string* why);
  Member& MemberOf(uint32_t rank) const;
  void RingAll();

  int file_ = -1;
  uint8_t* base_ = nullptr;
  uint64_t bytes_ = 0;
  uint32_t ranks_ = 0;
  std::string name_;
};

}  // namespace aclsim
