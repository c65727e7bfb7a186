# SPDX-License-Identifier: Apache-2.0
"""HCCL between processes of this machine, without PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.runtime.toolkit import sim_root

PROGRAM = Path(__file__).with_name("hccl_rank.py")


def run(folder: Path, scenario: str, ranks: int, **variables: str) -> list[tuple[int, str]]:
    """Status and output of each rank."""
    environment = {**os.environ, "ACLGRAD_DEVICES": str(ranks), **variables}
    command = [sys.executable, str(PROGRAM), str(sim_root())]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(ranks), str(folder / "root"), scenario],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        for rank in range(ranks)
    ]
    try:
        return [(p.communicate(timeout=120)[0], p.returncode)[::-1] for p in processes]
    finally:
        for process in processes:
            process.kill()


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_collectives_have_the_numbers_of_numpy(tmp_path: Path, ranks: int) -> None:
    """Bit for bit, in the order of the ranks, for sizes that do not divide by them."""
    for status, text in run(tmp_path, "collectives", ranks):
        assert (status, text) == (0, "")


@pytest.mark.parametrize("ranks", [2, 3])
def test_messages(tmp_path: Path, ranks: int) -> None:
    """Larger than a ring, in a circle and in one batch."""
    for status, text in run(tmp_path, "messages", ranks):
        assert (status, text) == (0, "")


FAILURES = {
    "other_call": (
        "rank 1 called HcclBroadcast of 4 fp32, root 0 (call 1)",
        "rank 0 called HcclAllReduce of 4 fp32, sum (call 1)",
        "let every rank make the same calls in the same order",
    ),
    "other_count": ("HcclAllReduce of 5 fp32, sum (call 1)", "HcclAllReduce of 4 fp32"),
    "killed": ("HCCL_E_REMOTE", "rank 1 is gone: its process"),
    "left": ("rank 1 has left the communicator (HcclCommDestroy)",),
    "late": ("HCCL_E_TIMEOUT", "has waited 1 s for rank 1", "HCCL_EXEC_TIMEOUT"),
}


@pytest.mark.parametrize("scenario", FAILURES)
def test_what_does_not_go_together_is_an_error_with_a_name(tmp_path: Path, scenario: str) -> None:
    """And soon: `run` ends who waits for a rank that will not come."""
    results = run(tmp_path, scenario, 3 if scenario == "other_count" else 2, HCCL_EXEC_TIMEOUT="1")
    status, text = results[0]
    assert status == 0, text
    for words in FAILURES[scenario]:
        assert words in text, text
    assert "\nTrue 21 " in text, "the stream's code, and HCCL_E_REMOTE by HcclGetCommAsyncError"


def test_two_ranks_on_one_device(tmp_path: Path) -> None:
    """Refused, as on NPUs."""
    for status, text in run(tmp_path, "one_device", 2):
        assert status == 3
        assert "ranks 0 and 1 are both on device 0" in text and "aclrtSetDevice(rank)" in text


def test_a_rank_that_never_comes(tmp_path: Path) -> None:
    """The communicator is not made, after HCCL_CONNECT_TIMEOUT."""
    ((status, text),) = run(tmp_path, "alone", 1, HCCL_CONNECT_TIMEOUT="1")
    assert status == 3
    assert "1 of 2 ranks are there after 1 s" in text and "HCCL_CONNECT_TIMEOUT" in text


def test_shared_memory_is_the_owners_and_leaves_nothing(tmp_path: Path) -> None:
    """It is an open file without a name, closed when every rank is there."""
    before = set(os.listdir("/dev/shm"))
    results = run(tmp_path, "files", 2)
    assert results == [(0, "['0o600'] []\n"), (0, "[] []\n")]
    (tmp_path / "second").mkdir()
    run(tmp_path / "second", "killed", 2)
    assert not [name for name in set(os.listdir("/dev/shm")) - before if "hccl" in name]


PLAIN = r"""
#include <cstdio>
#include <vector>
#include "hccl/hccl.h"

int main() {
  constexpr int kDevices = 2;
  constexpr HcclDataType kFloat = HCCL_DATA_TYPE_FP32;
  constexpr HcclDataType kDouble = HCCL_DATA_TYPE_FP64;
  int32_t devices[kDevices] = {0, 1};
  HcclComm comms[kDevices];
  aclrtStream streams[kDevices];
  void* memory[kDevices];
  aclInit(nullptr);
  if (HcclCommInitAll(kDevices, devices, comms) != HCCL_SUCCESS) {
    return std::puts(aclGetRecentErrMsg()), 1;
  }
  for (int i = 0; i < kDevices; ++i) {
    const std::vector<float> values(1000, static_cast<float>(i + 1));
    aclrtSetDevice(i);
    aclrtCreateStream(&streams[i]);
    aclrtMalloc(&memory[i], 4000, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(memory[i], 4000, values.data(), 4000, ACL_MEMCPY_HOST_TO_DEVICE);
    if (HcclAllReduce(memory[i], memory[i], 1000, kFloat, HCCL_REDUCE_SUM, comms[i], streams[i])) {
      return std::puts(aclGetRecentErrMsg()), 1;
    }
  }
  for (int i = 0; i < kDevices; ++i) {
    std::vector<float> values(1000);
    uint32_t rank = 9;
    aclrtSetDevice(i);
    aclrtSynchronizeStream(streams[i]);
    aclrtMemcpy(values.data(), 4000, memory[i], 4000, ACL_MEMCPY_DEVICE_TO_HOST);
    HcclGetRankId(comms[i], &rank);
    std::printf("%u %g %g\n", rank, values.front(), values.back());
  }
  const HcclResult codes[] = {
      HcclAllReduce(memory[1], memory[1], 1001, kFloat, HCCL_REDUCE_SUM, comms[1], streams[1]),
      HcclAllReduce(memory[1], memory[1], 10, kDouble, HCCL_REDUCE_SUM, comms[1], streams[1]),
      HcclBroadcast(memory[1], 10, kFloat, 2, comms[1], streams[1]),
      HcclBroadcast(nullptr, 10, kFloat, 0, comms[1], streams[1]),
      HcclSend(memory[1], 10, kFloat, 1, comms[1], streams[1]),
      HcclCommDestroy(comms[0]),
      HcclCommDestroy(comms[0]),
      HcclBarrier(reinterpret_cast<HcclComm>(7), streams[1])};
  for (const HcclResult code : codes) {
    std::printf("%s\n", HcclGetErrorString(code));
  }
}
"""


def test_a_plain_program_with_two_devices(tmp_path: Path) -> None:
    """HcclCommInitAll in one process; wrong arguments have HCCL's codes."""
    (tmp_path / "main.cpp").write_text(PLAIN)
    toolkit = sim_root()
    command = ["g++", "-std=c++17", "-Wall", "-Werror", f"-I{toolkit / 'include'}", "main.cpp"]
    libraries = [f"-L{toolkit / 'lib64'}", "-lhccl", "-lascendcl", "-o", "main"]
    subprocess.run([*command, *libraries], cwd=tmp_path, check=True)
    environment = {**os.environ, "ACLGRAD_DEVICES": "2", "LD_LIBRARY_PATH": f"{toolkit / 'lib64'}"}
    done = subprocess.run(
        ["./main"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    want = ["0 3 3", "1 3 3", "parameter error", "feature not supported", "parameter error"]
    want += ["empty pointer", "parameter error", "no error", "parameter error", "parameter error"]
    assert done.stdout.splitlines() == want, done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
