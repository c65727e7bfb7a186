// SPDX-License-Identifier: Apache-2.0
// Values that nobody computed: bytes of UB and GM that were never written, padding that hardware leaves undefined, spoilt
// scratch. Instructions may work on such lanes, as long as no result is made of them that the kernel decides by or leaves in an
// output: definedness is followed byte by byte.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "checkers/marks.h"
#include "engine/core.h"
#include "host/lock.h"

namespace aclsim {

// Undefined bytes that a core stored in GM, judged when all cores have ended.
struct UndefinedStore {
  uint64_t begin, end;
  uint32_t sink;    // the copy
  uint32_t origin;  // what made the value undefined
};

// Copies of all cores that have added to bytes of GM which nobody had written.
class JunkSums {
 public:
  struct Sum {
    uint64_t begin = 0, end = 0;
    uint32_t core = 0;
    const char* name = "";
    std::vector<void*> stack;
  };
  void Add(Sum sum);
  // The first one that the lowest core made of this byte.
  std::optional<Sum> Find(uint64_t at) const;

 private:
  mutable Mutex<9, "undefined bits of GM"> mutex_;
  std::vector<Sum> sums_;
};

class UndefinedObserver : public Observer {
 public:
  UndefinedObserver(uint64_t imageBytes, JunkSums* junkSums);
  void OnRecord(Core& core, const Record& record) override;
  void OnRegisters(Core& core, const RegisterAccess& access) override;
  void OnHandover(Core& core, const Handover& handover, Pipe by, uint32_t site) override;
  void OnFreshUb(Core& core, uint64_t begin, uint64_t end) override;
  void OnEnd(Core& core) override;

 private:
  // Undefined bytes of a block of UB come from here.
  enum class Cause : uint8_t {
    kNeverWritten,
    kGm,
    kSum,
    kPadding,
    kScratch,
    kReserved,
    kRegister,
    kBehind,
    kHandover
  };
  struct Origin {
    uint32_t site = 0;
    Cause cause = Cause::kNeverWritten;
    const char* name = "";
    uint64_t offset = 0;  // in UB, or the GM address
    uint64_t copied = 0;  // of padding: bytes of the row that the copy wrote, of so many
    uint64_t row = 0;
    // FindNeighbour fills these for bytes that nothing has written. They are call sites: of the write next to the bytes,
    // else of the AllocTensor of their buffer, and of the vector function that reads them.
    uint32_t neighbour = 0;
    bool before = false;
    uint32_t alloc = 0;
    uint32_t call = 0;
  };

  // Returns whether everything from the first to the last byte of an access is defined. May say no.
  bool AllDefined(const Access& access) const;
  bool Defined(const Access& access) const;
  void Mark(const Record& record, const Access& access, uint8_t value, uint32_t origin);
  // Bytes that were undefined until this instruction.
  void SetWriter(uint64_t begin, uint64_t end, uint32_t site, const char* name);
  bool CopyDefined(const Record& record);
  void Copy(const Core& core, const Record& record);
  void Move(const Record& record, uint32_t origin);
  void MoveFromGm(const Record& record);
  void Store(const Core& core, const Record& record);
  void AddToGm(const Core& core, const Record& record, uint64_t address, uint64_t bytes);
  void Compute(const Record& record, bool defined, uint32_t origin);
  void Lanes(const Record& record, const Access& dst, uint32_t origin);
  void Spoil(const Record& record, const Access& access);
  void Repeats(const Record& record, const Access& dst, uint32_t origin);
  void Scalar(Core& core, const Record& record);
  void Registers(const Core& core, const Record& record);
  // The origin that undefined sources hand on, made here if they never had one.
  uint32_t OriginOf(const Core& core, const Record& record);
  // Finds the call sites that explain why nothing has written the bytes.
  void FindNeighbour(const Core& core, const Record& record, Origin* origin);
  void NameNeighbour(const Core& core, const Origin& origin, Finding* finding) const;
  uint32_t NewOrigin(const Origin& origin);
  void SetOrigin(uint64_t begin, uint64_t end, uint32_t origin);
  Finding Describe(const Core& core, uint32_t origin) const;
  void DescribeNeverWritten(const Core& core, const Origin& origin, Finding* finding) const;
  void DescribeGm(const Core& core, const Origin& origin, Finding* finding) const;
  // Says what a scalar instruction took of a row's padding; nothing where it was moved before.
  void DescribePadding(const Core& core, uint32_t origin, uint64_t at, Finding* finding) const;

  JunkSums* junkSums_;
  Marks<uint8_t, 512> image_;       // by byte of UB: 0 defined, 0xFF not
  std::vector<uint32_t> originOf_;  // by block of 32 bytes, index into origins_
  std::vector<Origin> origins_;
  std::vector<uint32_t> writerOf_;   // by block: the site of the first since it was handed out
  std::vector<const char*> nameOf_;  // by site
  std::map<std::pair<uint32_t, int>, uint32_t> originIds_;
  std::vector<UndefinedStore> stores_;
  std::vector<uint8_t> lanes_;  // scratch
  std::map<uint32_t, size_t> reported_;
};

}  // namespace aclsim
