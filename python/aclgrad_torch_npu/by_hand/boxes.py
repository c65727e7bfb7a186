# SPDX-License-Identifier: Apache-2.0
"""How far boxes overlap, and boxes by their distance from others. Boxes are columns of centre and
size for what torch_npu takes: a pair for each column, the overlap by the union of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand, gradients

_EPSILON = 1e-9

_Overlap = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _refuse(trans: bool, is_cross: bool, mode: int) -> None:
    if not trans or is_cross or mode != 0:
        raise NotImplementedError(
            f"trans={trans}, is_cross={is_cross}, mode={mode}: want True, False, 0, which is what"
            " torch_npu has a derivative of"
        )


def _corners(boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    half = boxes[2:] / 2
    return boxes[:2] - half, boxes[:2] + half


def _inner(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The area that both have."""
    low, high = zip(_corners(one), _corners(other), strict=True)
    inner: torch.Tensor = (torch.minimum(*high) - torch.maximum(*low)).clamp(0).prod(0)
    return inner


def _outer(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Sides of the smallest box around both."""
    low, high = zip(_corners(one), _corners(other), strict=True)
    sides: torch.Tensor = torch.maximum(*high) - torch.minimum(*low)
    return sides


def _giou(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    inner = _inner(one, other)
    union = one[2] * one[3] + other[2] * other[3] - inner + 1e-16
    outer = _outer(one, other).prod(0)
    return (inner / union - (outer - union) / outer)[:, None]


def _iou(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    inner = _inner(one, other)
    areas = (each[2] * (each[3] + _EPSILON) for each in (one, other))
    return inner / (sum(areas) - inner + _EPSILON)


def _diou(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    apart = (one[:2] - other[:2]).square().sum(0)
    return (_iou(one, other) - apart / (_outer(one, other).square().sum(0) + _EPSILON))[None]


def _angle(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """How far the proportions differ."""
    first, second = (torch.atan(each[2] / (each[3] + _EPSILON)) for each in (one, other))
    return second - first


def _ciou(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    shape = (4 / math.pi**2) * _angle(one, other).square()
    weight = (shape / (1 + _EPSILON - _iou(one, other) + shape)).detach()
    return _diou(one, other) - (shape * weight)[None]


def _derivative(
    overlap: _Overlap, boxes: Sequence[torch.Tensor], grad: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    shape = overlap(boxes[0], boxes[1]).shape
    return gradients(overlap, boxes, grad.reshape(shape))


@by_hand("npu::npu_giou")
def _npu_giou(
    boxes: torch.Tensor,
    others: torch.Tensor,
    trans: bool = False,
    is_cross: bool = False,
    mode: int = 0,
) -> torch.Tensor:
    _refuse(trans, is_cross, mode)
    return _giou(boxes, others)


@by_hand("npu::npu_giou_backward")
def _npu_giou_backward(
    grad: torch.Tensor,
    boxes: torch.Tensor,
    others: torch.Tensor,
    trans: bool = False,
    is_cross: bool = False,
    mode: int = 0,
) -> tuple[torch.Tensor, ...]:
    _refuse(trans, is_cross, mode)
    return _derivative(_giou, (boxes, others), grad)


@by_hand("npu::npu_diou")
def _npu_diou(
    boxes: torch.Tensor,
    others: torch.Tensor,
    trans: bool = False,
    is_cross: bool = False,
    mode: int = 0,
) -> torch.Tensor:
    _refuse(trans, is_cross, mode)
    return _diou(boxes, others)


@by_hand("npu::npu_diou_backward")
def _npu_diou_backward(
    grad: torch.Tensor,
    boxes: torch.Tensor,
    others: torch.Tensor,
    trans: bool = False,
    is_cross: bool = False,
    mode: int = 0,
) -> tuple[torch.Tensor, ...]:
    _refuse(trans, is_cross, mode)
    return _derivative(_diou, (boxes, others), grad)


@by_hand("npu::_npu_ciou")
def _npu_ciou(
    boxes: torch.Tensor,
    others: torch.Tensor,
    trans: bool = False,
    is_cross: bool = True,
    mode: int = 0,
    atan_sub_flag: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    _refuse(trans, is_cross, mode)
    return _ciou(boxes, others), _angle(boxes, others)[None]


@by_hand("npu::npu_ciou_backward")
def _npu_ciou_backward(
    grad: torch.Tensor,
    boxes: torch.Tensor,
    others: torch.Tensor,
    atan_sub: torch.Tensor | None,
    trans: bool = False,
    is_cross: bool = True,
    mode: int = 0,
) -> tuple[torch.Tensor, ...]:
    _refuse(trans, is_cross, mode)
    return _derivative(_ciou, (boxes, others), grad)


@by_hand("npu::npu_bounding_box_decode")
def _bounding_box_decode(
    rois: torch.Tensor,
    deltas: torch.Tensor,
    means0: float,
    means1: float,
    means2: float,
    means3: float,
    stds0: float,
    stds1: float,
    stds2: float,
    stds3: float,
    max_shape: Sequence[int],
    wh_ratio_clip: float,
) -> torch.Tensor:
    """Rows of corners, moved and stretched by deltas; both corners belong to a box."""
    means = torch.tensor([means0, means1, means2, means3], dtype=deltas.dtype)
    stds = torch.tensor([stds0, stds1, stds2, stds3], dtype=deltas.dtype)
    scaled = deltas * stds + means
    limit = abs(math.log(wh_ratio_clip))
    size = rois[:, 2:] - rois[:, :2] + 1
    centre = (rois[:, :2] + rois[:, 2:]) / 2 + size * scaled[:, :2]
    half = size * scaled[:, 2:].clamp(-limit, limit).exp() / 2 - 0.5
    ends = torch.tensor([max_shape[1] - 1, max_shape[0] - 1] * 2, dtype=rois.dtype)
    return torch.minimum(torch.cat((centre - half, centre + half), 1).clamp(min=0), ends)
