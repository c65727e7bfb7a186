// SPDX-License-Identifier: Apache-2.0
// Duplicate, Copy, Brcb, TransDataTo5HD: lanes are moved, never computed with.
#include <algorithm>
#include <array>
#include <vector>

#include "device/vec.h"
#include "device/vec_dtypes_950.h"

namespace aclsim {

namespace {

// The bits of a scalar in an element type.
uint64_t ScalarBits(ScalarValue scalar, DType dtype) {
  uint64_t bits = 0;
  switch (dtype) {
    case DType::kFloat: {
      const auto value = static_cast<float>(scalar.f);
      std::memcpy(&bits, &value, sizeof(value));
      return bits;
    }
    case DType::kHalf:
      return FloatToHalf(static_cast<float>(scalar.f));
    case DType::kBf16:
      return FloatToBf16(static_cast<float>(scalar.f));
    case DType::kDouble:
      std::memcpy(&bits, &scalar.f, sizeof(scalar.f));
      return bits;
    default:
      return static_cast<uint64_t>(scalar.i);
  }
}

template <typename T>
void FillLanes(void* dst, uint64_t bits, size_t n) {
  const auto value = static_cast<T>(bits);
  std::fill_n(static_cast<T*>(dst), n, value);
}

void RequireWidth2Or4(Core& core, DType dtype) {
  if (WidthOf(dtype) != 2 && WidthOf(dtype) != 4) {
    UnsupportedDType(core, core.instruction, dtype);
  }
}

}  // namespace

void VecDuplicate(const Ub& dst, ScalarValue scalar, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Duplicate";
  const size_t width = WidthOf(dst.dtype);
  if (Is950(core)) {
    RequireDType950(core, dst.dtype, ctl);
  } else {
    RequireWidth2Or4(core, dst.dtype);
  }
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk d = MakeWalk(dst, "dst", ctl, 0, true);
  CheckLanes(core, d, lanes);
  const uint64_t bits = ScalarBits(scalar, dst.dtype);
  const auto fill = width == 4   ? FillLanes<uint32_t>
                    : width == 2 ? FillLanes<uint16_t>
                    : width == 1 ? FillLanes<uint8_t>
                                 : FillLanes<uint64_t>;
  IssueVector(
      core, lanes, {&d},
      [=] {
        RunLanes(lanes, d, nullptr, nullptr, false,
                 [=](void* to, const void*, const void*, size_t n) { fill(to, bits, n); });
      },
      Flow::kNone);
}
ACLSIM_SKIPS_FAULTS()

namespace {

void CopyLanes(Core& core, const LaneSet& lanes, const OperandWalk& d, const OperandWalk& a) {
  const size_t width = static_cast<size_t>(d.width);
  IssueVector(core, lanes, {&d, &a}, [=] {
    RunLanes(lanes, d, &a, nullptr, false,
             [width](void* to, const void* from, const void*, size_t n) {
               std::memmove(to, from, n * width);
             });
  });
}

// A repeat of more than eight blocks: its blocks go on at their stride, which is what a counter of its own walks.
void CopyLongRepeats(Core& core, const Ub& dst, const Ub& src, const VecCtl& ctl, uint64_t count) {
  VecCtl one = ctl;
  one.mode = VecCtl::kMask;
  one.mask[0] = count;
  one.repeat = 1;
  for (size_t i = 0; i < 2; ++i) {
    one.repStride[i] = static_cast<int32_t>(kRepeatBytes / kBlock) * ctl.blkStride[i];
  }
  for (int32_t r = 0; r < ctl.repeat; ++r) {
    Ub to = dst;
    Ub from = src;
    to.addr += int64_t{r} * ctl.repStride[0] * kBlock;
    from.addr += int64_t{r} * ctl.repStride[1] * kBlock;
    LaneSet lanes = ResolveLanes(core, one, dst.dtype);
    const auto [d, a] = WalkUnary(core, lanes, to, from, one);
    CopyLanes(core, lanes, d, a);
  }
}

}  // namespace

void VecCopy(const Ub& dst, const Ub& src, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Copy";
  RequireWidth2Or4(core, dst.dtype);
  if (!core.soc.dataCopyPad) {
    PassFault("instruction-absent", Format("Copy does not exist on %s", core.soc.name.c_str()),
              "The device compiler refuses it. Use DataCopy or Adds with 0.", "done all the same");
  }
  // Copy's counter mode differs from everyone else's: the mask counts elements per repeat and the repeat time holds.
  const bool counter = core.maskCounter;
  const uint64_t wanted = ctl.mode == VecCtl::kPreset ? core.maskBits[0] : ctl.mask[0];
  if (counter && wanted > static_cast<uint64_t>(kRepeatBytes) / WidthOf(dst.dtype)) {
    CopyLongRepeats(core, dst, src, ctl, wanted);
    return;
  }
  VecCtl perRepeat = ctl;
  if (counter) {
    core.maskCounter = false;
    if (ctl.mode == VecCtl::kPreset) {
      perRepeat.mask[0] = core.maskBits[0];
    }
    perRepeat.mode = VecCtl::kMask;
  }
  LaneSet lanes = ResolveLanes(core, perRepeat, dst.dtype);
  if (counter) {
    core.maskCounter = true;
    core.maskBits[0] = perRepeat.mask[0];
    core.maskBits[1] = 0;
  }
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  constexpr int32_t kMostStride = 4095;
  if (std::max(ctl.repStride[0], ctl.repStride[1]) > kMostStride) {
    PassFault("stride-range",
              Format("repeat strides of %d (dst) and %d (src) blocks, legal are 0..%d",
                     ctl.repStride[0], ctl.repStride[1], kMostStride),
              "Hardware keeps the low 12 bits. Split the instruction.", "done all the same");
  }
  const auto [d, a] = WalkUnary(core, lanes, dst, src, ctl);
  CopyLanes(core, lanes, d, a);
}
ACLSIM_SKIPS_FAULTS()

void VecBrcb(const Ub& dst, const Ub& src, int32_t repeat, int32_t dstBlk, int32_t dstRep) try {
  Core& core = Core::Current();
  core.instruction = "Brcb";
  RequireWidth2Or4(core, dst.dtype);
  if (core.soc.npuArch == 1001) {
    PassFault("instruction-absent", Format("Brcb does not exist on %s", core.soc.name.c_str()),
              "The device compiler refuses it. Use Duplicate per block.", "done all the same");
  }
  if (IsIdle(core, repeat, dst)) {
    return;
  }
  if (dstBlk == 0) {
    PassFault("stride-range", "dst has a block stride of 0",
              "Undefined on hardware: the eight blocks of a repeat would land in one.",
              "the last block of each repeat stays");
  }
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const Access blocks = RepeatedBlocks(core, dst, repeat, dstBlk, dstRep);
  const auto extent = static_cast<int64_t>(blocks.Extent());
  CheckOperand(core, dst, extent, "dst");
  CheckOperand(core, src, repeat * kBlocksPerRepeat * width, "src0");
  if (dst.addr < src.addr + repeat * kBlocksPerRepeat * width && src.addr < dst.addr + extent) {
    PassFault("overlap", "dst and src0 overlap",
              "Hardware overwrites sources that it has yet to read. Use another buffer.",
              "done, and each repeat reads before it writes");
  }
  const auto fill = width == 4 ? FillLanes<uint32_t> : FillLanes<uint16_t>;
  const uint64_t to = core.UbOffset(dst.addr);
  const uint64_t from = core.UbOffset(src.addr);
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = repeat;
        record.dtype = dst.dtype;
        record.Add(blocks);
        record.Add(UbAccess(core, Use::kRead, src, repeat * kBlocksPerRepeat * width));
      },
      [=](uint8_t* ub) {
        for (int64_t r = 0; r < repeat; ++r) {
          std::array<uint8_t, kBlocksPerRepeat * sizeof(uint32_t)> read;
          std::memcpy(read.data(), ub + from + r * kBlocksPerRepeat * width,
                      static_cast<size_t>(kBlocksPerRepeat * width));
          for (int64_t b = 0; b < kBlocksPerRepeat; ++b) {
            uint64_t bits = 0;
            std::memcpy(&bits, read.data() + b * width, static_cast<size_t>(width));
            fill(ub + to + (r * dstRep + b * dstBlk) * kBlock, bits,
                 static_cast<size_t>(kBlock / width));
          }
        }
      });
}
ACLSIM_SKIPS_FAULTS()

namespace {

// The blocks of an address list, as runs of evenly spaced ones; what takes too many runs is all that lies between the first and last.
void AddRows(Record* record, Use use, std::array<uint64_t, 16> list, int32_t repeat, int32_t rep,
             int64_t shift) {
  constexpr size_t kMostRuns = 4;  // of each list: a record has eight accesses
  constexpr uint64_t kBytes = kBlock;
  std::ranges::sort(list);
  const auto last = std::unique(list.begin(), list.end());
  const auto repeats = static_cast<uint32_t>(repeat);
  const uint64_t step = static_cast<uint64_t>(rep) * kBytes;
  const uint64_t reach = (repeats - 1) * step + kBytes;
  const auto begin = [&](uint64_t address) {
    return address + static_cast<uint64_t>(shift) * step;
  };
  std::vector<Access> runs;
  for (auto at = list.begin(); at != last;) {
    auto end = std::next(at);
    const uint64_t apart = end == last ? kBytes : *end - *at;
    while (end != last && *end - *std::prev(end) == apart) {
      ++end;
    }
    const auto blocks = static_cast<uint64_t>(end - at);
    Access run = DenseAccess(use, begin(*at), reach, 0);
    if (step == kBytes || repeats == 1) {  // a block's repeats follow each other
      run.repeat = static_cast<uint32_t>(blocks);
      run.repStride = static_cast<int64_t>(apart);
    } else {
      run.bytes = run.lastBytes = blocks * kBytes;
      run.chunk = kBytes;
      run.chunkStride = static_cast<int64_t>(apart);
      run.repeat = repeats;
      run.repStride = static_cast<int64_t>(step);
    }
    runs.push_back(run);
    at = end;
  }
  if (runs.size() > kMostRuns) {
    runs = {DenseAccess(use, begin(list.front()), *std::prev(last) - list.front() + reach, 0)};
  }
  for (const Access& run : runs) {
    record->Add(run);
  }
}

// One call of TransDataTo5HD: tiles of 16 rows, which become its columns.
struct TransposeCall {
  std::array<uint64_t, 16> to, from;  // offsets in UB
  int64_t width = 0;                  // bytes of an element
  bool dstHigh = false, srcHigh = false;
  int32_t repeat = 0, dstRep = 0, srcRep = 0;

  // With a single repeat the strides shift its start, a documented trap.
  int64_t Shift() const { return repeat == 1 ? 1 : 0; }
  void Move(uint8_t* ub) const {
    for (int64_t r = 0; r < repeat; ++r) {
      uint8_t tile[16 * 32];
      for (size_t i = 0; i < 16; ++i) {
        std::memcpy(tile + i * 32, ub + from[i] + (r + Shift()) * srcRep * kBlock, 32);
      }
      Store(tile, ub + (r + Shift()) * dstRep * kBlock);
    }
  }
  void Store(const uint8_t* tile, uint8_t* ub) const {
    const auto element = [&](int64_t row, int64_t column) {
      return ub + to[static_cast<size_t>(row)] + column * width;
    };
    if (width == 2) {
      for (int64_t i = 0; i < 16; ++i) {
        for (int64_t j = 0; j < 16; ++j) {
          std::memcpy(element(i, j), tile + j * 32 + i * 2, 2);
        }
      }
    } else if (width == 4) {
      // 16 rows of 8 become 8 rows of 16, each split over two blocks: dst[2 i] holds columns 0..7, dst[2 i + 1] 8..15.
      for (int64_t i = 0; i < 8; ++i) {
        for (int64_t j = 0; j < 16; ++j) {
          std::memcpy(element(2 * i + j / 8, j % 8), tile + j * 32 + i * 4, 4);
        }
      }
    } else {
      // 8-bit: half of the 32 columns, chosen by srcHigh, into half of each row, chosen by dstHigh.
      for (int64_t i = 0; i < 16; ++i) {
        for (int64_t j = 0; j < 16; ++j) {
          *element(i, j + (dstHigh ? 16 : 0)) = tile[j * 32 + i + (srcHigh ? 16 : 0)];
        }
      }
    }
  }
};

// Addresses are raw: the buffer that holds the first byte bounds the walk.
void CheckList(const Core& core, const TransposeCall& call, const uint64_t* list, int32_t rep,
               const char* role) {
  const BufferInfo* within = nullptr;
  for (int i = 0; i < 16; ++i) {
    const int64_t begin = static_cast<int64_t>(list[i] - reinterpret_cast<uint64_t>(core.ub)) +
                          call.Shift() * rep * kBlock;
    const int64_t end = begin + (call.repeat - 1) * int64_t{rep} * kBlock + kBlock;
    const auto holds = [&](const BufferInfo& info) {
      return begin >= info.offset && end <= int64_t{info.offset} + info.bytes;
    };
    if (within == nullptr || !holds(*within)) {
      const auto found = std::find_if(core.buffers.begin() + 1, core.buffers.end(), holds);
      within = found != core.buffers.end() ? &*found : nullptr;
    }
    if (within == nullptr || begin % kBlock != 0) {
      ThrowFault(
          within != nullptr ? "ub-misaligned" : "ub-out-of-bounds",
          Format("%s[%d] covers UB bytes [%lld, %lld), %s; addresses are multiples of 32", role, i,
                 static_cast<long long>(begin), static_cast<long long>(end),
                 within != nullptr ? "not on a 32-byte boundary" : "which no buffer holds"),
          "Hardware raises an exception or corrupts another buffer. Check the address list.");
    }
  }
}

}  // namespace

void VecTransDataTo5HD(const uint64_t* dst, const uint64_t* src, DType dtype, bool dstHigh,
                       bool srcHigh, int32_t repeat, int32_t dstRep, int32_t srcRep) try {
  Core& core = Core::Current();
  core.instruction = "TransDataTo5HD";
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const bool wide = width > (core.soc.npuArch == 1001 ? 2 : 4);
  if (wide || dtype == DType::kBf16 || dtype == DType::kBool) {
    UnsupportedDType(core, core.instruction, dtype);
  }
  if (repeat <= 0) {
    return;
  }
  TransposeCall call{{}, {}, width, dstHigh, srcHigh, repeat, dstRep, srcRep};
  CheckList(core, call, dst, dstRep, "dstList");
  CheckList(core, call, src, srcRep, "srcList");
  for (size_t i = 0; i < 16; ++i) {
    call.to[i] = dst[i] - reinterpret_cast<uint64_t>(core.ub);
    call.from[i] = src[i] - reinterpret_cast<uint64_t>(core.ub);
  }
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = repeat;
        record.dtype = dtype;
        for (const auto* list : {&call.to, &call.from}) {
          std::array<uint8_t, kBankGroups> blocks{};
          for (const uint64_t address : *list) {
            record.crowd = std::max(record.crowd, ++blocks[BankGroupOf(address)]);
          }
        }
        AddRows(&record, Use::kWrite, call.to, repeat, dstRep, call.Shift());
        AddRows(&record, Use::kRead, call.from, repeat, srcRep, call.Shift());
      },
      [call](uint8_t* ub) { call.Move(ub); });
}
ACLSIM_SKIPS_FAULTS()

void SetAddresses(uint32_t which, const uint64_t* addresses) {
  std::copy_n(addresses, 8, Core::Current().registers.addresses[which]);
}

void VecTransposeListed(uint32_t dst, uint32_t src, DType dtype, bool dstHigh, bool srcHigh,
                        int32_t repeat, int32_t dstRep, int32_t srcRep) {
  const auto& registers = Core::Current().registers.addresses;
  constexpr uint32_t kLastPair = std::size(Registers{}.addresses) - 2;
  if (dst > kLastPair || src > kLastPair) {
    AssertFail("scatter_vnchwconv: two registers that follow one another, VA0 to VA6", __FILE__,
               __LINE__, "");
  }
  // Rows of eight lie behind one another.
  VecTransDataTo5HD(registers[dst], registers[src], dtype, dstHigh, srcHigh, repeat, dstRep,
                    srcRep);
}

}  // namespace aclsim
