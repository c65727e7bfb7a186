// SPDX-License-Identifier: Apache-2.0
// TPipe, TQue, TQueBind, TBuf: UB allocation and the queues between pipes. State lives in the engine, these hold a handle.
#pragma once

#include "ascendc/tensor.h"

namespace AscendC {

using TBufHandle = uint8_t*;

namespace detail {

// Always inlined, so that the library's return address is the kernel's line: it names the buffer in reports.
struct QueAccess {
  template <typename Que>
  __attribute__((always_inline)) static void Init(Que& que, uint32_t num, uint32_t len,
                                                  uint32_t pipe, uint32_t pool) {
    // A TBuf there is a buffer of its own core, which no AIV fills.
    if constexpr (Que::kTaken == TPosition::TSCM && !Que::kTBuf) {
      que.que_ = aclsim::TscmInit(static_cast<uint8_t>(Que::kPosition), Que::kDepth, num, len,
                                  Que::IsOneForBoth(), pipe);
    } else {
      que.que_ =
          aclsim::QueInit(static_cast<uint8_t>(Que::kPosition), static_cast<uint8_t>(Que::kTaken),
                          Que::kDepth, num, len, Que::kTBuf, pipe, pool);
    }
  }
  template <typename Que>
  __attribute__((always_inline)) static void Open(Que& que, uint32_t num) {
    que.opened_ = static_cast<uint8_t>(num);
    que.que_ = 0;
  }
  template <typename Que>
  __attribute__((always_inline)) static void Place(Que& que, uint32_t pool, uint32_t index,
                                                   uint32_t addr, uint32_t len) {
    if (que.opened_ != 0) {
      que.que_ =
          aclsim::QueOpen(pool, static_cast<uint8_t>(Que::kPosition),
                          static_cast<uint8_t>(Que::kTaken), Que::kDepth, que.opened_, Que::kTBuf);
      que.opened_ = 0;
    }
    aclsim::QuePlace(que.que_, index, pool, addr, len);
    ACLSIM_KEEP_FRAME();
  }
};

}  // namespace detail

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  template <typename T>
  LocalTensor<T> AllocTensor() {
    return LocalTensor<T>(aclsim::QueAlloc(que_), dst == TPosition::TSCM ? dst : kPosition);
  }
  template <typename T>
  void AllocTensor(LocalTensor<T>& tensor) {
    tensor = AllocTensor<T>();
  }
  template <typename T>
  void FreeTensor(LocalTensor<T>& tensor) {
    aclsim::QueFree(que_, tensor.BufferHandle());
    ACLSIM_KEEP_FRAME();
  }
  template <typename T>
  bool EnQue(const LocalTensor<T>& tensor) {
    aclsim::QueEnQue(que_, tensor.BufferHandle());
    return true;
  }
  // A buffer that is filled, computed in place and copied out is enqueued twice: each time between other pipes.
  template <TPosition srcUserPos, TPosition dstUserPos, typename T>
  bool EnQue(const LocalTensor<T>& tensor) {
    aclsim::QueEnQueOn(que_, tensor.BufferHandle(), static_cast<uint8_t>(srcUserPos),
                       static_cast<uint8_t>(dstUserPos));
    return true;
  }
  template <typename T>
  LocalTensor<T> DeQue() {
    return LocalTensor<T>(aclsim::QueDeQue(que_), dst);
  }
  template <typename T>
  void DeQue(LocalTensor<T>& tensor) {
    tensor = DeQue<T>();
  }
  // The buffer alone, of a kernel that goes on with the tensor it has.
  TBufHandle DeQue() { return aclsim::QueDeQue(que_).addr; }
  template <TPosition srcUserPos, TPosition dstUserPos, typename T>
  LocalTensor<T> DeQue() {
    return LocalTensor<T>(aclsim::QueDeQueOn(que_, static_cast<uint8_t>(srcUserPos),
                                             static_cast<uint8_t>(dstUserPos)),
                          dst);
  }
  bool VacantInQue() { return depth == 0 || GetTensorCountInQue() < depth; }
  bool HasTensorInQue() { return GetTensorCountInQue() > 0; }
  int32_t GetTensorCountInQue() { return aclsim::QueCount(que_); }
  bool HasIdleBuffer() { return aclsim::QueHasIdle(que_); }
  void FreeAllEvent() {
    aclsim::QueFreeEvents(que_);
    ACLSIM_KEEP_FRAME();
  }

  // For pools that place buffers themselves.
  __attribute__((always_inline)) void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t) {
    detail::QueAccess::Open(*this, num);
  }
  template <typename Pool>
  __attribute__((always_inline)) void InitBufHandle(Pool* pool, uint32_t index, TBufHandle,
                                                    uint32_t curPoolAddr, uint32_t len) {
    detail::QueAccess::Place(*this, pool->Handle(), index, curPoolAddr, len);
  }

 protected:
  friend struct detail::QueAccess;
  // TSCM: whether both AIVs of an AI core have the same bytes of L1.
  static constexpr bool IsOneForBoth() {
    if constexpr (std::is_pointer_v<decltype(mask)>) {
      return mask->scmBlockGroup;
    } else {
      return (mask & 4) != 0;
    }
  }
  // This is where AllocTensor's tensor lives; what DeQue hands out is named by the other end.
  static constexpr TPosition kPosition = src;
  static constexpr TPosition kTaken = dst;
  static constexpr int32_t kDepth = depth;
  static constexpr bool kTBuf = false;
  uint32_t que_ = 0;
  uint8_t opened_ = 0;  // buffers of a queue that no pool has placed yet
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos, pos, depth, mask> {};

// Pieces of L1. On an AIV they are those of the AIC that serves its Matmul objects, which fills and reads them for it.
template <TPosition pos, int32_t depth, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <TPosition pos = TPosition::LCM>
class TBuf {
 public:
  template <typename T>
  LocalTensor<T> Get() {
    return LocalTensor<T>(aclsim::TBufGet(que_, 0, 0), pos);
  }
  template <typename T>
  LocalTensor<T> Get(uint32_t length) {
    return LocalTensor<T>(aclsim::TBufGet(que_, 0, detail::BytesOf<T>(length)), pos);
  }
  template <typename T>
  LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset) {
    return LocalTensor<T>(aclsim::TBufGet(que_, bufOffset, detail::BytesOf<T>(size)), pos);
  }
  template <typename T>
  LocalTensor<T> AllocTensor() {
    return Get<T>();
  }
  template <typename T>
  void FreeTensor(LocalTensor<T>&) {}
  // Its one buffer, for LocalTensor::SetAddr.
  TBuffAddr GetBufferAddr(TBufHandle) { return Get<uint8_t>().Address(); }

  __attribute__((always_inline)) void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t) {
    detail::QueAccess::Open(*this, num);
  }
  template <typename Pool>
  __attribute__((always_inline)) void InitBufHandle(Pool* pool, uint32_t index, TBufHandle,
                                                    uint32_t curPoolAddr, uint32_t len) {
    detail::QueAccess::Place(*this, pool->Handle(), index, curPoolAddr, len);
  }

 private:
  friend struct detail::QueAccess;
  static constexpr TPosition kPosition = pos;
  static constexpr TPosition kTaken = pos;
  static constexpr int32_t kDepth = 0;
  static constexpr bool kTBuf = true;
  uint32_t que_ = 0;
  uint8_t opened_ = 0;
};

constexpr uint32_t defaultBufIDSize = 4;

// A part of UB whose buffers are placed one behind the other; several may share one part, one after the other.
template <TPosition pos, uint32_t bufIDSize = defaultBufIDSize>
class TBufPool {
  static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT || pos == TPosition::VECCALC,
                "TBufPool outside UB is not in this simulator yet");
  static_assert(bufIDSize <= 16, "a TBufPool has at most 16 buffers");

 public:
  TBufPool() = default;
  TBufPool(const TBufPool&) = delete;
  TBufPool& operator=(const TBufPool&) = delete;

  template <typename Que>
  __attribute__((always_inline)) bool InitBuffer(Que& que, uint8_t num, uint32_t len) {
    detail::QueAccess::Init(que, num, len, 0, Checked());
    return true;
  }
  template <TPosition bufPos>
  __attribute__((always_inline)) bool InitBuffer(TBuf<bufPos>& buf, uint32_t len) {
    detail::QueAccess::Init(buf, 1, len, 0, Checked());
    return true;
  }
  template <typename Pool>
  bool InitBufPool(Pool& bufPool, uint32_t len) {
    bufPool.Attach(aclsim::PoolInit(0, Checked(), len, Pool::kBuffers, 0));
    return true;
  }
  template <typename Pool, typename Shared>
  bool InitBufPool(Pool& bufPool, uint32_t len, Shared& shareBuf) {
    bufPool.Attach(aclsim::PoolInit(0, Checked(), len, Pool::kBuffers, shareBuf.Handle()));
    return true;
  }
  // Ends what its queues have under way; another pool may have the same bytes from here on.
  void Reset() {
    aclsim::PoolReset(pool_);
    ACLSIM_KEEP_FRAME();
  }

  static constexpr uint32_t kBuffers = bufIDSize;
  void Attach(uint32_t pool) { pool_ = pool; }
  uint32_t Handle() const { return pool_; }

 private:
  // 0 stands for the pipe.
  uint32_t Checked() const {
    aclsim::PoolBegin(pool_);
    return pool_;
  }
  uint32_t pool_ = 0;
};

// In a class of the kernel's own that places buffers of TPipe::InitBufPool's bytes itself, by InitStartBufHandle and InitBufHandle.
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                    \
 public:                                                                          \
  EXT_BUFPOOL(const EXT_BUFPOOL&) = delete;                                       \
  EXT_BUFPOOL& operator=(const EXT_BUFPOOL&) = delete;                            \
  void Init() { curBufSize_ = 0; }                                                \
  void Reset() { aclsim::PoolReset(pool_); }                                      \
  AscendC::TBufHandle GetBufHandle(uint8_t offset) {                              \
    return reinterpret_cast<AscendC::TBufHandle>(static_cast<uintptr_t>(offset)); \
  }                                                                               \
  void SetCurAddr(uint32_t curAddr) { curAddr_ = curAddr; }                       \
  uint32_t GetCurAddr() { return curAddr_; }                                      \
  void SetCurBufSize(uint8_t curBufSize) { curBufSize_ = curBufSize; }            \
  uint8_t GetCurBufSize() { return curBufSize_; }                                 \
  static constexpr uint32_t kBuffers = BUFID_SIZE;                                \
  void Attach(uint32_t pool) {                                                    \
    pool_ = pool;                                                                 \
    curAddr_ = aclsim::PoolBegin(pool);                                           \
  }                                                                               \
  uint32_t Handle() const { return pool_; }                                       \
                                                                                  \
 private:                                                                         \
  uint32_t pool_ = 0;                                                             \
  uint32_t curAddr_ = 0;                                                          \
  uint8_t curBufSize_ = 0

namespace detail {
// The high-level API keeps this of a pipe, as long as its buffers are there.
struct PipeParts {
  virtual ~PipeParts() = default;
};
}  // namespace detail

class TPipe {
 public:
  TPipe() : pipe_(aclsim::PipeOpen(this)) {}
  // Throws what only the end shows: tensors left in a queue, pipes that wait for each other.
  ~TPipe() noexcept(false) {
    Destroy();
    aclsim::PipeClose(pipe_);
  }
  // A copy goes on from where the other one stands; what either hands out from then on, the other does not know of.
  TPipe(const TPipe& other) : pipe_(aclsim::PipeCopy(this, other.pipe_)) {}
  TPipe& operator=(const TPipe& other) {
    aclsim::PipeAssign(pipe_, other.pipe_);
    return *this;
  }

  void Init() { aclsim::PipeInit(pipe_); }
  void Reset() {
    SetParts(nullptr);
    aclsim::PipeReset(pipe_);
  }
  void Destroy() {
    SetParts(nullptr);
    aclsim::PipeDestroy(pipe_, true);
  }
  // The caller sees to it that the pipes are empty where they have to be.
  void DestroyWithoutPipeAll() {
    SetParts(nullptr);
    aclsim::PipeDestroy(pipe_, false);
  }

  detail::PipeParts* Parts() const { return parts_; }
  // The Matmul object of an AIV that asked for a product last.
  const void* LastProduct() const { return lastProduct_; }
  void SetLastProduct(const void* object) { lastProduct_ = object; }
  void SetParts(detail::PipeParts* parts) {
    delete parts_;
    parts_ = parts;
  }

  template <typename Que>
  __attribute__((always_inline)) bool InitBuffer(Que& que, uint8_t num, uint32_t len) {
    detail::QueAccess::Init(que, num, len, pipe_, 0);
    return true;
  }
  template <TPosition pos>
  __attribute__((always_inline)) bool InitBuffer(TBuf<pos>& buf, uint32_t len) {
    detail::QueAccess::Init(buf, 1, len, pipe_, 0);
    return true;
  }
  template <typename Pool>
  bool InitBufPool(Pool& bufPool, uint32_t len) {
    bufPool.Attach(aclsim::PoolInit(pipe_, 0, len, Pool::kBuffers, 0));
    return true;
  }
  template <typename Pool, typename Shared>
  bool InitBufPool(Pool& bufPool, uint32_t len, Shared& shareBuf) {
    bufPool.Attach(aclsim::PoolInit(pipe_, 0, len, Pool::kBuffers, shareBuf.Handle()));
    return true;
  }

  template <HardEvent event>
  TEventID AllocEventID() {
    return static_cast<TEventID>(aclsim::AllocEvent(pipe_, static_cast<uint8_t>(event)));
  }
  template <HardEvent event>
  void ReleaseEventID(TEventID id) {
    aclsim::ReleaseEvent(pipe_, static_cast<uint8_t>(event), id);
    ACLSIM_KEEP_FRAME();
  }
  template <HardEvent event>
  TEventID FetchEventID() {
    return static_cast<TEventID>(aclsim::FetchEvent(pipe_, static_cast<uint8_t>(event)));
  }
  TEventID FetchEventID(HardEvent event) {
    return static_cast<TEventID>(aclsim::FetchEvent(pipe_, static_cast<uint8_t>(event)));
  }

 private:
  uint32_t pipe_;
  detail::PipeParts* parts_ = nullptr;
  const void* lastProduct_ = nullptr;
};

inline TPipe* GetTPipePtr() { return static_cast<TPipe*>(aclsim::PipeCurrent()); }

}  // namespace AscendC
using AscendC::GetTPipePtr;
