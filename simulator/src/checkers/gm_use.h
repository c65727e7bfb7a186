// SPDX-License-Identifier: Apache-2.0
// GM that cores share: conflicting accesses of different cores that no SyncAll or cross-core flag orders, scalar writes that stay
// in a core's data cache, and scalar reads of lines that are older there than GM.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/core.h"

namespace aclsim {

class RaceObserver;

// This counts what a core has done: instructions per pipe, and cleanings of its data cache.
constexpr size_t kCleans = kPipes;
using Progress = std::array<uint32_t, kPipes + 1>;

// Neighbouring accesses of one place are one: pieces of `piece` bytes, `step` instructions of the pipe apart. Rows of a copy that
// lie apart are one as well: the first, and rows - 1 more that are rowStep bytes apart. RowsOf makes them rows of their own.
struct GmAccess {
  static constexpr uint32_t kNever = UINT32_MAX;
  uint64_t begin = 0, end = 0;
  uint32_t rows = 1;
  uint64_t rowStep = 0;
  uint64_t piece = 0, lastPiece = 0;
  uint32_t count = 0;  // instructions of the pipe up to the first piece's
  uint32_t step = 0;
  uint32_t lastCount = 0;  // up to the last piece's, which may be shorter: lastPiece
  uint32_t waits = 0;      // for the other cores, before it was issued
  uint32_t core = 0;
  uint32_t place = 0;    // in GmUse::places
  uint32_t cleaned = 0;  // a scalar write: the cleaning that brought it to GM; kNever: none
  // A scalar read of a line that the core had in its cache already: CacheFill::waits and place; kNever: it was not, or since as
  // many waits.
  uint32_t filled = kNever;
  uint32_t fillPlace = kNever;
  Pipe pipe = Pipe::kScalar;
  bool write = false;
  bool atomic = false;
  bool sum = false;  // atomic, of floats

  // Up to the instruction that touches byte `at`.
  uint32_t CountAt(uint64_t at) const {
    return count + step * static_cast<uint32_t>((at - begin) / piece);
  }
  // Returns whether two accesses are the same in all but the bytes.
  bool IsLike(const GmAccess& next) const;
  bool Append(const GmAccess& next);
  // Tells that the same read was made once more.
  bool Repeats(const GmAccess& next) const {
    return !write && begin == next.begin && end == next.end && place == next.place &&
           pipe == next.pipe && waits == next.waits && !next.write && filled == next.filled;
  }
  GmAccess Row(uint32_t row) const;
  uint64_t LastRow() const { return (rows - 1) * rowStep; }  // from the first one on
};

// Returns the same accesses, each of them contiguous.
std::vector<GmAccess> RowsOf(const std::vector<GmAccess>& accesses);

// Findings about a line that is older in a core's data cache say this of where it was loaded, and advise this.
inline constexpr const char* kLoaded = "had brought the line into the cache";
inline constexpr const char* kStaleAdvice =
    "Hardware reads the old value: neither copies nor other cores change what is in the cache. "
    "Call "
    "DataCacheCleanAndInvalid on the 64-byte line between its earlier use and this read.";

// A set or wait of a flag between cores, in program order; SyncAll is both.
struct CoreSync {
  static constexpr uint32_t kSyncAll = UINT32_MAX;   // as flag
  static constexpr uint32_t kMark = UINT32_MAX - 1;  // of IBSet
  static constexpr uint32_t kTurn = UINT32_MAX - 2;  // of NotifyNextBlock
  static constexpr uint32_t kWord =
      UINT32_MAX - 3;  // a store to GM that another core has polled for
  static constexpr uint32_t kUncounted = UINT32_MAX;

  uint32_t flag = 0;
  uint32_t of = 0;  // SyncAll: the number of its memory; flags: FlagSenders
  bool wait = false;
  uint32_t number =
      kUncounted;   // of what is set or waited for; else the n-th set is the n-th wait's
  Progress done{};  // what is complete when the set takes effect
};

// SyncAll, IBSet or IBWait by these bytes of GM for the first time.
struct SyncWords {
  GmAccess use;
  uint32_t accesses = 0;  // in GmUse::accesses before it
  uint32_t cleans = 0;    // of the data cache before it
  uint64_t firstBad = 0;  // offset of the first byte that was undefined or not 0; the length: none
  bool undefined = false;
};

// Since when the data cache has what it has: what the core knew then of the others and of its own copies.
struct CacheFill {
  uint32_t waits = 0;   // as GmAccess::waits
  uint32_t copies = 0;  // of MTE3 that were complete
  uint32_t place = 0;
  uint32_t stores = 0;  // Meeting::StoresSoFar
};

// A store to GM that another core may poll for.
struct WordStore {
  uint32_t number = 0;  // Meeting::NoteStore
  uint32_t syncs = 0;   // in GmUse::syncs before it
  uint32_t place = 0;
  uint64_t begin = 0;
  Progress done{};
  bool clean = true;  // it is in GM: a scalar store only after its line was cleaned
};
// A poll that has seen such a store.
struct WordRead {
  uint32_t core = 0;  // that stored
  uint32_t number = 0;
  uint32_t place = 0;
};

// This has what one core did to GM that somebody writes.
class GmUse : public Observer {
 public:
  // The races of the same core, which hears of everything first.
  explicit GmUse(RaceObserver& races) : races_(races) {}
  void OnIssue(const Core& core, Record& record) override;
  void OnIssueSync(const Core& core, const SyncEvent& event) override;
  void OnRecord(Core& core, const Record& record) override;
  void OnRegisters(Core&, const RegisterAccess&) override { reading_ = {}; }
  void OnSync(Core& core, const SyncEvent& event) override;
  void OnCacheClean(Core& core, uint64_t begin, uint64_t end) override;
  void OnBypassWrite(Core& core, uint64_t begin, uint64_t end, uint32_t site) override;
  void OnEnd(Core& core) override;
  void OnSyncWords(Core& core, uint64_t begin, uint64_t end, uint32_t site) override;
  void OnRead(Core& core, const void* value, uint32_t bytes) override;
  // Returns whether the core has waited by polling for what others store in these bytes.
  bool Polls(uint64_t begin, uint64_t end) const {
    for (auto poll = polls_.lower_bound(begin); poll != polls_.end() && poll->first < end; ++poll) {
      if (poll->second.polled) {
        return true;
      }
    }
    return false;
  }

  struct PlaceInfo {
    const char* name;
    Pipe pipe;
    std::vector<void*> stack;
  };
  Place Resolve(uint32_t place, const char* note) const;
  // The call of SetGlobalBuffer that made this core's first tensor of this memory.
  std::optional<Place> TensorOf(const GmRegion& region) const;

  std::vector<GmAccess> accesses;
  std::vector<PlaceInfo> places;
  std::vector<CoreSync> syncs;
  std::vector<SyncWords> words;
  std::vector<WordStore> wordStores;
  std::vector<WordRead> wordReads;
  // The region that a GlobalTensor was made of, and the call.
  std::vector<std::pair<const GmRegion*, std::vector<void*>>> globalTensors;
  bool flagged = false;  // cores are ordered by more than that: conflicts are not judged

 private:
  struct CacheLine {
    CacheFill loaded;   // by the first access since the last cleaning
    uint64_t own = 0;   // bytes that the core itself has written since, a bit each
    CacheFill written;  // the last of these
  };

  // judged: the access as it is kept.
  void OnScalar(Core& core, const Record& record, const Access& access, const Access& judged,
                const GmRegion& region);
  void OnCopy(Core& core, const Record& record, const Access& access, const Access& judged,
              const GmRegion& region);
  void FindDirty(Core& core, const Record& record, const GmRegion& region, uint64_t begin,
                 uint64_t end, uint32_t place);
  void Add(const Core& core, const Record& record, const Access& access, uint32_t place,
           const CacheFill& fill);
  bool AddRows(const Access& access, GmAccess use);
  void SplitRows(uint64_t next);
  CacheFill Fill(const Access& access, const CacheFill& now);
  void CheckCopies(Core& core, const Record& record, const Access& access, const GmRegion& region,
                   const CacheFill& fill, const CacheFill& now);
  uint32_t PlaceOf(const Core& core, const char* name, Pipe pipe, uint32_t site);
  void Tell(uint32_t flag, uint32_t of, uint32_t number);
  void Hear(const Core& core, uint32_t flag, uint32_t of, uint32_t number);
  void NoteStore(const Core& core, const Record& record, const Access& access, uint32_t place);

  RaceObserver& races_;
  uint32_t waits_ = 0;
  uint32_t cleans_ = 0;
  std::array<std::deque<size_t>, kPipes> pending_;  // sets that were issued, in syncs
  std::map<uint32_t, uint32_t> placeOf_;            // site -> place
  std::map<uint64_t, uint32_t> dirty_;  // written bytes not yet cleaned: begin of a line -> place
  std::map<uint64_t, uint32_t> cleaning_;                           // of these, on their way to GM
  bool bypassing_ = false;                                          // its line is not in the cache
  std::map<uint64_t, CacheLine> cached_;                            // by number of the line
  std::map<uint64_t, CacheLine>::iterator recent_ = cached_.end();  // mostly the next one
  std::vector<size_t> uncleaned_;                                   // scalar writes, in accesses
  std::set<std::pair<uint32_t, uint32_t>> reported_, reportedStale_;
  struct Poll {
    bool looked = false;  // and has been given what was there before the last store
    bool polled = false;  // has waited for a store here by looking again
    uint32_t heard = 0;   // number of the last store that it has seen
  };
  struct Reading {
    uint64_t address = 0;
    uint64_t bytes = 0;  // 0: not of GM that cores share
    uint32_t place = 0;
    uint32_t site = 0;
    bool copied = false;  // by MTE2
  };
  void OnCopied(const Core& core, const Reading& reading, uint8_t* value);

  Reading reading_;                   // the last scalar read or copy of a few words, until OnRead
  Reading copied_;                    // the last such copy, if nothing else was copied since
  std::set<uint32_t> pollingCopies_;  // places of copies that have polled
  std::map<uint64_t, Poll> polls_;    // by address
  uint32_t heardUpTo_ = 0;            // stores there were when the core last waited for others
  std::vector<size_t> dirtyStores_;   // in wordStores, not cleaned yet
};

// Puts the stores that others have polled for among the sets of their cores, and tells of those that never left the data cache.
std::vector<Finding> SettleWords(const KernelLaunch& launch, const std::vector<GmUse*>& cores);

// Conflicts between the cores of one launch.
std::vector<Finding> FindGmConflicts(const KernelLaunch& launch, const std::vector<GmUse*>& cores);

}  // namespace aclsim
