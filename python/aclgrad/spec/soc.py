# SPDX-License-Identifier: Apache-2.0
"""SoC families: what the aclnn documents, OpDef::AICore and the kernel compiler call them."""

import os
import re
from dataclasses import dataclass

DEFAULT_SOC = "Ascend910B2"


@dataclass(frozen=True)
class Family:
    """SoCs that share one architecture name in an operator package."""

    name: str  # OpDef's AddConfig name and the kernel folder
    npu_arch: int  # __NPU_ARCH__
    cce_aicore: int  # __CCE_AICORE__
    soc_version: str  # enumerator of op::SocVersion that exists in CANN 8.1 and later
    product: str
    regbase: bool = False  # register-based vector units: some aclnn checks run in another order
    socs: str = ""  # regular expression of the SoC names


FAMILIES = (
    Family("ascend910b", 2201, 220, "ASCEND910B", "Atlas A2", socs=r"Ascend910B[1-4]([CD]|-1)?"),
    Family("ascend910_93", 2201, 220, "ASCEND910_93", "Atlas A3", socs=r"Ascend910_9[0-9]{3}"),
    Family(
        "ascend950",
        3510,
        310,
        "ASCEND910_95",
        "Ascend 950PR/950DT",
        True,
        r"Ascend950\w*|Ascend910_95\w*",
    ),
    Family("ascend310p", 2002, 200, "ASCEND310P", "Atlas inference", socs=r"Ascend310P\w*"),
    Family(
        "ascend310b", 3002, 300, "ASCEND310B", "Atlas 200I/500 A2 inference", socs=r"Ascend310B\w*"
    ),
    Family(
        "ascend910",
        1001,
        100,
        "ASCEND910",
        "Atlas training",
        socs=r"Ascend910(A|B|ProA|ProB|PremiumA)?",
    ),
)

ARCHITECTURE_WORDS = {
    2201: ("__DAV_C220__", "__DAV_C220_VEC__", "__DAV_VEC__"),
    2002: ("__DAV_M200__", "__DAV_M200_VEC__"),
    1001: ("__DAV_C100__",),
    3510: ("__DAV_C310__", "__DAV_C310_VEC__", "__DAV_VEC__"),
}
"""Words of the device compiler for an architecture, by __NPU_ARCH__."""


OF_FAMILY = {
    "ascend910b": "Ascend910B2",
    "ascend910_93": "Ascend910_9391",
    "ascend950": "Ascend950PR_9589",
    "ascend310p": "Ascend310P3",
    "ascend310b": "Ascend310B1",
    "ascend910": "Ascend910A",
}
"""A SoC of each family, by the name that OpDef's AddConfig has for the family."""


def full_name(name: str) -> str:
    """The SoC of a name as OpDef (ascend910b) or msopgen (ai_core-Ascend910B2) writes it; any other
    name as it is.
    """
    name = name.removeprefix("ai_core-")
    return OF_FAMILY.get(name, name)


def chosen(name: str | None = None) -> str:
    """The SoC of an option, of the environment, or the default."""
    return full_name(name or os.environ.get("ACLGRAD_SOC") or DEFAULT_SOC)


def architecture_words(npu_arch: int, *, cube: bool = False) -> tuple[str, ...]:
    """Return these words; ``cube``: those for the cube cores of a split chip."""
    words = ARCHITECTURE_WORDS.get(npu_arch, ())
    return tuple(re.sub("_VEC__$", "_CUBE__", word) for word in words) if cube else words


def family(name: str) -> Family:
    """Return the family called ``name`` (ascend910b, ...)."""
    for candidate in FAMILIES:
        if candidate.name == name:
            return candidate
    raise KeyError(name)


def family_of(soc: str) -> Family:
    """Return the family of a SoC name such as Ascend910B2."""
    for candidate in FAMILIES:
        if re.fullmatch(candidate.socs, soc):
            return candidate
    raise ValueError(
        f"SoC: got {soc!r}, which belongs to no known family. Next: a name such as {DEFAULT_SOC},"
        " Ascend910_9392, Ascend950PR_9589, Ascend310P3 or Ascend910A"
    )
