# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401, F811 - fixtures are imported by name
"""How many addresses device memory takes of its process, and that it works where they are few."""

from __future__ import annotations

from pathlib import Path

import pytest

from acl_harness import RT_MEMORY_ALLOCATION, RT_PARAM_INVALID, in_process, library

COUNTS_PAGES = pytest.mark.no_sanitizer("it has pages of its own for each block")

# aclrtMalloc and the rest in three lines, and the size of the process in MiB.
PRELUDE = """
import resource
from ctypes import byref, c_size_t, c_void_p, create_string_buffer, string_at
def limit(mib, what=resource.RLIMIT_AS):
    resource.setrlimit(what, (mib << 20, mib << 20))
def start():
    assert lib.aclInit(None) == 0 and lib.aclrtSetDevice(0) == 0, err()
def malloc(mib):
    code = lib.aclrtMalloc(byref(p), c_size_t(mib << 20), 0)
    return p.value if code == 0 else code
def put(block, at, text):
    size = c_size_t(len(text))
    assert lib.aclrtMemcpy(c_void_p(block + at), size, text, size, 1) == 0, err()
def get(block, at, size):
    buffer = create_string_buffer(size)
    code = lib.aclrtMemcpy(buffer, c_size_t(size), c_void_p(block + at), c_size_t(size), 2)
    return buffer.raw if code == 0 else code
def size():
    return int(open("/proc/self/statm").read().split()[0]) * 4096 >> 20
"""


def said(library: Path, code: str, mode: str = "fast") -> list[str]:
    """The lines that a process of its own prints."""
    done = in_process(library, PRELUDE + code, ACLGRAD_SIM_MODE=mode)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@COUNTS_PAGES
def test_a_process_reserves_what_it_uses(library: Path) -> None:
    """A little at first, then not much more than twice the blocks."""
    code = """
start()
small = malloc(1)
first = size()
big, bigger = malloc(3 << 10), malloc(20 << 10)
for number, (block, mib) in enumerate(((small, 1), (big, 3 << 10), (bigger, 20 << 10))):
    put(block, 0, b"first%d" % number)
    put(block, (mib << 20) - 5, b"last%d" % number)
print(*(get(block, 0, 6).decode() for block in (small, big, bigger)))
print(get(small, (1 << 20) - 5, 5), get(big, (3 << 30) - 5, 5), get(bigger, (20 << 30) - 5, 5))
print(get(big, 3 << 30, 1), err())
assert lib.aclrtFree(c_void_p(big)) == 0
print(get(big, 5, 1), err())
print(first, size())
"""
    words, ends, behind, freed, sizes = said(library, code)
    assert words == "first0 first1 first2" and ends == "b'last0' b'last1' b'last2'"
    assert behind.startswith(f"{RT_PARAM_INVALID} ") and "0 bytes behind the end" in behind
    assert freed.startswith(f"{RT_PARAM_INVALID} ") and "was freed by aclrtFree" in freed
    first, last = map(int, sizes.split())
    assert first < 6 << 10 and 46 << 10 < last < 60 << 10


@COUNTS_PAGES
def test_a_limit_of_addresses(library: Path) -> None:
    """Freed blocks are forgotten before the limit is used up, and an error of one block is all."""
    code = """
limit(3 << 10)
start()
for _ in range(60):
    block = malloc(100)
    put(block, 99 << 20, b"x")
    assert lib.aclrtFree(c_void_p(block)) == 0
other = bytearray(500 << 20)
kept = [malloc(100) for _ in range(5)]
for number, block in enumerate(kept):
    put(block, 50 << 20, b"%d" % number)
print(malloc(4 << 10), err())
print(*(get(block, 50 << 20, 1).decode() for block in kept), malloc(10) > 1 << 20)
"""
    refused, kept = said(library, code)
    assert refused.startswith(f"{RT_MEMORY_ALLOCATION} ") and "no more address space" in refused
    assert kept == "0 1 2 3 4 True"


@COUNTS_PAGES
def test_a_host_that_promises_no_more_than_it_has(library: Path) -> None:
    """Only what blocks use counts as written to: with strict overcommit, and with this limit."""
    code = """
limit(500, resource.RLIMIT_DATA)
start()
for _ in range(20):
    block = malloc(100)
    put(block, 99 << 20, b"x")
    assert lib.aclrtFree(c_void_p(block)) == 0
print(malloc(600), err())
print(malloc(100) > 1 << 20)
"""
    refused, again = said(library, code)
    assert refused.startswith(f"{RT_MEMORY_ALLOCATION} ") and "or memory" in refused
    assert again == "True"


def test_no_room_at_all(library: Path) -> None:
    """The error says what was wanted and which limit to raise."""
    code = "limit(size() + 100)\nprint(lib.aclInit(None), lib.aclrtSetDevice(0), err())\n"
    assert "raise the limit (ulimit -v)" in said(library, code)[0]


@COUNTS_PAGES
def test_a_large_block_gets_the_pages_of_one_that_was_freed(library: Path) -> None:
    """And is as new all the same, as is the freed one; what the process holds has its bounds."""
    code = """
def held():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
start()
old = malloc(33)
put(old, 0, b"secret")
put(old, (33 << 20) - 6, b"secret")
assert lib.aclrtFree(c_void_p(old)) == 0
before = faults()
new = malloc(32)
ends = get(new, 0, 6), get(new, (32 << 20) - 6, 6)
print(new != old, faults() - before < 100, ends[0] == ends[1] != b"secret")
print(get(old, 0, 1), err())
assert lib.aclrtFree(c_void_p(new)) == 0
for turn in range(560):  # more than are kept back
    sizes = [9 + (turn + each) % 7 for each in range(3)]
    blocks = [malloc(mib) for mib in sizes]
    for block, mib in zip(blocks, sizes):
        assert get(block, 0, 8) == get(block, (mib << 20) - 8, 8), turn
        put(block, 0, b"used")
        put(block, (mib << 20) - 4, b"used")
    for block in blocks:
        assert lib.aclrtFree(c_void_p(block)) == 0, err()
most = held()
assert lib.aclrtResetDevice(0) == 0 and lib.aclFinalize() == 0
print(most, held(), len(open("/proc/self/maps").readlines()))
"""
    new, freed, bounds = said(library, code, "checked")
    assert new == "True True True"
    assert freed.startswith(str(RT_PARAM_INVALID)) and "freed by aclrtFree" in freed
    most, left, mappings = map(int, bounds.split())
    assert left < most - 20 and most - left < 120, bounds
    assert mappings < 8000


@COUNTS_PAGES
def test_fast_mode_leaves_old_bytes_in_pages_that_go_round(library: Path) -> None:
    """As a device does; nothing is faulted in again, and small blocks are zeros."""
    code = """
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
start()
text = b"secret" * (6 << 20)
part = text[:34 << 20]
old = malloc(36)
put(old, 0, text)
assert lib.aclrtFree(c_void_p(old)) == 0
new = malloc(34)
kept = get(new, 0, 6)
before = faults()
put(new, 0, part)
print(kept in (b"secret", bytes(6)), faults() - before < 12)
print(get(old, 0, 1), err())
small = malloc(1)
put(small, 0, b"secret")
assert lib.aclrtFree(c_void_p(small)) == 0
print(get(malloc(1), 0, 6) == bytes(6))
"""
    kept, freed, small = said(library, code)
    assert (kept, small) == ("True True", "True")
    assert freed.startswith(str(RT_PARAM_INVALID)) and "freed by aclrtFree" in freed
