# SPDX-License-Identifier: Apache-2.0
"""What `aclgrad tiling` says about a TCubeTiling."""

from __future__ import annotations

from aclgrad.cases.matmul_words import described

MEMORIES = {"l1": 512 * 1024, "l0a": 64 * 1024, "l0b": 64 * 1024, "l0c": 128 * 1024}
TILING = {
    "usedCoreNum": 20, "M": 1000, "N": 512, "Ka": 640, "Kb": 640, "singleCoreM": 200,
    "singleCoreN": 128, "singleCoreK": 640, "baseM": 64, "baseN": 128, "baseK": 64, "depthA1": 8,
    "depthB1": 4, "stepM": 1, "stepN": 1, "stepKa": 4, "stepKb": 4, "isBias": 1, "iterateOrder": 0,
    "dbL0A": 2, "dbL0B": 2, "dbL0C": 1, "BatchNum": 0,
}  # fmt: skip


def test_each_memory_by_its_bytes() -> None:
    fields = {"slope": 3} | {f"cube.{name}": value for name, value in TILING.items()}
    assert described(fields, 2, MEMORIES) == {
        "cube.cores": "20 cores, each 200 x 128 of C's 1000 x 512 and 640 of K's 640",
        "cube.tiles": "4 tiles of C in a core, 64 x 128, down a column first; each takes K in 10"
        " steps of 64",
        "cube.L1": "2 blocks of A of 64 x 256, 64 KiB; 1 block of B of 128 x 256, 64 KiB; the bias:"
        " 128.5 KiB of 512 KiB",
        "cube.L0A": "2 tiles of A, 64 x 64: 16 KiB of 64 KiB",
        "cube.L0B": "2 tiles of B, 128 x 64: 32 KiB of 64 KiB",
        "cube.L0C": "1 tile of C, 64 x 128: 32 KiB of 128 KiB",
    }


def test_batches_order_and_what_does_not_fit() -> None:
    other = TILING | {"baseM": 512, "iterateOrder": 1, "BatchNum": 3, "usedCoreNum": 1}
    words = described(other, 2, MEMORIES)
    assert words["cores"].startswith("1 core, ")
    assert ", along a row first;" in words["tiles"]
    assert words["L0A"] == "2 tiles of A, 512 x 64: 128 KiB of 64 KiB, more than there is"
    assert words["L0C"].endswith("256 KiB of 128 KiB, more than there is")
    assert words["batches"] == "up to 3 products at once"


def test_a_struct_that_is_not_set() -> None:
    words = described(dict.fromkeys(TILING, 0), 2, MEMORIES)
    assert words == {"cores": "nothing is set: GetTiling has refused, or nobody has called it"}


def test_other_structs() -> None:
    assert described({"usedCoreNum": 4, "tileLength": 8}, 2, MEMORIES) == {}
