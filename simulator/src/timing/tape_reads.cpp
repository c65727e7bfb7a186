// SPDX-License-Identifier: Apache-2.0
// Cores see these of GM: where a value came from, looks that repeat until another core has written, and whose write it was.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "timing/model.h"
#include "timing/tape.h"

namespace aclsim {

void TapeObserver::NoteLoad(const Record& record) {
  Load load;
  load.step = static_cast<uint32_t>(tape_->steps.size() - 1);
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    (access.InGm() ? load.gm : load.ub) = access;
  }
  if (load.gm.bytes > 0 && load.ub.bytes > 0) {
    loads_[oldestLoad_] = load;
    oldestLoad_ = (oldestLoad_ + 1) % loads_.size();
  }
}

// UB that the record overwrites is no longer what was loaded.
void TapeObserver::ForgetLoads(const Record& record) {
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm() || access.use == Use::kRead) {
      continue;
    }
    for (Load& load : loads_) {
      if (load.ub.bytes > 0 && access.addr < load.ub.addr + load.ub.Extent() &&
          load.ub.addr < access.addr + access.Extent()) {
        load = {};
      }
    }
  }
}

// A scalar access is issued: what of GM it is about to see.
void TapeObserver::NoteLook(const Record& record) {
  const Access& access = record.access[0];
  look_ = {};
  lookSite_ = record.site;
  if (access.use != Use::kRead || record.reference) {
    if (access.InGm()) {
      Works();
    } else {
      ForgetLoads(record);
    }
    return;
  }
  if (access.InGm()) {
    look_ = {static_cast<uint32_t>(tape_->steps.size() - 1), access.addr, access.bytes, 0};
    return;
  }
  for (const Load& load : loads_) {
    const uint64_t at = access.addr - load.ub.addr;
    if (load.ub.bytes == 0 || access.addr < load.ub.addr || at + access.bytes > load.ub.Extent()) {
      continue;
    }
    // Blocks lie one behind the other in UB where nothing says how far they are apart.
    const int64_t apart = load.ub.repeat == load.gm.repeat && load.gm.repeat > 1
                              ? load.ub.repStride
                              : static_cast<int64_t>(load.gm.bytes);
    if (apart > 0) {
      const uint64_t block = at / static_cast<uint64_t>(apart);
      const uint64_t in = at % static_cast<uint64_t>(apart);
      if (block < load.gm.repeat && in + access.bytes <= load.gm.bytes) {
        const auto begin = static_cast<int64_t>(block) * load.gm.repStride;
        look_ = {load.step, load.gm.addr + static_cast<uint64_t>(begin) + in, access.bytes, 0};
      }
    }
    return;
  }
}

// The host alone decides how often a core looks until another one has written. Looks at one place, between which the core did nothing
// but look and wait, are one when a later one gives another value: the first, which then sees what the last one saw.
void TapeObserver::OnRead(Core& core, const void* value, uint32_t bytes) {
  GmRead read = std::exchange(look_, {});
  if (read.bytes == 0) {
    return;
  }
  read.writes = *writes_;
  std::vector<GmRead>& reads = tape_->reads;
  const size_t end = tape_->steps.size();
  Look now{lookSite_, read.addr, 0, end, end, core.ownTime};
  std::memcpy(&now.value, value, std::min<size_t>(bytes, sizeof(now.value)));
  auto look = std::ranges::find_if(
      looks_, [&](const Look& other) { return other.addr == now.addr && other.site == now.site; });
  const bool again = look != looks_.end() && Repeats(look->last);
  if (look == looks_.end()) {
    look = looks_.begin() + static_cast<std::ptrdiff_t>(oldestLook_);
    oldestLook_ = (oldestLook_ + 1) % looks_.size();
  }
  if (again && look->value == now.value) {
    look->last = end;
  } else if (!again) {
    *look = now;
  } else {
    // A queue of two buffers has a flag for each: they are as they were every second time.
    const size_t second = look->first + (end - look->last);
    const size_t from = IsBalanced(look->first) ? look->first : second;
    const OwnTime own = look->own;
    *look = now;
    if (from < end && IsBalanced(from)) {
      look->own = core.ownTime = own;  // its code between the looks was part of the wait
      look->first = look->last = from;
      Erase(from);
      const auto kept = std::ranges::find(reads.rbegin(), reads.rend(), now.addr, &GmRead::addr);
      if (kept != reads.rend()) {
        kept->writes = read.writes;
        seen_ = static_cast<size_t>(reads.rend() - kept) - 1;
        return;
      }
    }
  }
  seen_ = reads.size();
  reads.push_back(read);
}

// Returns whether the steps since then only look and wait: scalar reads and cleanings of the cache, or the same once more as before them.
bool TapeObserver::Repeats(size_t since) const {
  const std::vector<Step>& steps = tape_->steps;
  if (since < worked_ || since >= moved_) {
    return since >= worked_;
  }
  const auto same = [&](const Step& a, const Step& b) {
    if (a.kind != b.kind || a.pipe != b.pipe || a.name != b.name || a.site != b.site) {
      return false;
    }
    if (a.kind != StepKind::kCopy) {
      return true;
    }
    const GmCopy &left = tape_->copies[a.copy], &right = tape_->copies[b.copy];
    return left.addr == right.addr && left.bytes == right.bytes && left.blocks == right.blocks &&
           left.step == right.step;
  };
  const size_t count = steps.size() - since;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(since);
  return count <= since &&
         std::equal(middle, steps.end(), middle - static_cast<std::ptrdiff_t>(count), same);
}

// Returns whether each flag is as it was before the steps from there on.
bool TapeObserver::IsBalanced(size_t from) const {
  std::map<uint32_t, int> flags;
  for (size_t i = from; i < tape_->steps.size(); ++i) {
    const Step& step = tape_->steps[i];
    if (step.kind == StepKind::kSet || step.kind == StepKind::kWait) {
      flags[step.flag] += step.kind == StepKind::kSet ? 1 : -1;
    }
  }
  return std::ranges::all_of(flags, [](const auto& flag) { return flag.second == 0; });
}

// Takes back what the steps from there on have added beside themselves.
void TapeObserver::Uncount(size_t from) {
  for (size_t i = tape_->steps.size(); i-- > from;) {
    const Step& step = tape_->steps[i];
    const std::string& name = tape_->names[step.name];
    if (name == kCleans || step.kind == StepKind::kHear) {
      Rest(Evidence::kAssumed, name, name == kCleans ? -step.cycles : -scalar_.mark);
    }
    if (step.kind == StepKind::kCopy) {
      tape_->polledBytes += tape_->copies[step.copy].bytes * tape_->copies[step.copy].blocks;
      tape_->copies.resize(step.copy);
    }
  }
}

// The steps from there on have only looked and waited.
void TapeObserver::Erase(size_t from) {
  std::vector<Step>& steps = tape_->steps;
  const auto least = [from](auto at) {
    return static_cast<decltype(at)>(std::min<size_t>(at, from));
  };
  Uncount(from);
  steps.resize(from);
  clock_.reset();  // it may have gone past them
  moved_ = least(moved_);
  // The checks have counted them: they stand for the look that stays.
  for (std::vector<uint32_t>& instructions : tape_->instructions) {
    for (auto step = instructions.rbegin(); step != instructions.rend() && *step >= from; ++step) {
      *step = static_cast<uint32_t>(from - 1);
    }
  }
  while (!tape_->uses.empty() && tape_->uses.back().first >= from) {
    tape_->uses.pop_back();
  }
  for (UbUse& use : tape_->uses) {
    std::ranges::transform(use.last, use.last.begin(), least);
  }
  for (Using& one : using_) {
    one.use = one.use < tape_->uses.size() ? one.use : SIZE_MAX;
  }
  for (std::vector<Range>& recent : recent_) {
    for (Range& range : recent) {
      range.step = least(range.step);
    }
  }
  for (auto& [flag, step] : setAt_) {
    step = least(step);
  }
  for (Look& look : looks_) {
    look = look.first > from ? Look{} : look;
    look.last = least(look.last);
  }
  for (Load& load : loads_) {
    load = load.step >= from ? Load{} : load;
  }
  std::erase_if(tape_->reads, [from](const GmRead& read) { return read.step >= from; });
}

namespace {

// The reads of all tapes of a launch, each with the write of another core that it has seen.
class ReadLinks {
 public:
  explicit ReadLinks(std::vector<Tape>* tapes) : tapes_(*tapes) {}

  void Link() {
    for (const Tape& tape : tapes_) {
      for (const GmRead& read : tape.reads) {
        lines_[read.addr / kScalarLine];
        lines_[(read.addr + read.bytes - 1) / kScalarLine];
      }
    }
    if (lines_.empty()) {
      return;
    }
    CollectWrites();
    for (uint32_t core = 0; core < tapes_.size(); ++core) {
      for (const GmRead& read : tapes_[core].reads) {
        if (const Write* last = LastWrite(read); last != nullptr && last->core != core) {
          Await(&tapes_[core], read.step, *last);
        }
      }
    }
    for (Tape& tape : tapes_) {
      std::ranges::sort(tape.written);
    }
  }

 private:
  struct Write {
    uint64_t number = 0;
    uint64_t begin = 0, end = 0;
    uint32_t core = 0;
    uint32_t step = 0;
  };

  void Add(const Write& write) {
    for (auto line = lines_.lower_bound(write.begin / kScalarLine);
         line != lines_.end() && line->first * kScalarLine < write.end; ++line) {
      line->second.push_back(write);
    }
  }

  void CollectWrites() {
    for (uint32_t core = 0; core < tapes_.size(); ++core) {
      const Tape& tape = tapes_[core];
      for (const GmWrite& write : tape.writes) {
        if (write.bytes > 0) {
          Add({write.number, write.addr, write.addr + write.bytes, core, write.step});
          continue;
        }
        const GmCopy& copy = tape.copies[tape.steps[write.step].copy];
        for (uint32_t block = 0; block < copy.blocks; ++block) {
          const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
          Add({write.number, begin, begin + copy.bytes, core, write.step});
        }
      }
    }
    for (auto& [line, writes] : lines_) {
      std::ranges::sort(writes, {}, &Write::number);
    }
  }

  // The last of those before a read; null: none.
  const Write* LastWrite(const GmRead& read) {
    const Write* last = nullptr;
    for (const uint64_t at : {read.addr, read.addr + read.bytes - 1}) {
      const std::vector<Write>& writes = lines_[at / kScalarLine];
      auto write = std::ranges::upper_bound(writes, read.writes, {}, &Write::number);
      while (write != writes.begin() &&
             (last == nullptr || std::prev(write)->number > last->number)) {
        --write;
        if (write->begin < read.addr + read.bytes && read.addr < write->end) {
          last = &*write;
        }
      }
    }
    return last;
  }

  void Await(Tape* tape, uint32_t step, const Write& write) {
    const auto [number, isNew] =
        numbers_.try_emplace({write.core, write.step}, static_cast<uint32_t>(numbers_.size()));
    if (isNew) {
      tapes_[write.core].written.emplace_back(write.step, number->second);
    }
    uint32_t& flag = tape->steps[step].flag;
    if (flag == 0) {
      tape->awaited.emplace_back();
      flag = static_cast<uint32_t>(tape->awaited.size());
    }
    tape->awaited[flag - 1].push_back(number->second);
  }

  std::vector<Tape>& tapes_;
  std::map<uint64_t, std::vector<Write>> lines_;               // of GM that are read
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  // of cores' steps that are awaited
};

}  // namespace

void LinkReads(std::vector<Tape>* tapes) { ReadLinks(tapes).Link(); }

}  // namespace aclsim
