// SPDX-License-Identifier: Apache-2.0
// Sort32, MrgSort, Sort, Extract: structures of a score and an index, in descending order of the scores, equal ones in the
// order of their positions. RpSort16, MrgSort4, ProposalConcat, ProposalExtract: the same for region proposals. A NaN sorts
// before every number: a choice, the documentation is silent.
#include <array>
#include <numeric>
#include <vector>

#include "ascendc/device_reorder.h"
#include "device/vec.h"
#include "engine/options.h"

namespace aclsim {

namespace {

constexpr int64_t kStruct = 8;
constexpr int64_t kPerRepeat = 32;
constexpr int32_t kMostRepeats = 255;
constexpr uint16_t kMostStructs = 4095;
constexpr int64_t kProposalElements = 8;
constexpr int64_t kProposalsPerRepeat = 16;
constexpr int32_t kScoreField = 4;
constexpr int32_t kLastField = 5;

void RequireRepeat(int32_t repeat, int32_t least) {
  if (repeat < least || repeat > kMostRepeats) {
    FaultOfRepeat(repeat, least, kMostRepeats);
  }
}

void RequireSort(Core& core, DType dtype, int32_t repeat) {
  if (core.soc.npuArch != 2201) {
    PassFault("instruction-absent",
              Format("%s of 8-byte structures does not exist on %s", core.instruction,
                     core.soc.name.c_str()),
              core.soc.npuArch == 1001 || core.soc.npuArch == 2002
                  ? "These cores sort region proposals. Next: use ProposalConcat, RpSort16, "
                    "MrgSort4 and ProposalExtract."
                  : "The simulator has it for the cores of Atlas A2 and A3 only.",
              "done all the same");
  }
  RequireFloat(core, dtype);
  RequireRepeat(repeat, 0);
}

void RequireProposals(Core& core, DType dtype) {
  if (core.soc.npuArch != 1001 && core.soc.npuArch != 2002) {
    PassFault("instruction-absent",
              Format("%s does not exist on %s", core.instruction, core.soc.name.c_str()),
              "These cores sort structures of 8 bytes. Next: use Sort32, MrgSort and Extract.",
              "done all the same");
  }
  if (dtype != DType::kHalf && (dtype != DType::kFloat || core.soc.npuArch == 1001)) {
    UnsupportedDType(core, core.instruction, dtype);
  }
}

bool Before(float a, float b) { return a > b || (a != a && b == b); }

// Positions of n scores that lie `step` bytes apart, sorted.
std::vector<int64_t> SortedOrder(const uint8_t* scores, int64_t step, int64_t n, DType dtype) {
  std::vector<float> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    values[static_cast<size_t>(i)] = LoadLane(dtype, scores + i * step);
  }
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return Before(values[static_cast<size_t>(a)], values[static_cast<size_t>(b)]);
  });
  return order;
}

// Returns whether every score has a value; image holds a byte per byte of UB, 0 where it is defined.
bool ScoresDefined(const uint8_t* image, int64_t step, int64_t n, size_t width) {
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* score = image + i * step;
    if (std::any_of(score, score + width, [](uint8_t byte) { return byte != 0; })) {
      return false;
    }
  }
  return true;
}

void CheckApart(const Core& core, const Ub& dst, int64_t dstBytes, const Ub& src, int64_t srcBytes,
                const char* role) {
  if (dst.addr < src.addr + srcBytes && src.addr < dst.addr + dstBytes) {
    ThrowFault("overlap",
               Format("dst at UB byte %llu overlaps %s at UB byte %llu",
                      static_cast<unsigned long long>(core.UbOffset(dst.addr)), role,
                      static_cast<unsigned long long>(core.UbOffset(src.addr))),
               "Hardware overwrites elements that it has yet to read. Use another buffer.");
  }
}

// Sorts groups of n scores each and pairs them with their indices.
void SortGroups(Core& core, const Ub& dst, const Ub& score, const Ub& index, int64_t n,
                int64_t groups, const Ub* work) {
  const auto width = static_cast<int64_t>(WidthOf(score.dtype));
  const int64_t total = n * groups;
  CheckOperand(core, dst, total * kStruct, "dst");
  CheckOperand(core, score, total * width, "src0");
  CheckOperand(core, index, total * 4, "src1");
  CheckApart(core, dst, total * kStruct, score, total * width, "src0");
  CheckApart(core, dst, total * kStruct, index, total * 4, "src1");
  uint8_t* const spoilt = work != nullptr && CheckedMode() ? work->addr : nullptr;
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = static_cast<int32_t>(total / kPerRepeat);
        record.dtype = score.dtype;
        if (work != nullptr) {
          record.Add(UbAccess(core, Use::kSpoil, *work, total * kStruct));
        }
        record.Add(UbAccess(core, Use::kWrite, dst, total * kStruct));
        record.Add(UbAccess(core, Use::kRead, score, total * width));
        record.Add(UbAccess(core, Use::kRead, index, total * 4));
      },
      [=, &core](uint8_t* ub) {
        const bool image = ub != core.ub;
        for (int64_t g = 0; g < groups; ++g) {
          const uint8_t* scores = ub + core.UbOffset(score.addr) + g * n * width;
          const uint8_t* indices = ub + core.UbOffset(index.addr) + g * n * 4;
          uint8_t* to = ub + core.UbOffset(dst.addr) + g * n * kStruct;
          if (image && !ScoresDefined(scores, width, n, static_cast<size_t>(width))) {
            std::memset(to, 0xFF, static_cast<size_t>(n * kStruct));
            continue;
          }
          for (const int64_t i : SortedOrder(score.addr + g * n * width, width, n, score.dtype)) {
            std::memset(to, 0, static_cast<size_t>(kStruct));
            std::memcpy(to, scores + i * width, static_cast<size_t>(width));
            std::memcpy(to + 4, indices + i * 4, 4);
            to += kStruct;
          }
        }
        if (spoilt != nullptr && !image) {
          std::memset(spoilt, kPoisonByte, static_cast<size_t>(total * kStruct));
        }
      });
}

}  // namespace

namespace {

// The page of Sort32 lets operands start on 32 bytes, and asks for the size of an iteration's part as well.
void HintSortAlignment(Core& core, const Ub& dst, const Ub& score, const Ub& index) {
  const uint64_t scoreBytes = kPerRepeat * WidthOf(score.dtype);
  const auto isOff = [&](const Ub& operand, uint64_t align) {
    return core.UbOffset(operand.addr) % align != 0;
  };
  if (isOff(dst, kPerRepeat * kStruct) || isOff(score, scoreBytes) || isOff(index, kPerRepeat * 4))
      [[unlikely]] {
    HintAt(
        core, "sort-alignment", "has an operand off the boundary that its page asks for",
        "The page asks for 256 bytes of dst, 128 of src1 and of float src0, 64 of half src0, and "
        "for 32 elsewhere. Give each a buffer of its own, or an offset that is a multiple.");
  }
}

}  // namespace

void VecSort32(const Ub& dst, const Ub& score, const Ub& index, int32_t repeat) try {
  Core& core = Core::Current();
  core.instruction = "Sort32";
  RequireSort(core, score.dtype, repeat);
  if (IsIdle(core, repeat, dst)) {
    return;
  }
  HintSortAlignment(core, dst, score, index);
  SortGroups(core, dst, score, index, kPerRepeat, repeat, nullptr);
}
ACLSIM_SKIPS_FAULTS()

void VecSort(const Ub& dst, const Ub& score, const Ub& index, const Ub& work, int32_t repeat,
             bool full) try {
  Core& core = Core::Current();
  core.instruction = "Sort";
  RequireSort(core, score.dtype, repeat);
  if (full && repeat == 0) {
    ThrowFault("repeat-range", "repeatTime 0 of a full sort, legal are 1..255",
               "Hardware goes on to merge groups that nothing has sorted: a board raises an "
               "exception of the core (507015). Call it only when there are elements.");
  }
  if (IsIdle(core, repeat, dst)) {
    return;
  }
  if (!full || repeat == 1) {
    SortGroups(core, dst, score, index, kPerRepeat, repeat, nullptr);
    return;
  }
  const int64_t bytes = repeat * kPerRepeat * kStruct;
  CheckOperand(core, work, bytes, "tmp");
  CheckApart(core, dst, bytes, work, bytes, "tmp");
  SortGroups(core, dst, score, index, repeat * kPerRepeat, 1, &work);
}
ACLSIM_SKIPS_FAULTS()

namespace {

// The merge stands here in each queue.
using Counts = std::array<int64_t, 4>;

// An element that is merged has this size, and its score lies here.
struct Merged {
  int64_t bytes;
  int64_t score;
};

// The queues that the merge takes from, one after the other; taken holds their shares afterwards.
std::vector<uint8_t> MergeOrder(const std::array<const uint8_t*, 4>& queues, const Counts& lengths,
                                int valid, bool suspend, DType dtype, const Merged& element,
                                Counts* taken) {
  std::vector<uint8_t> order;
  *taken = {};
  while (true) {
    int best = -1;
    float bestScore = 0;
    for (int q = 0; q < valid; ++q) {
      const auto i = static_cast<size_t>(q);
      if ((*taken)[i] == lengths[i]) {
        if (suspend) {
          return order;
        }
        continue;
      }
      const float score = LoadLane(dtype, queues[i] + (*taken)[i] * element.bytes + element.score);
      if (best < 0 || Before(score, bestScore)) {
        best = q;
        bestScore = score;
      }
    }
    if (best < 0) {
      return order;
    }
    ++(*taken)[static_cast<size_t>(best)];
    order.push_back(static_cast<uint8_t>(best));
  }
}

void Merge(Core& core, const Ub& dst, const MergeCtl& ctl, const Merged& element, uint32_t srcAlign,
           uint32_t dstAlign) {
  if (ctl.validBit != 3 && ctl.validBit != 7 && ctl.validBit != 15) {
    ThrowFault("merge-queues",
               Format("validBit %u, legal are 3, 7 and 15: the first two, three or four queues",
                      ctl.validBit),
               "Undefined on hardware. Put the queues that take part first.");
  }
  if (IsIdle(core, ctl.repeat, dst)) {
    return;
  }
  const int valid = ctl.validBit == 3 ? 2 : (ctl.validBit == 7 ? 3 : 4);
  Counts lengths{};
  int64_t total = 0;
  bool uniform = valid == 4 && !ctl.suspend;
  constexpr const char* kRoles[] = {"src1", "src2", "src3", "src4"};
  for (size_t q = 0; q < static_cast<size_t>(valid); ++q) {
    if (ctl.lengths[q] > kMostStructs) {
      ThrowFault(
          "merge-queues",
          Format("elementLengths[%zu] is %u, legal are 0..%u", q, ctl.lengths[q], kMostStructs),
          "Hardware keeps the low 12 bits. Merge shorter queues.");
    }
    lengths[q] = ctl.lengths[q];
    uniform = uniform && lengths[q] == lengths[0] &&
              ctl.src[q].addr == ctl.src[0].addr + total * element.bytes;
    total += lengths[q];
  }
  if (ctl.repeat > 1 && !uniform) {
    ThrowFault("merge-queues",
               Format("repeatTimes %d with queues that differ in length, do not follow each other, "
                      "are fewer than four, or may suspend",
                      ctl.repeat),
               "Hardware ignores repeatTimes then. Merge one group per call.");
  }
  const int64_t repeat = ctl.repeat;
  for (size_t q = 0; q < static_cast<size_t>(valid); ++q) {
    const int64_t extent = ((repeat - 1) * total + lengths[q]) * element.bytes;
    CheckOperand(core, ctl.src[q], extent, kRoles[q], srcAlign);
  }
  CheckOperand(core, dst, ctl.suspend ? 0 : repeat * total * element.bytes, "dst", dstAlign);
  for (size_t q = 0; !ctl.suspend && q < static_cast<size_t>(valid); ++q) {
    CheckApart(core, dst, repeat * total * element.bytes, ctl.src[q],
               ((repeat - 1) * total + lengths[q]) * element.bytes, kRoles[q]);
  }
  const auto orderOf = [=](int64_t r, Counts* taken) {
    std::array<const uint8_t*, 4> queues{};
    for (size_t q = 0; q < static_cast<size_t>(valid); ++q) {
      queues[q] = ctl.src[q].addr + r * total * element.bytes;
    }
    return MergeOrder(queues, lengths, valid, ctl.suspend, dst.dtype, element, taken);
  };
  const auto width = WidthOf(dst.dtype);
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = static_cast<int32_t>(repeat);
        record.dtype = dst.dtype;
        record.Add(UbAccess(core, Use::kWrite, dst, repeat * total * element.bytes));
        for (size_t q = 0; q < static_cast<size_t>(valid); ++q) {
          Access access = UbAccess(core, Use::kRead, ctl.src[q], lengths[q] * element.bytes);
          access.repeat = static_cast<uint32_t>(repeat);
          access.repStride = total * element.bytes;
          record.Add(access);
        }
        if (ctl.suspend) {
          record.narrow = [&core, dst, orderOf, element](Record& self) {
            Counts taken;
            const auto bytes = static_cast<int64_t>(orderOf(0, &taken).size()) * element.bytes;
            core.CheckUbRange(dst, 0, bytes, "dst");
            self.access[0] = UbAccess(core, Use::kWrite, dst, bytes);
          };
        }
      },
      [=, &core](uint8_t* ub) {
        for (int64_t r = 0; r < repeat; ++r) {
          Counts taken;
          const std::vector<uint8_t> order = orderOf(r, &taken);
          const auto bytes = static_cast<int64_t>(order.size()) * element.bytes;
          uint8_t* to = ub + core.UbOffset(dst.addr) + r * total * element.bytes;
          std::array<const uint8_t*, 4> from{};
          bool undefined = false;
          for (size_t q = 0; q < static_cast<size_t>(valid); ++q) {
            from[q] = ub + core.UbOffset(ctl.src[q].addr) + r * total * element.bytes;
            undefined = undefined ||
                        (ub != core.ub &&
                         !ScoresDefined(from[q] + element.score, element.bytes, lengths[q], width));
          }
          if (undefined) {
            std::memset(to, 0xFF, static_cast<size_t>(bytes));
            continue;
          }
          if (ub == core.ub) {
            core.CheckUbRange(dst, 0, r * total * element.bytes + bytes, "dst");
            for (size_t q = 0; q < 4; ++q) {
              core.registers.merged[q] = static_cast<uint16_t>(taken[q]);
            }
            for (size_t q = 0; ctl.suspend && q < static_cast<size_t>(valid); ++q) {
              CheckApart(core, dst, bytes, ctl.src[q], lengths[q] * element.bytes, kRoles[q]);
            }
          }
          for (const uint8_t q : order) {
            std::memcpy(to, from[q], static_cast<size_t>(element.bytes));
            from[q] += element.bytes;
            to += element.bytes;
          }
        }
      });
}

}  // namespace

void VecMergeSort(const Ub& dst, const MergeCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "MrgSort";
  RequireSort(core, dst.dtype, ctl.repeat);
  RequireRepeat(ctl.repeat, ctl.leastRepeat);
  Merge(core, dst, ctl, {kStruct, 0}, kStruct, kBlock);
}
ACLSIM_SKIPS_FAULTS()

void VecProposalMerge(const Ub& dst, const MergeCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "MrgSort4";
  RequireProposals(core, dst.dtype);
  RequireRepeat(ctl.repeat, 1);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t bytes = kProposalElements * width;
  Merge(core, dst, ctl, {bytes, kScoreField * width}, static_cast<uint32_t>(bytes),
        static_cast<uint32_t>(bytes));
}
ACLSIM_SKIPS_FAULTS()

void MergedCounts(uint16_t* counts) try {
  Core& core = Core::Current();
  core.instruction = "GetMrgSortResult";
  if (core.soc.npuArch == 1001) {
    PassFault("instruction-absent",
              Format("GetMrgSortResult does not exist on %s", core.soc.name.c_str()),
              "These cores do not report how far a merge came. Merge without suspension.",
              "done all the same");
  }
  core.ScalarWaits(Pipe::kVector);
  std::copy_n(core.registers.merged, 4, counts);
}
ACLSIM_SKIPS_FAULTS()

void VecExtract(const Ub& value, const Ub& index, const Ub& sorted, int32_t repeat) try {
  Core& core = Core::Current();
  core.instruction = "Extract";
  RequireSort(core, sorted.dtype, repeat);
  if (IsIdle(core, repeat, value)) {
    return;
  }
  const auto width = static_cast<int64_t>(WidthOf(sorted.dtype));
  const int64_t n = repeat * kPerRepeat;
  CheckOperand(core, value, n * width, "dstValue");
  CheckOperand(core, index, n * 4, "dstIndex");
  CheckOperand(core, sorted, n * kStruct, "sorted");
  CheckApart(core, value, n * width, sorted, n * kStruct, "sorted");
  CheckApart(core, index, n * 4, sorted, n * kStruct, "sorted");
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = repeat;
        record.dtype = sorted.dtype;
        record.Add(UbAccess(core, Use::kWrite, value, n * width));
        record.Add(UbAccess(core, Use::kWrite, index, n * 4));
        record.Add(UbAccess(core, Use::kRead, sorted, n * kStruct));
      },
      [=, &core](uint8_t* ub) {
        const uint8_t* from = ub + core.UbOffset(sorted.addr);
        for (int64_t i = 0; i < n; ++i, from += kStruct) {
          std::memcpy(ub + core.UbOffset(value.addr) + i * width, from, static_cast<size_t>(width));
          std::memcpy(ub + core.UbOffset(index.addr) + i * 4, from + 4, 4);
        }
      });
}
ACLSIM_SKIPS_FAULTS()

namespace {

// The operands of ProposalConcat and ProposalExtract: 16 elements per repeat, and the proposals that hold them.
struct FieldOperands {
  Ub proposals;
  Ub elements;
  const char* proposalRole;
  const char* elementRole;
  bool extract;
};

void MoveField(Core& core, const FieldOperands& of, int32_t repeat, int32_t field) {
  const DType dtype = of.elements.dtype;
  RequireProposals(core, dtype);
  RequireRepeat(repeat, 0);
  if (field < 0 || field > kLastField) {
    ThrowFault(
        "proposal-field",
        Format("modeNumber %d, legal are 0..%d: x1, y1, x2, y2, score, label", field, kLastField),
        "Undefined on hardware. Next: pass the field's number.");
  }
  if (repeat == 0) {
    return;
  }
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t n = repeat * kProposalsPerRepeat;
  const int64_t step = kProposalElements * width;
  CheckOperand(core, of.proposals, n * step, of.proposalRole);
  CheckOperand(core, of.elements, n * width, of.elementRole);
  const Ub& dst = of.extract ? of.elements : of.proposals;
  const Ub& src = of.extract ? of.proposals : of.elements;
  CheckApart(core, dst, n * (of.extract ? width : step), src, n * (of.extract ? step : width),
             "src");
  const auto fields = static_cast<int64_t>(core.UbOffset(of.proposals.addr)) + field * width;
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = repeat;
        record.dtype = dtype;
        const Access strided =
            BlockAccess(Space::kUb, of.extract ? Use::kRead : Use::kWrite,
                        static_cast<uint64_t>(fields), static_cast<uint64_t>(width),
                        static_cast<uint64_t>(n), static_cast<uint64_t>(step), of.proposals.buf);
        const Access dense =
            UbAccess(core, of.extract ? Use::kWrite : Use::kRead, of.elements, n * width);
        record.Add(of.extract ? dense : strided);
        record.Add(of.extract ? strided : dense);
      },
      [=, &core](uint8_t* ub) {
        uint8_t* spread = ub + fields;
        uint8_t* packed = ub + core.UbOffset(of.elements.addr);
        for (int64_t i = 0; i < n; ++i, spread += step, packed += width) {
          std::memcpy(of.extract ? packed : spread, of.extract ? spread : packed,
                      static_cast<size_t>(width));
        }
      });
}

}  // namespace

void VecProposalConcat(const Ub& dst, const Ub& src, int32_t repeat, int32_t field) try {
  Core& core = Core::Current();
  core.instruction = "ProposalConcat";
  MoveField(core, {dst, src, "dst", "src", false}, repeat, field);
}
ACLSIM_SKIPS_FAULTS()

void VecProposalExtract(const Ub& dst, const Ub& src, int32_t repeat, int32_t field) try {
  Core& core = Core::Current();
  core.instruction = "ProposalExtract";
  MoveField(core, {src, dst, "src", "dst", true}, repeat, field);
}
ACLSIM_SKIPS_FAULTS()

void VecProposalSort(const Ub& dst, const Ub& src, int32_t repeat) try {
  Core& core = Core::Current();
  core.instruction = "RpSort16";
  RequireProposals(core, dst.dtype);
  RequireRepeat(repeat, 0);
  if (IsIdle(core, repeat, dst)) {
    return;
  }
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t step = kProposalElements * width;
  const int64_t group = kProposalsPerRepeat * step;
  CheckOperand(core, dst, repeat * group, "dst");
  CheckOperand(core, src, repeat * group, "src");
  if (dst.addr != src.addr) {
    CheckApart(core, dst, repeat * group, src, repeat * group, "src");
  }
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = repeat;
        record.dtype = dst.dtype;
        record.Add(UbAccess(core, Use::kWrite, dst, repeat * group));
        record.Add(UbAccess(core, Use::kRead, src, repeat * group));
      },
      [=, &core](uint8_t* ub) {
        const int64_t score = kScoreField * width;
        std::vector<uint8_t> from(static_cast<size_t>(group));
        for (int64_t r = 0; r < repeat; ++r) {
          // dst may be src.
          std::memcpy(from.data(), ub + core.UbOffset(src.addr) + r * group, from.size());
          uint8_t* to = ub + core.UbOffset(dst.addr) + r * group;
          if (ub != core.ub && !ScoresDefined(from.data() + score, step, kProposalsPerRepeat,
                                              static_cast<size_t>(width))) {
            std::memset(to, 0xFF, from.size());
            continue;
          }
          for (const int64_t i :
               SortedOrder(src.addr + r * group + score, step, kProposalsPerRepeat, dst.dtype)) {
            std::memcpy(to, from.data() + i * step, static_cast<size_t>(step));
            to += step;
          }
        }
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
