// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vector functions. A load may reach behind the end of its buffer, as kernels do with their last row: what
// is there counts as undefined. A store writes what its mask says, within the buffer.
#include "device/vf_memory.h"

#include <algorithm>

namespace aclsim {

Spot FindSpotAnew(VectorState& state, const void* address) {
  Core& core = *state.core;
  const Ub ub = UbPointer(address, DType::kUint8);
  if (ub.buf == 0) {
    EndCore(kUbOutOfBounds, "a load or store outside of every buffer",
            "Hardware raises an exception or corrupts another buffer.");
  }
  const BufferInfo& info = core.Info(ub.buf);
  VectorState::Range& range = state.ranges[state.nextRange++ % state.ranges.size()];
  range = {info.offset, uint64_t{info.offset} + info.bytes, ub.buf, ub.generation};
  return {ub, core.UbOffset(ub.addr), range.end};
}

// --- order within the function ----------------------------------------------------------------------------------------

void CheckOrder(VectorState& state, uint64_t begin, uint64_t end, const Reg* reg) {
  for (uint64_t block = begin / kBlock; block * kBlock < end; ++block) {
    const uint32_t last = state.storedLast[block];
    if (last <= state.ordered) {
      continue;
    }
    const VectorState::Stored& store = state.stores[last - 1];
    if (store.begin >= end || store.end <= begin || store.reg == reg) {
      continue;
    }
    Core& core = *state.core;
    const uint32_t site = core.sites.Capture();
    if (!core.IsFirst("local-memory-order", site, store.site)) {
      return;
    }
    Finding finding;
    finding.kind = "local-memory-order";
    finding.space = "UB";
    finding.at = core.PlaceOf(core.instruction, Pipe::kVector, site, "reads");
    finding.related.push_back(core.PlaceOf(store.name, Pipe::kVector, store.site, "wrote"));
    uint64_t start = 0;
    finding.buffer = core.BufferName(begin, &start);
    finding.begin = begin - start;
    finding.end = end - start;
    finding.detail = Format(
        "UB bytes [%llu, %llu) of %s are loaded behind a store to some of them in the same vector "
        "function, from another register, and nothing orders the two",
        static_cast<unsigned long long>(finding.begin),
        static_cast<unsigned long long>(finding.end), finding.buffer.c_str());
    finding.advice =
        "Hardware may load what was there before. LocalMemBar<MemType::VEC_STORE, "
        "MemType::VEC_LOAD>() between them.";
    core.Find(std::move(finding));
    return;
  }
}

namespace {

void NoteStore(VectorState& state, uint64_t begin, uint64_t end, const Reg* reg) {
  Core& core = *state.core;
  state.stores.push_back({begin, end, reg, core.sites.Capture(), core.instruction});
  std::fill(state.storedLast.begin() + static_cast<std::ptrdiff_t>(begin / kBlock),
            state.storedLast.begin() + static_cast<std::ptrdiff_t>((end + kBlock - 1) / kBlock),
            static_cast<uint32_t>(state.stores.size()));
}

}  // namespace

void RegBarrier(bool storesBefore, bool loadsAfter, bool) try {
  VectorState& state = InFunction("LocalMemBar");
  Timed(state, DType::kUint8);
  if (storesBefore && loadsAfter) {
    state.ordered = state.stores.size();
  }
}
ACLSIM_SKIPS_FAULTS()

// --- one load, one store ----------------------------------------------------------------------------------------------

void TellLoad(VectorState& state, const Spot& place, uint64_t bytes, HeldLanes* held,
              const Reg* reg) {
  Core& core = *state.core;
  const uint64_t have = std::min(bytes, place.end - place.offset);
  core.Tell(Pipe::kVector, [&](Record& record) {
    record.flow = Flow::kRegisters;
    record.vectorFunction = state.number;
    record.held = held;
    record.Add(DenseAccess(Use::kRead, place.offset, have, place.ub.buf));
  });
  if (have < bytes) {
    if (!held->undefined) {
      std::memset(held->shadow, 0, have);
      held->origin = HeldLanes::kBehindBuffer | core.sites.Capture();
    }
    held->undefined = true;
    std::memset(held->shadow + have, 0xFF, bytes - have);
  }
  CheckOrder(state, place.offset, place.offset + have, reg);
}

const uint8_t* BytesAt(const VectorState& state, const Spot& place, uint64_t bytes, uint8_t* temp) {
  const uint64_t image = UbImageBytes(state.core->soc, state.core->keepGoing);
  if (place.offset + bytes <= image) [[likely]] {
    return place.ub.addr;
  }
  std::memset(temp, 0, bytes);
  std::memcpy(temp, place.ub.addr, image - place.offset);
  return temp;
}

void WriteLanes(VectorState& state, const Spot& place, const StoredLanes& out, HeldLanes* held,
                const Reg* reg) {
  Core& core = *state.core;
  if (out.lanes == 0) {
    return;
  }
  const uint64_t bytes = out.lanes * out.width;
  if (place.offset + bytes > place.end) [[unlikely]] {
    core.CheckUb(place.ub, 0, static_cast<int64_t>(bytes), "dst");
  }
  if (state.observed) {
    core.Tell(Pipe::kVector, [&](Record& record) {
      record.flow = Flow::kRegisters;
      record.vectorFunction = state.number;
      record.held = held;
      if (out.all) {
        record.Add(DenseAccess(Use::kWrite, place.offset, bytes, place.ub.buf));
        return;
      }
      // A mask has bits for 128 lanes.
      for (size_t first = 0; first < out.lanes; first += 128) {
        const size_t count = std::min<size_t>(out.lanes - first, 128);
        Access access = DenseAccess(Use::kWrite, place.offset + first * out.width,
                                    count * out.width, place.ub.buf);
        access.width = static_cast<uint8_t>(out.width);
        access.masked = true;
        std::memcpy(access.mask, out.set + first / 8, sizeof(access.mask));
        record.Add(access);
      }
    });
    NoteStore(state, place.offset, place.offset + bytes, reg);
  }
  if (out.all) {
    std::memcpy(place.ub.addr, out.bytes, bytes);
    return;
  }
  for (size_t lane = 0; lane < out.lanes; ++lane) {
    if (out.Has(lane)) {
      std::memcpy(place.ub.addr + lane * out.width, out.bytes + lane * out.width, out.width);
    }
  }
}

void HoldStore(HeldLanes* held, const uint8_t* shadow, const StoredLanes& out) {
  size_t at = 0;
  for (size_t lane = 0; lane < out.lanes; ++lane) {
    if (out.Has(lane)) {
      std::memcpy(held->shadow + at, shadow + lane * out.width, out.width);
      at += out.width;
    }
  }
  held->undefined = AnyUndefined(held->shadow, at);
}

}  // namespace aclsim
