// SPDX-License-Identifier: Apache-2.0
#include "device/vec.h"

#include <vector>

#include "engine/options.h"

namespace aclsim {

namespace {

constexpr const char* kRepeatZero =
    "does nothing: its repeatTime is 0, to which 256 wraps in 8 bits";
constexpr const char* kMaskZero = "does nothing: its mask is 0";
constexpr const char* kMaskLeft = "works only on the lanes of the mask that SetVectorMask has left";

void SetPrefix(LaneSet* set, int64_t active) {
  set->active = std::min(active, set->lanes);
  set->bits[0] = set->active >= 64 ? ~0ull : (1ull << set->active) - 1;
  set->bits[1] =
      set->active >= 128 ? ~0ull : (set->active > 64 ? (1ull << (set->active - 64)) - 1 : 0);
}

void SetBits(LaneSet* set, uint64_t low, uint64_t high) {
  if (set->lanes < 128) {
    high = 0;
  }
  if (set->lanes < 64) {
    low &= (1ull << set->lanes) - 1;
  }
  set->bits[0] = low;
  set->bits[1] = high;
  set->active =
      high != 0 ? 128 - __builtin_clzll(high) : (low != 0 ? 64 - __builtin_clzll(low) : 0);
  set->prefix = __builtin_popcountll(low) + __builtin_popcountll(high) == set->active;
}

void ReportMask(Core& core, const std::string& mask, DType dtype, int64_t lanes) {
  const uint32_t site = core.sites.Capture();
  if (!core.IsFirst("mask-range", site, 0)) {
    return;
  }
  Finding finding;
  finding.kind = "mask-range";
  finding.at = core.PlaceOf(core.instruction, Pipe::kVector, site, "");
  finding.detail = Format("mask %s names lanes that %s has not: a repeat has %lld of them",
                          mask.c_str(), NameOf(dtype), static_cast<long long>(lanes));
  finding.advice =
      "Hardware works on the lanes that there are, so that each repeat does less than was meant. "
      "Take at most 256 bytes by the size of the widest operand's type, and more repeats.";
  core.Find(std::move(finding));
}

// All ones stand for all lanes of any type.
void CheckBits(Core& core, DType dtype, int64_t lanes) {
  const auto [low, high] = core.maskBits;
  const bool beyond = lanes < 64 ? (low >> lanes) != 0 || high != 0 : lanes == 64 && high != 0;
  if (beyond && (~low != 0 || ~high != 0)) [[unlikely]] {
    ReportMask(core,
               Format("{0x%llx, 0x%llx}", static_cast<unsigned long long>(low),
                      static_cast<unsigned long long>(high)),
               dtype, lanes);
  }
}

void SetCounter(LaneSet* set, int64_t total) {
  set->repeat = (total + set->lanes - 1) / set->lanes;
  SetPrefix(set, set->lanes);
  set->lastActive = total - (set->repeat - 1) * set->lanes;
}

}  // namespace

void FaultOfRepeat(int32_t repeat, int32_t least, int32_t most) {
  KernelFault fault{"repeat-range",
                    Format("repeatTime %d, legal are %d..%d", repeat, least, most),
                    repeat < least ? "Hardware keeps the low 8 bits, and does nothing or too much. "
                                     "Call it only when there is something to do."
                                   : "Hardware keeps the low 8 bits and processes fewer repeats. "
                                     "Split the instruction.",
                    CaptureStack(),
                    {},
                    ""};
  if (repeat < least) {
    throw fault;
  }
  SkipFault(std::move(fault), "all repeats were done");
}

namespace {

// The pages of the older architectures do not have these; everything else here exists on both.
struct Absent {
  const char* instruction;
  bool on2002;  // as well as on 1001
};
constexpr Absent kAbsent[] = {
    {"LeakyRelu", false},  {"Maxs", false},        {"Mins", false},        {"AddRelu", false},
    {"SubRelu", false},    {"AddReluCast", false}, {"SubReluCast", false}, {"MulCast", false},
    {"AddDeqRelu", false}, {"MulAddDst", false},   {"FusedMulAdd", false}, {"MulAddRelu", false},
    {"ShiftLeft", true},   {"ShiftRight", true},
};

void CheckExists(const Core& core) {
  const uint32_t arch = core.soc.npuArch;
  for (const Absent& absent : kAbsent) {
    if ((arch == 1001 || absent.on2002) && std::strcmp(core.instruction, absent.instruction) == 0) {
      PassFault("instruction-absent",
                Format("%s does not exist on %s", core.instruction, core.soc.name.c_str()),
                "The device compiler refuses it. Build it of instructions that its page lists for "
                "this SoC.",
                "done all the same");
    }
  }
}

}  // namespace

void FaultOfCount(int64_t count) {
  ThrowFault("count-range",
             Format("count %lld, legal are 0 and more", static_cast<long long>(count)),
             "Hardware takes it as unsigned: more elements than UB holds, and an exception of the "
             "core, or results that are not written. A difference of two sizes may be negative: "
             "call it only where the count is positive.");
}

LaneSet ResolveLanes(Core& core, const VecCtl& ctl, DType widest, int32_t maxRepeat) {
  if (core.soc.npuArch == 2002 || core.soc.npuArch == 1001) {
    CheckExists(core);
  }
  LaneSet set;
  set.lanes = kRepeatBytes / static_cast<int64_t>(WidthOf(widest));
  if (ctl.mode == VecCtl::kCount ||
      (ctl.mode == VecCtl::kPresetCount && core.soc.npuArch == 3510)) {
    core.maskCounter = false;
    core.maskBits[0] = core.maskBits[1] = ~0ull;
    core.maskSite = 0;
    set.contiguous = true;
    set.total = static_cast<int64_t>(ctl.mask[0]);
    if (set.total < 0) [[unlikely]] {
      FaultOfCount(set.total);
    }
    set.repeat = (set.total + set.lanes - 1) / set.lanes;
    return set;
  }
  if (ctl.repeat < 0 || ctl.repeat > maxRepeat) {
    FaultOfRepeat(ctl.repeat, 0, maxRepeat);
  }
  set.repeat = ctl.repeat;
  const bool preset = ctl.mode == VecCtl::kPreset || ctl.mode == VecCtl::kPresetCount;
  if (!preset) {
    core.maskSite = 0;
  }
  if (core.maskCounter) {
    if (!preset) {
      core.maskBits[0] = ctl.mask[0];
      core.maskBits[1] = 0;
    }
    SetCounter(&set, static_cast<int64_t>(core.maskBits[0]));
    return set;
  }
  if (ctl.mode == VecCtl::kMask) {
    if (ctl.mask[0] > static_cast<uint64_t>(set.lanes)) [[unlikely]] {
      ReportMask(core, Format("%lld", static_cast<long long>(ctl.mask[0])), widest, set.lanes);
    }
    SetPrefix(&set, static_cast<int64_t>(std::min<uint64_t>(ctl.mask[0], kMaxLanes)));
    core.maskBits[0] = set.bits[0];
    core.maskBits[1] = set.bits[1];
  } else {
    if (ctl.mode == VecCtl::kBits) {
      core.maskBits[0] = ctl.mask[0];
      core.maskBits[1] = ctl.mask[1];
    }
    CheckBits(core, widest, set.lanes);
    SetBits(&set, core.maskBits[0], core.maskBits[1]);
    set.maskSite = set.prefix && set.active == set.lanes ? 0 : core.maskSite;
  }
  set.lastActive = set.active;
  return set;
}

void HintAt(Core& core, const char* kind, const char* what, const char* advice) {
  const uint32_t site = core.sites.Capture();
  if (!core.Observed() || !core.IsFirst(kind, site, 0)) {
    return;
  }
  Finding finding;
  finding.kind = kind;
  finding.severity = Severity::kHint;
  finding.at = core.PlaceOf(core.instruction, Pipe::kVector, site, "");
  finding.detail = Format("%s %s", core.instruction, what);
  finding.advice = advice;
  core.Find(std::move(finding));
}

namespace {

bool MarkIdle(Core& core, const Ub& dst, const char* why) {
  core.MarkIdle(dst, why);
  HintAt(core, "instruction-idle", why,
         "Legal, and it takes time. Leave the call out, or split it when the number was meant to "
         "be 256.");
  return true;
}

}  // namespace

bool IsIdle(Core& core, const LaneSet& lanes, const Ub& dst) {
  if (lanes.maskSite != 0 && core.Observed()) [[unlikely]] {
    core.MarkIdle(dst, kMaskLeft, lanes.maskSite);
  }
  if (!lanes.Empty()) [[likely]] {
    return false;
  }
  if (lanes.contiguous) {
    core.MarkIdle(dst, "does nothing: its count is 0");
    return true;
  }
  return MarkIdle(core, dst, lanes.repeat == 0 ? kRepeatZero : kMaskZero);
}

bool IsIdle(Core& core, int32_t repeat, const Ub& dst) {
  return repeat == 0 && MarkIdle(core, dst, kRepeatZero);
}

LaneSet Repeated(LaneSet lanes) {
  if (lanes.contiguous) {
    lanes.contiguous = false;
    lanes.active = lanes.lanes;
    lanes.bits[0] = lanes.bits[1] = ~0ull;
    lanes.lastActive = lanes.total - (lanes.repeat - 1) * lanes.lanes;
  }
  return lanes;
}

OperandWalk MakeWalk(const Ub& ub, const char* role, const VecCtl& ctl, int slot, bool write) {
  OperandWalk walk;
  walk.ub = ub;
  walk.role = role;
  walk.width = static_cast<int64_t>(WidthOf(ub.dtype));
  walk.blkStride = ctl.blkStride[slot] * kBlock;
  walk.repStride = ctl.repStride[slot] * kBlock;
  walk.lanesPerBlock = kBlock / walk.width;
  walk.write = write;
  return walk;
}

int64_t OperandWalk::Extent(const LaneSet& lanes) const {
  if (lanes.contiguous) {
    return lanes.total * width;
  }
  const auto end = [&](int64_t active) {
    const int64_t lastBlock = (active - 1) / lanesPerBlock;
    return lastBlock * blkStride + (active - lastBlock * lanesPerBlock) * width;
  };
  int64_t extent = (lanes.repeat - 1) * repStride + end(lanes.lastActive);
  if (lanes.repeat > 1) {
    extent = std::max(extent, (lanes.repeat - 2) * repStride + end(lanes.active));
  }
  return extent;
}

namespace {

int64_t LaneCount(const LaneSet& lanes) {
  return lanes.contiguous ? lanes.total : (lanes.repeat - 1) * lanes.active + lanes.lastActive;
}

// The lanes up to the first one that leaves the first `room` bytes.
LaneSet Within(const OperandWalk& walk, LaneSet lanes, int64_t room) {
  if (lanes.contiguous) {
    lanes.total = std::min(lanes.total, room / walk.width);
    lanes.repeat = (lanes.total + lanes.lanes - 1) / lanes.lanes;
    return lanes;
  }
  while (lanes.repeat > 0 && walk.Extent(lanes) > room) {
    if (--lanes.lastActive == 0) {
      --lanes.repeat;
      lanes.lastActive = lanes.active;
    }
  }
  return lanes;
}

}  // namespace

void CheckWalk(Core& core, const OperandWalk& walk, const LaneSet& lanes) {
  if (walk.write && !lanes.contiguous && walk.blkStride == 0 &&
      std::max(lanes.active, lanes.lastActive) > walk.lanesPerBlock) [[unlikely]] {
    PassFault("stride-range",
              Format("%s has a block stride of 0 and %lld lanes per repeat", walk.role,
                     static_cast<long long>(lanes.active)),
              "Undefined on hardware: all blocks of the repeat would land in one. 0 is for sources "
              "only.",
              "the last block of each repeat stays");
  }
  CheckOperand(core, walk.ub, walk.Extent(lanes), walk.role);
}

void CheckLanes(Core& core, const OperandWalk& walk, LaneSet& lanes) {
  try {
    CheckWalk(core, walk, lanes);
  } catch (KernelFault& fault) {
    if (fault.kind != kUbOutOfBounds) {
      throw;
    }
    const LaneSet inside = Within(walk, lanes, static_cast<int64_t>(core.UbRoom(walk.ub, 0)));
    if (inside.Empty()) {
      throw;
    }
    SkipFault(std::move(fault), Format("the first %lld of %lld lanes were done",
                                       static_cast<long long>(LaneCount(inside)),
                                       static_cast<long long>(LaneCount(lanes))));
    lanes = inside;
    CheckWalk(core, walk, lanes);
  }
}

namespace {

// The part of a block that a repeat touches.
struct Piece {
  const uint8_t* begin;
  const uint8_t* end;
  int64_t repeat;
  int64_t block;
};

void AddPieces(const OperandWalk& walk, const LaneSet& lanes, std::vector<Piece>* pieces) {
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    const int64_t active = lanes.ActiveIn(r);
    for (int64_t first = 0; first < active; first += walk.lanesPerBlock) {
      const int64_t last = std::min(first + walk.lanesPerBlock, active);
      bool works = lanes.prefix;
      for (int64_t lane = first; lane < last && !works; ++lane) {
        works = lanes.Works(lane);
      }
      if (works) {
        const uint8_t* const begin =
            walk.RepeatBase(r) + first / walk.lanesPerBlock * walk.blkStride;
        pieces->push_back(
            {begin, begin + (last - first) * walk.width, r, first / walk.lanesPerBlock});
      }
    }
  }
}

// Returns whether, of operands that start together, each repeat writes what it reads itself, and nothing that another one touches.
bool StaysInRepeat(const LaneSet& lanes, const OperandWalk& dst, const OperandWalk& src) {
  if (dst.blkStride != src.blkStride && lanes.active > dst.lanesPerBlock) {
    return false;
  }
  LaneSet one = lanes;
  one.repeat = 1;
  one.lastActive = one.active;
  return lanes.repeat == 1 || (dst.repStride == src.repStride && dst.repStride >= dst.Extent(one));
}

// Returns whether a repeat writes a part of what it reads itself, or anything that a later one reads.
bool OverwritesSource(const LaneSet& lanes, const OperandWalk& dst, const OperandWalk& src,
                      bool accumulates) {
  // Rows of both that take turns: the source's lie between the destination's.
  LaneSet one = lanes;
  one.repeat = 1;
  one.lastActive = one.active;
  const int64_t apart = src.ub.addr - dst.ub.addr;
  const int64_t writes = dst.Extent(one), reads = src.Extent(one);
  if (dst.repStride == src.repStride &&
      (apart >= 0 ? apart >= writes && apart + reads <= dst.repStride
                  : -apart >= reads && writes - apart <= dst.repStride)) {
    return false;
  }
  std::vector<Piece> written, read;
  AddPieces(dst, lanes, &written);
  AddPieces(src, lanes, &read);
  std::sort(read.begin(), read.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  // A block that serves all lanes of a repeat may be the first one of its destination.
  const auto coincide = [&](const Piece& a, const Piece& b) {
    return a.begin == b.begin && (a.block == b.block || src.blkStride == 0);
  };
  for (const Piece& piece : written) {
    auto at = std::upper_bound(
        read.begin(), read.end(), piece.begin - kBlock,
        [](const uint8_t* address, const Piece& other) { return address < other.begin; });
    for (; at != read.end() && at->begin < piece.end; ++at) {
      if (at->end <= piece.begin) {
        continue;
      }
      if (at->repeat > piece.repeat ? !accumulates
                                    : at->repeat == piece.repeat && !coincide(piece, *at)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

void CheckOverlap(Core& core, const LaneSet& lanes, const OperandWalk& dst, const OperandWalk& src,
                  bool neverShared, bool accumulates) {
  const uint8_t* const d = dst.ub.addr;
  const uint8_t* const s = src.ub.addr;
  const bool sameWalk =
      d == s && (lanes.contiguous || dst.width != src.width || StaysInRepeat(lanes, dst, src));
  if ((sameWalk && !neverShared) || d >= s + src.Extent(lanes) || s >= d + dst.Extent(lanes))
      [[likely]] {
    return;
  }
  // Strided operands may interleave without touching, and a destination at least one repeat below its source never overwrites
  // what is yet to be read.
  const bool dense = lanes.contiguous || (lanes.active == lanes.lanes && IsOneRun(lanes, &dst) &&
                                          IsOneRun(lanes, &src));
  if (!neverShared &&
      (dense ? d + kRepeatBytes <= s
             : dst.width != src.width || !OverwritesSource(lanes, dst, src, accumulates))) {
    return;
  }
  // A source in the far half of what it is widened into: no repeat writes what a later one reads.
  if (neverShared && dense && s > d &&
      s - d >= (lanes.repeat - 1) * lanes.lanes * (dst.width - src.width)) {
    return;
  }
  ThrowFault("overlap",
             Format("dst at UB byte %llu overlaps %s at UB byte %llu",
                    static_cast<unsigned long long>(core.UbOffset(d)), src.role,
                    static_cast<unsigned long long>(core.UbOffset(s))),
             neverShared ? "A widening instruction in place overwrites lanes that it has yet to "
                           "read: wrong numbers. Use another "
                           "buffer."
                         : "Undefined on hardware: lanes would be overwritten before they are "
                           "read. Operands must coincide or "
                           "lie apart.");
}

UnaryWalks WalkUnary(Core& core, LaneSet& lanes, const Ub& dst, const Ub& src, const VecCtl& ctl,
                     bool neverShared) {
  const UnaryWalks walks = {MakeWalk(dst, "dst", ctl, 0, true),
                            MakeWalk(src, "src", ctl, 1, false)};
  CheckLanes(core, walks.dst, lanes);
  CheckLanes(core, walks.src, lanes);
  CheckOverlap(core, lanes, walks.dst, walks.src, neverShared);
  return walks;
}

BinaryWalks WalkBinary(Core& core, LaneSet& lanes, const Ub& dst, const Ub& src0, const Ub& src1,
                       const VecCtl& ctl, bool neverShared, bool accumulates) {
  const BinaryWalks walks = {MakeWalk(dst, "dst", ctl, 0, true),
                             MakeWalk(src0, "src0", ctl, 1, false),
                             MakeWalk(src1, "src1", ctl, 2, false)};
  CheckLanes(core, walks.dst, lanes);
  CheckLanes(core, walks.src0, lanes);
  CheckLanes(core, walks.src1, lanes);
  // The page speaks of the second source; kernels in use add to the first one as well.
  CheckOverlap(core, lanes, walks.dst, walks.src0, neverShared,
               accumulates && walks.dst.repStride == 0 && walks.src0.repStride == 0);
  CheckOverlap(core, lanes, walks.dst, walks.src1, neverShared,
               accumulates && (walks.dst.repStride == 0 || walks.src1.repStride == 0));
  return walks;
}

Access RepeatedBlocks(const Core& core, const Ub& dst, int32_t repeat, int32_t dstBlk,
                      int32_t dstRep) {
  Access access = UbAccess(core, Use::kWrite, dst, kRepeatBytes);
  access.chunk = kBlock;
  access.chunkStride = int64_t{dstBlk} * kBlock;
  access.repStride = int64_t{dstRep} * kBlock;
  access.repeat = static_cast<uint32_t>(repeat);
  return access;
}

Access AccessOf(const Core& core, const OperandWalk& walk, const LaneSet& lanes) {
  Access access;
  access.use = walk.write ? Use::kWrite : Use::kRead;
  access.width = static_cast<uint8_t>(walk.width);
  access.buffer = walk.ub.buf;
  access.addr = core.UbOffset(walk.ub.addr);
  if (lanes.contiguous) {
    access.chunk = access.bytes = access.lastBytes =
        static_cast<uint64_t>(lanes.total * walk.width);
    return access;
  }
  access.chunk = static_cast<uint64_t>(walk.lanesPerBlock * walk.width);
  access.bytes = static_cast<uint64_t>(lanes.active * walk.width);
  access.lastBytes = static_cast<uint64_t>(lanes.lastActive * walk.width);
  access.chunkStride = walk.blkStride;
  access.repStride = walk.repStride;
  access.repeat = static_cast<uint32_t>(lanes.repeat);
  access.masked = !lanes.prefix;
  access.mask[0] = lanes.bits[0];
  access.mask[1] = lanes.bits[1];
  return access;
}

namespace {

// Copies `bytes` in blocks between two walks; whole blocks have a constant size, which makes them two vector moves.
void CopyBlocks(uint8_t* dst, int64_t dstStride, const uint8_t* src, int64_t srcStride,
                int64_t bytes) {
  for (; bytes >= kBlock; bytes -= kBlock, dst += dstStride, src += srcStride) {
    std::memcpy(dst, src, kBlock);
  }
  if (bytes > 0) {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
  }
}

// The lanes that a mask has; T is as wide as a lane, so that each is a move of constant size.
template <typename T>
void ScatterLanes(uint8_t* base, const OperandWalk& walk, const LaneSet& lanes, int64_t active,
                  const uint8_t* temp) {
  for (int64_t first = 0; first < active; first += walk.lanesPerBlock, base += walk.blkStride,
               temp += walk.lanesPerBlock * sizeof(T)) {
    const int64_t end = std::min(walk.lanesPerBlock, active - first);
    for (int64_t lane = 0; lane < end; ++lane) {
      if (lanes.Works(first + lane)) {
        std::memcpy(base + lane * sizeof(T), temp + lane * sizeof(T), sizeof(T));
      }
    }
  }
}

}  // namespace

const uint8_t* GatherRepeat(const OperandWalk& walk, int64_t r, int64_t active, uint8_t* temp) {
  const uint8_t* base = walk.RepeatBase(r);
  if (walk.Dense()) {
    return base;
  }
  CopyBlocks(temp, kBlock, base, walk.blkStride, active * walk.width);
  return temp;
}

void ScatterRepeat(const OperandWalk& walk, const LaneSet& lanes, int64_t r, const uint8_t* temp) {
  uint8_t* base = walk.RepeatBase(r);
  const int64_t active = lanes.ActiveIn(r);
  if (lanes.prefix) {
    CopyBlocks(base, walk.blkStride, temp, kBlock, active * walk.width);
    return;
  }
  switch (walk.width) {
    case 1:
      return ScatterLanes<uint8_t>(base, walk, lanes, active, temp);
    case 2:
      return ScatterLanes<uint16_t>(base, walk, lanes, active, temp);
    case 4:
      return ScatterLanes<uint32_t>(base, walk, lanes, active, temp);
    default:
      return ScatterLanes<uint64_t>(base, walk, lanes, active, temp);
  }
}

void SpoilReserved(Core& core, uint64_t bytes) {
  constexpr uint64_t kKept = 8 * 1024;
  constexpr uint64_t kUb2201 = 192 * 1024;  // of which the last 256 bytes are not the user's either
  const uint64_t begin = (core.soc.npuArch == 2201 ? kUb2201 : core.soc.ubBytes) - kKept;
  if (core.ubPeak <= begin || bytes == 0) {
    return;
  }
  bytes = std::min(bytes, core.soc.UbMemory() - begin);
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = Flow::kNone;
        record.Add(DenseAccess(Use::kSpoil, begin, bytes, 0));
      },
      [at = core.ub + begin, bytes] { std::memset(at, kPoisonByte, bytes); });
}

void UnsupportedDType(Core& core, const char* instruction, DType dtype) {
  ThrowFault("dtype-unsupported",
             Format("%s has no %s form on %s", instruction, NameOf(dtype), core.soc.name.c_str()),
             "The device compiler refuses it, or the core raises an illegal-instruction exception. "
             "Cast to a supported type "
             "first.");
}

}  // namespace aclsim
