// SPDX-License-Identifier: Apache-2.0
#include "checkers/gm_use.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "checkers/core_order.h"
#include "checkers/gm_rows.h"
#include "checkers/race.h"
#include "checkers/rows.h"
#include "checkers/sync_words.h"
#include "engine/flag_numbers.h"
#include "engine/gm_shadow.h"
#include "engine/meeting.h"

namespace aclsim {

uint32_t GmUse::PlaceOf(const Core& core, const char* name, Pipe pipe, uint32_t site) {
  const auto [place, isNew] = placeOf_.try_emplace(site, static_cast<uint32_t>(places.size()));
  if (isNew) {
    places.push_back({name, pipe, core.sites.Stack(site)});
  }
  return place->second;
}

std::optional<Place> GmUse::TensorOf(const GmRegion& region) const {
  for (const auto& [made, stack] : globalTensors) {
    if (made->addr == region.addr) {
      Place place;
      place.instruction = "SetGlobalBuffer";
      place.note = Format("makes a tensor of %s", region.name.c_str());
      place.line = FindKernelLine(stack);
      return place;
    }
  }
  return std::nullopt;
}

Place GmUse::Resolve(uint32_t place, const char* note) const {
  const PlaceInfo& info = places[place];
  return {PipeName(info.pipe), info.name, note, FindKernelLine(info.stack)};
}

bool GmAccess::IsLike(const GmAccess& next) const {
  return waits == next.waits && place == next.place && pipe == next.pipe && write == next.write &&
         atomic == next.atomic && sum == next.sum && cleaned == next.cleaned &&
         filled == next.filled && fillPlace == next.fillPlace;
}

bool GmAccess::Append(const GmAccess& next) {
  if (end != next.begin || !IsLike(next)) {
    return false;
  }
  // Lines are cleaned one by one.
  if (cleaned == kNever && write && begin / kLineBytes != (next.end - 1) / kLineBytes) {
    return false;
  }
  if (lastCount == next.count) {
    if (count != next.count) {
      return false;
    }
    piece += next.piece;
  } else {
    const bool one = count == lastCount;  // instruction so far
    const uint64_t pieceOfLast = one ? piece : lastPiece;
    const uint32_t more = next.count - lastCount;
    if (next.piece > piece || pieceOfLast != piece || (!one && more != step)) {
      return false;
    }
    step = more;
    lastCount = next.count;
  }
  lastPiece = next.piece;
  end = next.end;
  return true;
}

GmAccess GmAccess::Row(uint32_t row) const {
  GmAccess one = *this;
  one.begin += row * rowStep;
  one.end += row * rowStep;
  one.rows = 1;
  one.rowStep = 0;
  return one;
}

std::vector<GmAccess> RowsOf(const std::vector<GmAccess>& accesses) {
  std::vector<GmAccess> rows;
  bool apart = false;  // of a copy of many rows
  for (const GmAccess& access : accesses) {
    const GmAccess first = access.Row(0);
    // Next to a copy's last row the first one of another goes on.
    if (!(apart && access.rows > 1 && rows.back().Append(first))) {
      rows.push_back(first);
    }
    for (uint32_t row = 1; row < access.rows; ++row) {
      rows.push_back(access.Row(row));
    }
    apart = access.rows > 1;
  }
  return rows;
}

// Rows as one access. False where they follow what comes before: then each may go on with that.
bool GmUse::AddRows(const Access& access, GmAccess use) {
  if (!IsRows(access) || use.pipe == Pipe::kScalar) {
    return false;
  }
  const GmAccess* const last = accesses.empty() ? nullptr : &accesses.back();
  if (last != nullptr && last->rows == 1 && last->end == access.addr) {
    return false;
  }
  use.begin = access.addr;
  use.piece = access.bytes;
  use.end = use.begin + use.piece;
  use.rows = access.repeat;
  use.rowStep = static_cast<uint64_t>(access.repStride);
  accesses.push_back(use);
  return true;
}

// Before an access of a single row at address `next`, which may go on with the last row of a copy.
void GmUse::SplitRows(uint64_t next) {
  if (accesses.empty() || accesses.back().rows == 1 ||
      accesses.back().end + accesses.back().LastRow() != next) {
    return;
  }
  // Behind a wait nothing goes on with what was before.
  const uint32_t waits = accesses.back().waits;
  const auto first =
      std::find_if(accesses.rbegin(), accesses.rend(), [waits](const GmAccess& access) {
        return access.rows == 1 || access.waits != waits;
      }).base();
  const std::vector<GmAccess> rows = RowsOf({first, accesses.end()});
  accesses.erase(first, accesses.end());
  accesses.insert(accesses.end(), rows.begin(), rows.end());
}

void GmUse::Add(const Core& core, const Record& record, const Access& access, uint32_t place,
                const CacheFill& fill) {
  GmAccess use;
  use.count = use.lastCount = races_.Count(record.pipe);
  use.waits = record.coreWaits;
  use.core = core.index;
  use.place = place;
  use.pipe = record.pipe;
  use.write = access.use != Use::kRead;
  use.atomic = record.atomic;
  // The order of the addends decides about the last bits of a floating-point sum.
  use.sum = record.atomic && record.group == static_cast<uint8_t>(Atomic::kAdd) &&
            (record.dtype == DType::kFloat || record.dtype == DType::kHalf ||
             record.dtype == DType::kBf16);
  use.cleaned = record.pipe == Pipe::kScalar ? GmAccess::kNever : 0;
  if (record.pipe == Pipe::kScalar && !use.write && fill.waits < use.waits) {
    use.filled = fill.waits;
    use.fillPlace = fill.place;
  }
  if (AddRows(access, use)) {
    return;
  }
  SplitRows(access.addr);
  ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
    use.begin = begin;
    use.end = end;
    use.piece = end - begin;
    if (!use.write && !accesses.empty() && accesses.back().Repeats(use)) {
      accesses.back().count = accesses.back().lastCount = use.count;
      return;
    }
    if (accesses.empty() || !accesses.back().Append(use)) {
      if (record.pipe == Pipe::kScalar && use.write) {
        uncleaned_.push_back(accesses.size());
      }
      accesses.push_back(use);
    }
  });
}

// A scalar access: since when the cache has what it reads.
CacheFill GmUse::Fill(const Access& access, const CacheFill& now) {
  const uint64_t end = access.addr + access.TotalBytes();
  CacheFill oldest = now;
  for (uint64_t number = access.addr / kLineBytes; number * kLineBytes < end; ++number) {
    if (recent_ == cached_.end() || recent_->first != number) {
      recent_ = cached_.try_emplace(number, CacheLine{now, 0, now}).first;
    }
    CacheLine& line = recent_->second;
    const uint64_t start = number * kLineBytes;
    const uint64_t from = std::max(access.addr, start) - start;
    const uint64_t bytes = std::min(end - start, kLineBytes) - from;
    const uint64_t mask = ~0ull >> (kLineBytes - bytes) << from;
    if (access.use != Use::kRead) {
      line.own |= mask;
      line.written = now;
      continue;
    }
    const CacheFill& fill = (line.own & mask) != 0 ? line.written : line.loaded;
    if (fill.waits < oldest.waits || fill.copies < oldest.copies) {
      oldest = fill;
    }
  }
  return oldest;
}

// A scalar read, against what the core itself copied to GM behind its cache.
void GmUse::CheckCopies(Core& core, const Record& record, const Access& access,
                        const GmRegion& region, const CacheFill& fill, const CacheFill& now) {
  const uint64_t end = access.addr + access.TotalBytes();
  const uint32_t copy = races_.LastGmWrite(Pipe::kMte3, access.addr, end);
  // A write that the read does not wait for either is a race.
  if (copy <= fill.copies || copy > now.copies) {
    return;
  }
  const uint32_t site = races_.SiteOf(Pipe::kMte3, copy);
  if (!reportedStale_.emplace(record.site, site).second) {
    return;
  }
  Finding finding;
  finding.kind = "gm-cache";
  finding.space = "GM";
  finding.buffer = region.name;
  finding.begin = access.addr - reinterpret_cast<uint64_t>(region.addr);
  finding.end = end - reinterpret_cast<uint64_t>(region.addr);
  finding.at = core.PlaceOf(record.name, record.pipe, record.site, "reads");
  finding.related.push_back(
      core.PlaceOf(races_.NameOf(Pipe::kMte3, copy), Pipe::kMte3, site, "wrote"));
  finding.at.core = finding.related[0].core = core.index;
  finding.at.count = races_.Count(record.pipe);
  finding.related[0].count = copy;
  finding.related.push_back(Resolve(fill.place, kLoaded));
  finding.detail = Format(
      "the core's data cache may hold the line of bytes [%llu, %llu) of %s as it was before the "
      "core "
      "copied to them",
      static_cast<unsigned long long>(finding.begin), static_cast<unsigned long long>(finding.end),
      region.name.c_str());
  finding.advice = kStaleAdvice;
  core.Find(std::move(finding));
}

void GmUse::OnIssue(const Core&, Record& record) { record.coreWaits = waits_; }

namespace {

// A copy of so few words that they may be signals.
bool IsLook(const Core& core, const Record& record, const Access& access) {
  constexpr uint64_t kMostBytes = 2048;  // 32 for each core
  return core.launch.Cores() > 1 && record.pipe == Pipe::kMte2 && access.repeat == 1 &&
         access.chunk >= access.bytes && access.TotalBytes() <= kMostBytes;
}

}  // namespace

void GmUse::OnRecord(Core& core, const Record& record) {
  reading_ = {};
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (!access.InGm()) {
      continue;
    }
    if (record.pipe != Pipe::kScalar && access.addr != copied_.address) {
      copied_ = {};
    }
    const GmRegion* region = core.RegionOf(access.addr);
    if (region == nullptr || IsReadOnly(region->kind) ||
        (region->kind == RegionKind::kInput && !core.Aliased(*region))) {
      continue;
    }
    // A reference may be either; taking it for a read keeps the check quiet where it cannot know.
    Access judged = access;
    if (record.reference) {
      judged.use = Use::kRead;
    }
    if (record.pipe == Pipe::kScalar) {
      OnScalar(core, record, access, judged, *region);
    } else {
      OnCopy(core, record, access, judged, *region);
    }
  }
}

// Keeps an access that goes through the core's data cache.
void GmUse::OnScalar(Core& core, const Record& record, const Access& access, const Access& judged,
                     const GmRegion& region) {
  const bool writes = access.use != Use::kRead;
  const auto copies = static_cast<size_t>(Pipe::kMte3);
  const CacheFill now{record.coreWaits, races_.CompleteAfter(Pipe::kScalar)[copies],
                      PlaceOf(core, record.name, record.pipe, record.site),
                      core.meeting->StoresSoFar()};
  const CacheFill fill = Fill(access, now);
  Add(core, record, judged, now.place, fill);
  if (!writes) {
    reading_ = {access.addr, access.TotalBytes(), now.place, record.site};
  } else if (!record.reference) {
    NoteStore(core, record, access, now.place);
  }
  if (fill.copies < now.copies) {
    CheckCopies(core, record, access, region, fill, now);
  }
  if (writes && !record.reference) {
    dirty_[access.addr / kLineBytes] = now.place;
    cleaning_.erase(access.addr / kLineBytes);
  }
}

// Keeps an access of the copy pipes, which do not see what is still in the cache.
void GmUse::OnCopy(Core& core, const Record& record, const Access& access, const Access& judged,
                   const GmRegion& region) {
  const bool writes = access.use != Use::kRead;
  const uint32_t place = PlaceOf(core, record.name, record.pipe, record.site);
  Add(core, record, judged, place, {});
  if (writes && record.pipe == Pipe::kMte3 && !record.atomic) {
    NoteStore(core, record, access, place);
  }
  // It may be a look at another core's signal.
  if (!writes && IsLook(core, record, access)) {
    reading_ = {access.addr, access.TotalBytes(), place, record.site, true};
  } else if (!writes) {
    heardUpTo_ = core.meeting->StoresSoFar();
  }
  if (dirty_.empty() || writes) {
    return;
  }
  ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
    const auto line = dirty_.lower_bound(begin / kLineBytes);
    if (line != dirty_.end() && line->first * kLineBytes < end &&
        reported_.emplace(record.site, line->second).second) {
      FindDirty(core, record, region, begin, end, line->second);
    }
  });
}

// A copy of bytes that a scalar write, at `place`, has left in the cache.
void GmUse::FindDirty(Core& core, const Record& record, const GmRegion& region, uint64_t begin,
                      uint64_t end, uint32_t place) {
  Finding finding;
  finding.kind = "gm-cache";
  finding.space = "GM";
  finding.buffer = region.name;
  finding.begin = begin - reinterpret_cast<uint64_t>(region.addr);
  finding.end = end - reinterpret_cast<uint64_t>(region.addr);
  finding.at = core.PlaceOf(record.name, record.pipe, record.site, "reads");
  finding.related.push_back(Resolve(place, "wrote through the cache"));
  finding.detail = Format(
      "bytes [%llu, %llu) of %s hold a scalar write that is still in the core's "
      "data cache",
      static_cast<unsigned long long>(finding.begin), static_cast<unsigned long long>(finding.end),
      region.name.c_str());
  finding.advice =
      "Hardware copies the old value. Call DataCacheCleanAndInvalid after the scalar "
      "writes.";
  core.Find(std::move(finding));
}

void GmUse::OnIssueSync(const Core&, const SyncEvent& event) {
  if (event.kind == SyncEvent::Kind::kSet && IsCoreFlag(event.flag)) {
    pending_[static_cast<size_t>(event.from)].push_back(syncs.size());
    syncs.push_back({.flag = event.flag, .of = event.number});
    syncs.back().done[kCleans] = cleans_;
  }
}

// All pipes are empty.
void GmUse::Tell(uint32_t flag, uint32_t of, uint32_t number) {
  CoreSync set{.flag = flag, .of = of, .number = number};
  for (size_t pipe = 0; pipe < kPipes; ++pipe) {
    set.done[pipe] = races_.Count(static_cast<Pipe>(pipe));
  }
  set.done[kCleans] = cleans_;
  syncs.push_back(set);
}

void GmUse::Hear(const Core& core, uint32_t flag, uint32_t of, uint32_t number) {
  syncs.push_back({.flag = flag, .of = of, .wait = true, .number = number});
  ++waits_;
  // Who stored the word knows of no later store.
  heardUpTo_ = flag == CoreSync::kWord ? std::max(heardUpTo_, number) : core.meeting->StoresSoFar();
}

// An access that is small enough may be a signal.
void GmUse::NoteStore(const Core& core, const Record& record, const Access& access,
                      uint32_t place) {
  constexpr uint64_t kMostBytes = 64;
  if (core.launch.Cores() == 1 || access.repeat != 1 || access.chunk < access.bytes ||
      access.TotalBytes() > kMostBytes) {
    return;
  }
  WordStore store;
  store.number = core.meeting->NoteStore(core, access.addr, access.TotalBytes());
  store.syncs = static_cast<uint32_t>(syncs.size());
  store.place = place;
  store.begin = access.addr;
  std::ranges::copy(races_.CompleteAfter(record.pipe), store.done.begin());
  store.done[kCleans] = cleans_;
  store.clean = record.pipe != Pipe::kScalar;
  races_.Publish(record.pipe);
  if (!store.clean) {
    dirtyStores_.push_back(wordStores.size());
  }
  wordStores.push_back(store);
}

// A core that polls waits for the store whose value it gets. That it would have waited shows only when it finds the old value first
// and looks again: so a store that nothing else orders before the first look stays hidden from that one, as it may on hardware.
void GmUse::OnRead(Core& core, const void* value, uint32_t bytes) {
  const Reading reading = std::exchange(reading_, {});
  if (reading.bytes != bytes || core.meeting->StoresSoFar() == 0) {
    return;
  }
  if (reading.copied) {
    OnCopied(core, reading, static_cast<uint8_t*>(const_cast<void*>(value)));
    return;
  }
  const Meeting::Word word = core.meeting->LastStore(reading.address, bytes);
  if (word.number == 0 || word.core == core.index || core.meeting->MetSince(core.index, word)) {
    return;
  }
  Poll& poll = polls_[reading.address];
  const auto line = cached_.find(reading.address / kLineBytes);
  if (word.number <= poll.heard || line == cached_.end()) {
    return;
  }
  if (!poll.looked && word.number > heardUpTo_) {
    poll.looked = true;
    line->second.loaded.stores = word.number - 1;
    // Core::ReadScalar's own copy, which the kernel gets.
    std::memcpy(const_cast<void*>(value), word.old.data(), bytes);
    return;
  }
  if (line->second.loaded.stores < word.number) {
    if (!poll.looked) {
      return;
    }
    Finding finding;
    finding.kind = "gm-cache";
    finding.space = "GM";
    if (const GmRegion* region = core.RegionOf(reading.address)) {
      finding.buffer = region->name;
      finding.begin = reading.address - reinterpret_cast<uint64_t>(region->addr);
      finding.end = finding.begin + bytes;
    }
    finding.at = core.PlaceOf(core.instruction, Pipe::kScalar, reading.site, "reads");
    finding.detail = Format(
        "the core reads bytes [%llu, %llu) of %s again and again until core %u has changed them, "
        "and "
        "does not take the line out of its data cache in between",
        static_cast<unsigned long long>(finding.begin),
        static_cast<unsigned long long>(finding.end), finding.buffer.c_str(), word.core);
    finding.advice =
        "Hardware reads the old value from the cache for ever: a hang. Call "
        "DataCacheCleanAndInvalid on the line before each read.";
    core.Find(std::move(finding));
  }
  poll = {.looked = false, .polled = poll.polled || poll.looked, .heard = word.number};
  wordReads.push_back({word.core, word.number, reading.place});
  Hear(core, CoreSync::kWord, 0, word.number);
}

// As OnRead, of words that were copied to `value` in UB. Only who copies them again and nothing else in between polls: others copy the
// same words for each of their tiles.
void GmUse::OnCopied(const Core& core, const Reading& reading, uint8_t* value) {
  constexpr uint32_t kWord = 4;
  const Reading before = std::exchange(copied_, reading);
  const bool again = before.address == reading.address && before.bytes == reading.bytes;
  const uint32_t known = heardUpTo_;
  std::set<uint32_t> heard;
  for (uint64_t at = 0; at + kWord <= reading.bytes; at += kWord) {
    const Meeting::Word word = core.meeting->LastStore(reading.address + at, kWord);
    if (word.number == 0 || word.core == core.index || core.meeting->MetSince(core.index, word)) {
      continue;
    }
    Poll& poll = polls_[reading.address + at];
    if (word.number <= poll.heard) {
      continue;
    }
    if (!poll.looked && word.number > known) {
      poll.looked = true;
      std::memcpy(value + at, word.old.data(), kWord);
    } else if ((poll.looked && again) || pollingCopies_.contains(reading.place)) {
      poll = {.looked = false, .polled = true, .heard = word.number};
      if (heard.insert(word.number).second) {
        wordReads.push_back({word.core, word.number, reading.place});
        Hear(core, CoreSync::kWord, 0, word.number);
      }
    }
  }
  if (!heard.empty()) {
    pollingCopies_.insert(reading.place);
  }
}

void GmUse::OnSync(Core& core, const SyncEvent& event) {
  if (event.kind == SyncEvent::Kind::kAll) {
    cleaning_.clear();
  } else if (event.kind == SyncEvent::Kind::kCores) {
    switch (static_cast<CoreMeeting>(event.flag)) {
      case kMetAll:
        Tell(CoreSync::kSyncAll, event.number, CoreSync::kUncounted);
        Hear(core, CoreSync::kSyncAll, event.number, CoreSync::kUncounted);
        break;
      case kMarkSet:
        Tell(CoreSync::kMark, 0, event.number);
        break;
      case kMarkTaken:
        Hear(core, CoreSync::kMark, 0, event.number);
        break;
      case kTurnPassed:
        Tell(CoreSync::kTurn, 0, event.number);
        break;
      case kTurnTaken:
        Hear(core, CoreSync::kTurn, 0, event.number);
        break;
      case kSomeCores:
        flagged = true;
        heardUpTo_ = core.meeting->StoresSoFar();
        break;
      case kStored:
        break;
    }
  } else if (IsCoreFlag(event.flag) && event.kind == SyncEvent::Kind::kSet) {
    std::deque<size_t>& pending = pending_[static_cast<size_t>(event.from)];
    const Clock complete = races_.CompleteAfter(event.from);
    std::ranges::copy(complete, syncs[pending.front()].done.begin());
    pending.pop_front();
  } else if (IsCoreFlag(event.flag) && event.kind == SyncEvent::Kind::kWait) {
    Hear(core, event.flag, event.number, CoreSync::kUncounted);
  }
}

void GmUse::OnSyncWords(Core& core, uint64_t begin, uint64_t end, uint32_t site) {
  if (std::ranges::any_of(words, [&](const SyncWords& known) {
        return known.use.begin <= begin && end <= known.use.end;
      })) {
    return;  // from now on the words are the toolkit's
  }
  const auto* memory = reinterpret_cast<const uint8_t*>(begin);
  const uint64_t bytes = end - begin;
  SyncWords first;
  first.use.begin = begin;
  first.use.end = end;
  first.use.piece = first.use.lastPiece = bytes;
  first.use.count = first.use.lastCount = races_.Count(Pipe::kScalar);
  first.use.waits = waits_;
  first.use.core = core.index;
  first.use.place = PlaceOf(core, core.instruction, Pipe::kScalar, site);
  first.use.write = true;
  first.accesses = static_cast<uint32_t>(accesses.size());
  first.cleans = cleans_;
  const uint64_t undefined = FirstUndefinedGm(memory, bytes);
  const auto nonzero = static_cast<uint64_t>(
      std::find_if(memory, memory + bytes, [](uint8_t byte) { return byte != 0; }) - memory);
  first.firstBad = std::min(undefined, nonzero);
  first.undefined = undefined <= nonzero;
  words.push_back(first);
}

void GmUse::OnCacheClean(Core&, uint64_t begin, uint64_t end) {
  const auto forget = [&](auto* lines) {
    lines->erase(lines->lower_bound(begin / kLineBytes),
                 lines->lower_bound((end + kLineBytes - 1) / kLineBytes));
  };
  if (!std::exchange(bypassing_, false)) {
    cleaning_.insert(dirty_.lower_bound(begin / kLineBytes),
                     dirty_.lower_bound((end + kLineBytes - 1) / kLineBytes));
  }
  forget(&dirty_);
  forget(&cached_);
  recent_ = cached_.end();
  // Cleaned lines are in GM: whoever comes after it sees what was written there.
  ++cleans_;
  std::erase_if(uncleaned_, [&](size_t index) {
    GmAccess& access = accesses[index];
    const bool clean = access.begin >= begin / kLineBytes * kLineBytes &&
                       access.end <= (end + kLineBytes - 1) / kLineBytes * kLineBytes;
    if (clean) {
      access.cleaned = cleans_;
    }
    return clean;
  });
  std::erase_if(dirtyStores_, [&](size_t index) {
    WordStore& store = wordStores[index];
    const bool clean = store.begin >= begin / kLineBytes * kLineBytes &&
                       store.begin < (end + kLineBytes - 1) / kLineBytes * kLineBytes;
    if (clean) {
      store.clean = true;
      store.done[kCleans] = cleans_;  // what else the line has
    }
    return clean;
  });
}

void GmUse::OnBypassWrite(Core& core, uint64_t begin, uint64_t end, uint32_t site) {
  bypassing_ = true;
  const auto within = [&](const std::map<uint64_t, uint32_t>& lines) {
    const auto line = lines.lower_bound(begin / kLineBytes);
    return line == lines.end() || line->first * kLineBytes >= end ? nullptr : &line->second;
  };
  const uint32_t* const dirty = within(dirty_);
  const uint32_t* const place = dirty != nullptr ? dirty : within(cleaning_);
  if (place == nullptr || !reported_.emplace(site, *place).second) {
    return;
  }
  const GmRegion* const region = core.RegionOf(begin);
  const uint64_t start = region != nullptr ? reinterpret_cast<uint64_t>(region->addr) : 0;
  Finding finding;
  finding.kind = "gm-cache";
  finding.space = "GM";
  finding.buffer = region != nullptr ? region->name : "";
  finding.begin = begin - start;
  finding.end = end - start;
  finding.at = core.PlaceOf("WriteGmByPassDCache", Pipe::kScalar, site, "writes past the cache");
  finding.related.push_back(Resolve(*place, "wrote through the cache"));
  finding.detail = Format(
      "the line of bytes [%llu, %llu) of %s is %s, with a scalar write that GM does not have yet",
      static_cast<unsigned long long>(finding.begin), static_cast<unsigned long long>(finding.end),
      finding.buffer.c_str(),
      dirty != nullptr ? "in the core's data cache" : "on its way from the core's data cache");
  finding.advice =
      dirty != nullptr
          ? "Hardware writes the whole line of the cache to GM later, over this value. Call "
            "DataCacheCleanAndInvalid on the line and DataSyncBarrier before it."
          : "Hardware does not order the two, and the line may arrive later, over this value. Call "
            "DataSyncBarrier<MemDsbT::DDR>() between DataCacheCleanAndInvalid and this.";
  core.Find(std::move(finding));
}

// Finds stores that only the cleaning that the compiler adds at the end brings to GM.
void GmUse::OnEnd(Core& core) {
  for (const GlobalTensorCall& call : core.globalTensors) {
    if (call.region != nullptr) {
      globalTensors.emplace_back(call.region, core.sites.Stack(call.site));
    }
  }
  if (core.soc.npuArch == 1001) {
    return;  // where nothing else cleans
  }
  for (const auto& [line, place] : dirty_) {
    const GmRegion* const first = core.RegionOf(line * kLineBytes);
    const GmRegion* const region =
        first != nullptr ? first : core.RegionOf(line * kLineBytes + kLineBytes - 1);
    if (region == nullptr || region->kind == RegionKind::kWorkspace ||
        !reported_.emplace(0, place).second) {
      continue;
    }
    Finding finding;
    finding.kind = "cache-left-dirty";
    finding.severity = Severity::kHint;
    finding.space = "GM";
    finding.buffer = region->name;
    finding.at = Resolve(place, "writes through the cache");
    finding.detail =
        Format("%s has a scalar write that no DataCacheCleanAndInvalid has brought to GM",
               region->name.c_str());
    finding.advice =
        "The compiler cleans the whole cache at the end of an operator that it compiles alone; not "
        "in a SuperKernel, nor with --cce-no-dcache-flush. Call DataCacheCleanAndInvalid after the "
        "last scalar write of each line.";
    core.Find(std::move(finding));
  }
}

}  // namespace aclsim
