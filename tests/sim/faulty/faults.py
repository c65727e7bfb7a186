# SPDX-License-Identifier: Apache-2.0
"""What the kernels of the corpus are launched with, and how each planted fault must be reported."""

from __future__ import annotations

import numpy as np

from faulty.corpus import Array, Fault, Launch, Tiling


def _normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)


def _whole(seed: int, *shape: int) -> Array:
    """Small whole numbers: their sums are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float32)


def _elements(name: str) -> Launch:
    """Kernels of 1021 elements: an odd number, so that every end is a tail."""
    x, y = _normal(1, 2, 1021)
    if name == "Queues":
        return Launch(x, y, x + y, Tiling(total=1021, per_core=256, tile=128), cores=4)
    tiling = Tiling(total=1021, per_core=512, tile=128)
    if name == "PingPong":
        return Launch(x, y, x * np.float32(2) + x, tiling, cores=2)
    if name == "TwoPasses":
        return Launch(x, y, x + y, tiling, cores=2, workspace=4096)
    if name in ("Ids", "Through"):
        want = x + y if name == "Ids" else x
        return Launch(x, y, want, Tiling(total=1021, tile=256))
    assert name == "Gate"
    return Launch(x, y, np.where(x > 0, y, np.float32(0)), Tiling(total=1021, tile=448))


def _patches() -> Launch:
    x, y = _whole(2, 2, 1024)
    want = x.copy()
    for at in range(0, 1024, 128):
        want[at : at + 96] = y[at : at + 96]
    return Launch(x, y, want, Tiling(total=1024, tile=128))


def _scalars() -> Launch:
    x, y = _whole(3, 2, 256)
    want = (x - x[0]) * (y.sum() + np.arange(64, dtype=np.float32).sum())
    want[:64] += np.arange(64, dtype=np.float32)
    return Launch(x, y, want + np.float32(1), Tiling(tile=256))


def _masks() -> Launch:
    x, y = _normal(9, 2, 1024)
    want = np.maximum(x, y) + np.float32(1)
    return Launch(x, y, want, Tiling(total=1024, tile=512))


def _row_stats() -> Launch:
    rows = _whole(4, 5, 118)
    want = np.concatenate([rows.sum(1), rows.max(1)])
    return Launch(rows.astype(np.float16), want, want, Tiling(rows=5, columns=118))


def _grand_sum() -> Launch:
    x, y = _whole(5, 2, 512)
    return Launch(x, y, y + x.sum(), Tiling(total=512, per_core=128), cores=4, workspace=128)


def _counts() -> Launch:
    x = _whole(6, 512)
    count = np.float32((x > 0).sum())
    want = np.array([count, 2 * count], np.float32)
    return Launch(x, x, want, Tiling(total=512, per_core=128), cores=4, workspace=320)


def _atomic_sum() -> Launch:
    x = _whole(7, 16, 36)
    return Launch(x, x, x.sum(0), Tiling(per_core=4, columns=36), cores=4)


def _rounds() -> Launch:
    cores, rounds, tile = 4, 5, 96
    x = _whole(8, rounds, cores, tile)
    want = np.zeros((rounds, cores, 8), np.float32)
    want[:, :, 0] = x.sum((1, 2))[:, None]
    return Launch(x, x, want, Tiling(tile=tile, rows=rounds), cores, workspace=2 * cores * 32)


def _relay() -> Launch:
    cores = 4
    want = np.empty((cores, 8), np.float32)
    want[:] = ((np.arange(cores) + 2) % cores + 1)[:, None]
    return Launch(want, want, want, Tiling(), cores, workspace=cores * (64 + 32))


def _tally() -> Launch:
    cores, rounds = 4, 5
    want = np.empty((rounds, cores, 8), np.float32)
    want[:] = (60 + cores * np.arange(rounds))[:, None, None]
    return Launch(want, want, want, Tiling(rows=rounds), cores, workspace=2 * cores * 64)


def _board() -> Launch:
    cores, rounds = 4, 5
    want = np.empty((cores, 8), np.float32)
    for core in range(cores):
        posted = sum((core + 1) % cores + r for r in (*range(rounds), rounds - 1, rounds - 1))
        want[core] = posted + sum(r for r in range(rounds) if r % cores == core)
    return Launch(want, want, want, Tiling(rows=rounds), cores, workspace=(2 * cores + 1) * 64)


def _carry() -> Launch:
    cores, rounds = 4, 5
    start = np.arange(1, cores + 1, dtype=np.float32)
    number = start
    for _ in range(rounds):
        number = 4 * number + start
    want = np.repeat(number, 8).reshape(cores, 8)
    return Launch(want, want, want, Tiling(rows=rounds), cores, workspace=cores * 64)


def _tiles(dtype: type[np.generic]) -> Launch:
    x, y = _whole(9, 2, 1021).astype(dtype)
    return Launch(x, y, x + y, Tiling(total=1021, per_core=256, tile=96), cores=4)


def _beside() -> Launch:
    x, y = _whole(10, 2, 12, 24)
    rows = np.concatenate([x, y], 1).ravel()
    want = np.concatenate([rows, np.arange(12, dtype=np.float32)])
    return Launch(x, y, want, Tiling(rows=12, columns=24), cores=3)


def _totals() -> Launch:
    x = _whole(11, 4, 128)
    return Launch(x, x, x.sum(0), Tiling(columns=128), cores=4, workspace=512)


def _padded_sum() -> Launch:
    x = _whole(12, 1003)
    return Launch(x, x, x.sum(keepdims=True), Tiling(total=1003))


def _soft_sync() -> Launch:
    cores, rounds = 4, 2
    want = np.empty((rounds, cores, cores, 8), np.int32)
    want[:] = (np.arange(cores) + np.arange(rounds)[:, None])[:, None, :, None]
    return Launch(want, want, want, Tiling(rows=rounds), cores, workspace=(1 + rounds) * cores * 32)


def _chain() -> Launch:
    cores, columns = 5, 64
    x = _whole(13, cores, columns)
    size = 2 * cores * 32 + columns * 4
    return Launch(x, x, x.sum(0), Tiling(columns=columns), cores, size, cleared=cores * 32)


def _in_order() -> Launch:
    cores, columns = 5, 64
    x = _normal(14, cores, columns)
    want = np.zeros(columns, np.float32)
    for row in x:
        want += row
    size = 2 * cores * 32
    return Launch(x, x, want, Tiling(columns=columns), cores, size, cleared=size)


LAUNCHES = {
    **{
        name: _elements(name)
        for name in ("Queues", "PingPong", "TwoPasses", "Gate", "Ids", "Through")
    },
    "Patches": _patches(),
    "Scalars": _scalars(),
    "RowStats": _row_stats(),
    "Masks": _masks(),
    "GrandSum": _grand_sum(),
    "Counts": _counts(),
    "AtomicSum": _atomic_sum(),
    "Rounds": _rounds(),
    "Relay": _relay(),
    "Tally": _tally(),
    "Board": _board(),
    "Carry": _carry(),
    "TilesOfFloat": _tiles(np.float32),
    "TilesOfHalf": _tiles(np.float16),
    "Beside": _beside(),
    "Totals": _totals(),
    "PaddedSum": _padded_sum(),
    "SoftSync": _soft_sync(),
    "Chain": _chain(),
    "InOrder": _in_order(),
}
SHAPES = {
    "queues": ("Queues",),
    "flags": ("PingPong", "TwoPasses", "Patches", "Scalars"),
    "rows": ("RowStats", "Gate"),
    "ids": ("Ids", "Through"),
    "masks": ("Masks",),
    "cores": ("GrandSum", "Counts", "AtomicSum", "Rounds", "Relay", "Tally", "Board", "Carry"),
    "outputs": ("TilesOfFloat", "TilesOfHalf", "Beside", "Totals", "PaddedSum"),
    "meetings": ("SoftSync", "Chain", "InOrder"),
}
SOURCE_OF = {shape: source for source, shapes in SHAPES.items() for shape in shapes}

RAW, WAR, WAW = "race-read-after-write", "race-write-after-read", "race-write-after-write"

MEMORY = (
    Fault("Queues_one_lane_more", "ub-out-of-bounds", "add_second_half"),
    Fault("Queues_compute_beyond_count", "ub-out-of-bounds", "add_beyond"),
    Fault("Queues_store_beyond_count", "ub-out-of-bounds", "store_beyond"),
    Fault("RowStats_mask_reads_beyond", "ub-out-of-bounds", "adds_at_the_end"),
    Fault("RowStats_gap_counts_blocks", "ub-out-of-bounds", "copy_with_gap"),
    Fault("Queues_core_offset_slip", "gm-out-of-bounds", "load_x"),
    Fault("Queues_no_tail", "gm-out-of-bounds", "load_x"),
    Fault("Queues_load_rounded_up", "gm-out-of-bounds", "load_rounded"),
    Fault("Queues_offset_in_bytes", "gm-out-of-bounds", "load_by_bytes"),
    Fault("Queues_store_rounded_up", "gm-out-of-bounds", "store_z"),
    Fault(
        "TwoPasses_workspace_of_the_next_core", "gm-out-of-bounds", "keep", tiling={"total": 1021}
    ),
    Fault("Queues_odd_half", "ub-misaligned", "add_second_half"),
    Fault("RowStats_row_by_columns", "ub-misaligned", "touch_row"),
    Fault("RowStats_pair_misaligned", "ub-misaligned", "max_pair"),
    Fault("RowStats_brcb_misaligned", "ub-misaligned", "brcb"),
    Fault("Queues_freed_early", "ub-use-after-free", "add_first_half"),
    Fault("Queues_z_freed_early", "ub-use-after-free", "store_z"),
    Fault("Queues_never_allocated", "ub-never-allocated", "add_first_half"),
    Fault("Queues_operands_overlap", "overlap", "shift_in_place"),
    Fault("RowStats_cast_in_place", "overlap", "widen"),
    Fault(
        "Queues_copy_rounds_down",
        "undefined-read",
        "add_second_half",
        ("load_rounded_down", "store_z"),
    ),
    Fault("TwoPasses_pass_forgotten", "undefined-read", "fetch", ("store_sum",)),
    Fault("RowStats_padding_undefined", "undefined-padding", "load", ("store",)),
    Fault("RowStats_sum_misses_rows", "undefined-read", "store", ("sum", "store")),
    Fault("RowStats_scratch_read", "undefined-read", "max", ("by_scalar",)),
    Fault(
        "Gate_compare_not_whole",
        "undefined-read",
        "select",
        ("compare", "store_gate"),
        tiling={"tile": 1000},
    ),
    Fault("AtomicSum_not_cleared", "undefined-read", "add", ("add",)),
    Fault("Queues_last_not_freed", "queue-leak", "alloc_spare"),
    Fault("Queues_one_load_more", "queue-leak", "alloc_x"),
    Fault("Queues_x_free_dropped", "queue-exhausted", "alloc_x", tiling={"tile": 64}),
    Fault("Queues_too_much_ub", "ub-overflow", "init_z", tiling={"tile": 8256}),
    Fault("Gate_bits_too_short", "ub-out-of-bounds", "compare"),
)
QUEUES = (
    Fault("Queues_queue_not_initialised", "queue-not-initialised", "alloc_without_init"),
    Fault("Queues_prefetch_too_deep", "queue-depth", "enque_x"),
    Fault("Queues_deque_dropped", "queue-order", "free_x"),
    Fault("Queues_enque_dropped", "queue-empty", "deque_x"),
    Fault("Queues_z_enque_dropped", "queue-empty", "deque_z"),
    Fault("Queues_deque_from_another", "queue-empty", "deque_y"),
    Fault("Queues_enque_twice", "queue-order", "enque_y_again"),
    Fault("Queues_freed_twice", "queue-order", "free_y_again"),
    Fault("Queues_allocated_twice", "queue-exhausted", "alloc_z_again"),
    Fault("Queues_enque_into_another", "queue-foreign-tensor", "enque_x_as_z"),
    Fault("Queues_freed_into_another", "queue-foreign-tensor", "free_z_as_y"),
)
SYNC = (
    Fault("PingPong_no_mte2_v", RAW, "scale", ("load",), race=True),
    Fault("PingPong_no_v_mte3", RAW, "store", ("add_x",), race=True),
    Fault("PingPong_no_mte3_v", WAR, "scale", ("store",), race=True),
    Fault("PingPong_no_v_mte2", WAR, "load", ("add_x",), race=True),
    Fault("PingPong_v_mte2_too_early", WAR, "load", ("add_x",), race=True),
    Fault("PingPong_v_mte3_too_early", RAW, "store", ("add_x",), race=True),
    Fault("PingPong_one_output_buffer", WAR, "scale", ("store",), race=True),
    Fault("PingPong_slot_slip", WAR, "load", ("add_x",), race=True),
    Fault("TwoPasses_no_mte3_mte2", RAW, "fetch", ("keep",), race=True),
    Fault("Patches_no_mte2_barrier", WAW, "load_over", ("load_tile",), race=True),
    Fault("Patches_no_mte3_barrier", WAW, "store_over", ("store_tile",), race=True),
    Fault("Patches_barrier_of_another_pipe", WAW, "store_over", ("store_tile",), race=True),
    Fault(
        "PingPong_wait_other_slot",
        "flag-set-twice",
        "set_free",
        ("set_free_first", "wait_free"),
    ),
    Fault(
        "PingPong_wrong_id",
        "deadlock",
        "wait_loaded",
        ("set_loaded", "set_loaded"),
        tiling={"tile": 256},
    ),
    Fault(
        "PingPong_wrong_event",
        "deadlock",
        "wait_loaded",
        ("set_wrong_event", "set_wrong_event"),
        tiling={"tile": 256},
    ),
    Fault(
        "PingPong_nobody_sets",
        "deadlock",
        "wait_loaded",
        tiling={"tile": 256},
    ),
    Fault(
        "PingPong_cycle",
        "deadlock",
        "wait_loaded",
        ("set_loaded_in_a_cycle", "wait_stored_in_a_cycle"),
    ),
    Fault(
        "PingPong_first_turned",
        "deadlock",
        "wait_loaded",
        ("set_loaded", "wait_free", "set_first_turned", "set_first_turned"),
    ),
    Fault("PingPong_id_out_of_range", "event-id-range", "set_id_out_of_range"),
    Fault("PingPong_set_twice", "flag-set-twice", "set_loaded_again", ("set_loaded",)),
    Fault("PingPong_never_waited", "flag-leak", "set_stored", ("set_first",)),
)
EVENT_IDS = tuple(
    Fault(name, "event-id-shared", at, (holder,))
    for name, at, holder in (
        ("Ids_beside_enque", "beside_enque", "enque_a"),
        ("Ids_set_before_enque", "set_before", "enque_a"),
        ("Ids_fetched_early", "fetched_early", "enque_a"),
        ("Ids_second_tensor", "second_tensor", "enque_b"),
        ("Ids_wait_alone", "wait_alone", "enque_a"),
        ("Ids_beside_output", "beside_output", "enque_c"),
        ("Ids_beside_free", "beside_free", "free_a"),
        ("Ids_beside_free_output", "beside_free_output", "free_c"),
        ("Through_before_first_alloc", "before_first_alloc", "init_in_place"),
        ("Through_through_id", "through_id", "enque_through"),
        ("Through_freed_through_id", "freed_through_id", "free_through"),
        ("Through_in_place_id", "in_place_id", "enque_in_place"),
        ("Through_freed_in_place", "freed_in_place", "free_in_place"),
    )
)
# Chaos cannot show S to V: the scalar pipe is through with what comes before an instruction.
AUTO_SYNC_OFF = (
    Fault("Scalars_no_mte2_s", RAW, "read_first", ("load_x",), auto_sync=False, race=True),
    Fault("Scalars_no_s_v", RAW, "mix", ("write_table",), auto_sync=False),
    Fault("Scalars_no_v_s", RAW, "read_sum", ("sum",), auto_sync=False, race=True),
    Fault("Scalars_no_s_v_after_read", WAR, "subtract", ("read_sum",), auto_sync=False),
    Fault("Scalars_no_v_barrier", RAW, "multiply", ("subtract",), auto_sync=False, race=True),
    Fault(
        "Scalars_no_v_s_before_write",
        WAR,
        "write_again",
        ("add_table",),
        auto_sync=False,
        race=True,
    ),
)
CORES = (
    Fault("Queues_cores_overlap", "gm-conflict", "store_z", ("store_z",)),
    Fault("GrandSum_same_slot", "gm-conflict", "publish", ("publish",), race=True),
    Fault("GrandSum_halves_swapped", "gm-conflict", "store_part", ("store_part",), race=True),
    Fault("GrandSum_no_syncall", "gm-conflict", "collect", ("publish",), race=True),
    Fault("GrandSum_last_core_left_out", "deadlock", "sync_some", ("free_part",)),
    Fault("GrandSum_sync_twice_in_one", "deadlock", "sync_more", ("free_part",) * 3),
    Fault("Counts_lines_shared", "gm-line-shared", "count", ("count",)),
    Fault("Counts_never_cleaned", "gm-cache", "add_counts", ("count",)),
    Fault("Counts_wrong_line_cleaned", "gm-cache", "add_counts", ("count",)),
    Fault("Counts_no_syncall", "gm-conflict", "add_counts", ("count",)),
    Fault("Counts_copied_before_clean", "gm-cache", "copy_twice", ("write_twice",)),
    Fault("AtomicSum_clear_not_awaited", "gm-conflict", "clear", ("add",)),
    Fault("AtomicSum_not_atomic", "gm-conflict", "add", ("add",), race=True),
    Fault("Rounds_set_on_vector", "gm-conflict", "tell", ("copy_all",), race=True),
    Fault("Rounds_gather_before_wait", "gm-conflict", "tell", ("copy_all",), race=True),
    Fault("Rounds_never_waits", "gm-conflict", "tell", ("copy_all",)),
    Fault("Rounds_last_wait_left_out", "gm-conflict", "tell", ("copy_all",)),
    Fault("Rounds_slots_not_alternating", "gm-conflict", "copy_all", ("tell",), race=True),
    Fault("Relay_cleaned_after_set", "gm-cache", "take", ("mark",)),
    Fault("Relay_copy_not_awaited", "gm-conflict", "pass_on", ("take_copy",), race=True),
    *(
        Fault(f"Tally_{name}", "gm-cache", "read_number", ("publish_number", "read_number"))
        for name in ("never_cleaned", "first_line_cleaned", "own_line_cleaned")
    ),
    Fault("Board_not_dropped", "gm-cache", "look", ("post", "look")),
    Fault("Board_token_kept", "gm-cache", "look_at_token", ("pass_token", "look_at_token")),
    *(
        Fault(
            f"Carry_{name}",
            "gm-cache",
            "read_back",
            ("keep_number", loaded),
            auto_sync=auto,
        )
        for name, loaded, auto in (
            ("not_dropped", "read_back", True),
            ("not_past_the_cache", "read_constant", True),
            # The compiler would have the read wait for the copy.
            ("loaded_meanwhile", "load_meanwhile", False),
        )
    ),
)
OUTPUTS = (
    Fault("TilesOfFloat_end_forgotten", "output-unwritten", "store_tile"),
    Fault("TilesOfFloat_end_forgotten", "output-unwritten", "store_tile", soc="Ascend910_9391"),
    Fault("TilesOfFloat_gap_in_split", "output-unwritten", "store_tile", ("store_tile",)),
    Fault("TilesOfFloat_last_core_idle", "output-unwritten", "store_tile"),
    Fault("TilesOfFloat_tail_dropped", "output-unwritten", "store_tile", ("store_tile",)),
    Fault(
        "TilesOfFloat_remainder_dropped",
        "output-unwritten",
        "store_whole_blocks",
        tiling={"tile": 256},
    ),
    Fault("TilesOfFloat_half_the_bytes", "output-unwritten", "store_half", ("store_half",)),
    Fault("TilesOfFloat_nothing_stored", "output-unwritten", "nothing_stored", ("make_tensor",)),
    Fault("TilesOfHalf_end_forgotten", "output-unwritten", "store_tile"),
    Fault("TilesOfHalf_gap_in_split", "output-unwritten", "store_tile", ("store_tile",)),
    Fault("TilesOfHalf_remainder_dropped", "output-unwritten", "store_whole_blocks"),
    Fault("TilesOfHalf_half_the_bytes", "output-unwritten", "store_half", ("store_half",)),
    Fault("Beside_row_forgotten", "output-unwritten", "store_right", ("store_right",)),
    Fault(
        "Beside_row_forgotten",
        "output-unwritten",
        "store_right",
        ("store_right",),
        soc="Ascend310P3",
    ),
    Fault("Beside_right_forgotten", "output-unwritten", "store_left", ("store_left",)),
    Fault("Beside_block_short", "output-unwritten", "store_right", ("store_left",)),
    Fault("Beside_scalar_forgotten", "output-unwritten", "count_row"),
    Fault("Totals_not_cleared", "undefined-read", "add_to_total", ("fetch_total", "store_total")),
    Fault(
        "Totals_cleared_in_part", "undefined-read", "add_to_total", ("fetch_total", "store_total")
    ),
    Fault("PaddedSum_dummies_added", "undefined-padding", "load_padded", ("store_sum",)),
)
MEETINGS = (
    Fault("SoftSync_never_cleared", "sync-workspace", "sync_by_words"),
    Fault("SoftSync_own_words_only", "sync-workspace", "sync_by_words", ("clear_own",)),
    Fault("SoftSync_first_core_only", "sync-workspace", "sync_by_words", ("clear_in_one",)),
    Fault("SoftSync_half_the_words", "sync-workspace", "sync_by_words"),
    Fault("SoftSync_left_in_cache", "sync-workspace", "sync_by_words", ("clear_by_scalars",)),
    Fault("SoftSync_one_left_out", "syncall-cores", "sync_of_fewer"),
    Fault("SoftSync_numbers_differ", "syncall-cores", "sync_of_some", ("sync_of_some",)),
    Fault("SoftSync_one_leaves", "deadlock", "sync_by_words", ("tell_number",)),
    Fault("SoftSync_one_does_not_come", "deadlock", "sync_but_one", ("store_numbers",)),
    Fault("Chain_wait_left_out", "gm-conflict", "hand_total_on", ("take_total",)),
    Fault("Chain_wait_left_out", "block-event", "set_after"),
    Fault("Chain_set_too_early", "gm-conflict", "hand_total_on", ("take_total",)),
    Fault("Chain_words_not_cleared", "sync-workspace", "wait_before"),
    Fault("Chain_words_not_cleared", "sync-workspace", "set_after"),
    Fault("InOrder_wait_left_out", "block-event", "set_next"),
    Fault("InOrder_set_without_wait", "block-event", "set_next"),
)
API_RULES = (
    Fault("AtomicSum_left_on", "atomic-left-on", "switch_on"),
    Fault("AtomicSum_maximum_left_on", "atomic-left-on", "switch_on_at_the_end"),
    Fault("Queues_blocklen_in_elements", "copy-block-length", "load_short"),
    Fault("Queues_blocklen_not_whole", "copy-block-length", "load_uneven"),
    Fault("Queues_blocklen_too_long", "copy-block-length", "load_too_long"),
    Fault("Queues_too_many_blocks", "copy-block-count", "load_too_many"),
    Fault("Queues_padding_too_wide", "copy-padding", "load_wide_pad"),
    Fault("Queues_none", "instruction-absent", "load_x", soc="Ascend310P3"),
    Fault("RowStats_work_too_small", "ub-out-of-bounds", "max"),
    Fault("RowStats_cast_mode_absent", "cast-unsupported", "narrow"),
    Fault("RowStats_cast_pair_absent", "cast-unsupported", "narrow_to_bytes"),
    Fault("RowStats_repeat_beyond_255", "repeat-range", "whole_reduce"),
    Fault("RowStats_stride_negative", "stride-range", "whole_reduce_back"),
    Fault("RowStats_stride_zero", "stride-range", "adds_in_one_block"),
    Fault("Gate_compare_of_ints", "dtype-unsupported", "compare_ints"),
    Fault("Gate_select_misaligned_bits", "ub-misaligned", "select"),
)
MASKS = (
    *(
        Fault(f"Masks_{name}", "mask-range", at)
        for name, at in (
            ("lanes_of_half", "max"),
            ("bits_beyond", "adds"),
            ("reduce_of_half", "reduce"),
            ("block_reduce", "block_reduce"),
            ("negative", "negative"),
            ("fill", "fill"),
            ("copied", "copied"),
            ("wider", "cast"),
            ("selected", "select"),
            ("gathered", "gather"),
            ("register_of_half", "by_register"),
            ("by_the_compiler", "by_the_compiler"),
        )
    ),
    # Legal, and named where what they did not write is missing.
    *(
        Fault(f"Masks_{name}", "undefined-read", reader, (*idle, "store"))
        for name, reader, idle in (
            ("repeat_wraps", "adds", ("max", "tail", "alloc_out")),
            ("no_lanes", "adds", ("max_no_lanes", "tail", "alloc_out")),
            ("no_bits", "adds", ("max_no_bits", "tail", "alloc_out")),
            ("count_zero", "adds", ("max_count", "tail", "alloc_out")),
            ("copy_of_less_than_a_block", "max", ("load", "alloc_in")),
        )
    ),
)
CLASSES = {
    "memory": MEMORY,
    "queues": QUEUES,
    "sync": SYNC,
    "event ids": EVENT_IDS,
    "auto-sync off": AUTO_SYNC_OFF,
    "cores": CORES,
    "outputs": OUTPUTS,
    "meetings": MEETINGS,
    "API rules": API_RULES,
    "masks": MASKS,
}
# Right numbers, and something that is worth a word.
HINTS = (
    Fault("Masks_register_left", "mask-left-set", "register_left"),
    Fault("Gate_remainder", "compare-remainder", "compare_more"),
    Fault("Masks_counter_left", "mask-left-set", "counter_left"),
)
# Tiling whose fields the host has swapped, or one of another structure.
TILING = (
    Fault("Queues_none", "ub-overflow", "init_x", tiling={"tile": 102100, "total": 128}),
    Fault("Queues_none", "gm-out-of-bounds", "load_x", tiling={"per_core": 1021, "total": 4096}),
    Fault("AtomicSum_none", "gm-out-of-bounds", "load_row", tiling={"per_core": 36}),
)
