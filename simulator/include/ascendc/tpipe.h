// SPDX-License-Identifier: Apache-2.0
// TPipe, TQue, TQueBind, TBuf: UB allocation and the queues between pipes. State lives in the engine, these hold a handle.
#pragma once

#include "ascendc/tensor.h"

namespace AscendC {

using TBufHandle = uint8_t*;

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  template <typename T>
  LocalTensor<T> AllocTensor() {
    return LocalTensor<T>(aclsim::QueAlloc(que_), kPosition);
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
  void FreeAllEvent() {}

 protected:
  friend class TPipe;
  // Where AllocTensor's tensor lives; what DeQue hands out is named by the other end.
  static constexpr TPosition kPosition = src;
  static constexpr TPosition kTaken = dst;
  static constexpr int32_t kDepth = depth;
  static constexpr bool kTBuf = false;
  uint32_t que_ = 0;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos, pos, depth, mask> {};

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

 private:
  friend class TPipe;
  uint32_t que_ = 0;
};

class TPipe {
 public:
  TPipe() { Init(); }
  // Throws what only the end shows: tensors left in a queue, pipes that wait for each other.
  ~TPipe() noexcept(false) { Destroy(); }
  TPipe(const TPipe&) = delete;
  // A core has one pipe: what it knows lives in the engine, whichever object asks.
  TPipe& operator=(const TPipe&) { return *this; }

  void Init();
  void Reset() { aclsim::PipeReset(); }
  void Destroy();

  // Always inlined, so that the library's return address is the kernel's line: it names the buffer in reports.
  template <typename Que>
  __attribute__((always_inline)) bool InitBuffer(Que& que, uint8_t num, uint32_t len) {
    que.que_ = aclsim::QueInit(static_cast<uint8_t>(Que::kPosition),
                               static_cast<uint8_t>(Que::kTaken), Que::kDepth, num, len, false);
    return true;
  }
  template <TPosition pos>
  __attribute__((always_inline)) bool InitBuffer(TBuf<pos>& buf, uint32_t len) {
    buf.que_ =
        aclsim::QueInit(static_cast<uint8_t>(pos), static_cast<uint8_t>(pos), 0, 1, len, true);
    return true;
  }

  template <HardEvent event>
  TEventID AllocEventID() {
    return static_cast<TEventID>(aclsim::AllocEvent(static_cast<uint8_t>(event)));
  }
  template <HardEvent event>
  void ReleaseEventID(TEventID id) {
    aclsim::ReleaseEvent(static_cast<uint8_t>(event), id);
    ACLSIM_KEEP_FRAME();
  }
  template <HardEvent event>
  TEventID FetchEventID() {
    return static_cast<TEventID>(aclsim::FetchEvent(static_cast<uint8_t>(event)));
  }
  TEventID FetchEventID(HardEvent event) {
    return static_cast<TEventID>(aclsim::FetchEvent(static_cast<uint8_t>(event)));
  }
};

namespace detail {
inline thread_local TPipe* currentPipe = nullptr;
}

inline void TPipe::Init() {
  detail::currentPipe = this;
  aclsim::PipeInit();
}
inline void TPipe::Destroy() {
  if (detail::currentPipe == this) {
    detail::currentPipe = nullptr;
    aclsim::PipeDestroy();
  }
}
inline TPipe* GetTPipePtr() { return detail::currentPipe; }

}  // namespace AscendC
using AscendC::GetTPipePtr;
