# SPDX-License-Identifier: Apache-2.0
"""One spelling per thing, also for names that invite two."""

import pytest

from aclgrad.ops import all_specs
from aclgrad.spec import naming

PAIRS = [
    ("SoftmaxGrad", "softmax_grad"),
    ("KlDivLossGrad", "kl_div_loss_grad"),
    ("ScaledMaskedSoftmaxGradV2", "scaled_masked_softmax_grad_v2"),
    ("ABc", "a_bc"),
    ("X", "x"),
    ("AddN2d", "add_n2d"),
]


@pytest.mark.parametrize(("op_type", "stem"), PAIRS)
def test_op_type_and_stem_are_inverse(op_type: str, stem: str) -> None:
    assert naming.op_stem(op_type) == stem
    assert naming.op_type(stem) == op_type


@pytest.mark.parametrize(
    ("op_type", "cann", "simulator"),
    [
        ("RecomputeWUFwd", "recompute_wu_fwd", "recompute_w_u_fwd"),
        ("AccumulateNV2", "accumulate_nv2", "accumulate_n_v2"),
        ("ApplyAdamWV2", "apply_adam_wv2", "apply_adam_w_v2"),
        ("SoftmaxGrad", "softmax_grad", "softmax_grad"),
    ],
)
def test_runs_of_capitals_are_one_word_to_cann(op_type: str, cann: str, simulator: str) -> None:
    assert naming.op_stem(op_type) == naming.snake_case(op_type) == cann
    assert naming.simulator_stem(op_type) == simulator


@pytest.mark.parametrize(
    "bad", ["", "softmaxGrad", "Softmax_Grad", "Soft max", "1Softmax", "SoftmaxÄ"]
)
def test_bad_op_type_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="want PascalCase"):
        naming.op_stem(bad)


@pytest.mark.parametrize(
    "bad", ["", "Softmax_grad", "softmax__grad", "_softmax", "softmax_", "softmax-grad"]
)
def test_bad_stem_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="want lower snake_case"):
        naming.op_type(bad)


@pytest.mark.parametrize(
    ("api", "function"),
    [
        ("aclnnSoftmaxBackward", "softmax_backward"),
        ("aclnnLogSoftmaxBackward", "log_softmax_backward"),
        ("aclnnScaledMaskedSoftmaxBackward", "scaled_masked_softmax_backward"),
    ],
)
def test_python_function(api: str, function: str) -> None:
    assert naming.python_function(api) == function


def test_argument_spellings() -> None:
    assert naming.snake("fixTriuMask") == "fix_triu_mask"
    assert naming.camel("grad_softmax") == "gradSoftmax"
    assert naming.camel("yGrad") == "yGrad"
    assert naming.dtype_macro("grad_x") == "DTYPE_GRAD_X"
    assert naming.dtype_macro("yGrad") == "DTYPE_YGRAD"


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_every_operator_has_its_files(spec, request) -> None:  # type: ignore[no-untyped-def]
    root = request.config.rootpath
    for path in (
        f"op_kernel/{spec.op}/{spec.op}.cpp",
        f"op_host/{spec.op}/{spec.op}_tiling.cpp",
        f"op_host/{spec.op}/{spec.op}_def.cpp",
        f"python/aclgrad/ops/{spec.op}.py",
    ):
        assert (root / path).is_file(), path


def test_stem_of_a_kernel_fits_a_file_name() -> None:
    assert naming.kernel_stem("Square", ["float32", "int8"]) == "Square_float32_int8"
    longest = ["float32"] * 24 + ["y"]
    assert naming.kernel_stem("Square", longest) == "_".join(["Square", *longest])
    names = {naming.kernel_stem("Square", ["float32"] * count) for count in (25, 26, 300)}
    assert len(names) == 3
    assert all(len(name) == len("Square_") + 16 for name in names)
