# SPDX-License-Identifier: Apache-2.0
"""examples/torch_operators: the functions that programs call most, by kernels, against the CPU."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from npu_programs import ROOT, Program

CALLS = """
import json, math, sys
import torch
import torch.nn.functional as F
import torch_npu
from aclgrad_torch_npu import simulator

def numbers(*shape, low=-2.0, high=2.0, grad=False):
    return (torch.rand(*shape) * (high - low) + low).requires_grad_(grad)

def of(function, *tensors, dtype=torch.float32):
    tensors = [t.to(dtype) if t.is_floating_point() else t for t in tensors]
    return lambda device: [function(*(t.clone().to(device) for t in tensors))]

def both_ways(function, *tensors, dtype=torch.float32):
    # The result and the gradients of what is floating point.
    def run(device):
        leaves = [t.detach().clone().to(device) for t in tensors]
        leaves = [t.to(dtype).requires_grad_() if t.is_floating_point() else t for t in leaves]
        y = function(*leaves)
        weights = torch.linspace(-1, 1, y.numel()).reshape(y.shape).to(device, y.dtype)
        y.backward(weights)
        return [y, *(leaf.grad for leaf in leaves if leaf.grad is not None)]
    return run

def in_place(function, *tensors):
    def run(device):
        first, *rest = [t.clone().to(device) for t in tensors]
        function(first, *rest)
        return [first]
    return run

def steps(optimizer, **words):
    def run(device):
        torch.manual_seed(3)
        leaves = [torch.nn.Parameter(torch.randn(n).to(device)) for n in (5, 3000)]
        chosen = optimizer(leaves, **words)
        for step in range(3):
            for leaf in leaves:
                leaf.grad = torch.sin(torch.arange(leaf.numel()) + step).float().to(device)
            torch.nn.utils.clip_grad_norm_(leaves, 1.0)
            chosen.step()
        return leaves
    return run

torch.manual_seed(0)
a, b, c = numbers(3, 70), numbers(3, 70), numbers(3, 1, low=0.5)
big = numbers(5, 5000)
whole = torch.randint(-50, 50, (3, 70))
huge = torch.tensor([2**60 + 1, -(2**60) - 1, 7])
special = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-42, 3.0])
mask = a > 0
m, k, n = numbers(2, 33, 70), numbers(2, 70, 19), numbers(70, 130)
tokens = torch.randint(0, 11, (4, 9))
target = torch.tensor([3, 0, -100, 69])
logits = numbers(4, 70)
CASES = {
    "add": of(lambda x, y: x + 2 * y, a, b),
    "add broadcast": of(lambda x, y: torch.add(x, y, alpha=3), a, c),
    "add number": of(lambda x: 1.5 - x, a),
    "add whole": of(lambda x, y: x + y * 3 - 1, huge, huge),
    "mul mixed": of(lambda x, y: x * y, whole, a),
    "div": of(lambda x, y: x / y / 3, a, c),
    "div whole": of(lambda x: x / 7, whole),
    "in place": in_place(lambda x, y: x.add_(y).mul_(2).sub_(1).div_(y), a, c),
    "transposed": of(lambda x, y: x.t() + y.t(), a, b),
    "bf16": of(lambda x, y: x * y + 1, a, b, dtype=torch.bfloat16),
    "empty": of(lambda x: x + 1, torch.empty(0, 3)),
    "addcmul": of(lambda x, y, z: torch.addcmul(x, y, z, value=0.5), a, b, c),
    "addcdiv": of(lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), a, b, c),
    "lerp": of(lambda x, y: torch.lerp(x, y, 0.3), a, b),
    "pow": of(lambda x: (x + 3).pow(1.7) + x**2 + x**3, a),
    "pow of two": of(lambda x, y: x.abs().pow(y), a, b),
    "clamp": of(lambda x: x.clamp(-1, 0.5) + x.clamp_min(0), a),
    "maximum": of(lambda x, y: torch.maximum(x, y) - torch.minimum(x, y), a, b),
    "exp": both_ways(lambda x: x.exp(), a),
    "log": both_ways(lambda x: (x + 3).log(), a),
    "sqrt": both_ways(lambda x: (x + 3).sqrt() + (x + 3).rsqrt(), a),
    "special sqrt": of(lambda x: x.sqrt(), special),
    "special add": of(lambda x: x + x, special),
    "special relu": both_ways(F.relu, special),
    "tanh": both_ways(torch.tanh, a),
    "sigmoid": both_ways(torch.sigmoid, a),
    "sin": of(lambda x: x.sin() + x.cos(), a),
    "erf": of(torch.erf, a),
    "relu": both_ways(F.relu, a),
    "gelu": both_ways(F.gelu, a),
    "gelu tanh": both_ways(lambda x: F.gelu(x, approximate="tanh"), a),
    "silu": both_ways(F.silu, a),
    "silu fp16": both_ways(F.silu, a, dtype=torch.float16),
    "logsigmoid": both_ways(F.logsigmoid, a),
    "xlogy": of(lambda x, y: torch.xlogy(torch.relu(x), y.abs()), a, b),
    "where": of(lambda x, y, z: torch.where(x, y, z), mask, a, b),
    "where special": of(lambda x: torch.where(x > 0, x, 0.0), special),
    "masked_fill": of(lambda x, y: x.masked_fill(y, -math.inf), a, mask),
    "isneginf": of(torch.isneginf, special),
    "all": of(lambda x: x.all(-1) | x.any(), mask),
    "sum": both_ways(lambda x: x.sum(1), big),
    "sum of all": both_ways(lambda x: x.sum().reshape(1), a),
    "sum of first": both_ways(lambda x: x.sum(0, keepdim=True), a),
    "sum of truth": of(lambda x: x.sum(-1), mask),
    "sum of two": of(lambda x: x.sum((0, 2)), m),
    "mean": both_ways(lambda x: x.mean(-1), a),
    "amax": of(lambda x: x.amax(1), big),
    "softmax": both_ways(lambda x: F.softmax(x, -1), a),
    "softmax of first": both_ways(lambda x: F.softmax(x, 0), a),
    "softmax long": of(lambda x: F.softmax(x, -1), big),
    "log_softmax": both_ways(lambda x: F.log_softmax(x, -1), a),
    "layer_norm": both_ways(
        lambda x, w, v: F.layer_norm(x, (70,), w, v), a, numbers(70), numbers(70)
    ),
    "layer_norm bf16": of(lambda x: F.layer_norm(x, (70,)), a, dtype=torch.bfloat16),
    "layer_norm of two": both_ways(lambda x: F.layer_norm(x, (33, 70)), m),
    "mm": both_ways(lambda x, y: x @ y, m[0], n),
    "mm fp16": of(lambda x, y: x @ y, m[0], n, dtype=torch.float16),
    "mm one row": of(lambda x, y: x @ y, a[:1], n),
    "mm transposed": of(lambda x, y: x @ y.t(), a, n.t().contiguous()),
    "mv": of(lambda x, y: x @ y, n.t(), a[0]),
    "bmm": both_ways(torch.bmm, m, k),
    "matmul broadcast": of(torch.matmul, m, n),
    "linear": both_ways(F.linear, a, numbers(9, 70), numbers(9)),
    "addmm": of(lambda x, y, z: torch.addmm(x, y, z, beta=0.5, alpha=2), numbers(130), a, n),
    "baddbmm": of(lambda x, y, z: torch.baddbmm(x, y, z), numbers(2, 33, 19), m, k),
    # torch_npu wants a kernel of attention, which is not there, so PyTorch takes it apart.
    "attention": both_ways(F.scaled_dot_product_attention, *(numbers(2, 3, 16, 8) for _ in "qkv")),
    "embedding": both_ways(lambda i, w: F.embedding(i, w, padding_idx=3), tokens, numbers(11, 40)),
    "embedding bf16": both_ways(F.embedding, tokens, numbers(11, 40), dtype=torch.bfloat16),
    "one_hot": of(lambda i: F.one_hot(i, 11), tokens),
    "stack": of(lambda x, y: torch.stack([x, y], 1), a, b),
    "nll_loss": both_ways(lambda x, t: F.nll_loss(x, t).reshape(1), logits, target),
    "nll_loss none": both_ways(lambda x, t: F.nll_loss(x, t, reduction="none"), logits, target),
    "nll_loss weights": both_ways(
        lambda x, t: F.nll_loss(x, t, weight=torch.linspace(0.1, 1, 70).to(x)).reshape(1),
        logits,
        target,
    ),
    "cross_entropy": both_ways(lambda x, t: F.cross_entropy(x, t).reshape(1), logits, target),
    "adam": steps(torch.optim.Adam, lr=0.01, foreach=True),
    "adamw amsgrad": steps(torch.optim.AdamW, lr=0.01, foreach=True, amsgrad=True),
    "sgd": steps(torch.optim.SGD, lr=0.01, momentum=0.9, foreach=True),
    "adamw one by one": steps(torch.optim.AdamW, lr=0.01, foreach=False),
    "fused adamw": steps(torch.optim.AdamW, lr=0.01, fused=True),
}

def far(got, want):
    got = got.detach().cpu()
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, got.shape, want.shape)
    if not want.is_floating_point():
        return float((got != want).sum())
    got, want = got.double(), want.detach().double()
    assert torch.equal(got.isnan(), want.isnan()), (got, want)
    same = (got == want) | want.isnan()
    if not want.numel() or bool(same.all()):
        return 0.0
    largest = want[want.isfinite()].abs().max().clamp_min(1e-3)
    return float((got - want)[~same].abs().max() / largest)

chosen = sys.argv[1:] or CASES
result = {}
for name in chosen:
    try:
        want, got = CASES[name]("cpu"), CASES[name]("npu")
        assert len(want) == len(got)
        result[name] = max(far(g, w) for g, w in zip(got, want))
        kinds = {w.dtype for w in want}
        narrow = 8e-3 if torch.bfloat16 in kinds else 2e-3 if torch.float16 in kinds else 2e-6
        result[name] = [result[name], narrow]
    except Exception as error:
        result[name] = f"{type(error).__name__}: {str(error)[:400]}"
kernels = {row["kernel"]: row["checked"] for row in simulator.launched()}
print("RESULT " + json.dumps({"far": result, "kernels": kernels}))
"""


@pytest.fixture(scope="module")
def package() -> str:
    """The folder that a build of the example prints."""
    command = [sys.executable, "-m", "aclgrad", "build", str(ROOT / "examples" / "torch_operators")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    found = re.search(r"ASCEND_CUSTOM_OPP_PATH=([^;]+);", done.stdout)
    assert done.returncode == 0 and found, done.stdout + done.stderr
    return found[1]


def test_functions_agree_with_the_cpu(program: Program, package: str) -> None:
    """Forwards, gradients and optimizers, checked, none of them on the CPU."""
    done = program(CALLS, ASCEND_CUSTOM_OPP_PATH=package, ACLGRAD_TORCH_FALLBACK="error")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.rpartition("RESULT ")[2])
    wrong = {
        name: got
        for name, got in result["far"].items()
        if isinstance(got, str) or not got[0] <= got[1]
    }
    assert wrong == {}
    for kernel in ("ElementMap", "RowReduction", "MatrixProduct", "GatherRows", "AddRows"):
        assert result["kernels"].get(kernel, 0) > 0, result["kernels"]


@pytest.mark.parametrize(("precision", "apart"), [("fp32", 1e-5), ("bf16", 2e-2), ("fp16", 4e-3)])
def test_the_example_trains_without_the_cpu(precision: str, apart: float, package: str) -> None:
    words = ("--steps", "6", "--batch", "8", "--precision", precision, "--json")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "torch_npu_training.py"), *words],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={
            **os.environ,
            "ACLGRAD_SIM_MODE": "fast",
            "ASCEND_CUSTOM_OPP_PATH": package,
            "ACLGRAD_TORCH_FALLBACK": "error",
        },
    )
    assert done.returncode == 0, done.stderr
    cpu, npu = json.loads(done.stdout.splitlines()[-1])["curves"].values()
    assert max(abs(a - b) for a, b in zip(cpu, npu, strict=True)) < apart


REFUSED = """
import torch
print(int(torch.tensor([2**40, 1]).npu().sum().cpu()) - 2**40)
print(float((torch.ones(2, dtype=torch.float64).npu() + 1e-9).sum().cpu()) - 2 > 1e-9)
"""


def test_what_the_kernels_would_round_stays_on_the_cpu(program: Program, package: str) -> None:
    """Sums of 64 bits, and float64: the functions refuse them."""
    done = program(REFUSED, ASCEND_CUSTOM_OPP_PATH=package)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "True"]


def signatures() -> dict[str, list[tuple[str, str]]]:
    """Functions of the example with kind and name of each argument, by the C++ preprocessor."""
    lines = ["#define ACLNN_FUNCTION(Name, Parameters, ...) @Name Parameters@"]
    for path in sorted((ROOT / "examples" / "torch_operators" / "op_api").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        lines += [line for line in text.splitlines() if not line.startswith("#include")]
    command = [os.environ.get("CXX") or "c++", "-E", "-P", "-x", "c++", "-"]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, timeout=60, check=True
    )
    found = re.findall(r"@\s*(\w+)\s*\(([^@]*)\)\s*@", done.stdout)
    kind = re.compile(r"(?:const\s+)?(\w+)\s*\*?\s*(\w+)\s*$")

    def pair(word: str) -> tuple[str, str]:
        matched = kind.match(word.strip())
        assert matched, word
        return matched[1], matched[2]

    return {name: [pair(each) for each in words.split(",")] for name, words in found}


def test_every_argument_counts(package: str) -> None:
    """An argument with another value changes an output, or is refused."""
    functions = signatures()
    assert len(functions) == 159
    library = f"{package}/op_api/lib/libcust_opapi.so"
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "function_arguments.py")],
        input=json.dumps({"library": library, "functions": functions}),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "ASCEND_CUSTOM_OPP_PATH": package, "ACLGRAD_SIM_MODE": "fast"},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.rpartition("RESULT ")[2])
    assert result["found"] == []
    assert result["looked"] > 300


BLOCKS = """
import torch, torch_npu
torch.npu.config.allow_internal_format = True
x, y = torch.randn(32, 48), torch.randn(32, 48)
wrong = []
for name, call in {
    "matmul": lambda x, y: x @ y.t(),
    "linear": torch.nn.functional.linear,
    "addmm": lambda x, y: torch.addmm(x[:, :32], x, y.t()),
    "add": torch.add,
    "add_": lambda x, y: x.clone().add_(y),
    "exp": lambda x, y: x.exp(),
    "softmax": lambda x, y: y.softmax(-1),
    "sum": lambda x, y: x.sum(0),
    "layer_norm": lambda x, y: torch.nn.functional.layer_norm(x, (48,)),
    "embedding": lambda x, y: torch.nn.functional.embedding(torch.tensor([3, 1]).to(x.device), y),
    "stack": lambda x, y: torch.stack([x, y]),
    "plain again": torch.add,
}.items():
    for forms in ((29, 29), (2, 29), (29, 2), (2, 2)):
        blocks = [torch_npu.npu_format_cast(t.npu(), f) for t, f in zip((x, y), forms)]
        assert tuple(torch_npu.get_npu_format(t) for t in blocks) == forms
        if not torch.allclose(call(*blocks).cpu(), call(x, y), rtol=1e-3, atol=1e-3):
            wrong.append((name, forms))
print("RESULT", wrong)
"""


def test_tensors_in_blocks(program: Program, package: str) -> None:
    """torch_npu asks for other things then; what has the function gets the tensors all the same."""
    done = program(BLOCKS, ASCEND_CUSTOM_OPP_PATH=package)
    assert "RESULT []\n" in done.stdout, done.stdout + done.stderr


INDICES = """
import sys
import torch
import torch.nn.functional as F

x, table = torch.zeros(3, 4), torch.zeros(5, 4)
aten = torch.ops.aten
CALLS = {
    "nll_loss": (4, lambda i: F.nll_loss(x.npu(), i)),
    "nll_loss_backward": (4, lambda i: aten.nll_loss_backward(
        torch.ones(()).npu(), x.npu(), i, None, 1, -100, torch.ones(()).npu())),
    "one_hot": (4, lambda i: F.one_hot(i, 4)),
    "embedding": (5, lambda i: F.embedding(i, table.npu())),
    "embedding_dense_backward": (5, lambda i: aten.embedding_dense_backward(
        torch.ones(3, 4).npu(), i, 5, -1, False)),
}
for name, (size, call) in CALLS.items():
    call(torch.tensor([0, 1, size - 1]).npu())
    torch.npu.synchronize()
    for wrong in (size, -1, 2**40):
        try:
            call(torch.tensor([0, 1, wrong]).npu())
            torch.npu.synchronize()
            print(f"{name} takes {wrong}")
        except (RuntimeError, IndexError) as error:
            if f"is {wrong}, want 0 to {size - 1}" not in str(error):
                print(f"{name} of {wrong}: {error}")
print("RESULT done")
"""


def test_an_index_out_of_range_is_refused(program: Program, package: str) -> None:
    """By the kernel, with the index and what it may be, one past the end and one before."""
    done = program(INDICES, ASCEND_CUSTOM_OPP_PATH=package, ACLGRAD_TORCH_FALLBACK="error")
    assert done.stdout == "RESULT done\n", done.stdout + done.stderr


EXACT = """
import torch
wrong = {}
big = torch.tensor([2**24 + 1, 3], dtype=torch.int32)
for name, call in {
    "amax": lambda x: x.amax(),
    "pow": lambda x: 3 ** x.clamp(max=20),
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "foreach": lambda x: torch._foreach_add([x], 1)[0],
    "masked_fill": lambda x: x.masked_fill(x > 5, 1.5),
    "zero": lambda x: (torch._foreach_zero_([x]), x)[1],
}.items():
    got, want = call(big.clone().npu()).cpu(), call(big.clone())
    if not torch.equal(got, want):
        print(name, got.tolist(), want.tolist())
print("RESULT done")
"""


def test_whole_numbers_are_not_rounded(program: Program, package: str) -> None:
    """What fp32 cannot hold stays on the CPU."""
    done = program(EXACT, ASCEND_CUSTOM_OPP_PATH=package)
    assert done.stdout == "RESULT done\n", done.stdout + done.stderr


def test_a_row_of_the_table_of_fallbacks(package: str) -> None:
    """Without the package a program of the benchmark needs the CPU, with it kernels alone."""
    path = ROOT / "benchmarks" / "torch_fallbacks.py"
    spec = importlib.util.spec_from_file_location("torch_fallbacks", path)
    assert spec is not None and spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    bare, packed = (benchmark.ran("distillation", chosen) for chosen in (None, package))
    assert "aten::addmm" in {row["operator"] for row in bare["fallbacks"]}
    assert packed["fallbacks"] == []
    assert "ElementMap" in {row["kernel"] for row in packed["kernels"]}
