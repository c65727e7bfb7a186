// SPDX-License-Identifier: Apache-2.0
// The data buffers of acl_base.h: an address and a size that the program keeps. They need no aclInit.
#include "runtime/kept_objects.h"
#include "runtime/state.h"

struct aclDataBuffer {
  static constexpr const char* kArgument = "dataBuffer";
  static constexpr const char* kNoun = "a buffer";
  static constexpr const char* kMaker = "aclCreateDataBuffer";
  void* data = nullptr;
  size_t size = 0;
};

namespace aclsim {

namespace {

PerProcess<KeptObjects<aclDataBuffer>> dataBuffers;

}  // namespace

void ForgetDestroyedDataBuffers() { dataBuffers->ForgetDestroyed(); }

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  aclDataBuffer* made = nullptr;
  Enter(__func__, [&](const Api&) -> int32_t {
    made = aclsim::dataBuffers->Add({data, size});
    return 0;
  });
  return made;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::dataBuffers->Destroy(api, dataBuffer); });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::dataBuffers->With(api, dataBuffer,
                                     [&](aclDataBuffer& buffer) { buffer = {data, size}; });
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  void* data = nullptr;
  Enter(__func__, [&](const Api& api) {
    return aclsim::dataBuffers->With(api, dataBuffer,
                                     [&](const aclDataBuffer& buffer) { data = buffer.data; });
  });
  return data;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  size_t size = 0;
  Enter(__func__, [&](const Api& api) {
    return aclsim::dataBuffers->With(api, dataBuffer,
                                     [&](const aclDataBuffer& buffer) { size = buffer.size; });
  });
  return size;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

}  // extern "C"
