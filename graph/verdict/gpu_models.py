"""Names of GPUs as people, drivers and schedulers write them: whether two of them mean the same card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.kleene import Truth, truth

__all__ = ["LEAST_OF_STATED", "model_fits"]

LEAST_OF_STATED = 0.93
"""Of the memory that a card is sold with, what it shows at least: a 48 GB card with ECC shows 44.99 GiB, an 80 GB card
79.6 GiB, a 12 GB card 11.17 GiB (`nvidia-smi --query-gpu=memory.total`)."""

_VENDORS = frozenset(("nvidia", "amd", "intel"))
_ASIDE = frozenset(
    (
        *(
            "tesla",
            "geforce",
            "quadro",
            "instinct",
            "radeon",
            "data",
            "center",
            "gpu",
            "gpus",
            "graphics",
            "corporation",
        ),
        *("generation", "hgx", "oam", "mcm", "ac", "mba", "accelerator"),
    )
)
"""Words of brands and buildings that tell no card from another of the same model."""
_OTHER_CARD = frozenset(
    (
        *("ti", "super", "ada", "pro", "blackwell", "mobile", "laptop", "max", "q", "xt", "xtx", "gre", "ultra", "mig"),
        *("shared", "s", "x", "d", "grid"),
    )
)
"""Words behind (or before) a model that make it another card, or a part of one."""
_GLUED_BRAND = re.compile(r"^(?:nvidia|amd|intel|tesla|geforce|quadro|instinct|radeon)+(?=[a-z]*\d)")
_GLUED_FORM = re.compile(r"^([a-z]+\d+[a-z]?)(sxm\d?|pcie|nvl)(\d+gi?b?)?$")
_FORM = re.compile(r"(sxm|pcie?|nvl)\d*")
_SIZE = re.compile(r"(\d+)gi?b?")
_BARE_SIZES = frozenset(("12", "16", "20", "24", "32", "40", "48", "64", "80", "94", "96", "128", "141", "192"))
_SLICE = re.compile(r"(\d+)g[._](\d+)gb")
_MODEL = re.compile(r"(?=.*[a-z])(?=.*\d)[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Name:
    words: tuple[str, ...]
    """What tells the card: `("a100",)`, `("3090", "ti")`."""
    gigabytes: int | None
    form: str
    """`sxm`, `pci`, `nvl`, or empty where none is said."""
    vendors: frozenset[str]


def model_fits(asked: str, told: str, memory_bytes: int | None = None) -> Truth:
    """Whether a card that is told of by one name is the one that is asked for by another.

    Whole words count: `A10` is no A100, `V100` no V100S, and a MIG slice no whole card. Vendor, brand and how the card
    is built in are set aside, unless two names say different things of the latter. What a name adds that is not known
    here leaves it unknown.

    Args:
        asked: `a100`, `RTX A6000`, `a100-80gb`.
        told: `NVIDIA A100-SXM4-80GB`, `a100_80g`.
        memory_bytes: of the card that is told of, where its name may not say it.

    """
    want, have = _read(asked), _read(told)
    parts = [_same_card(want, have)]
    if want.form and have.form:
        parts.append(truth(want.form == have.form))
    if want.gigabytes is not None:
        there = have.gigabytes * 2**30 if have.gigabytes is not None else memory_bytes
        parts.append(truth(None if there is None else there >= want.gigabytes * 2**30 * LEAST_OF_STATED))
    return Truth.NO if Truth.NO in parts else Truth.UNKNOWN if Truth.UNKNOWN in parts else Truth.YES


def _same_card(want: _Name, have: _Name) -> Truth:
    if not want.words:  # a vendor's name alone, or just a size
        return truth(True if want.vendors <= have.vendors else False if have.vendors else None)
    if not have.words or (want.vendors and have.vendors and not want.vendors & have.vendors):
        return Truth.NO if have.words else Truth.UNKNOWN
    if "".join(want.words) == "".join(have.words):
        return Truth.YES
    if set(want.words) < set(have.words):
        if all(word.startswith("slice") for word in want.words):
            return Truth.YES
        more = set(have.words) - set(want.words)
        return Truth.NO if any(word in _OTHER_CARD or word.startswith("slice") for word in more) else Truth.UNKNOWN
    return Truth.UNKNOWN if set(have.words) < set(want.words) else Truth.NO


def _read(name: str) -> _Name:
    words: list[str] = []
    vendors: set[str] = set()
    gigabytes: int | None = None
    form = ""
    for word in _split(name):
        size = _SIZE.fullmatch(word)
        bare = word in _BARE_SIZES and bool(words) and _MODEL.fullmatch(words[-1]) is not None
        if word in _VENDORS:
            vendors.add(word)
        elif size is not None or bare:
            gigabytes = int(size[1] if size is not None else word)
        elif (built := _FORM.fullmatch(word)) is not None:
            form = built[1][:3]
        elif word not in _ASIDE and not re.fullmatch(r"g?hbm\d*e?|gddr\d*x?", word):
            words.append(word)
    return _Name(_without_family(words), gigabytes, form, frozenset(vendors))


def _split(name: str) -> list[str]:
    """Its words, those that are written in one taken apart; a slice of a card as one word."""
    text = _SLICE.sub(r" slice\1of\2 ", name.lower())
    found: list[str] = []
    for word in re.findall(r"[a-z0-9]+", text):
        bare = _GLUED_BRAND.sub("", word)
        found += [vendor for vendor in sorted(_VENDORS) if bare != word and word.startswith(vendor)]
        glued = _GLUED_FORM.fullmatch(bare)
        found += [part for part in glued.groups() if part] if glued is not None else [bare]
    return found


def _without_family(words: Sequence[str]) -> tuple[str, ...]:
    """Without `RTX` and `GTX` where a number follows: `RTX 3090` is often called `3090`."""
    apart = [re.sub(r"^[rg]tx(?=[a-z]?\d)", "", word) for word in words]
    numbered = any(character.isdigit() for word in apart for character in word)
    return tuple(word for word in apart if not (numbered and word in ("rtx", "gtx")))
