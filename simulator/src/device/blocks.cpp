// SPDX-License-Identifier: Apache-2.0
// IBSet and IBWait, WaitPreBlock and NotifyNextBlock: cores that wait for one another. The memory that hardware polls is
// checked and stays as it is. Accesses past the data cache, by which cores wait for one another themselves.
#include "ascendc/device_registers.h"
#include "device/vec.h"
#include "engine/meeting.h"
#include "engine/pipe.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

void Settle(Core& core) {
  core.scheduler->Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
}

// Address of the slot, when all pipes are empty.
uint64_t ReachSlot(Core& core, const void* gm, const Ub& ub, int32_t block, int32_t event) {
  const auto cores = static_cast<int32_t>(core.launch.CoresOf(core.kind));
  if (block < 0 || block >= cores || event < 0) {
    ThrowFault("block-event",
               Format("%s of block %d and event %d; the launch has %d blocks", core.instruction,
                      block, event, cores),
               "Hardware waits for a mark that nobody sets: a hang. Name a block of the launch.");
  }
  const uint64_t offset = (uint64_t{static_cast<uint32_t>(cores)} * static_cast<uint32_t>(event) +
                           static_cast<uint32_t>(block)) *
                          kBlock;
  core.CheckGm(static_cast<const uint8_t*>(gm) + offset, kBlock, true, "gmWorkspace");
  CheckOperand(core, ub, kBlock, "ubWorkspace");
  const uint64_t slot = reinterpret_cast<uint64_t>(gm) + offset;
  Settle(core);
  core.SyncWords(slot, slot + kBlock);
  return slot;
}

}  // namespace

void BlockSet(const void* gm, const Ub& ub, int32_t block, int32_t event) try {
  Core& core = Core::Current();
  core.instruction = "IBSet";
  const uint64_t slot = ReachSlot(core, gm, ub, block, event);
  core.Meet(kMarkSet,
            core.meeting->SetMark(core, slot, Format("block %d and event %d", block, event)));
}
ACLSIM_SKIPS_FAULTS()

void BlockWait(const void* gm, const Ub& ub, int32_t block, int32_t event) try {
  Core& core = Core::Current();
  core.instruction = "IBWait";
  const uint64_t slot = ReachSlot(core, gm, ub, block, event);
  core.Meet(kMarkTaken, core.meeting->TakeMark(core, slot));
}
ACLSIM_SKIPS_FAULTS()

void BlockTurn(Turn turn, const void* gm, uint64_t gmBytes, const Ub& ub) try {
  Core& core = Core::Current();
  constexpr const char* kNames[] = {"InitDetermineComputeWorkspace", "WaitPreBlock",
                                    "NotifyNextBlock"};
  core.instruction = kNames[static_cast<size_t>(turn)];
  const auto blocks = static_cast<int64_t>(core.launch.CoresOf(core.kind));
  const auto wanted = static_cast<uint64_t>(blocks * kBlock);
  core.CheckGm(gm, wanted, true, "gmWorkspace");
  if (gmBytes != 0 && gmBytes < wanted) {
    PassFault("sync-workspace",
              Format("gmWorkspace has %llu bytes, %lld blocks take 32 each: %llu",
                     static_cast<unsigned long long>(gmBytes), static_cast<long long>(blocks),
                     static_cast<unsigned long long>(wanted)),
              "Hardware writes the words of the last blocks behind it. Give SetGlobalBuffer "
              "GetBlockNum() * 8 elements at least, and ask the host for as much.",
              "done, on the memory behind it");
  }
  CheckOperand(core, ub, (blocks + 1) * kBlock, "ubWorkspace");
  if (turn == Turn::kInit) {
    core.meeting->InitTurns();
    return;
  }
  Settle(core);
  if (turn == Turn::kPass) {
    core.Meet(kTurnPassed, core.meeting->PassTurn(core));
    return;
  }
  if (const uint32_t turn = core.meeting->AwaitTurn(core); turn > 0) {
    core.Meet(kTurnTaken, turn - 1);
  }
}
ACLSIM_SKIPS_FAULTS()

void BypassWrite(void* addr, const void* value, uint32_t bytes) try {
  Core& core = Core::Current();
  core.instruction = "WriteGmByPassDCache";
  const auto begin = reinterpret_cast<uint64_t>(addr);
  core.BypassWrite(begin, begin + bytes);
  uint8_t* to = GmScalar(addr, 0, bytes, ScalarUse::kWrite);
  core.instruction = "WriteGmByPassDCache";
  CleanCache(addr);
  const uint32_t number = core.meeting->Store(core, to, value, bytes);
  core.MakeSync(SyncEvent::Kind::kCores, Pipe::kScalar, Pipe::kScalar, kStored, number);
}
ACLSIM_SKIPS_FAULTS()

void BypassRead(const void* addr, void* value, uint32_t bytes) try {
  Core& core = Core::Current();
  CleanCache(addr);
  const uint8_t* from = ReachGmScalar(addr, 0, bytes, ScalarUse::kRead);
  core.instruction = "ReadGmByPassDCache";
  core.scheduler->ReachCores();
  if (const uint32_t number = core.meeting->Load(core, from, value, bytes); number != 0) {
    core.Meet(kSomeCores, number);
  }
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
