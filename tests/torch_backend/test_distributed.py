# SPDX-License-Identifier: Apache-2.0
"""torch.distributed over HCCL: processes of one machine, each with a device of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PREAMBLE = """
import json, os, signal, sys, time
import torch, torch.distributed as dist
backend, rank, ranks = sys.argv[1], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
device = "cpu" if backend == "gloo" else f"npu:{rank}"
if backend == "hccl":
    torch.npu.set_device(rank)
dist.init_process_group(backend)
"""

DDP = """
torch.manual_seed(0)
layers = torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 8)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).to(device))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
generator = torch.Generator().manual_seed(rank + 1)
for _ in range(6):
    x = torch.randn(8, 16, generator=generator).to(device)
    y = torch.randint(0, 8, (8,), generator=generator).to(device)
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(float(loss.detach()))
dist.destroy_process_group()
"""

CALLS = """
x = torch.arange(5., device=device) + rank
total = sum(range(ranks))
told = {}
def same(name, got, want):
    if got.tolist() != want:
        told[name] = (got.tolist(), want)

y = x.clone(); dist.all_reduce(y)
same("all_reduce", y, [i * ranks + total for i in range(5)])
y = x.clone(); dist.all_reduce(y, op=dist.ReduceOp.AVG)
same("avg", y, [i + total / ranks for i in range(5)])
y = x.half(); dist.all_reduce(y, op=dist.ReduceOp.MAX)
same("max", y, [i + ranks - 1. for i in range(5)])
y = x.clone(); dist.broadcast(y, ranks - 1)
same("broadcast", y, [i + ranks - 1. for i in range(5)])
parts = [torch.zeros(5, device=device) for _ in range(ranks)]
dist.all_gather(parts, x)
for other in range(ranks):
    same(f"all_gather {other}", parts[other], [i + other for i in range(5)])
z = torch.arange(3. * ranks, device=device) + 100 * rank
y = torch.zeros(3, device=device); dist.reduce_scatter_tensor(y, z)
same("reduce_scatter", y, [ranks * (3 * rank + i) + 100. * total for i in range(3)])
y = torch.zeros_like(z); dist.all_to_all_single(y, z)
same("all_to_all", y, [100. * other + 3 * rank + i for other in range(ranks) for i in range(3)])
dist.barrier()
if ranks > 1:
    y = torch.zeros(5, device=device)
    send = dist.P2POp(dist.isend, x, (rank + 1) % ranks)
    receive = dist.P2POp(dist.irecv, y, (rank - 1) % ranks)
    for work in dist.batch_isend_irecv([send, receive]):
        work.wait()
    same("batch", y, [i + (rank - 1) % ranks for i in range(5)])
    if rank == 0:
        dist.send(x, 1)
    elif rank == 1:
        dist.recv(y, 0); same("recv", y, [0., 1., 2., 3., 4.])
    group = dist.new_group([0, 1])
    y = x.clone()
    if rank < 2:
        dist.all_reduce(y, group=group); same("group", y, [2. * i + 1 for i in range(5)])
objects = [None] * ranks
dist.all_gather_object(objects, {"rank": rank})
if objects != [{"rank": other} for other in range(ranks)]:
    told["objects"] = objects
dist.destroy_process_group()
print(json.dumps(told))
"""

ENDS = """
x = torch.ones(4, device=device)
dist.all_reduce(x)
torch.npu.synchronize()
if rank == 1:
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif sys.argv[2] == "late":
        time.sleep(20)
    else:
        dist.broadcast(x, 0)
        torch.npu.synchronize()
dist.all_reduce(x)
torch.npu.synchronize()
print("went on")
"""


def run(
    folder: Path, text: str, ranks: int, *arguments: str, **variables: str
) -> list[tuple[int, str, str]]:
    """Status, output and errors of each rank, which meet by a file."""
    program = folder / f"program_{arguments[0]}.py"
    store = (folder / f"store_{arguments[0]}").as_uri()
    program.write_text(
        PREAMBLE.replace(
            "(backend)", f"(backend, init_method={store!r}, rank=rank, world_size=ranks)"
        )
        + text
    )
    environment = {**os.environ, "ACLGRAD_DEVICES": str(ranks), "WORLD_SIZE": str(ranks)}
    processes = [
        subprocess.Popen(
            [sys.executable, str(program), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "RANK": str(rank), "OMP_NUM_THREADS": "1", **variables},
        )
        for rank in range(ranks)
    ]
    try:
        ends = [(process.communicate(timeout=240), process) for process in processes]
        return [(process.returncode, *texts) for texts, process in ends]
    finally:
        for process in processes:
            process.kill()


def test_data_parallel_training_has_the_losses_of_the_cpu(tmp_path: Path) -> None:
    """Two ranks on two devices, against gloo on the CPU: 3e-6 of each loss, as sums of kernels and
    of the CPU are not in one order.
    """
    losses = {}
    for backend in ("hccl", "gloo"):
        results = run(tmp_path, DDP, 2, backend)
        assert [status for status, _, _ in results] == [0, 0], results
        losses[backend] = [[float(line) for line in out.split()] for _, out, _ in results]
    assert [len(rank) for rank in losses["hccl"]] == [6, 6]
    for ours, theirs in zip(losses["hccl"], losses["gloo"], strict=True):
        assert ours == pytest.approx(theirs, rel=3e-6)
    assert losses["hccl"][0] != losses["hccl"][1]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_calls_of_torch_distributed(tmp_path: Path, ranks: int) -> None:
    """Each on every rank, with the numbers by hand."""
    for status, out, errors in run(tmp_path, CALLS, ranks, "hccl"):
        assert (status, out) == (0, "{}\n"), errors


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("killed", "rank 1 is gone: its process"),
        ("late", "has waited 2 s for rank 1"),
        ("other call", "rank 1 called HcclBroadcast of 4 fp32, root 0 (call 2)"),
    ],
)
def test_a_rank_that_does_not_come_ends_the_others(tmp_path: Path, how: str, words: str) -> None:
    """With a text that names call, rank and the program's line."""
    status, out, errors = run(tmp_path, ENDS, 2, "hccl", how, HCCL_EXEC_TIMEOUT="2")[0]
    assert status != 0 and "went on" not in out
    assert words in errors and "launched at" in errors and "program_hccl.py:" in errors, errors
    assert "msptiActivityIsEnabled" not in errors
