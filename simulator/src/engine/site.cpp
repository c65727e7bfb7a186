// SPDX-License-Identifier: Apache-2.0
#include "engine/site.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>

namespace aclsim {

namespace {

constexpr uint64_t kMix = 0x9E3779B97F4A7C15;  // its products have mixed high bits

// Constructors and destructors without arguments, which the compiler may have written: D2Ev ends the name of such a destructor.
bool MayBeImplicit(std::string_view symbol) {
  constexpr std::string_view kEnds[] = {"C1Ev", "C2Ev", "D0Ev", "D1Ev", "D2Ev"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return symbol.ends_with(end); });
}

// The API's templates are often functions of their own: the line is further up then, as it is for an implicit destructor. Copies of them that the optimiser makes
// have no dynamic symbol, so that an address outside of its nearest symbol may be one.
bool IsApiFrame(void* address, ApiFrames& recent) {
  auto& [known, before] = recent[(reinterpret_cast<uintptr_t>(address) * kMix) >> 54];
  if (known.address == address) {
    return known.api;
  }
  std::swap(known, before);
  if (known.address == address) {
    return known.api;
  }
  Dl_info info{};
  void* entry = nullptr;
  bool api = true;
  if (dladdr1(address, &info, &entry, RTLD_DL_SYMENT) != 0 && info.dli_sname != nullptr &&
      entry != nullptr) {
    const auto* symbol = static_cast<const ElfW(Sym)*>(entry);
    const auto* begin = static_cast<const uint8_t*>(info.dli_saddr);
    api = address > begin + symbol->st_size ||
          std::strncmp(info.dli_sname, "_ZN13aclsim_device", 18) == 0 ||
          std::strncmp(info.dli_sname, "_ZN7AscendC", 11) == 0 ||
          std::strncmp(info.dli_sname, "_ZNK7AscendC", 12) == 0 || MayBeImplicit(info.dli_sname);
  }
  known = {address, api};
  return api;
}

// Returns where this library is mapped.
std::pair<uintptr_t, uintptr_t> LibraryRange() {
  static const auto range = [] {
    std::pair<uintptr_t, uintptr_t> result{0, 0};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* out) {
          uintptr_t begin = UINTPTR_MAX, end = 0;
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& header = info->dlpi_phdr[i];
            if (header.p_type == PT_LOAD) {
              begin = std::min<uintptr_t>(begin, info->dlpi_addr + header.p_vaddr);
              end = std::max<uintptr_t>(end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
            }
          }
          const auto self = reinterpret_cast<uintptr_t>(&IsApiFrame);
          if (self < begin || self >= end) {
            return 0;
          }
          *static_cast<std::pair<uintptr_t, uintptr_t>*>(out) = {begin, end};
          return 1;
        },
        &result);
    return result;
  }();
  return range;
}

uintptr_t ThreadStackEnd() {
  thread_local const uintptr_t end = [] {
    uintptr_t result = 0;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      void* begin = nullptr;
      size_t size = 0;
      if (pthread_attr_getstack(&attributes, &begin, &size) == 0) {
        result = reinterpret_cast<uintptr_t>(begin) + size;
      }
      pthread_attr_destroy(&attributes);
    }
    return result;
  }();
  return end;
}

// Not in place: a library that is loaded at run time has little thread-local storage.
ApiFrames& ApiFramesOfThread() {
  thread_local const auto frames = std::make_unique<ApiFrames>();
  return *frames;
}

}  // namespace

size_t Sites::Hash::operator()(const SiteStack& stack) const {
  uintptr_t hash = 0;
  for (void* address : stack) {
    hash = (hash ^ reinterpret_cast<uintptr_t>(address)) * kMix;
  }
  return hash ^ (hash >> 32);
}

Sites::Sites() : stacks_(1), apiFrames_(ApiFramesOfThread()) {
  std::tie(libraryBegin_, libraryEnd_) = LibraryRange();
  stackEnd_ = ThreadStackEnd();
}

// One function: it runs for each instruction, and cut into its steps it took up to a tenth more instructions of the host.
uint32_t Sites::Capture() {
  struct Frame {
    Frame* next;
    void* returnAddress;
  };
  int left = 32;
  // The first frame from there on that returns to code outside of the library; null: none.
  const auto outside = [&](const Frame* frame) -> const Frame* {
    while (left-- > 0) {
      const auto address = reinterpret_cast<uintptr_t>(frame->returnAddress);
      if (address < libraryBegin_ || address >= libraryEnd_) {
        return frame;
      }
      const auto next = reinterpret_cast<uintptr_t>(frame->next);
      if (next <= reinterpret_cast<uintptr_t>(frame) || next + sizeof(Frame) > stackEnd_ ||
          next % alignof(Frame) != 0) {
        return nullptr;
      }
      frame = frame->next;
    }
    return nullptr;
  };
  // The one that its function returns to.
  const auto caller = [&](const Frame* frame) -> const Frame* {
    const auto next = reinterpret_cast<uintptr_t>(frame->next);
    const bool none = next <= reinterpret_cast<uintptr_t>(frame) ||
                      next + sizeof(Frame) > stackEnd_ || next % alignof(Frame) != 0;
    return none ? nullptr : outside(frame->next);
  };
  const Frame* const first = outside(static_cast<const Frame*>(__builtin_frame_address(0)));
  if (first == nullptr) {
    return 0;
  }
  const Frame* const second = caller(first);
  const auto mixed = reinterpret_cast<uintptr_t>(first->returnAddress) * kMix ^
                     (second != nullptr ? reinterpret_cast<uintptr_t>(second->returnAddress) : 0);
  // Two of each hash, as call sites of one loop take turns.
  const size_t slot = (mixed * kMix) >> 58;
  const Frame* frame = nullptr;
  for (const Recent& recent : {std::cref(recent_[slot]), std::cref(recent_[slot ^ 1])}) {
    frame = first;
    uint32_t same = 0;
    while (same < recent.depth && frame != nullptr && recent.stack[same] == frame->returnAddress) {
      frame = ++same == recent.depth ? frame : same == 1 ? second : caller(frame);
    }
    if (same != 0 && same == recent.depth) {
      return recent.site;
    }
  }
  SiteStack stack{};
  uint32_t depth = 0;
  left = 32;
  for (frame = first; frame != nullptr && depth < stack.size();
       frame = depth == 1 ? second : caller(frame)) {
    stack[depth++] = frame->returnAddress;
    if (!IsApiFrame(frame->returnAddress, apiFrames_)) {
      break;
    }
  }
  const auto [found, isNew] = ids_.try_emplace(stack, static_cast<uint32_t>(stacks_.size()));
  if (isNew) {
    stacks_.push_back(stack);
  }
  recent_[slot ^ 1] = recent_[slot];
  recent_[slot] = {stack, depth, found->second};
  return found->second;
}

std::vector<void*> Sites::Stack(uint32_t site) const {
  std::vector<void*> stack;
  for (void* address : stacks_[site]) {
    if (address != nullptr) {
      stack.push_back(address);
    }
  }
  return stack;
}

SourceLine Sites::Resolve(uint32_t site) const { return FindKernelLine(Stack(site)); }

}  // namespace aclsim
