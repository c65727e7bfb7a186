// SPDX-License-Identifier: Apache-2.0
// Vector functions of Ascend 950: their beginning and end, masks, and what of registers is undefined.
#include "device/reg.h"

#include <algorithm>
#include <exception>
#include <memory>

#include "device/reg_memory.h"
#include "engine/keep_going.h"
#include "engine/scheduler.h"

namespace aclsim {

thread_local VectorState* vectorState
    __attribute__((tls_model("initial-exec"), visibility("hidden"))) = nullptr;

VectorState& ThreadVectorState() {
  if (vectorState == nullptr) {
    thread_local const auto state = std::make_unique<VectorState>();
    vectorState = state.get();
  }
  return *vectorState;
}

void OutsideOfFunction(const char* name) {
  Core::Current().instruction = name;
  ThrowFault("vector-function", "a register instruction outside of a vector function",
             "The device compiler rejects it. Put it into __VEC_SCOPE__ { }, or into a __simd_vf__ "
             "function that asc_vf_call starts.");
}

void RegisterDType(const char* name, DType dtype) {
  ThrowFault("dtype-unsupported", Format("%s of registers does not take %s", name, NameOf(dtype)),
             "The device compiler rejects it. Cast first.");
}

void VectorFunctionBegin() {
  Core& core = Core::Current();
  core.instruction = "vector function";
  VectorState& state = ThreadVectorState();
  if (state.core != nullptr) {
    ThrowFault("vector-function", "a vector function within another one",
               "The device compiler rejects it. Functions that a vector function calls are "
               "__simd_callee__, without asc_vf_call.");
  }
  if (core.soc.npuArch != 3510) {
    EndCore("instruction-absent",
            Format("%s has no vector functions and no register-level instructions",
                   core.soc.name.c_str()),
            "Hardware without them cannot load this kernel. Use instructions on LocalTensor, or a "
            "SoC of Ascend 950.");
  }
  // Its code runs at once: what stands before it in the vector pipe has to be done.
  core.CountInstruction();
  core.scheduler->Drain(Pipe::kVector);
  state.observed = core.Observed();
  state.number = state.number == UINT32_MAX ? 1 : state.number + 1;
  state.ranges = {};
  state.squeezed = 0;
  state.squeezedWaits = false;
  state.arguments.clear();
  ForgetOrder(state);
  if (state.observed) {
    // A load may reach behind the end.
    const size_t blocks = (core.image.Bytes() + 2 * kRegBytes) / kBlock + 1;
    state.storedLast.resize(blocks);
    state.loadedLast.resize(blocks);
    state.site = core.sites.Capture();
    core.vectorSite = state.site;
  }
  state.timer = core.Timer();
  if (state.timer != nullptr) {
    state.timer->Begin();
  }
  state.core = &core;
}

void VectorFunctionGets(const void* const* addresses, size_t count) {
  VectorState& state = ThreadVectorState();
  state.arguments.assign(addresses, addresses + count);
  std::erase(state.arguments, nullptr);
}

void VectorFunctionIsCalled() { ThreadVectorState().called = true; }

bool VectorFunctionEnter() {
  VectorState& state = ThreadVectorState();
  if (state.core != nullptr && state.called) {
    state.called = false;
    return false;
  }
  VectorFunctionBegin();
  return true;
}

void VectorFunctionEnd() {
  VectorState& state = ThreadVectorState();
  state.called = false;
  Core* const core = state.core;
  state.core = nullptr;
  if (core == nullptr || std::uncaught_exceptions() > 0) {
    return;
  }
  core->instruction = "vector function";
  for (const VectorState::Held& held : state.heldBack) {
    LostBytes(*core, held);
  }
  if (state.observed) {
    core->Tell(Pipe::kVector, [&](Record& record) {
      record.flow = Flow::kNone;
      record.vectorFunction = state.number;
      record.cycles = state.timer != nullptr ? state.timer->End() : 0;
    });
  }
}

// --- masks ------------------------------------------------------------------------------------------------------------

namespace {

uint64_t Every2(uint64_t bits) {
  bits &= 0x5555555555555555;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
  return (bits | bits >> 16) & 0xffffffff;
}
uint64_t Twice2(uint64_t bits) {
  bits &= 0xffffffff;
  bits = (bits | bits << 16) & 0x0000ffff0000ffff;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & 0x5555555555555555;
}

int Halvings(size_t width) { return width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3; }

}  // namespace

void PackLanes(const uint64_t* bits, size_t width, uint8_t* packed) {
  const size_t bytes = 8 / width;
  for (size_t word = 0; word < 4; ++word) {
    uint64_t lanes = bits[word];
    for (int i = Halvings(width); i > 0; --i) {
      lanes = Every2(lanes);
    }
    std::memcpy(packed + word * bytes, &lanes, bytes);
  }
}

void SpreadLanes(const uint8_t* packed, size_t width, uint64_t* bits) {
  const size_t bytes = 8 / width;
  for (size_t word = 0; word < 4; ++word) {
    uint64_t lanes = 0;
    std::memcpy(&lanes, packed + word * bytes, bytes);
    for (int i = Halvings(width); i > 0; --i) {
      lanes = Twice2(lanes);
    }
    bits[word] = lanes;
  }
}

void Blend(uint8_t* dst, const RegMask& mask, size_t width, const uint8_t* from, bool merge) {
  alignas(64) static constexpr uint8_t kZeros[kRegBytes] = {};
  const uint8_t* const other = merge ? dst : kZeros;
  const size_t lanes = kRegBytes / width;
  if (width == 2 || width == 4) {
    uint8_t packed[32];
    PackLanes(mask.bits, width, packed);
    (width == 2 ? Lanes().select2 : Lanes().select4)(dst, packed, from, other, 1, lanes);
    return;
  }
  for (size_t i = 0; i < lanes; ++i) {
    std::memcpy(dst + i * width, (Works(mask, width, i) ? from : other) + i * width, width);
  }
}

void FillRegister(uint8_t* dst, uint64_t value, size_t width) {
  switch (width) {
    case 1:
      std::memset(dst, static_cast<uint8_t>(value), kRegBytes);
      return;
    case 2:
      std::fill_n(reinterpret_cast<uint16_t*>(dst), kRegBytes / 2, static_cast<uint16_t>(value));
      return;
    case 4:
      std::fill_n(reinterpret_cast<uint32_t*>(dst), kRegBytes / 4, static_cast<uint32_t>(value));
      return;
    default:
      std::fill_n(reinterpret_cast<uint64_t*>(dst), kRegBytes / 8, value);
  }
}

// --- undefined lanes --------------------------------------------------------------------------------------------------

void SelectAll(const RegMask& mask) {
  auto& unset = const_cast<RegMask&>(mask);
  std::fill(std::begin(unset.bits), std::end(unset.bits), ~uint64_t{0});
  std::fill(std::begin(unset.undefined), std::end(unset.undefined), ~uint64_t{0});
  unset.state = Reg::kPartly;
  unset.after.function = vectorState->number;
  unset.origin = HeldLanes::kNeverWritten | vectorState->core->sites.Capture();
}

const uint8_t* ShadowOf(const Reg& reg, uint8_t* temp) {
  if (reg.state == Reg::kPartly) {
    return reg.shadow;
  }
  std::memset(temp, reg.state == Reg::kNever ? 0xFF : 0, kRegBytes);
  return temp;
}

uint32_t OriginOf(const VectorState& state, const Reg& reg) {
  return reg.state == Reg::kNever ? HeldLanes::kNeverWritten | state.core->sites.Capture()
                                  : reg.origin;
}

void SettleShadow(Reg* reg, uint32_t origin) {
  reg->state = AnyUndefined(reg->shadow, kRegBytes) ? Reg::kPartly : Reg::kWritten;
  reg->origin = origin;
}

void TrackSlowly(const VectorState& state, Reg* dst, std::initializer_list<const Reg*> sources,
                 const RegMask* mask, size_t width, bool merge) {
  uint8_t temp[kRegBytes];
  uint8_t result[kRegBytes] = {};
  uint32_t origin = 0;
  for (const Reg* source : sources) {
    if (IsClean(*source)) {
      continue;
    }
    const uint8_t* const shadow = ShadowOf(*source, temp);
    origin = OriginOf(state, *source);
    for (size_t i = 0; i < kRegBytes; ++i) {
      result[i] |= shadow[i];
    }
  }
  const uint8_t* const old = merge ? ShadowOf(*dst, temp) : nullptr;
  const uint32_t oldOrigin = merge && !IsClean(*dst) ? OriginOf(state, *dst) : 0;
  for (size_t lane = 0; lane < kRegBytes; lane += width) {
    uint8_t any = 0;
    for (size_t i = lane; i < lane + width; ++i) {
      any |= result[i];
    }
    const bool works = mask == nullptr || Works(*mask, 1, lane);
    if (!works) {
      any = 0;
      for (size_t i = lane; old != nullptr && i < lane + width; ++i) {
        any |= old[i];
      }
    }
    if (mask != nullptr && UndefinedAt(*mask, lane)) {
      any = 0xFF;
      origin = origin != 0 ? origin : mask->origin;
    }
    std::memset(result + lane, any != 0 ? 0xFF : 0, width);
  }
  std::memcpy(dst->shadow, result, kRegBytes);
  SettleShadow(dst, origin != 0 ? origin : oldOrigin);
}

}  // namespace aclsim
