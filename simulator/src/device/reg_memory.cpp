// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vector functions. A load may reach behind the end of its buffer, as kernels do with their last row: what
// is there counts as undefined. A store writes what its mask says, within the buffer.
#include "device/reg_memory.h"

#include <algorithm>

namespace aclsim {

namespace {

// Tells if an argument is in this buffer, or in one that this place is in as well. Tensors at fixed addresses overlap as their kernel
// likes, so that they say nothing.
bool IsGiven(const VectorState& state, uint32_t buf, uint64_t offset) {
  const Core& core = *state.core;
  if (state.arguments.empty() || core.Info(buf).que == 0) {
    return true;
  }
  return std::any_of(state.arguments.begin(), state.arguments.end(), [&](const void* address) {
    const Ub ub = UbPointer(address, DType::kUint8);
    if (ub.buf == 0) {
      return false;
    }
    const BufferInfo& info = core.Info(ub.buf);
    return ub.buf == buf || info.que == 0 ||
           (offset >= info.offset && offset < uint64_t{info.offset} + info.bytes);
  });
}

}  // namespace

Spot FindSpotAnew(VectorState& state, const void* address) {
  Core& core = *state.core;
  const Ub ub = UbPointer(address, DType::kUint8);
  if (ub.buf == 0) {
    EndCore(kUbOutOfBounds, "a load or store outside of every buffer",
            "Hardware raises an exception or corrupts another buffer.");
  }
  const BufferInfo& info = core.Info(ub.buf);
  const uint64_t offset = core.UbOffset(ub.addr);
  VectorState::Range& range = state.ranges[state.nextRange++ % state.ranges.size()];
  range = {info.offset, uint64_t{info.offset} + info.bytes, ub.buf, ub.generation,
           IsGiven(state, ub.buf, offset)};
  return {ub, offset, range.end, range.given};
}

// --- order within the function ----------------------------------------------------------------------------------------

bool VectorState::Touched::Has(uint64_t first, uint64_t last) const {
  if (first >= end || last <= begin) {
    return false;
  }
  if (!spots.empty()) {
    return std::any_of(spots.begin(), spots.end(),
                       [&](uint64_t spot) { return spot < last && spot + width > first; });
  }
  if (width == 0) {
    return true;
  }
  const uint64_t lanes = (end - begin) / width;
  uint64_t lane = first > begin ? (first - begin) / width : 0;
  while (lane < lanes && begin + lane * width < last) {
    if ((set[lane / 8] >> (lane % 8)) & 1) {
      return true;
    }
    ++lane;
  }
  return false;
}

bool VectorState::Touched::Overlaps(const Touched& other) const {
  if (begin >= other.end || end <= other.begin) {
    return false;
  }
  if (!spots.empty()) {
    return std::any_of(spots.begin(), spots.end(),
                       [&](uint64_t spot) { return other.Has(spot, spot + width); });
  }
  if (width == 0) {
    return other.Has(begin, end);
  }
  for (uint64_t lane = 0; begin + lane * width < end; ++lane) {
    if (((set[lane / 8] >> (lane % 8)) & 1) != 0 &&
        other.Has(begin + lane * width, begin + (lane + 1) * width)) {
      return true;
    }
  }
  return false;
}

namespace {

// visit(block) for the blocks of UB that it may touch, until one says that it is enough.
template <typename Visit>
void EachBlock(const VectorState::Touched& touched, Visit&& visit) {
  const auto range = [&](uint64_t begin, uint64_t end) {
    for (uint64_t block = begin / kBlock; block * kBlock < end; ++block) {
      if (visit(block)) {
        return true;
      }
    }
    return false;
  };
  if (touched.spots.empty()) {
    range(touched.begin, touched.end);
    return;
  }
  for (const uint64_t spot : touched.spots) {
    if (range(spot, spot + touched.width)) {
      return;
    }
  }
}

// The last store to some of the same bytes, from the `after`th on, as its index plus 1; 0 where there is none or its register is
// the same, which orders the two.
size_t StoreBefore(const VectorState& state, const VectorState::Touched& now, size_t after,
                   size_t upTo = SIZE_MAX) {
  size_t found = 0;
  if (after >= state.stores.size() || now.begin >= state.storesEnd ||
      now.end <= state.storesBegin) {
    return found;
  }
  EachBlock(now, [&](uint64_t block) {
    const uint64_t number = state.storedLast[block];
    size_t last =
        number > state.storesBefore ? std::min<size_t>(number - state.storesBefore, upTo) : 0;
    for (size_t tries = 0; last > after && tries < state.loads.size(); --last, ++tries) {
      if (!state.stores[last - 1].Overlaps(now)) {
        continue;
      }
      found = state.stores[last - 1].Uses(now) ? 0 : last;
      return found != 0;
    }
    return false;
  });
  return found;
}

constexpr const char* kLoadDetail =
    " are loaded behind a store to some of them in the same vector function, from another "
    "register, "
    "and nothing orders the two";
constexpr const char* kLoadAdvice =
    "Hardware may load what was there before. LocalMemBar<MemType::VEC_STORE, "
    "MemType::VEC_LOAD>() between them.";

std::string BytesOf(const Core& core, const VectorState::Touched& touched) {
  uint64_t start = 0;
  const std::string buffer = core.BufferName(touched.begin, &start);
  return Format("UB bytes [%llu, %llu) of %s",
                static_cast<unsigned long long>(touched.begin - start),
                static_cast<unsigned long long>(touched.end - start), buffer.c_str());
}

}  // namespace

void FindDisorder(VectorState& state, const VectorState::Touched& now, const char* does,
                  const VectorState::Touched& before, const char* did, std::string detail,
                  std::string advice) {
  Core& core = *state.core;
  if (!core.IsFirst("local-memory-order", now.site, before.site)) {
    return;
  }
  Finding finding;
  finding.kind = "local-memory-order";
  finding.space = "UB";
  finding.at = core.PlaceOf(core.instruction, Pipe::kVector, now.site, does);
  finding.related.push_back(core.PlaceOf(before.name, Pipe::kVector, before.site, did));
  uint64_t start = 0;
  finding.buffer = core.BufferName(now.begin, &start);
  finding.begin = now.begin - start;
  finding.end = now.end - start;
  finding.detail = std::move(detail);
  finding.advice = std::move(advice);
  core.Find(std::move(finding));
}

void ForgetOrder(VectorState& state) {
  state.storesBefore += state.stores.size();
  state.stores.clear();
  state.storesBegin = UINT64_MAX;
  state.storesEnd = 0;
  state.heldBack.clear();
  state.ordered = state.storesOrdered = state.scalarStores = 0;
  state.beforeLoads = 0;
  state.loadsOrdered = state.scalarLoads = state.lastLoad;
  state.stored = state.beforeStores = state.beforeLoad = {};
}

void SetTouched(const VectorState& state, VectorState::Touched* touched, uint64_t begin,
                uint64_t end, const void* reg0, const void* reg1, uint32_t site) {
  touched->begin = begin;
  touched->end = end;
  touched->regs = {reg0, reg1};
  touched->site = site;
  touched->name = state.core->instruction;
  touched->width = 0;
  touched->spots.clear();
}

void NoteLoad(VectorState& state, RegAfter* after, bool check) {
  const VectorState::Touched& load = state.loads[++state.lastLoad % state.loads.size()];
  const size_t last = check ? StoreBefore(state, load, state.ordered) : 0;
  if (last != 0) {
    FindDisorder(state, load, "reads", state.stores[last - 1], "wrote",
                 BytesOf(*state.core, load) + kLoadDetail, kLoadAdvice);
  }
  RegAfter own = state.beforeLoad;
  Join(&own, {0, 1, state.lastLoad, static_cast<uint32_t>(state.ordered), 0});
  Join(after, own);
  state.beforeLoads = std::max(state.beforeLoads, static_cast<uint32_t>(state.ordered));
  EachBlock(load, [&](uint64_t block) {
    state.loadedLast[block] = state.lastLoad;
    return false;
  });
}

void CheckHead(VectorState& state, const RegUnalign& unalign, const VectorState::Touched& head) {
  const size_t since = StoreBefore(state, head, unalign.filled);
  if (since != 0) {
    FindDisorder(state, head, "reads", state.stores[since - 1], "wrote",
                 BytesOf(*state.core, head) +
                     " come from the register for unaligned loads, which had them before they were "
                     "stored",
                 "Hardware takes what was there before the store, with LocalMemBar too. Call "
                 "LoadUnAlignPre again behind it.");
    return;
  }
  const size_t before = StoreBefore(state, head, unalign.ordered, unalign.filled);
  if (before != 0) {
    FindDisorder(state, head, "reads", state.stores[before - 1], "wrote",
                 BytesOf(*state.core, head) + kLoadDetail, kLoadAdvice);
  }
}

void NoteStore(VectorState& state, const RegAfter& after) {
  const VectorState::Touched& store = state.stores.back();
  const uint64_t most = state.loads.size();
  const uint64_t first = std::max(state.loadsOrdered + 1,
                                  state.lastLoad < most ? uint64_t{1} : state.lastLoad - most + 1);
  uint64_t lastOfThese = 0;
  EachBlock(store, [&](uint64_t block) {
    lastOfThese = std::max(lastOfThese, state.loadedLast[block]);
    return false;
  });
  for (uint64_t id = lastOfThese; id >= first; --id) {
    const VectorState::Touched& load = state.loads[id % most];
    if (!load.Overlaps(store) || load.Uses(store) || WaitsFor(after, id) ||
        WaitsFor(state.beforeStores, id)) {
      continue;
    }
    FindDisorder(state, store, "writes", load, "read",
                 BytesOf(*state.core, store) +
                     " are stored behind a load of some of them in the same vector function. The "
                     "store's register is another one and does not depend on the load, so nothing "
                     "orders the two",
                 "Hardware may load what is stored. LocalMemBar<MemType::VEC_LOAD, "
                 "MemType::VEC_STORE>() between them.");
    break;
  }
  const size_t ordered = std::max<size_t>(state.storesOrdered, after.stores);
  const size_t last = StoreBefore(state, store, ordered);
  if (last != 0) {
    FindDisorder(state, store, "writes", state.stores[last - 1], "wrote",
                 BytesOf(*state.core, store) +
                     " are stored twice in the same vector function, from two registers, and "
                     "nothing orders the two",
                 "Hardware may end with what was stored first. LocalMemBar<MemType::VEC_STORE, "
                 "MemType::VEC_STORE>() between them.");
  }
  EachBlock(store, [&](uint64_t block) {
    state.storedLast[block] = state.storesBefore + state.stores.size();
    return false;
  });
  state.storesBegin = std::min(state.storesBegin, store.begin);
  state.storesEnd = std::max(state.storesEnd, store.end);
  Join(&state.stored, after);
}

void RegBarrier(bool storesBefore, bool loadsBefore, bool storesAfter, bool loadsAfter) try {
  VectorState& state = InFunction("LocalMemBar");
  Timed(state, DType::kUint8);
  if (!storesAfter && !loadsAfter) {  // the scalar pipe waits
    state.scalarStores = storesBefore ? state.stores.size() : state.scalarStores;
    state.scalarLoads = loadsBefore ? state.lastLoad : state.scalarLoads;
    return;
  }
  const bool scalar = !storesBefore && !loadsBefore;
  const size_t stores = storesBefore ? state.stores.size() : scalar ? state.scalarStores : 0;
  if (loadsAfter) {
    state.ordered = std::max(state.ordered, stores);
    if (storesBefore) {
      Join(&state.beforeLoad, state.stored);
    }
  }
  if (storesAfter) {
    state.storesOrdered = std::max(state.storesOrdered, stores);
    if (storesBefore) {
      Join(&state.beforeStores, state.stored);
    }
    if (loadsBefore) {
      state.storesOrdered = std::max<size_t>(state.storesOrdered, state.beforeLoads);
    }
    state.loadsOrdered = std::max(state.loadsOrdered, loadsBefore ? state.lastLoad
                                                      : scalar    ? state.scalarLoads
                                                                  : 0);
  }
}
ACLSIM_SKIPS_FAULTS()

void LostBytes(Core& core, const VectorState::Held& held) {
  if (!core.IsFirst("unaligned-register", held.site, 0)) {
    return;
  }
  Finding finding;
  finding.kind = "unaligned-register";
  finding.space = "UB";
  finding.at = core.PlaceOf("StoreUnAlign", Pipe::kVector, held.site, "holds back");
  uint64_t start = 0;
  finding.buffer = core.BufferName(held.begin, &start);
  finding.begin = held.begin - start;
  finding.end = finding.begin + held.bytes;
  finding.detail = Format(
      "the last %u B that StoreUnAlign has taken, for UB bytes [%llu, %llu) of %s, are still in "
      "the "
      "register for unaligned stores and never written",
      held.bytes, static_cast<unsigned long long>(finding.begin),
      static_cast<unsigned long long>(finding.end), finding.buffer.c_str());
  finding.advice =
      "Hardware leaves these bytes as they were. Call StoreUnAlignPost behind the last "
      "StoreUnAlign.";
  core.Find(std::move(finding));
}

// --- one load, one store ----------------------------------------------------------------------------------------------

void TellLoad(VectorState& state, const Spot& place, uint64_t bytes, HeldLanes* held,
              uint32_t site) {
  Core& core = *state.core;
  const uint64_t have = place.given ? std::min(bytes, place.end - place.offset) : 0;
  if (have > 0) {
    core.Tell({core.instruction, site, state.number, Use::kRead, place.ub.buf, place.offset,
               place.offset + have, held});
  }
  if (have < bytes) {
    if (!held->undefined) {
      std::memset(held->shadow, 0, have);
      held->origin = HeldLanes::kBehindBuffer | site;
    }
    held->undefined = true;
    std::memset(held->shadow + have, 0xFF, bytes - have);
  }
}

const uint8_t* BytesAt(const VectorState& state, const Spot& place, uint64_t bytes, uint8_t* temp) {
  const uint64_t image = state.core->image.Bytes();
  if (place.offset + bytes <= image) [[likely]] {
    return place.ub.addr;
  }
  std::memset(temp, 0, bytes);
  std::memcpy(temp, place.ub.addr, image - place.offset);
  return temp;
}

static void TellMasked(const VectorState& state, const Spot& place, const StoredLanes& out,
                       HeldLanes* held) {
  state.core->Tell(Pipe::kVector, [&](Record& record) {
    record.flow = Flow::kRegisters;
    record.vectorFunction = state.number;
    record.held = held;
    // A mask has bits for 128 lanes.
    for (size_t first = 0; first < out.lanes; first += 128) {
      const size_t count = std::min<size_t>(out.lanes - first, 128);
      Access access = DenseAccess(Use::kWrite, place.offset + first * out.width, count * out.width,
                                  place.ub.buf);
      access.width = static_cast<uint8_t>(out.width);
      access.masked = true;
      std::memcpy(access.mask, out.set + first / 8, sizeof(access.mask));
      record.Add(access);
    }
  });
}

void WriteLanes(VectorState& state, const Spot& place, const StoredLanes& out, HeldLanes* held,
                const RegAfter& after, const void* reg0, const void* reg1) {
  Core& core = *state.core;
  if (out.lanes == 0) {
    return;
  }
  const uint64_t bytes = out.lanes * out.width;
  if (!place.given) [[unlikely]] {
    ThrowFault(kUbOutOfBounds,
               Format("dst is in a buffer of which the vector function has no address: it is past "
                      "the end, or before the start, of one that it has\n  buffer: %s",
                      core.DescribeBuffer(place.ub.buf).c_str()),
               "Hardware overwrites the other buffer. Compare strides and counts of the function "
               "with the size of its buffers.");
  }
  if (place.offset + bytes > place.end) [[unlikely]] {
    core.CheckUb(place.ub, 0, static_cast<int64_t>(bytes), "dst");
  }
  if (state.observed) {
    const uint32_t site = core.CaptureSite();
    if (out.all) {
      core.Tell({core.instruction, site, state.number, Use::kWrite, place.ub.buf, place.offset,
                 place.offset + bytes, held});
    } else {
      TellMasked(state, place, out, held);
    }
    VectorState::Touched& store = state.stores.emplace_back();
    SetTouched(state, &store, place.offset, place.offset + bytes, reg0, reg1, site);
    if (!out.all) {
      store.width = static_cast<uint32_t>(out.width);
      std::memcpy(store.set.data(), out.set, store.set.size());
    }
    NoteStore(state, after);
  }
  if (out.all) {
    std::memcpy(place.ub.addr, out.source, bytes);
    return;
  }
  for (size_t lane = 0; lane < out.lanes; ++lane) {
    if (out.Has(lane)) {
      std::memcpy(place.ub.addr + lane * out.width, out.source + lane * out.width, out.width);
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
