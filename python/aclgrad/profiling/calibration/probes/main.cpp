// SPDX-License-Identifier: Apache-2.0
// Launches probes: probes DEVICE REQUEST RESULT. REQUEST has a line per launch,
//
//   NAME KERNEL BLOCKS TIMES IN_BYTES OUT_BYTES IN_FILE|- P0 ... P15
//
// and RESULT gets one for each, as soon as it is over: "NAME us us ..." for TIMES launches, after one that is not counted unless
// TIMES is negative, or "NAME error CODE". A launch with TIMES 0 is not timed; its output goes into RESULT.NAME. Times are those
// between events. Where P15 is not 0, those of the core's counter follow: "NAME us us ... ticks N N ...". In front of all lines
// stands "device SOC NAME=VALUE ...", with the sizes that the runtime tells.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclrtlaunch_probe_copies.h"
#include "aclrtlaunch_probe_cores.h"
#include "aclrtlaunch_probe_pad.h"
#include "aclrtlaunch_probe_scalar.h"
#include "aclrtlaunch_probe_ub.h"
#include "aclrtlaunch_probe_values.h"
#include "aclrtlaunch_probe_vector.h"
#include "opapi.h"

namespace {

constexpr int kParams = 16;
constexpr size_t kTicksAt = kParams * sizeof(int32_t), kTicksBytes = 32;  // behind the parameters

struct Request {
  std::string name, kernel, file;
  uint32_t blocks = 1;
  int times = 0;
  size_t inBytes = 0, outBytes = 0;
  int32_t params[kParams] = {};
};

// Device memory that grows with what is asked for: a launch gets the front of it.
class Memory {
 public:
  ~Memory() { Free(); }
  int Reserve(size_t bytes) {
    if (bytes <= bytes_) {
      return 0;
    }
    Free();
    const int error = aclrtMalloc(&at_, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    bytes_ = error == 0 ? bytes : 0;
    return error;
  }
  void* at() const { return at_; }

 private:
  void Free() {
    if (at_ != nullptr) {
      aclrtFree(at_);
    }
    at_ = nullptr;
    bytes_ = 0;
  }

  void* at_ = nullptr;
  size_t bytes_ = 0;
};

uint32_t LaunchKernel(const Request& request, aclrtStream stream, void* in, void* out,
                      void* params) {
#define LAUNCH(name)                                                           \
  if (request.kernel == #name) {                                               \
    return ACLRT_LAUNCH_KERNEL(name)(request.blocks, stream, in, out, params); \
  }
  LAUNCH(probe_values)
  LAUNCH(probe_pad)
  LAUNCH(probe_vector)
  LAUNCH(probe_copies)
  LAUNCH(probe_scalar)
  LAUNCH(probe_cores)
  LAUNCH(probe_ub)
#undef LAUNCH
  if (request.kernel == "compare_numbers") {
    return static_cast<uint32_t>(CompareNumbers(stream, in, out));
  }
  return static_cast<uint32_t>(ACL_ERROR_INVALID_PARAM);
}

#define RETURN_IF_ERROR(call)       \
  do {                              \
    if (const int error = (call)) { \
      return error;                 \
    }                               \
  } while (0)

class Runner {
 public:
  explicit Runner(aclrtStream stream) : stream_(stream) {}

  int Prepare() {
    RETURN_IF_ERROR(aclrtCreateEvent(&begin_));
    RETURN_IF_ERROR(aclrtCreateEvent(&end_));
    return params_.Reserve(kTicksAt + kTicksBytes);
  }

  int Run(const Request& request, std::string* line, std::vector<char>* output) {
    RETURN_IF_ERROR(in_.Reserve(request.inBytes));
    RETURN_IF_ERROR(out_.Reserve(request.outBytes));
    RETURN_IF_ERROR(aclrtMemcpy(params_.at(), sizeof(request.params), request.params,
                                sizeof(request.params), ACL_MEMCPY_HOST_TO_DEVICE));
    if (request.file != "-") {
      std::ifstream file(request.file, std::ios::binary);
      const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
      if (bytes.size() != request.inBytes) {
        return ACL_ERROR_INVALID_FILE;
      }
      RETURN_IF_ERROR(aclrtMemcpy(in_.at(), bytes.size(), bytes.data(), bytes.size(),
                                  ACL_MEMCPY_HOST_TO_DEVICE));
    } else if (request.inBytes > 0 && request.inBytes > zeroed_) {
      RETURN_IF_ERROR(aclrtMemset(in_.at(), request.inBytes, 0, request.inBytes));
      zeroed_ = request.inBytes;
    }
    std::string ticks;
    for (int i = request.times < 0 ? 1 : 0; i <= std::abs(request.times); ++i) {
      // Marks that nobody has set, and bytes between what is written.
      if (request.kernel == "probe_cores" || request.kernel == "compare_numbers") {
        RETURN_IF_ERROR(aclrtMemset(out_.at(), request.outBytes, 0, request.outBytes));
      }
      RETURN_IF_ERROR(aclrtRecordEvent(begin_, stream_));
      RETURN_IF_ERROR(
          static_cast<int>(LaunchKernel(request, stream_, in_.at(), out_.at(), params_.at())));
      RETURN_IF_ERROR(aclrtRecordEvent(end_, stream_));
      RETURN_IF_ERROR(aclrtSynchronizeStream(stream_));
      float ms = 0;
      RETURN_IF_ERROR(aclrtEventElapsedTime(&ms, begin_, end_));
      if (i > 0) {
        char text[32];
        std::snprintf(text, sizeof(text), " %.6g", 1e3 * static_cast<double>(ms));
        *line += text;
      }
      if (i > 0 && request.params[kParams - 1] != 0) {
        int32_t counted = 0;
        RETURN_IF_ERROR(aclrtMemcpy(&counted, sizeof(counted),
                                    static_cast<const char*>(params_.at()) + kTicksAt,
                                    sizeof(counted), ACL_MEMCPY_DEVICE_TO_HOST));
        ticks += ' ' + std::to_string(counted);
      }
    }
    *line += ticks.empty() ? "" : " ticks" + ticks;
    if (request.times == 0) {
      output->resize(request.outBytes);
      RETURN_IF_ERROR(aclrtMemcpy(output->data(), output->size(), out_.at(), output->size(),
                                  ACL_MEMCPY_DEVICE_TO_HOST));
    }
    return 0;
  }

 private:
  aclrtStream stream_;
  aclrtEvent begin_ = nullptr, end_ = nullptr;
  Memory in_, out_, params_;
  size_t zeroed_ = 0;
};

std::string DeviceLine(int device) {
  const char* const soc = aclrtGetSocName();
  std::ostringstream line;
  line << "device " << (soc != nullptr ? soc : "unknown");
  const auto tell = [&](const char* name, aclDeviceInfo info) {
    int64_t value = 0;
    if (aclGetDeviceCapability(static_cast<uint32_t>(device), info, &value) == 0) {
      line << ' ' << name << '=' << value;
    }
  };
  tell("vecCores", ACL_DEVICE_INFO_VECTOR_CORE_NUM);
  tell("l2Bytes", ACL_DEVICE_INFO_L2_SIZE);
  return line.str();
}

int Main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: probes DEVICE REQUEST RESULT\n");
    return 2;
  }
  std::ifstream requests(argv[2]);
  std::ofstream results(argv[3]);
  if (!requests || !results) {
    std::fprintf(stderr, "probes: %s or %s cannot be opened\n", argv[2], argv[3]);
    return 2;
  }
  const int device = std::atoi(argv[1]);
  aclrtStream stream = nullptr;
  int error = aclInit(nullptr);
  error = error != 0 ? error : aclrtSetDevice(device);
  error = error != 0 ? error : aclrtCreateStream(&stream);
  Runner runner(stream);
  error = error != 0 ? error : runner.Prepare();
  if (error != 0) {
    const char* text = aclGetRecentErrMsg();
    std::fprintf(stderr, "probes: device %d: error %d %s\n", device, error,
                 text != nullptr ? text : "");
    return 1;
  }
  results << DeviceLine(device) << std::endl;
  std::string words;
  while (std::getline(requests, words)) {
    std::istringstream line(words);
    Request request;
    line >> request.name >> request.kernel >> request.blocks >> request.times >> request.inBytes >>
        request.outBytes >> request.file;
    for (int32_t& param : request.params) {
      line >> param;
    }
    std::string told = request.name;
    std::vector<char> output;
    error = line.fail() ? ACL_ERROR_INVALID_PARAM : runner.Run(request, &told, &output);
    if (error != 0) {
      const char* text = aclGetRecentErrMsg();
      std::fprintf(stderr, "%s: %s\n", request.name.c_str(), text != nullptr ? text : "");
      results << request.name << " error " << error << std::endl;
      return 1;  // a device in error answers nothing more: the rest goes to another process
    }
    if (!output.empty()) {
      std::ofstream(std::string(argv[3]) + "." + request.name, std::ios::binary)
          .write(output.data(), static_cast<std::streamsize>(output.size()));
    }
    results << told << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int status = Main(argc, argv);
  aclFinalize();
  return status;
}
