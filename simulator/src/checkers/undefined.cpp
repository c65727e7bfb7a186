// SPDX-License-Identifier: Apache-2.0
#include "checkers/undefined.h"

#include <algorithm>
#include <cstring>

#include "checkers/rows.h"
#include "engine/gm_shadow.h"
#include "engine/inside_struct.h"
#include "engine/meeting.h"

namespace aclsim {

namespace {

constexpr uint8_t kDefined = 0;
constexpr uint8_t kUndefined = 0xFF;

bool AllZero(const uint8_t* bytes, uint64_t count) {
  uint64_t any = 0;
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof(word));
    any |= word;
  }
  for (; i < count; ++i) {
    any |= bytes[i];
  }
  return any == 0;
}

// One repeat of an access.
Access RepeatOf(const Access& access, uint32_t r) {
  Access one = access;
  one.addr += static_cast<uint64_t>(r * access.repStride);
  one.repeat = 1;
  one.bytes = one.lastBytes = r + 1 == access.repeat ? access.lastBytes : access.bytes;
  return one;
}

bool Reads(const Access& access) { return access.use == Use::kRead; }

constexpr size_t kMaskLanes = 128;

bool Works(const Access& access, size_t lane) {
  return ((access.mask[lane / 64] >> (lane % 64)) & 1) != 0;
}

}  // namespace

void JunkSums::Add(Sum sum) {
  constexpr size_t kMost = 4096;
  const std::lock_guard lock(mutex_);
  if (sums_.size() < kMost) {
    sums_.push_back(std::move(sum));
  }
}

std::optional<JunkSums::Sum> JunkSums::Find(uint64_t at) const {
  const std::lock_guard lock(mutex_);
  std::optional<Sum> found;
  for (const Sum& sum : sums_) {
    if (sum.begin <= at && at < sum.end && (!found || sum.core < found->core)) {
      found = sum;
    }
  }
  return found;
}

UndefinedObserver::UndefinedObserver(uint64_t imageBytes, JunkSums* junkSums)
    : junkSums_(junkSums),
      image_(imageBytes, kUndefined),
      originOf_(imageBytes / kBlockBytes + 1),
      origins_(1),
      writerOf_(imageBytes / kBlockBytes + 1) {}

void UndefinedObserver::OnFreshUb(Core&, uint64_t begin, uint64_t end) {
  image_.Set(begin, end, kUndefined);
  SetOrigin(begin, end, 0);
}

void UndefinedObserver::OnHandover(Core&, const Handover& handover, Pipe, uint32_t site) {
  const uint8_t* shadow = handover.shadow.empty() ? nullptr : handover.shadow.data();
  for (const Handover::Run& run : handover.runs) {
    const uint64_t end = run.at + run.bytes;
    if (shadow == nullptr || AllZero(shadow, run.bytes)) {
      image_.Set(run.at, end, kDefined);
      SetWriter(run.at, end, site, handover.name);
    } else {
      std::memcpy(image_.Each(run.at, end) + run.at, shadow, run.bytes);
      SetOrigin(run.at, end, NewOrigin({site, Cause::kHandover, handover.name, run.at}));
    }
    shadow += shadow != nullptr ? run.bytes : 0;
  }
}

bool UndefinedObserver::AllDefined(const Access& access) const {
  return access.repStride >= 0 && access.chunkStride >= 0 &&
         image_.Max(access.addr, access.addr + access.Extent()) == kDefined;
}

bool UndefinedObserver::Defined(const Access& access) const {
  if (AllDefined(access)) {
    return true;
  }
  bool defined = true;
  ForEachSpan(Distinct(access), [&](uint64_t begin, uint64_t end, uint32_t) {
    defined = defined && image_.Max(begin, end) == kDefined;
  });
  return defined;
}

void UndefinedObserver::SetOrigin(uint64_t begin, uint64_t end, uint32_t origin) {
  std::fill(originOf_.begin() + static_cast<std::ptrdiff_t>(FirstBlock(begin)),
            originOf_.begin() + static_cast<std::ptrdiff_t>(BlocksEnd(end)), origin);
}

void UndefinedObserver::SetWriter(uint64_t begin, uint64_t end, uint32_t site, const char* name) {
  if (site >= nameOf_.size()) {
    nameOf_.resize(site + 1, "");
  }
  nameOf_[site] = name;
  std::fill(writerOf_.begin() + static_cast<std::ptrdiff_t>(FirstBlock(begin)),
            writerOf_.begin() + static_cast<std::ptrdiff_t>(BlocksEnd(end)), site);
}

void UndefinedObserver::Mark(const Record& record, const Access& access, uint8_t value,
                             uint32_t origin) {
  if (value == kDefined && AllDefined(access)) {
    return;
  }
  ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
    image_.Set(begin, end, value);
    if (value != kDefined) {
      SetOrigin(begin, end, origin);
    } else {
      SetWriter(begin, end, record.site, record.name);
    }
  });
}

uint32_t UndefinedObserver::NewOrigin(const Origin& origin) {
  const auto [id, isNew] =
      originIds_.emplace(std::make_pair(origin.site, static_cast<int>(origin.cause)),
                         static_cast<uint32_t>(origins_.size()));
  if (isNew) {
    origins_.push_back(origin);
  } else if (origin.cause == Cause::kPadding) {
    origins_[id->second] = origin;  // of the last copy
  }
  return id->second;
}

// Takes of several undefined sources the one whose first undefined lane comes first: tiles are full of lanes at their end that nobody uses.
uint32_t UndefinedObserver::OriginOf(const Core& core, const Record& record) {
  uint64_t first = UINT64_MAX;
  uint64_t firstLane = UINT64_MAX;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm() || !Reads(access)) {
      continue;
    }
    uint64_t lane = 0;
    ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
      constexpr uint64_t kPiece = 512;
      for (uint64_t at = begin; at < end && lane < firstLane; at += kPiece) {
        const uint64_t until = std::min(end, at + kPiece);
        if (image_.Max(at, until) != kDefined) {
          const uint8_t* const image = image_.Values(at, until);
          const auto undefined = [](uint8_t byte) { return byte != kDefined; };
          const uint8_t* const found = std::find_if(image + at, image + until, undefined);
          const auto place = static_cast<uint64_t>(found - image);
          if (place < until && lane + (place - at) / access.width < firstLane) {
            first = place;
            firstLane = lane + (place - at) / access.width;
          }
        }
        lane += (until - at) / access.width;
      }
    });
  }
  if (first == UINT64_MAX) {
    return 0;
  }
  const uint32_t known = originOf_[first / kBlockBytes];
  if (known != 0) {
    return known;
  }
  Origin origin{record.site, Cause::kNeverWritten, record.name, first};
  if (!originIds_.contains({origin.site, static_cast<int>(origin.cause)})) {
    FindNeighbour(core, record, &origin);
  }
  return NewOrigin(origin);
}

void UndefinedObserver::FindNeighbour(const Core& core, const Record& record, Origin* origin) {
  origin->call = record.vectorFunction != 0 ? core.vectorSite : 0;
  const size_t at = core.BufferAt(origin->offset);
  if (at == 0) {
    return;
  }
  const BufferInfo& buffer = core.buffers[at];
  const uint64_t begin = buffer.offset;
  const uint64_t end = begin + buffer.bytes;
  const uint8_t* const image = image_.Values(begin, end);
  const auto isDefined = [&](uint64_t byte) { return image[byte] == kDefined; };
  uint64_t near = origin->offset;
  while (near > begin && !isDefined(near - 1)) {
    --near;
  }
  origin->before = near > begin;
  if (origin->before) {
    --near;
  } else {
    near = origin->offset;
    while (near < end && !isDefined(near)) {
      ++near;
    }
  }
  if (near < end && isDefined(near)) {
    origin->neighbour = writerOf_[near / kBlockBytes];
  } else {
    origin->alloc = buffer.allocSite;
  }
}

void UndefinedObserver::NameNeighbour(const Core& core, const Origin& origin,
                                      Finding* finding) const {
  const auto add = [&](uint32_t site, const char* name, const char* note) {
    if (site != 0) {
      finding->related.push_back(core.PlaceOf(name, Pipe::kVector, site, note));
      finding->related.back().pipe.clear();
    }
  };
  // An instruction that a mask kept from the bytes is named for that already.
  const auto isIdle = [&](const auto& idle) { return idle.site == origin.neighbour; };
  if (origin.neighbour != 0 && std::ranges::none_of(core.IdleAt(origin.offset), isIdle)) {
    add(origin.neighbour, nameOf_[origin.neighbour],
        origin.before ? "wrote the bytes before them" : "wrote the bytes behind them");
  }
  add(origin.alloc, "AllocTensor", "handed the buffer out");
  add(origin.call, "asc_vf_call", "runs this vector function");
}

// Lane i of the destination from lane i of every source; for kBits from the lanes 8 i to 8 i + 7.
void UndefinedObserver::Lanes(const Record& record, const Access& dst, uint32_t origin) {
  // Mostly a few lanes are undefined, those of a tail: the others are looked at in pieces.
  constexpr uint64_t kPiece = 64;
  lanes_.clear();
  size_t first = SIZE_MAX;  // undefined ones lie in [first, last)
  size_t last = 0;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& source = record.access[static_cast<size_t>(i)];
    if (source.InGm() || !Reads(source)) {
      continue;
    }
    size_t lane = 0;
    ForEachSpan(source, [&](uint64_t begin, uint64_t end, uint32_t) {
      for (uint64_t at = begin; at < end; at += kPiece * source.width) {
        const uint64_t until = std::min(end, at + kPiece * source.width);
        const size_t count = (until - at + source.width - 1) / source.width;
        if (lanes_.size() < lane + count) {
          lanes_.resize(lane + count, kDefined);
        }
        if (image_.Max(at, until) != kDefined) {
          const uint8_t* const image = image_.Values(at, until);
          for (size_t k = 0; k < count; ++k) {
            lanes_[lane + k] |= image[at + k * source.width];
          }
          first = std::min(first, lane);
          last = std::max(last, lane + count);
        }
        lane += count;
      }
    });
  }
  const size_t perByte = record.flow == Flow::kBits ? 8 : 1;
  first /= perByte;
  last = (last + perByte - 1) / perByte;
  size_t lane = 0;
  ForEachSpan(dst, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t at = begin; at < end;) {
      const size_t left = (end - at + dst.width - 1) / dst.width;
      if (lane < first || lane >= last) {
        const size_t count = lane < first ? std::min(left, first - lane) : left;
        image_.Set(at, at + count * dst.width, kDefined);
        SetWriter(at, at + count * dst.width, record.site, record.name);
        lane += count;
        at += count * dst.width;
        continue;
      }
      const size_t count = std::min(left, last - lane);
      uint8_t* const image = image_.Each(at, at + count * dst.width);
      for (const size_t stop = lane + count; lane < stop; ++lane, at += dst.width) {
        uint8_t value = kDefined;
        for (size_t i = 0; i < perByte && lane * perByte + i < lanes_.size(); ++i) {
          // A mask is undefined bit by bit: Select takes one for each lane.
          const uint8_t all = lanes_[lane * perByte + i];
          value |= perByte == 1 ? all : static_cast<uint8_t>(all & (1u << i));
        }
        std::memset(image + at, value, dst.width);
        if (value != kDefined) {
          originOf_[at / kBlockBytes] = origin;
        }
      }
    }
  });
}

// A repeat's results from the whole same repeat of every source; for kGroups each from its share of the lanes.
void UndefinedObserver::Repeats(const Record& record, const Access& dst, uint32_t origin) {
  for (uint32_t r = 0; r < dst.repeat; ++r) {
    const Access target = RepeatOf(dst, r);
    const bool groups = record.flow == Flow::kGroups;
    const size_t results = groups ? target.bytes / dst.width : 1;
    lanes_.assign(results, kDefined);
    for (int i = 0; i < record.accessCount; ++i) {
      const Access& source = record.access[static_cast<size_t>(i)];
      if (source.InGm() || !Reads(source) || r >= source.repeat) {
        continue;
      }
      size_t lane = 0;
      ForEachSpan(RepeatOf(source, r), [&](uint64_t begin, uint64_t end, uint32_t) {
        const bool defined = image_.Max(begin, end) == kDefined;
        if (defined && !groups) {
          return;
        }
        const uint8_t* const image = image_.Values(begin, end);
        for (uint64_t at = begin; at < end; at += source.width, ++lane) {
          while (source.masked && lane < kMaskLanes && !Works(source, lane)) {
            ++lane;  // spans are of the lanes that work
          }
          const size_t result = groups ? std::min(lane / record.group, results - 1) : 0;
          lanes_[result] |= defined ? kDefined : image[at];
        }
      });
    }
    size_t result = 0;
    ForEachSpan(target, [&](uint64_t begin, uint64_t end, uint32_t) {
      const uint64_t step = results == 1 ? end - begin : dst.width;
      for (uint64_t at = begin; at < end; at += step, ++result) {
        const uint8_t value = lanes_[std::min(result, results - 1)];
        image_.Set(at, at + step, value);
        if (value != kDefined) {
          SetOrigin(at, at + step, origin);
        }
      }
    });
  }
}

void UndefinedObserver::Spoil(const Record& record, const Access& access) {
  if (!access.Reserved()) {
    Mark(record, access, kUndefined,
         NewOrigin({record.site, Cause::kScratch, record.name, access.addr}));
    return;
  }
  // Only what was there can be lost.
  for (uint64_t at = access.addr; at < access.addr + access.bytes; at += kBlockBytes) {
    const uint64_t end = std::min(at + kBlockBytes, access.addr + access.bytes);
    const uint8_t* const image = image_.Values(at, end);
    if (std::any_of(image + at, image + end, [](uint8_t byte) { return byte == kDefined; })) {
      SetOrigin(at, end, NewOrigin({record.site, Cause::kReserved, record.name, at}));
    }
    image_.Set(at, end, kUndefined);
  }
}

// A copy of many rows of which every byte is defined, on both sides; false: it is none.
bool UndefinedObserver::CopyDefined(const Record& record) {
  const Access& ub = record.access[0];
  const Access& gm = record.access[1];
  if (!IsRows(gm) || record.atomic) {
    return false;
  }
  const GmRows rows = {reinterpret_cast<const uint8_t*>(gm.addr), gm.bytes,
                       static_cast<uint64_t>(gm.repStride), gm.repeat};
  if (ub.use == Use::kWrite) {
    if ((ub.bytes != gm.bytes && !record.padDefined) || !IsDefinedGm(rows)) {
      return false;
    }
    Mark(record, ub, kDefined, 0);
    return true;
  }
  if (!Defined(ub)) {
    return false;
  }
  MarkGm(rows, true);
  return true;
}

void UndefinedObserver::Copy(const Core& core, const Record& record) {
  if (CopyDefined(record)) {
    return;
  }
  const Access& ub = record.access[0];
  const Access& gm = record.access[1];
  const bool in = ub.use == Use::kWrite;
  for (uint32_t r = 0; r < ub.repeat; ++r) {
    const uint64_t line = ub.addr + static_cast<uint64_t>(r * ub.repStride);
    const uint64_t address = gm.addr + static_cast<uint64_t>(r * gm.repStride);
    const auto* memory = reinterpret_cast<const void*>(address);
    if (in) {
      if (ub.bytes != gm.bytes) {
        image_.Set(line, line + ub.bytes, record.padDefined ? kDefined : kUndefined);
        if (!record.padDefined) {
          SetOrigin(
              line, line + ub.bytes,
              NewOrigin({record.site, Cause::kPadding, record.name, line, gm.bytes, ub.bytes}));
        }
      }
      const uint64_t begin = line + record.padLeft;
      const uint64_t undefined = FirstUndefinedGm(memory, gm.bytes);
      if (undefined == gm.bytes) {
        image_.Set(begin, begin + gm.bytes, kDefined);
        SetWriter(begin, begin + gm.bytes, record.site, record.name);
      } else {
        LoadGmShadow(memory, gm.bytes, image_.Each(begin, begin + gm.bytes) + begin);
        SetOrigin(line, line + ub.bytes,
                  NewOrigin({record.site, Cause::kGm, record.name, address + undefined}));
      }
      continue;
    }
    if (image_.Max(line, line + gm.bytes) == kDefined) {
      if (!record.atomic) {
        MarkGm(memory, gm.bytes, true);
      } else {
        AddToGm(core, record, address, gm.bytes);
      }
      continue;
    }
    const uint8_t* const image = image_.Values(line, line + gm.bytes) + line;
    const uint32_t origin = OriginOf(core, record);
    if (!record.atomic) {
      StoreGmShadow(memory, gm.bytes, image);
    } else {
      std::vector<uint8_t> sum(gm.bytes);
      LoadGmShadow(memory, gm.bytes, sum.data());
      for (uint64_t i = 0; i < gm.bytes; ++i) {
        sum[i] |= image[i];
      }
      StoreGmShadow(memory, gm.bytes, sum.data());
    }
    stores_.push_back({address, address + gm.bytes, record.site, origin});
  }
}

// Defined values are added to bytes that may not be.
void UndefinedObserver::AddToGm(const Core& core, const Record& record, uint64_t address,
                                uint64_t bytes) {
  const uint64_t undefined = FirstUndefinedGm(reinterpret_cast<const void*>(address), bytes);
  if (undefined == bytes) {
    return;
  }
  junkSums_->Add({address + undefined, address + bytes, core.index, record.name,
                  core.sites.Stack(record.site)});
  stores_.push_back({address, address + bytes, record.site,
                     NewOrigin({record.site, Cause::kSum, record.name, address + undefined})});
}

// Into local memory, in an order that the instruction makes.
void UndefinedObserver::MoveFromGm(const Record& record) {
  uint32_t origin = 0;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (!access.InGm()) {
      continue;
    }
    ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
      const uint64_t bytes = end - begin;
      const uint64_t at =
          origin == 0 ? FirstUndefinedGm(reinterpret_cast<const void*>(begin), bytes) : bytes;
      if (at < bytes) {
        origin = NewOrigin({record.site, Cause::kGm, record.name, begin + at});
      }
    });
  }
  if (origin == 0) {
    Compute(record, true, 0);
  } else {
    Move(record, origin);
  }
}

// Results, of which there are other bytes in GM than of their sources in local memory.
void UndefinedObserver::Store(const Core& core, const Record& record) {
  bool defined = true;
  uint8_t* image = nullptr;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (!access.InGm()) {
      defined = defined && Defined(access);
      image = image_.Each(access.addr, access.addr + access.Extent());
    }
  }
  const uint32_t origin = defined ? 0 : OriginOf(core, record);
  if (!defined) {
    record.move(image);
  }
  const auto store = [&](uint64_t begin, uint64_t end, uint32_t) {
    if (!defined) {
      stores_.push_back({begin, end, record.site, origin});
    } else if (record.atomic) {
      AddToGm(core, record, begin, end - begin);
    } else {
      MarkGm(reinterpret_cast<const void*>(begin), end - begin, true);
    }
  };
  for (int i = 0; i < record.accessCount; ++i) {
    if (record.access[static_cast<size_t>(i)].InGm()) {
      ForEachSpan(record.access[static_cast<size_t>(i)], store);
    }
  }
}

void UndefinedObserver::DescribeNeverWritten(const Core& core, const Origin& origin,
                                             Finding* finding) const {
  uint64_t start = 0;
  finding->kind = "undefined-read";
  finding->space = SpaceName(core.image.SpaceOf(origin.offset));
  finding->buffer = core.BufferName(origin.offset, &start);
  finding->begin = origin.offset - start;
  finding->detail = Format(
      "%s reads %s bytes from %llu of %s on, which nothing has written since the "
      "buffer was handed out",
      origin.name, finding->space, static_cast<unsigned long long>(finding->begin),
      finding->buffer.c_str());
  finding->advice =
      "Hardware computes with what the last kernel left there: random numbers. Copy or "
      "Duplicate into the whole range first, or shorten the count.";
  for (const Idle& idle : core.IdleAt(origin.offset)) {
    finding->related.push_back(core.PlaceOf(idle.name, Pipe::kVector, idle.site, idle.why));
    if (idle.maskSite == 0) {
      continue;
    }
    finding->related.push_back(
        core.PlaceOf("SetVectorMask", Pipe::kScalar, idle.maskSite, "sets the mask"));
    // The cause is that instruction, not who reads.
    if (finding->related.size() == 2) {
      std::swap(finding->at, finding->related[0]);
      finding->related[0].note = "reads the other lanes";
      finding->detail =
          Format("%s %s, and %s reads bytes of %s from %llu on, which nothing has written",
                 idle.name, idle.why, origin.name, finding->buffer.c_str(),
                 static_cast<unsigned long long>(finding->begin));
      finding->advice =
          "Hardware leaves what was there: random numbers. Call ResetMask, or SetVectorMask "
          "with the lanes that are meant, before instructions with isSetMask = false.";
    }
  }
  NameNeighbour(core, origin, finding);
}

void UndefinedObserver::DescribeGm(const Core& core, const Origin& origin, Finding* finding) const {
  uint64_t start = 0;
  finding->kind = "undefined-read";
  finding->space = "GM";
  if (const GmRegion* region = core.RegionOf(origin.offset)) {
    finding->buffer = region->name;
    start = reinterpret_cast<uint64_t>(region->addr);
  }
  finding->begin = origin.offset - start;
  const char* name = origin.name;
  const char* does = origin.cause == Cause::kSum ? "adds to" : "reads";
  if (origin.cause == Cause::kGm) {
    if (const std::optional<JunkSums::Sum> sum = junkSums_->Find(origin.offset)) {
      finding->related.push_back({"", origin.name, "reads the sum", finding->at.line});
      finding->at = {"", sum->name, Format("core %u", sum->core), FindKernelLine(sum->stack)};
      name = sum->name;
      does = "adds to";
    }
  }
  finding->detail =
      Format("%s %s %s from byte %llu on, which nothing has written", name, does,
             finding->buffer.c_str(), static_cast<unsigned long long>(finding->begin));
  finding->advice =
      "Hardware takes what was left there: random numbers. Fill the tensor or the "
      "workspace first.";
}

Finding UndefinedObserver::Describe(const Core& core, uint32_t id) const {
  const Origin& origin = origins_[id];
  Finding finding;
  finding.at = core.PlaceOf(origin.name, Pipe::kVector, origin.site, "");
  finding.at.pipe.clear();
  uint64_t start = 0;
  switch (origin.cause) {
    case Cause::kNeverWritten:
      DescribeNeverWritten(core, origin, &finding);
      break;
    case Cause::kGm:
    case Cause::kSum:
      DescribeGm(core, origin, &finding);
      break;
    case Cause::kPadding:
      finding.kind = "undefined-padding";
      finding.space = "UB";
      finding.detail =
          "the lanes that DataCopyPad adds to a block have no value to rely on without isPad";
      finding.advice =
          "Hardware leaves junk there, or copies of the block's first element: never zeros. Set "
          "isPad and paddingValue, or keep the lanes out of the result.";
      break;
    case Cause::kScratch:
      finding.kind = "undefined-read";
      finding.space = "UB";
      finding.detail = Format("the scratch of %s is read after it", origin.name);
      finding.advice = "Hardware leaves intermediate values there. Use another buffer.";
      break;
    case Cause::kRegister:
      finding.kind = "undefined-read";
      finding.space = "register";
      finding.detail =
          "a register is used, or lanes of it, that nothing has written in this vector function";
      finding.advice =
          "Hardware computes with what the register held before: random numbers. Load or "
          "Duplicate it first; MERGING keeps the lanes outside of the mask.";
      break;
    case Cause::kBehind:
      finding.kind = "undefined-read";
      finding.space = "UB";
      finding.detail = "a load reads behind the end of its buffer, and what is there is used";
      finding.advice =
          "Hardware takes what the next buffer holds at that time. Keep the lanes out of the "
          "result by a mask, or make the buffer longer.";
      break;
    case Cause::kHandover:
      finding.kind = "undefined-read";
      finding.space = SpaceName(core.image.SpaceOf(origin.offset));
      finding.buffer = core.BufferName(origin.offset, &start);
      finding.begin = origin.offset - start;
      finding.detail = Format(
          "%s bytes from %llu of %s on come from another core's %s, which made them of bytes that "
          "nothing has written",
          finding.space, static_cast<unsigned long long>(finding.begin), finding.buffer.c_str(),
          origin.name);
      finding.advice =
          "Hardware computes with what the last kernel left there: random numbers. Fill the "
          "source on the other core first, or copy less of it.";
      break;
    case Cause::kReserved:
      finding.kind = "ub-scratch";
      finding.space = "UB";
      finding.buffer = core.BufferName(origin.offset, &start);
      finding.begin = origin.offset - start;
      finding.detail = Format(
          "%s works in the toolchain's part of UB, from byte %llu on, and what %s has there at its "
          "byte %llu is used afterwards",
          origin.name, static_cast<unsigned long long>(origin.offset), finding.buffer.c_str(),
          static_cast<unsigned long long>(finding.begin));
      finding.advice =
          "Hardware overwrites it. Leave the last 8 KB of UB unallocated, or without values that "
          "live across this call.";
      break;
  }
  finding.end = finding.begin;
  return finding;
}

void UndefinedObserver::DescribePadding(const Core& core, uint32_t id, uint64_t at,
                                        Finding* finding) const {
  const Origin& origin = origins_[id];
  if (origin.cause != Cause::kPadding || at < origin.offset || at >= origin.offset + origin.row) {
    return;
  }
  uint64_t start = 0;
  finding->buffer = core.BufferName(at, &start);
  finding->begin = finding->end = at - start;
  finding->detail = Format(
      "the value at byte %llu of %s is padding: %s wrote %llu of the row's %llu bytes, and not "
      "this one",
      static_cast<unsigned long long>(finding->begin), finding->buffer.c_str(), origin.name,
      static_cast<unsigned long long>(origin.copied), static_cast<unsigned long long>(origin.row));
  finding->advice =
      "Hardware leaves junk there, or copies of the block's first element: never zeros. End the "
      "loop "
      "at the elements that were copied, not at a whole block, or set isPad, rightPadding and "
      "paddingValue.";
}

void UndefinedObserver::Scalar(Core& core, const Record& record) {
  const Access& access = record.access[0];
  if (access.InGm()) {
    if (access.use != Use::kRead) {
      MarkGm(reinterpret_cast<const void*>(access.addr), access.bytes, true);
    } else if (const uint64_t undefined =
                   FirstUndefinedGm(reinterpret_cast<const void*>(access.addr), access.bytes);
               undefined < access.bytes) {
      const uint32_t id =
          NewOrigin({record.site, Cause::kGm, record.name, access.addr + undefined});
      if (reported_.emplace(id, 0).second) {
        core.Find(Describe(core, id));
      }
    }
    return;
  }
  if (access.use != Use::kRead) {
    Mark(record, access, kDefined, 0);
    return;
  }
  if (!Defined(access)) {
    const uint32_t id = OriginOf(core, record);
    if (reported_.emplace(id, 0).second) {
      Finding finding = Describe(core, id);
      DescribePadding(core, id, access.addr, &finding);
      finding.related.push_back(
          core.PlaceOf(record.name, Pipe::kScalar, record.site, "takes the value"));
      core.Find(std::move(finding));
    }
  }
}

void UndefinedObserver::Registers(const Core& core, const Record& record) {
  HeldLanes& held = *record.held;
  size_t at = 0;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (Reads(access)) {
      const bool defined = Defined(access);
      if (!defined && !held.undefined) {
        held.undefined = true;
        held.origin = OriginOf(core, record);
        std::memset(held.shadow, kDefined, at);
      }
      ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
        if (held.undefined) {
          std::memcpy(held.shadow + at, image_.Values(begin, end) + begin, end - begin);
        }
        at += end - begin;
      });
    } else if (!held.undefined) {
      Mark(record, access, kDefined, 0);
    } else {
      uint32_t origin = held.origin;
      if ((origin & (HeldLanes::kNeverWritten | HeldLanes::kBehindBuffer)) != 0) {
        const bool never = (origin & HeldLanes::kNeverWritten) != 0;
        origin = NewOrigin({origin & ~(HeldLanes::kNeverWritten | HeldLanes::kBehindBuffer),
                            never ? Cause::kRegister : Cause::kBehind, never ? "" : "LoadAlign"});
      }
      ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
        uint8_t* const image = image_.Each(begin, end);
        std::memcpy(image + begin, held.shadow + at, end - begin);
        if (!AllZero(image + begin, end - begin)) {
          SetOrigin(begin, end, origin);
        }
        at += end - begin;
      });
    }
  }
}

void UndefinedObserver::OnRegisters(Core& core, const RegisterAccess& access) {
  if (!access.held->undefined) {
    if (image_.Max(access.begin, access.end) == kDefined) {
      return;
    }
    if (access.use == Use::kWrite) {
      image_.Set(access.begin, access.end, kDefined);
      SetWriter(access.begin, access.end, access.site, access.name);
      return;
    }
  }
  Observer::OnRegisters(core, access);
}

void UndefinedObserver::OnRecord(Core& core, const Record& record) {
  if (record.flow == Flow::kRegisters) {
    Registers(core, record);
    return;
  }
  if (record.pipe == Pipe::kScalar) {
    Scalar(core, record);
    return;
  }
  if (record.flow == Flow::kCopy) {
    Copy(core, record);
    return;
  }
  if (record.flow == Flow::kMoveGm) {
    MoveFromGm(record);
    return;
  }
  if (record.flow == Flow::kStore) {
    Store(core, record);
    return;
  }
  bool defined = true;
  for (int i = 0; i < record.accessCount && defined && record.flow != Flow::kNone; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    defined = access.InGm() || !Reads(access) || Defined(access);
  }
  if (!defined && record.flow == Flow::kMove) {
    Move(record, OriginOf(core, record));
  } else {
    Compute(record, defined, defined ? 0 : OriginOf(core, record));
  }
}

// Bytes move unchanged: they do so in the image, too.
void UndefinedObserver::Move(const Record& record, uint32_t origin) {
  // Vector instructions may look at more than their accesses, such as a register behind UB.
  const bool vector = record.pipe == Pipe::kVector;
  uint8_t* image = vector ? image_.Each(0, image_.Size()) : nullptr;
  for (int i = 0; i < record.accessCount && !vector; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (!access.InGm()) {
      image = image_.Each(access.addr, access.addr + access.Extent());
    }
  }
  record.move(image);
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.use == Use::kWrite && !access.InGm()) {
      ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
        if (!AllZero(image + begin, end - begin)) {
          SetOrigin(begin, end, origin);
        }
      });
    }
  }
}

// defined: all that the instruction reads is.
void UndefinedObserver::Compute(const Record& record, bool defined, uint32_t origin) {
  // Scratch first: a destination may lie in it.
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.use == Use::kSpoil) {
      Spoil(record, access);
    }
  }
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm() || access.use != Use::kWrite) {
      continue;
    }
    if (defined) {
      Mark(record, access, kDefined, 0);
    } else if (record.flow == Flow::kLanes || record.flow == Flow::kBits) {
      Lanes(record, access, origin);
    } else if (record.flow == Flow::kRepeats || record.flow == Flow::kGroups) {
      Repeats(record, access, origin);
    } else {
      Mark(record, access, kUndefined, origin);
    }
  }
}

// Finds what is undefined in an output at the end, by the copies of this core: transient junk that a later copy replaces is fine.
void UndefinedObserver::OnEnd(Core& core) {
  for (const UndefinedStore& store : stores_) {
    const GmRegion* region = core.RegionOf(store.begin);
    if (region == nullptr || region->kind != RegionKind::kOutput) {
      continue;
    }
    const uint64_t bytes = store.end - store.begin;
    const uint64_t first = FirstUndefinedGm(reinterpret_cast<const void*>(store.begin), bytes);
    if (first == bytes || !reported_.emplace(store.origin, core.findings.size()).second) {
      continue;
    }
    Finding finding = Describe(core, store.origin);
    const uint64_t at = store.begin + first - reinterpret_cast<uint64_t>(region->addr);
    finding.detail += Format("; it reaches %s at byte %llu", region->name.c_str(),
                             static_cast<unsigned long long>(at));
    if (region->name == kInsideStruct) {
      finding.severity = Severity::kHint;
      finding.detail += ", which may be a workspace";
    }
    finding.related.push_back(core.PlaceOf("the copy out", Pipe::kMte3, store.sink, "stores it"));
    core.Find(std::move(finding));
  }
}

}  // namespace aclsim
