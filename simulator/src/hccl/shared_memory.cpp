// SPDX-License-Identifier: Apache-2.0
#include "hccl/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <utility>

#include "host/format.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr uint64_t kMagic = 0x4c43434844524741;  // "AGRDHCCL"
constexpr uint64_t kPage = 4096;

// The bytes of an HcclRootInfo.
struct Ticket {
  uint64_t magic;
  uint64_t id[2];
  uint64_t boot;   // of the machine
  uint64_t space;  // of process numbers: a container has its own
  uint64_t startTime;
  int32_t process;
  int32_t file;
};
static_assert(sizeof(Ticket) <= sizeof(HcclRootInfo));

uint64_t Hash(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return hash;
}

uint64_t BootOfMachine() {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  return Hash(text);
}

uint64_t SpaceOfProcesses() {
  struct stat facts{};
  return stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

// When a process began, in ticks since the machine's boot; 0: there is none, or it has ended and nobody has asked how.
uint64_t StartTime(int32_t process) {
  std::ifstream file(Format("/proc/%d/stat", process));
  std::string line;
  std::getline(file, line);
  const size_t name = line.rfind(')');  // a program's name may have spaces
  if (name == std::string::npos) {
    return 0;
  }
  std::istringstream fields(line.substr(name + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") {
    return 0;
  }
  constexpr int kStartTime = 22;
  for (int i = 3; i < kStartTime; ++i) {
    fields >> field;
  }
  return std::strtoull(field.c_str(), nullptr, 10);
}

uint64_t RoundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

void Futex(const std::atomic<uint32_t>* word, int what, uint32_t value, const timespec* time) {
  syscall(SYS_futex, reinterpret_cast<const uint32_t*>(word), what, value, time, nullptr, 0);
}

}  // namespace

struct SharedMemory::Header {
  uint64_t magic;
  uint64_t id[2];
  std::atomic<uint32_t> ranks;   // 0: nobody has said yet
  std::atomic<uint32_t> failed;  // 1: the text is being written; 2: it is there
  char failure[kPage];
};

struct SharedMemory::Member {
  enum State : uint32_t { kAbsent, kJoining, kThere, kLeft };
  alignas(64) std::atomic<uint32_t> state;
  std::atomic<uint32_t> bell;
  int32_t process;
  int32_t device;
  uint64_t startTime;
};

namespace {

constexpr uint64_t kMembersAt = 2 * kPage;
constexpr uint64_t kChannelsAt = 4 * kPage;

uint64_t RingsAt(uint64_t ranks) {
  return RoundUp(kChannelsAt + ranks * ranks * sizeof(SharedMemory::Channel), kPage);
}

}  // namespace

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) {
    munmap(base_, bytes_);
  }
  if (file_ >= 0) {
    close(file_);
  }
}

bool SharedMemory::Map(uint64_t bytes, std::string* why) {
  struct stat facts{};
  if (fstat(file_, &facts) != 0 || (static_cast<uint64_t>(facts.st_size) < bytes &&
                                    ftruncate(file_, static_cast<off_t>(bytes)) != 0)) {
    *why = Format("cannot make %llu bytes of shared memory: %s", static_cast<Ull>(bytes),
                  std::strerror(errno));
    return false;
  }
  void* const base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (base == MAP_FAILED) {
    *why = Format("cannot map %llu bytes of shared memory: %s", static_cast<Ull>(bytes),
                  std::strerror(errno));
    return false;
  }
  if (base_ != nullptr) {
    munmap(base_, bytes_);
  }
  base_ = static_cast<uint8_t*>(base);
  bytes_ = bytes;
  return true;
}

std::shared_ptr<SharedMemory> SharedMemory::Create(HcclRootInfo* root, std::string* why) {
  Ticket ticket{kMagic, {}, BootOfMachine(), SpaceOfProcesses(), StartTime(getpid()), getpid(), -1};
  if (getrandom(ticket.id, sizeof(ticket.id), 0) != sizeof(ticket.id)) {
    *why = Format("no random number: %s", std::strerror(errno));
    return nullptr;
  }
  std::shared_ptr<SharedMemory> memory(new SharedMemory);
  memory->file_ = memfd_create("aclgrad-hccl", MFD_CLOEXEC);
  if (memory->file_ < 0 || fchmod(memory->file_, S_IRUSR | S_IWUSR) != 0) {
    *why = Format("cannot make shared memory: %s", std::strerror(errno));
    return nullptr;
  }
  if (!memory->Map(kChannelsAt, why)) {
    return nullptr;
  }
  auto* const header = new (memory->base_) Header{};
  header->magic = kMagic;
  std::copy_n(ticket.id, 2, header->id);
  ticket.file = memory->file_;
  memory->name_ = Format("hccl_%08llx", static_cast<Ull>(ticket.id[0] >> 32));
  *root = {};
  std::memcpy(root->internal, &ticket, sizeof(ticket));
  return memory;
}

std::shared_ptr<SharedMemory> SharedMemory::Open(const HcclRootInfo& root, std::string* why) {
  Ticket ticket{};
  std::memcpy(&ticket, root.internal, sizeof(ticket));
  if (ticket.magic != kMagic) {
    *why = "these bytes are not of HcclGetRootInfo";
    return nullptr;
  }
  if (ticket.boot != BootOfMachine() || ticket.space != SpaceOfProcesses()) {
    *why =
        "HcclGetRootInfo was called on another machine or in another container; the simulator "
        "connects the processes of one";
    return nullptr;
  }
  const std::string path = Format("/proc/%d/fd/%d", ticket.process, ticket.file);
  std::shared_ptr<SharedMemory> memory(new SharedMemory);
  memory->file_ =
      StartTime(ticket.process) == ticket.startTime ? open(path.c_str(), O_RDWR | O_CLOEXEC) : -1;
  if (memory->file_ < 0) {
    *why = Format("process %d, which called HcclGetRootInfo, %s", ticket.process,
                  errno == EACCES || errno == EPERM
                      ? "belongs to another user"
                      : "has ended, or its communicator is complete already");
    return nullptr;
  }
  struct stat facts{};
  if (fstat(memory->file_, &facts) != 0 || static_cast<uint64_t>(facts.st_size) < kChannelsAt ||
      !memory->Map(kChannelsAt, why)) {
    *why = "the shared memory of HcclGetRootInfo is gone";
    return nullptr;
  }
  const auto& header = *reinterpret_cast<const Header*>(memory->base_);
  if (header.magic != kMagic || !std::equal(header.id, header.id + 2, ticket.id)) {
    *why = "the shared memory of HcclGetRootInfo is gone";
    return nullptr;
  }
  memory->name_ = Format("hccl_%08llx", static_cast<Ull>(ticket.id[0] >> 32));
  return memory;
}

bool SharedMemory::Join(uint32_t ranks, uint32_t rank, int32_t device, std::string* why) {
  uint32_t said = 0;
  auto& header = *reinterpret_cast<Header*>(base_);
  if (!header.ranks.compare_exchange_strong(said, ranks) && said != ranks) {
    *why = Format("nRanks is %u here and %u for another rank", ranks, said);
    return false;
  }
  ranks_ = ranks;
  if (!Map(RingsAt(ranks) + static_cast<uint64_t>(ranks) * ranks * kRing, why)) {
    return false;
  }
  Member& member = MemberOf(rank);
  uint32_t absent = Member::kAbsent;
  if (!member.state.compare_exchange_strong(absent, Member::kJoining)) {
    *why = Format("rank %u is there already, as process %d", rank, member.process);
    return false;
  }
  member.process = getpid();
  member.startTime = StartTime(getpid());
  member.device = device;
  member.state = Member::kThere;
  RingAll();
  close(std::exchange(file_, -1));
  return true;
}

void SharedMemory::Leave(uint32_t rank) {
  MemberOf(rank).state = Member::kLeft;
  RingAll();
}

SharedMemory::Member& SharedMemory::MemberOf(uint32_t rank) const {
  static_assert(kMembersAt + kMostRanks * sizeof(Member) <= kChannelsAt);
  static_assert(sizeof(Header) <= kMembersAt);
  return reinterpret_cast<Member*>(base_ + kMembersAt)[rank];
}

uint32_t SharedMemory::Joined() const {
  uint32_t joined = 0;
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    joined += MemberOf(rank).state >= Member::kThere ? 1 : 0;
  }
  return joined;
}

bool SharedMemory::SharesDevice(uint32_t rank, uint32_t* other) const {
  for (uint32_t i = 0; i < ranks_; ++i) {
    if (i != rank && MemberOf(i).state >= Member::kThere &&
        MemberOf(i).device == MemberOf(rank).device) {
      *other = i;
      return true;
    }
  }
  return false;
}

SharedMemory::Channel& SharedMemory::ChannelOf(uint32_t from, uint32_t to) const {
  return reinterpret_cast<Channel*>(base_ + kChannelsAt)[from * ranks_ + to];
}

uint8_t* SharedMemory::RingOf(uint32_t from, uint32_t to) const {
  return base_ + RingsAt(ranks_) + (static_cast<uint64_t>(from) * ranks_ + to) * kRing;
}

void SharedMemory::Ring(uint32_t rank) {
  std::atomic<uint32_t>& bell = MemberOf(rank).bell;
  ++bell;
  Futex(&bell, FUTEX_WAKE, INT32_MAX, nullptr);
}

void SharedMemory::RingAll() {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    Ring(rank);
  }
}

uint32_t SharedMemory::Rings(uint32_t rank) const { return MemberOf(rank).bell; }

void SharedMemory::AwaitRing(uint32_t rank, uint32_t known,
                             std::chrono::milliseconds atMost) const {
  const timespec time{atMost.count() / 1000, atMost.count() % 1000 * 1000000};
  Futex(&MemberOf(rank).bell, FUTEX_WAIT, known, &time);
}

std::string SharedMemory::Missing(uint32_t rank) const {
  const Member& member = MemberOf(rank);
  const uint32_t state = member.state;
  if (state == Member::kLeft) {
    return Format("rank %u has left the communicator (HcclCommDestroy)", rank);
  }
  if (state == Member::kThere && StartTime(member.process) != member.startTime) {
    return Format("rank %u is gone: its process %d has ended", rank, member.process);
  }
  return "";
}

void SharedMemory::Fail(const std::string& text) {
  auto& header = *reinterpret_cast<Header*>(base_);
  uint32_t none = 0;
  if (header.failed.compare_exchange_strong(none, 1)) {
    header.failure[text.copy(header.failure, sizeof(header.failure) - 1)] = '\0';
    header.failed = 2;
    RingAll();
  }
}

std::string SharedMemory::Failure() const {
  const auto& header = *reinterpret_cast<const Header*>(base_);
  if (header.failed != 2) {
    return "";
  }
  return std::string(header.failure, strnlen(header.failure, sizeof(header.failure)));
}

}  // namespace aclsim
