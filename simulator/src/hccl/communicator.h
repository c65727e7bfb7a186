// SPDX-License-Identifier: Apache-2.0
// One rank of a communicator: its calls run one after another, in the order in which they were made, on the workers of its streams.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hccl/shared_memory.h"
#include "host/lock.h"
#include "runtime/stream.h"

namespace aclsim {

// A message to or from another rank, as device memory.
struct HcclMessage {
  uint32_t peer = 0;
  bool send = false;
  const void* memory = nullptr;
  uint64_t bytes = 0;
  HcclCall call = {};
};

class Communicator {
 public:
  Communicator(std::shared_ptr<SharedMemory> memory, uint32_t ranks, uint32_t rank,
               std::string name, std::chrono::seconds timeout)
      : memory_(std::move(memory)),
        ranks_(ranks),
        rank_(rank),
        name_(std::move(name)),
        timeout_(timeout),
        begun_(ranks * 2) {}
  ~Communicator() { memory_->Leave(rank_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  uint32_t ranks() const { return ranks_; }
  uint32_t rank() const { return rank_; }
  const std::string& name() const { return name_; }
  std::string Failure() const { return memory_->Failure(); }

  // Number of a call, and of a call of all ranks, from 1.
  uint64_t NextTurn() { return ++turns_; }
  uint64_t NextCollective() { return ++collectives_; }

  // Runs body when all calls before it have run; on the worker of the stream.
  TaskResult InTurn(uint64_t turn, const std::string& what, const Stream& stream,
                    const std::function<TaskResult()>& body);
  // The call of that turn will not run, as its stream has failed or is gone.
  void Skip(uint64_t turn, const std::string& why);

  // Sends and receives; each pair of ranks in the order of the list. Within InTurn only.
  TaskResult Exchange(const std::vector<HcclMessage>& messages);
  // The same with plain memory in place of device memory.
  struct Part {
    uint32_t peer = 0;
    bool send = false;
    uint8_t* bytes = nullptr;
    uint64_t size = 0;
    HcclCall call = {};
    uint64_t done = 0;
    uint64_t number = 0;  // of the channel's messages; 0: has not begun
    bool over = false;
  };
  TaskResult Exchange(std::vector<Part>* parts);

 private:
  bool Advance(Part& part, std::string* mismatch);
  TaskResult Fail(const std::string& text);
  void EndTurn(uint64_t turn);

  const std::shared_ptr<SharedMemory> memory_;
  const uint32_t ranks_;
  const uint32_t rank_;
  const std::string name_;
  const std::chrono::seconds timeout_;
  std::atomic<uint64_t> turns_{0};
  std::atomic<uint64_t> collectives_{0};

  Mutex<6, "turn of a communicator"> mutex_;
  Condition ended_;
  uint64_t turn_ = 1;        // runs now, or is next
  std::set<uint64_t> over_;  // turns after it that are over

  // Calls that run in turn have these for themselves.
  std::vector<uint64_t> begun_;  // messages to each rank, then from each
  std::string what_;
  const Stream* stream_ = nullptr;
};

// An error names by this what two ranks call.
std::string HcclCallText(const HcclCall& call);

}  // namespace aclsim
