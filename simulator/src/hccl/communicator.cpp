// SPDX-License-Identifier: Apache-2.0
#include "hccl/communicator.h"

#include <algorithm>
#include <cstring>

#include "aclsim/aclsim.h"
#include "hccl/calls.h"
#include "hccl/reduce.h"
#include "runtime/errors.h"

namespace aclsim {

namespace {

using Clock = std::chrono::steady_clock;
using Ull = unsigned long long;

// A rank that nothing comes to looks this often whether the others are alive.
constexpr auto kPoll = std::chrono::milliseconds(50);
// A step is what goes through a ring at once, so that both ends are busy.
constexpr uint64_t kStep = SharedMemory::kRing / 4;

bool SameCall(const HcclCall& a, const HcclCall& b) {
  return a.function == b.function && a.type == b.type && a.reduce == b.reduce && a.root == b.root &&
         a.number == b.number && a.count == b.count && a.bytes == b.bytes;
}

const char* NameOf(const char* const* names, size_t count, uint32_t value) {
  return value < count ? names[value] : "?";
}

const char* TypeName(uint32_t type) {
  static constexpr const char* kNames[] = {
      "int8",   "int16", "int32", "fp16",   "fp32", "int64", "uint64",  "uint8",   "uint16",
      "uint32", "fp64",  "bfp16", "int128", "?",    "hif8",  "fp8e4m3", "fp8e5m2", "fp8e8m0"};
  return NameOf(kNames, std::size(kNames), type);
}

}  // namespace

const char* HcclFunctionName(uint32_t function) {
  static constexpr const char* kNames[] = {"HcclSend or HcclRecv", "HcclAllReduce", "HcclReduce",
                                           "HcclReduceScatter",    "HcclBroadcast", "HcclScatter",
                                           "HcclAllGather",        "HcclAlltoAll",  "HcclAlltoAllV",
                                           "HcclAllGatherV",       "HcclBarrier"};
  return NameOf(kNames, std::size(kNames), function);
}

std::string HcclCallText(const HcclCall& call) {
  std::string text = HcclFunctionName(call.function);
  if (call.function == kHcclBarrier) {
    return text + Format(" (call %llu)", static_cast<Ull>(call.number));
  }
  text += Format(" of %llu %s", static_cast<Ull>(call.count), TypeName(call.type));
  if (call.function == kHcclAllReduce || call.function == kHcclReduce ||
      call.function == kHcclReduceScatter) {
    static constexpr const char* kOps[] = {"sum", "prod", "max", "min"};
    text += Format(", %s", NameOf(kOps, std::size(kOps), call.reduce));
  }
  if (call.function == kHcclReduce || call.function == kHcclBroadcast ||
      call.function == kHcclScatter) {
    text += Format(", root %u", call.root);
  }
  if (call.number != 0) {
    text += Format(" (call %llu)", static_cast<Ull>(call.number));
  }
  return text;
}

TaskResult Communicator::Fail(const std::string& text) {
  memory_->Fail(text);
  const std::string failure = memory_->Failure();
  return {ACL_ERROR_RT_INTERNAL_ERROR, failure.empty() ? text : failure};
}

void Communicator::EndTurn(uint64_t turn) {
  const std::lock_guard lock(mutex_);
  over_.insert(turn);
  while (over_.erase(turn_) != 0) {
    ++turn_;
  }
  ended_.notify_all();
}

TaskResult Communicator::InTurn(uint64_t turn, const std::string& what, const Stream& stream,
                                const std::function<TaskResult()>& body) {
  const auto end = Clock::now() + timeout_;
  {
    std::unique_lock lock(mutex_);
    while (turn_ != turn && !stream.abandoned() && Clock::now() < end) {
      ended_.wait_for(lock, kPoll);
    }
    if (turn_ != turn) {
      lock.unlock();
      return Fail(Format("%s: rank %u of %s waits for an earlier call on another stream",
                         what.c_str(), rank_, name_.c_str()));
    }
  }
  what_ = what;
  stream_ = &stream;
  TaskResult result = body();
  EndTurn(turn);
  return result;
}

void Communicator::Skip(uint64_t turn, const std::string& why) {
  memory_->Fail(why);
  EndTurn(turn);
}

TaskResult Communicator::Exchange(const std::vector<HcclMessage>& messages) {
  std::vector<Part> parts;
  for (const HcclMessage& message : messages) {
    void* view = nullptr;
    if (message.bytes != 0) {
      view = aclsimHostView(message.memory, message.bytes, message.send ? 0 : 1);
      if (view == nullptr) {
        return Fail(Format("%s: rank %u of %s: a buffer is device memory no more", what_.c_str(),
                           rank_, name_.c_str()));
      }
    }
    HcclCall call = message.call;
    call.bytes = message.bytes;
    parts.push_back({message.peer, message.send, static_cast<uint8_t*>(view), message.bytes, call});
  }
  return Exchange(&parts);
}

// Returns whether there was anything to do.
bool Communicator::Advance(Part& part, std::string* mismatch) {
  const uint32_t from = part.send ? rank_ : part.peer;
  const uint32_t to = part.send ? part.peer : rank_;
  SharedMemory::Channel& channel = memory_->ChannelOf(from, to);
  uint8_t* const ring = memory_->RingOf(from, to);
  if (part.number == 0) {
    uint64_t& begun = begun_[part.send ? part.peer : ranks_ + part.peer];
    if (!part.send && channel.announced != begun + 1) {
      return false;
    }
    part.number = ++begun;
    if (part.send) {
      channel.call = part.call;
      channel.sent = 0;
      channel.taken = 0;
      channel.announced = part.number;
      memory_->Ring(part.peer);
    } else if (const HcclCall call = channel.call; !SameCall(call, part.call)) {
      *mismatch =
          Format("rank %u called %s and sends %llu bytes; rank %u called %s and expects %llu",
                 part.peer, HcclCallText(call).c_str(), static_cast<Ull>(call.bytes), rank_,
                 HcclCallText(part.call).c_str(), static_cast<Ull>(part.call.bytes));
      return true;
    }
  }
  if (part.done == part.size) {
    if (!part.send) {
      channel.finished = part.number;
      memory_->Ring(part.peer);
    }
    part.over = channel.finished == part.number;
    return part.over;
  }
  // The other process may write anything here.
  const uint64_t waiting = part.send ? part.done - std::min<uint64_t>(channel.taken, part.done)
                                     : std::max<uint64_t>(channel.sent, part.done) - part.done;
  const uint64_t room = part.send ? SharedMemory::kRing - std::min(waiting, SharedMemory::kRing)
                                  : std::min(waiting, SharedMemory::kRing);
  const uint64_t at = part.done % SharedMemory::kRing;
  const uint64_t step = std::min({room, part.size - part.done, SharedMemory::kRing - at, kStep});
  if (step == 0) {
    return false;
  }
  if (part.send) {
    std::memcpy(ring + at, part.bytes + part.done, step);
  } else {
    std::memcpy(part.bytes + part.done, ring + at, step);
  }
  part.done += step;
  (part.send ? channel.sent : channel.taken) = part.done;
  memory_->Ring(part.peer);
  return true;
}

TaskResult Communicator::Exchange(std::vector<Part>* parts) {
  const auto end = Clock::now() + timeout_;
  // The next exchange has no use for what a failed one has left in the rings.
  if (const std::string failure = memory_->Failure(); !failure.empty()) {
    return {ACL_ERROR_RT_INTERNAL_ERROR, failure};
  }
  for (;;) {
    const uint32_t known = memory_->Rings(rank_);
    std::vector<bool> taken(ranks_ * 2);  // one message at a time to and from each rank
    bool moved = false;
    const Part* open = nullptr;
    for (Part& part : *parts) {
      const size_t way = part.send ? part.peer : ranks_ + part.peer;
      if (part.over || taken[way]) {
        continue;
      }
      taken[way] = true;
      std::string mismatch;
      moved = Advance(part, &mismatch) || moved;
      if (!mismatch.empty()) {
        return Fail(
            Format("%s: calls of communicator %s do not match: %s. Next: let every rank "
                   "make the same calls in the same order",
                   what_.c_str(), name_.c_str(), mismatch.c_str()));
      }
      open = part.over ? open : &part;
    }
    if (moved) {
      continue;
    }
    if (open == nullptr) {
      return {};
    }
    if (const std::string failure = memory_->Failure(); !failure.empty()) {
      return {ACL_ERROR_RT_INTERNAL_ERROR, failure};
    }
    if (stream_->abandoned()) {
      return Fail(Format("%s: rank %u of %s destroyed the stream before the call was over",
                         what_.c_str(), rank_, name_.c_str()));
    }
    memory_->AwaitRing(rank_, known, kPoll);
    if (memory_->Rings(rank_) != known) {
      continue;
    }
    for (const Part& part : *parts) {
      const std::string missing = part.over ? "" : memory_->Missing(part.peer);
      // The rank's last step may have come in between.
      if (!missing.empty() && memory_->Rings(rank_) == known) {
        return Fail(Format("%s (HCCL_E_REMOTE): %s, and rank %u of %s waits for it", what_.c_str(),
                           missing.c_str(), rank_, name_.c_str()));
      }
    }
    if (Clock::now() >= end) {
      return Fail(Format(
          "%s (HCCL_E_TIMEOUT): rank %u of %s has waited %lld s for rank %u. Next: let every "
          "rank make the same calls in the same order; HCCL_EXEC_TIMEOUT is the limit in "
          "seconds",
          what_.c_str(), rank_, name_.c_str(), static_cast<long long>(timeout_.count()),
          open->peer));
    }
  }
}

}  // namespace aclsim
