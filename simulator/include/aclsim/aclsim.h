// SPDX-License-Identifier: Apache-2.0
// The simulator's own C API, beyond CANN's: present in the simulator's libascendcl.so and libnnopbase.so only. Programs that
// also run on an NPU look these symbols up with dlsym and do without.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACLSIM_API __attribute__((visibility("default")))

typedef struct aclsimLaunchStats {
  uint64_t launches;      // kernel launches since the last reset
  uint64_t gmReadBytes;   // bytes that kernels moved GM -> UB (checked mode)
  uint64_t gmWriteBytes;  // bytes that kernels moved UB -> GM (checked mode)
  uint64_t instructions;  // device instructions executed (checked mode)
  uint64_t ubPeakBytes;   // most UB that one core allocated
  uint64_t kernelNanos;   // host time inside kernel launches
  uint32_t blockDim;      // of the last launch
  uint32_t reserved;
} aclsimLaunchStats;

// Options: "soc" (Ascend910B2, ...), "mode" (checked | fast), "threads" (host threads, 0 = all), "cores" (vector cores, 0 =
// all of the SoC), "autosync" (on | off: whether the device compiler's automatic synchronisation counts as there), "chaos" (0 =
// off, else a seed: every pipe runs as late as the synchronisation allows), "held" (all, or which instructions chaos holds back, by
// their numbers on a core: 12+40-41), "profile" (on | off: the timing model times every
// launch), "race_times" (on | off: findings of races say when the model has both ends), "hang_limit" (seconds of processor time
// after which code that gets nothing done ends, 0 = off), "keep_going" (on | off:
// whether a core goes on after a fault, as docs/reference/findings.md lists by kind; until it is set, in fast mode only). "recover" (on |
// off: whether a stream works again once a synchronisation has returned its failure; an NPU's does not). "partial_outputs" (outputs that operators write only in part on purpose: "output" or "Operator.output", with commas between, or "none"), "findings" (error | warn | off, KIND=warn, @FILE=warn or KIND@FILE=warn, with commas between: what findings count as). Returns
// 0, or // 100000 (ACL_ERROR_INVALID_PARAM) with the reason in aclGetRecentErrMsg. Not while a stream has work.
ACLSIM_API int32_t aclsimSetOption(const char* name, const char* value);
// The value in force, or NULL for an unknown name. The string lives until the next call on this thread.
ACLSIM_API const char* aclsimGetOption(const char* name);

ACLSIM_API void aclsimResetStats(void);
ACLSIM_API void aclsimGetStats(aclsimLaunchStats* stats);
// Launches of one kernel since the process began, by its operator's type ("SoftmaxGrad") or its own name.
ACLSIM_API uint64_t aclsimLaunchesOf(const char* kernel);

// Languages above C know where a launch was asked for: describe writes that place into text, and a failure of what the calling
// thread hands to a stream tells it. NULL: nobody knows. Returns 0.
typedef void (*aclsimDescribeCaller)(char* text, uint64_t size);
ACLSIM_API int32_t aclsimSetDescribeCaller(aclsimDescribeCaller describe);

// Arguments as they lie in registers and on the stack, in the order of the C calling conventions: reals are doubles or floats in
// their first bytes.
#if defined(__aarch64__)
#define ACLSIM_INTEGERS 8
#else
#define ACLSIM_INTEGERS 6
#endif
#define ACLSIM_REALS 8
#define ACLSIM_REST 48
typedef struct aclsimArguments {
  uint64_t integers[ACLSIM_INTEGERS];
  double reals[ACLSIM_REALS];
  uint64_t rest[ACLSIM_REST];
} aclsimArguments;
// Calls a function of somebody's library that returns an int32_t. Returns 1, with what happened in text, when it raised a signal
// or did not end: nothing that it held is given back.
ACLSIM_API int32_t aclsimCallForeign(const void* function, const aclsimArguments* arguments,
                                     int32_t* returned, char* text, uint64_t size);

// Makes a block as aclrtMalloc gave it: in checked mode nobody has written it. For callers that use a block again and again.
ACLSIM_API int32_t aclsimRenew(void* devPtr);

// Returns what the checks have found since the process began or aclsimClearFindings was called: a JSON array, oldest first, of
// {"kind","severity":"error"|"warning"|"off"|"hint","op","core","blockDim","space","buffer","begin","end",
//  "at":{"pipe","instruction","note","file","line","text"},"related":[...as "at"],
//  "detail","advice","soc","tiling","tilingKey","count","goesOn","afterFault","text"}. goesOn: what became of the access where
// the core went on; afterFault: the core had had a fault before. With the option "race_times" a race also has "timeline": both
// ends and what is around them, in cycles since the launch began: {"mhz","begin","end","lanes":[[core,pipe]],
// "ends":[[lane,begin,end]],"slices":[[lane,begin,end,waits,instruction,place,count]],"arrows":[[from,to,begin,end,flag]]}.
// A launch with an error among them fails (507035); hints never fail one. core is -1 for a host program's mistake. The string
// lives until the next call on this thread. ACLGRAD_SIM_REPORT names a file that gets every new finding as a line of JSON.
ACLSIM_API const char* aclsimFindings(void);
ACLSIM_API void aclsimClearFindings(void);
// Keeps findings from being printed, in this process and its children, for callers that ask for them.
ACLSIM_API void aclsimSilenceFindings(void);

// Returns what chaos has held back since the option "held" was set, the first sixteen: a JSON array of
// {"number","core","pipe","instruction","file","line"}. The string lives until the next call on this thread.
ACLSIM_API const char* aclsimHeld(void);

// Records which core wrote what of the outputs of operators, for a picture of a wrong result. on: nonzero keeps it from now on, for the
// last eight launches in checked mode; either way what was kept is forgotten. Then aclsimWriters is a JSON array, oldest first, of
// {"op","blockDim","outputs":[{"name","bytes","width"}]}; width is of an element, 0: unknown. It lives until the next call on this
// thread. aclsimPaintWriters fills cores and pieces for the first `count` elements of an output: the core that wrote each (-1:
// none, -2: several), and a number of the instruction that wrote it last (-1: none). Returns 0, or 100000 with the reason in
// aclGetRecentErrMsg.
ACLSIM_API void aclsimKeepWriters(int32_t on);
ACLSIM_API const char* aclsimWriters(void);
ACLSIM_API int32_t aclsimPaintWriters(size_t launch, size_t output, uint64_t elementBytes,
                                      uint64_t count, int32_t* cores, int64_t* pieces);

// Returns what the timing model makes of the launches since the process began or aclsimClearProfiles was called, with the option
// "profile" on: a JSON array, oldest first; cycles and bytes are estimates, see docs/timing_model.md. The string lives until
// the next call on this thread.
ACLSIM_API const char* aclsimProfiles(void);
ACLSIM_API void aclsimClearProfiles(void);
// Returns what each line of a profiled launch's kernel costs with each instruction, on some cores or, with a count of 0, on all: a
// JSON array of {"code","text","addr","instruction","pipe","waits","count","cycles","bytes","blocks","unaligned"}. waits: the
// pipe stands at a flag or barrier. NULL with the reason in aclGetRecentErrMsg.
ACLSIM_API const char* aclsimProfileLines(size_t launch, const uint32_t* cores, size_t coreCount);
// Returns what a profiled launch would take with one thing changed in its kernel: a JSON array of {"rule","microseconds","places"} and
// what the rule has to say besides. places: the lines that it is about. NULL with the reason in aclGetRecentErrMsg.
ACLSIM_API const char* aclsimProfileChanges(size_t launch);
// Writes some cores of a profiled launch as a Chrome trace in the conventions of msopprof's simulator. launch counts from 0 in
// aclsimProfiles; the last four keep what a trace needs. Returns 0, or 100000 with the reason in aclGetRecentErrMsg.
ACLSIM_API int32_t aclsimWriteTrace(size_t launch, const uint32_t* cores, size_t coreCount,
                                    const char* path);

// JSON of the SoC table row ({"name":..., "npuArch":..., ...}); NULL name = the current SoC. NULL for an unknown SoC.
ACLSIM_API const char* aclsimSocJson(const char* name);
// JSON array of all SoC names.
ACLSIM_API const char* aclsimSocNames(void);

// Launches an extern "C" __global__ kernel of any shared library on the current device: args are device pointers in the
// kernel's order, each with the bytes that the kernel may touch from there. Asynchronous like every launch.
ACLSIM_API int32_t aclsimLaunchKernel(const char* name, const void* entry, uint32_t blockDim,
                                      uint64_t tilingKey, void* const* args,
                                      const uint64_t* argBytes, size_t argCount, void* stream);

// It does the same for a kernel that this process holds itself, with whatever parameters it has; aclsim/launch.h makes the call for a
// function, an instance of a template or a lambda. body runs on every core; pointers are args as this launch has them, so that
// body gives those to the kernel in place of the ones it was made with. The kernel may touch all of the allocation that each
// points into; null stands for an argument that is no pointer. entry says where the kernel's code is, for reports. release(context) is called once, after the launch or when it
// is refused.
typedef void (*aclsimKernelBody)(void* context, void* const* pointers);
ACLSIM_API int32_t aclsimLaunchBody(const char* name, const void* entry, aclsimKernelBody body,
                                    void* context, void (*release)(void* context),
                                    uint32_t blockDim, uint64_t tilingKey, void* const* args,
                                    size_t argCount, void* stream);

// The next launch of this thread by aclsimLaunchBody, aclsimLaunchAsc or aclsimRunBody is of code for cube cores. Other launches find that
// out by the library of their entry.
ACLSIM_API void aclsimNextIsCube(void);
// The same for launches of a source whose halves are compiled apart: cores that the kernel takes of each AI core, and what to call
// in place of `body` on cube cores. A kernel of cube cores alone has no vectors. For aclsimRunBody both may be 0: the library of the entry
// says the cores.
ACLSIM_API void aclsimNextCores(uint32_t cubes, uint32_t vectors, aclsimKernelBody cubeBody);
// A function's place in the half for cube cores of its library or program. NULL: it has none.
ACLSIM_API const void* aclsimCubeHalf(const void* function);

// Says that the next launch that can reach `output` writes all of its `bytes` bytes, elements of elementBytes (0: unknown): the
// checks poison them before that launch, and what no core has written after it is a finding, output-unwritten. Operators of
// packages know their outputs; of other launches nothing else says which arguments they are. Not for memory that the kernel also
// reads. name is for reports. Returns 0, or the aclError that refuses it.
ACLSIM_API int32_t aclsimExpectOutput(const void* output, uint64_t bytes, uint32_t elementBytes,
                                      const char* name);

// The bytes behind device memory, for host code that takes a kernel's place once the streams that use the memory were waited
// for; written: nonzero says that the host will write all of it, so that it counts as defined. NULL: not live device memory, with
// the reason in aclGetRecentErrMsg.
ACLSIM_API void* aclsimHostView(const void* device, uint64_t bytes, int32_t written);

// Whether a tensor has been described in a private format, FRACTAL_NZ or another. Until then such host code finds every element
// where sizes and strides say.
ACLSIM_API int32_t aclsimPrivateFormats(void);

// Programs of .asc files, see aclsim/asc.h: the SoC, where ACLGRAD_SOC names none, is one of the architecture that the first of
// them was compiled for, and errors are printed when they are found. Returns 0.
ACLSIM_API int32_t aclsimUseArch(uint32_t npuArch);
// aclsimLaunchBody for a kernel that was compiled for npuArch; what refuses it is printed.
ACLSIM_API int32_t aclsimLaunchAsc(const char* name, uint32_t npuArch, const void* entry,
                                   aclsimKernelBody body, void* context,
                                   void (*release)(void* context), int64_t blocks,
                                   void* const* args, size_t argCount, void* stream);

// The CPU twin of tikicpulib.h: GM that the host reads and writes too, zero at first, and launches that are over when the call
// returns. Needs neither aclInit nor a device. args are addresses of such memory; argNames are the program's words for them,
// separated by commas. The kernel may touch the blocks that args point into and those whose addresses stand in there, as in a
// tensor list. Findings are printed. Returns 0, or 507035 when there was an error among them.
ACLSIM_API void* aclsimGmAlloc(size_t size);
ACLSIM_API void aclsimGmFree(void* memory);
ACLSIM_API int32_t aclsimRunBody(const char* name, const void* entry, aclsimKernelBody body,
                                 void* context, uint32_t blockDim, uint64_t tilingKey,
                                 void* const* args, size_t argCount, const char* argNames);

// libregister.so: JSON of what the operator libraries that this process has loaded itself registered:
// {"ops": [{"type", "tiling", "inferShape", "defined", "socs", "attrs", "inputs", "outputs", "config" or "why"}],
// "tilingData": [{"op", "data": {"class", "bytes", "fields"}}]}. soc is a short name, "ascend910b". The string lives until the
// next call on this thread.
ACLSIM_API const char* aclsimDescribeOps(const char* soc);

// libregister.so: throws std::runtime_error that names a function that an operator's sources call and do not define. Tiling and
// inference report it like any exception of the operator's.
ACLSIM_API void aclsimMissingFunction(const char* name);

// libnnopbase.so: runs the registered tiling function of opType for the current SoC, without data and without a launch.
// Writes a JSON object {"op","soc","blockDim","tilingKey","workspaceBytes","tiling":{...fields...}} to json. Returns 0,
// 561002 (tiling refused) or 561003 (no such operator), with the reason in aclGetRecentErrMsg.
typedef struct aclsimTensorDesc {
  const int64_t* dims;
  uint64_t rank;
  int32_t dtype;  // aclDataType
} aclsimTensorDesc;
typedef struct aclsimAttr {
  enum {
    ACLSIM_INT,
    ACLSIM_FLOAT,
    ACLSIM_BOOL,
    ACLSIM_STRING,
    ACLSIM_LIST_INT,
    ACLSIM_LIST_BOOL,
    ACLSIM_LIST_FLOAT,
    ACLSIM_LIST_LIST_INT
  } kind;
  int64_t i;      // ACLSIM_INT, ACLSIM_BOOL
  double f;       // ACLSIM_FLOAT
  const char* s;  // ACLSIM_STRING
  const int64_t*
      list;  // ACLSIM_LIST_INT, ACLSIM_LIST_BOOL; the inner lists of ACLSIM_LIST_LIST_INT, each behind its length
  uint64_t listSize;    // numbers in list or reals
  const double* reals;  // ACLSIM_LIST_FLOAT
} aclsimAttr;
ACLSIM_API int32_t aclsimRunTiling(const char* opType, const aclsimTensorDesc* inputs,
                                   size_t inputCount, const aclsimTensorDesc* outputs,
                                   size_t outputCount, const aclsimAttr* attrs, size_t attrCount,
                                   char* json, size_t jsonSize);

// libnnopbase.so: runs the shape and dtype inference of an operator, of the first package in force that has it. Tensors are
// listed parameter by parameter; inputCounts and outputCounts say how many each has (0: absent, more than 1: a tensor list).
// Writes [[{"shape": [..], "dtype": n}, ..], ..] to json, a list per output; dtype 28 stands for one that was not inferred.
// Returns 0, 561001 (inference refused or there is none) or 561003 (no such operator), with the reason in aclGetRecentErrMsg.
typedef struct aclsimHostTensor {
  aclsimTensorDesc desc;
  const void* data;  // values that inference may read; NULL for none
} aclsimHostTensor;
ACLSIM_API int32_t aclsimInferShape(const char* opType, const aclsimHostTensor* inputs,
                                    const uint64_t* inputCounts, size_t inputParams,
                                    const uint64_t* outputCounts, size_t outputParams,
                                    const aclsimAttr* attrs, size_t attrCount, char* json,
                                    size_t jsonSize);

// libnnopbase.so: aclsimRunTiling for tensors that have values, with tensor lists counted as in aclsimInferShape.
ACLSIM_API int32_t aclsimRunTilingOn(const char* opType, const aclsimHostTensor* inputs,
                                     const uint64_t* inputCounts, size_t inputParams,
                                     const aclsimHostTensor* outputs, const uint64_t* outputCounts,
                                     size_t outputParams, const aclsimAttr* attrs, size_t attrCount,
                                     char* json, size_t jsonSize);

#ifdef __cplusplus
}
#endif
