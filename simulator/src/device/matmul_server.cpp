// SPDX-License-Identifier: Apache-2.0
// What AIVs and their AIC tell each other about Matmul objects: requests and answers, each with the order between their pipes.
#include <algorithm>
#include <cstring>

#include "ascendc/matmul_abi.h"
#include "device/cube.h"
#include "device/matmul_flags.h"
#include "device/tscm.h"
#include "engine/flag_numbers.h"
#include "engine/gm_shadow.h"
#include "engine/meeting.h"
#include "engine/scheduler.h"
#include "engine/tiling_checks.h"

namespace aclsim {

namespace {

// Behind those that kernels may set.
constexpr uint16_t kRequested = 16, kAnswered = 17;

std::vector<uint8_t> BytesOf(const void* from, uint32_t bytes) {
  const auto* first = static_cast<const uint8_t*>(from);
  return {first, first + bytes};
}

Core& CurrentCore() {
  Core& core = Core::Current();
  core.instruction = "Matmul";
  return core;
}

// The flag tells what `pipe` has done before and has waited for.
void TellBehind(Core& core, Pipe pipe, uint16_t flag, uint32_t of, std::function<void()> tell) {
  const SyncEvent event =
      core.MakeSync(SyncEvent::Kind::kSet, pipe, Pipe::kScalar, CoreFlag(flag), of);
  core.scheduler->SetForCores(event, [&core, event, tell = std::move(tell)] {
    core.Sync(event);
    tell();
  });
}

void Heard(Core& core, uint16_t flag, uint32_t of) {
  core.Sync(
      core.MakeSync(SyncEvent::Kind::kWait, Pipe::kScalar, Pipe::kScalar, CoreFlag(flag), of));
}

}  // namespace

void PostBehindMte3(Core& core, uint32_t object, std::vector<uint8_t> body) {
  Request told{std::move(body), CaptureStack()};
  TellBehind(core, Pipe::kMte3, kRequested, FlagSenders::OfObject(core.index, object),
             [&core, told = std::move(told)] { core.meeting->Post(core, told); });
}

void AnswerBehind(Core& core, Pipe pipe, uint32_t vector, uint32_t object,
                  std::vector<uint8_t> body) {
  const uint32_t to = core.index + 1 + vector;
  TellBehind(core, pipe, kAnswered, FlagSenders::OfObject(to, object),
             [&core, to, object, body = std::move(body)] {
               core.meeting->Answer(core, to, object, body);
             });
}

bool MatmulRegister(uint32_t objects, uint8_t* workspace) {
  Core& core = CurrentCore();
  core.registers.matmulWorkspace = workspace;
  if (!core.launch.Mixed()) {
    MatmulMisuse("REGIST_MATMUL_OBJ",
                 core.kind == CoreKind::kCube ? "the kernel runs on AICs alone"
                                              : "the kernel runs on AIVs alone",
                 "Without ASCENDC_CUBE_ONLY the AIVs' calls work on their AIC: the kernel type is "
                 "KERNEL_TYPE_MIX_AIC_1_2 or __mix__(1, 2). With it, cube cores call: "
                 "KERNEL_TYPE_AIC_ONLY or __cube__.");
  }
  if (objects > FlagSenders::kMostObjects) {
    MatmulMisuse("REGIST_MATMUL_OBJ", Format("there are %u objects", objects).c_str(),
                 "A MIX kernel registers 4 at most.");
  }
  core.meeting->Register(core, objects);
  return core.kind == CoreKind::kCube;
}

void MatmulRequest(uint32_t object, const void* request, uint32_t bytes) {
  Core& core = CurrentCore();
  if (core.kind == CoreKind::kCube) {
    MatmulMisuse("The AIC's half", "it goes on behind REGIST_MATMUL_OBJ and calls an object",
                 "REGIST_MATMUL_OBJ returns from its function on the AIC: call it in the kernel "
                 "function itself, or call objects under ASCEND_IS_AIV.");
  }
  if (object >= core.meeting->Objects(core)) {
    MatmulMisuse("The first call", "the object is not registered",
                 "Name it in REGIST_MATMUL_OBJ, which both halves get to.");
  }
  PostBehindMte3(core, object, BytesOf(request, bytes));
}

int32_t MatmulServe(int32_t holder, void* request, uint32_t bytes) {
  Core& core = CurrentCore();
  const uint32_t first = core.index + 1;
  for (;;) {
    core.scheduler->ReachCores();
    uint32_t vector = 0;
    const Request* told = core.meeting->TakeRequest(
        core, holder < 0 ? UINT32_MAX : first + static_cast<uint32_t>(holder), &vector);
    if (told == nullptr) {
      return -1;
    }
    uint32_t object = 0;  // a request begins with it
    std::memcpy(&object, told->body.data(), sizeof(object));
    Heard(core, kRequested, FlagSenders::OfObject(vector, object));
    if (CopiedToTscm(core, vector - first, *told)) {
      continue;
    }
    std::memcpy(request, told->body.data(), std::min<size_t>(bytes, told->body.size()));
    return static_cast<int32_t>(vector - first);
  }
}

void MatmulAnswer(uint32_t vector, uint32_t object, const void* answer, uint32_t bytes) {
  AnswerBehind(CurrentCore(), Pipe::kFix, vector, object, BytesOf(answer, bytes));
}

void MatmulAwait(uint32_t object, void* answer, uint32_t bytes) {
  Core& core = CurrentCore();
  core.scheduler->ReachCores();
  const std::vector<uint8_t> body = core.meeting->TakeAnswer(core, object);
  std::copy_n(body.begin(), std::min<size_t>(bytes, body.size()), static_cast<uint8_t*>(answer));
  Heard(core, kAnswered, FlagSenders::OfObject(core.index, object));
}

// Each AIV has room for a tile of C, as large as L0C, and behind that for an image of UB.
uint8_t* MatmulWorkspace(uint8_t* given, const void* local, uint64_t bytes, const char* what) {
  Core& core = CurrentCore();
  constexpr uintptr_t kNoAddress = 4096;  // of GetSysWorkSpacePtr, where the kernel has set none
  if (local != nullptr) {
    AwaitTscmCopies(core);
  }
  const uint64_t tile = core.soc.BytesOf(Space::kL0c);
  const uint64_t share = tile + core.soc.UbMemory();
  const uint64_t within = local == nullptr ? 0 : tile + core.UbOffset(local);
  const uint64_t offset = core.blockIdx * share + within;
  if (core.soc.matrix.HasWay(Space::kL0c, Space::kUb)) {
    uint8_t* const place =
        core.meeting->ExchangeOf(core.launch.CoresOf(CoreKind::kVector) * share) + offset;
    if (local != nullptr) {
      // Scaled products take K in steps of 64: what lies between the rows of an operand counts as zeros. The copy out of UB, which comes
      // next, names an operand that is longer than UB.
      const uint64_t room = std::min(bytes, share - within);
      std::memset(place, 0, room);
      MarkGm(place, room, true);
    }
    return place;
  }
  const GmRegion* region = WorkspaceOf(core.launch);
  if (reinterpret_cast<uintptr_t>(given) <= kNoAddress && region != nullptr) {
    given = region->addr;
  }
  try {
    core.CheckGm(given + offset, bytes, true, "workspace");
  } catch (KernelFault&) {
    MatmulMisuse("REGIST_MATMUL_OBJ",
                 Format("the workspace has no room for %s of AIV %u: bytes [%llu, %llu) of it",
                        what, core.blockIdx, static_cast<unsigned long long>(offset),
                        static_cast<unsigned long long>(offset + bytes))
                     .c_str(),
                 "Let the tiling function add GetLibApiWorkSpaceSize() to the workspace; a kernel "
                 "that is launched by <<<>>> marks a parameter as __kfc_workspace__, or calls "
                 "SetSysWorkspace, with 16 MiB.");
  }
  return given + offset;
}

}  // namespace aclsim
