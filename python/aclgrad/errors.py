# SPDX-License-Identifier: Apache-2.0
"""Result codes: their names, what they mean, what usually causes them, what to do next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """One aclnn or ACL result code."""

    code: int
    name: str
    meaning: str
    causes: str = ""
    next_step: str = ""


_READ_MESSAGE = "Read aclGetRecentErrMsg(): it names the argument, what it is and what is wanted."
_PLOG = "Read aclGetRecentErrMsg(); on an NPU also the newest file under ~/ascend/log/debug/plog."
_DOCTOR = "Run `aclgrad doctor`: it shows which package and libraries would be loaded."
_JSON = "The package's JSON files do not fit the toolkit: build or install the package again."

CODES = {
    item.code: item
    for item in (
        Code(0, "ACLNN_SUCCESS", "The call succeeded."),
        Code(
            161001,
            "ACLNN_ERR_PARAM_NULLPTR",
            "A pointer argument is null.",
            "A tensor that aclCreateTensor did not make; null workspaceSize or executor; in the"
            " second stage a null executor, or a null workspace although workspaceSize is above 0.",
            _READ_MESSAGE,
        ),
        Code(
            161002,
            "ACLNN_ERR_PARAM_INVALID",
            "An argument has a value, shape or dtype that the function refuses.",
            "Dtype not supported on this SoC, dtypes or shapes that differ, dim out of range, too"
            " many dims.",
            _READ_MESSAGE,
        ),
        Code(
            361001,
            "ACLNN_ERR_RUNTIME_ERROR",
            "The ACL runtime refused a call that the function made.",
            "No device set on this thread, device memory of the wrong device, an earlier error on"
            " the stream.",
            _PLOG,
        ),
        Code(
            561000,
            "ACLNN_ERR_INNER",
            "Internal error of the operator framework.",
            "An executor that is used up or cannot repeat; anything without a code of its own.",
            _PLOG,
        ),
        Code(
            561001,
            "ACLNN_ERR_INNER_INFERSHAPE_ERROR",
            "The operator's InferShape function failed.",
            "Shapes that passed the checks but not InferShape.",
            _READ_MESSAGE,
        ),
        Code(
            561002,
            "ACLNN_ERR_INNER_TILING_ERROR",
            "The operator's tiling function refused the shape.",
            "A row or tile that does not fit in UB; an attribute that tiling does not know.",
            "Run `aclgrad tiling OP SHAPE`: it prints the plan, or the buffers that do not fit.",
        ),
        Code(
            561003,
            "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
            "No kernel is installed for this SoC and dtype.",
            "The package was built for other SoCs, or its folder is not found.",
            _DOCTOR,
        ),
        Code(
            561101,
            "ACLNN_ERR_INNER_CREATE_EXECUTOR",
            "No executor could be created.",
            "Host memory is exhausted, or aclInit was not called.",
            _PLOG,
        ),
        Code(
            561102,
            "ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR",
            "The executor was not handed to the caller.",
            "A fault in the operator's host code.",
            _PLOG,
        ),
        Code(
            561103,
            "ACLNN_ERR_INNER_NULLPTR",
            "A step inside the function produced nothing.",
            "A strided view that leaves its storage; an output dtype that no cast reaches; on an"
            " NPU also a kernel binary that is not found.",
            f"{_READ_MESSAGE} {_DOCTOR}",
        ),
        Code(
            561104,
            "ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE",
            "The number of attributes differs from the op definition's.",
            "Wrapper and package come from different builds.",
            _DOCTOR,
        ),
        Code(
            561105,
            "ACLNN_ERR_INNER_KEY_CONFLICT",
            "Two kernels of the package have the same key.",
            "The package was built twice into one folder.",
            "Delete the package folder and build again.",
        ),
        Code(
            561106,
            "ACLNN_ERR_INNER_INVALID_IMPL_MODE",
            "The implementation mode is unknown.",
            "An op precision setting that the operator does not have.",
            _READ_MESSAGE,
        ),
        Code(
            561107,
            "ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND",
            "The operator package folder is not set.",
            "ASCEND_OPP_PATH is unset or does not exist.",
            _DOCTOR,
        ),
        Code(
            561108,
            "ACLNN_ERR_INNER_LOAD_JSON_FAILED",
            "A JSON file of the package cannot be read.",
            "Missing file or permission.",
            _JSON,
        ),
        Code(
            561109,
            "ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND",
            "A JSON file of the package lacks a value.",
            "",
            _JSON,
        ),
        Code(
            561110,
            "ACLNN_ERR_INNER_JSON_FORMAT_INVALID",
            "A JSON file names an unknown format.",
            "",
            _JSON,
        ),
        Code(
            561111,
            "ACLNN_ERR_INNER_JSON_DTYPE_INVALID",
            "A JSON file names an unknown dtype.",
            "",
            _JSON,
        ),
        Code(
            561112,
            "ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND",
            "The kernel package of this SoC is not installed.",
            "Only the host part of the toolkit is there.",
            _DOCTOR,
        ),
        Code(
            561113,
            "ACLNN_ERR_INNER_OP_FILE_INVALID",
            "A kernel file of the package is damaged.",
            "",
            _JSON,
        ),
        Code(
            561114,
            "ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND",
            "More attributes than the framework takes.",
            "",
            _JSON,
        ),
        Code(
            561115,
            "ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH",
            "An attribute is too long for its buffer.",
            "",
            _JSON,
        ),
        Code(
            561116,
            "ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE",
            "A JSON file lists too many inputs.",
            "",
            _JSON,
        ),
        Code(
            561117,
            "ACLNN_ERR_INNER_INPUT_JSON_IS_NULL",
            "A JSON file lists an empty input.",
            "",
            _JSON,
        ),
        Code(
            561118,
            "ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID",
            "A static kernel states an invalid workspace.",
            "",
            _JSON,
        ),
        Code(
            561119,
            "ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID",
            "A static kernel states an invalid block dim.",
            "",
            _JSON,
        ),
        Code(
            100000,
            "ACL_ERROR_INVALID_PARAM",
            "An argument of an acl function is invalid.",
            "Null pointer, size 0, a copy kind that does not fit the addresses.",
            _READ_MESSAGE,
        ),
        Code(
            100001, "ACL_ERROR_UNINITIALIZE", "aclInit was not called.", "", "Call aclInit first."
        ),
        Code(
            100002,
            "ACL_ERROR_REPEAT_INITIALIZE",
            "aclInit was called twice.",
            "",
            "Harmless when another library initialised ACL; otherwise call it once.",
        ),
        Code(
            100003,
            "ACL_ERROR_INVALID_FILE",
            "A configuration file cannot be read.",
            "",
            _READ_MESSAGE,
        ),
        Code(100024, "ACL_ERROR_OP_NOT_FOUND", "The operator is not installed.", "", _DOCTOR),
        Code(
            100037,
            "ACL_ERROR_REPEAT_FINALIZE",
            "aclFinalize was called twice.",
            "",
            "Call it once, last.",
        ),
        Code(
            107000,
            "ACL_ERROR_RT_PARAM_INVALID",
            "The runtime refused an argument.",
            "Not a device address, a copy longer than its buffer.",
            _READ_MESSAGE,
        ),
        Code(
            107001,
            "ACL_ERROR_RT_INVALID_DEVICEID",
            "There is no device of this number.",
            "",
            "Call aclrtGetDeviceCount.",
        ),
        Code(
            107002,
            "ACL_ERROR_RT_CONTEXT_NULL",
            "The thread has no context.",
            "aclrtSetDevice was not called on it.",
            "Call aclrtSetDevice on every thread that uses the device.",
        ),
        Code(
            107003,
            "ACL_ERROR_RT_STREAM_CONTEXT",
            "The stream belongs to another context or is destroyed.",
            "",
            _READ_MESSAGE,
        ),
        Code(
            107017,
            "ACL_ERROR_RT_INVALID_HANDLE",
            "The handle is not one that the runtime gave out.",
            "Destroyed twice, or of another process.",
            _READ_MESSAGE,
        ),
        Code(107020, "ACL_ERROR_RT_TASK_TIMEOUT", "A task did not end in time.", "", _PLOG),
        Code(
            200000,
            "ACL_ERROR_BAD_ALLOC",
            "Memory is exhausted.",
            "",
            "Free tensors or use smaller ones.",
        ),
        Code(
            200001,
            "ACL_ERROR_API_NOT_SUPPORT",
            "The function is not supported here.",
            "",
            _READ_MESSAGE,
        ),
        Code(
            207000,
            "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
            "The feature is not supported here.",
            "",
            _READ_MESSAGE,
        ),
        Code(
            207001,
            "ACL_ERROR_RT_MEMORY_ALLOCATION",
            "Device memory is exhausted.",
            "",
            "Free tensors or use smaller ones.",
        ),
        Code(
            207004,
            "ACL_ERROR_RT_NO_DEVICE",
            "No device is present.",
            "",
            "Run `npu-smi info`, `aclgrad doctor`.",
        ),
        Code(500000, "ACL_ERROR_INTERNAL_ERROR", "Internal error of ACL.", "", _PLOG),
        Code(507000, "ACL_ERROR_RT_INTERNAL_ERROR", "Internal error of the runtime.", "", _PLOG),
        Code(
            507014,
            "ACL_ERROR_RT_AICORE_TIMEOUT",
            "A kernel did not end in time.",
            "A wait for a flag that nobody sets; a loop without end.",
            _PLOG,
        ),
        Code(
            507015,
            "ACL_ERROR_RT_AICORE_EXCEPTION",
            "A kernel faulted on an AI core.",
            "Address out of bounds or misaligned, UB overflow.",
            "Run it on the simulator: the report names buffer, bytes, file and line.",
        ),
        Code(
            507034,
            "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT",
            "A kernel did not end in time on a vector core.",
            "A wait for a flag that nobody sets; a loop without end.",
            _PLOG,
        ),
        Code(
            507035,
            "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
            "A kernel faulted on a vector core.",
            "Address out of bounds or misaligned, UB overflow, an instruction that the SoC lacks.",
            "Run it on the simulator: the report names buffer, bytes, file and line.",
        ),
    )
}


def explain(code: int) -> Code:
    """Return what is known about a code; unknown ones are placed by their leading digits."""
    if code in CODES:
        return CODES[code]
    families = (
        (range(161000, 162000), "aclnn parameter error", _READ_MESSAGE),
        (range(361000, 362000), "aclnn runtime error", _PLOG),
        (range(561000, 562000), "aclnn internal error", _PLOG),
        (range(100000, 149000), "ACL usage error", _READ_MESSAGE),
        (range(200000, 210000), "ACL resource error", _READ_MESSAGE),
        (range(500000, 510000), "ACL or device internal error", _PLOG),
    )
    for codes, meaning, next_step in families:
        if code in codes:
            return Code(code, "not in the public tables", meaning, "", next_step)
    raise ValueError(
        f"code: got {code}, which is neither an aclnn (161001..561119) nor an ACL code"
    )


class AclgradError(RuntimeError):
    """Base of the package's errors: one message that ends with the next step."""


class AclnnError(AclgradError):
    """A call returned a code. ``code`` and ``name`` are the interface's, ``message`` is
    aclGetRecentErrMsg's.
    """

    def __init__(self, code: int, function: str, message: str = "") -> None:
        known = explain(code) if code in CODES else Code(code, "unknown code", "")
        self.code = code
        self.name = known.name
        self.function = function
        self.message = message.strip()
        detail = self.message or known.meaning
        super().__init__(f"{function} returned {code} ({known.name}): {detail}")


class ToolkitError(AclgradError):
    """Libraries or tools that are needed are missing."""
