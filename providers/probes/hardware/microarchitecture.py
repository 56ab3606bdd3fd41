"""Names of processor families as build tools use them, from what the kernel tells. None where it is not certain.

Sources: Intel's and AMD's processor programming references for families and feature flags, Arm's part numbers
(MIDR_EL1), and the target names of archspec.
"""

from __future__ import annotations

from collections.abc import Set

__all__ = ["microarchitecture"]

_INTEL: tuple[tuple[str, frozenset[str]], ...] = (
    ("graniterapids", frozenset({"amx_tile", "amx_fp16"})),
    ("sapphirerapids", frozenset({"amx_tile", "amx_bf16", "avx512_fp16"})),
    ("icelake", frozenset({"avx512_vbmi2", "avx512_bitalg", "vaes", "sha_ni"})),
    ("cascadelake", frozenset({"avx512f", "avx512vl", "avx512_vnni", "clwb"})),
    ("skylake_avx512", frozenset({"avx512f", "avx512vl", "clwb"})),
    ("skylake", frozenset({"avx2", "adx", "xsavec", "clflushopt"})),
    ("broadwell", frozenset({"avx2", "adx", "rdseed"})),
    ("haswell", frozenset({"avx2", "bmi2", "fma", "movbe"})),
    ("ivybridge", frozenset({"avx", "f16c", "rdrand"})),
    ("sandybridge", frozenset({"avx", "aes", "pclmulqdq"})),
)
"""The newest first; each needs its own flags and is older than those above it."""

_ARM: dict[tuple[str, str], str] = {
    ("0x41", "0xd08"): "cortex_a72",
    ("0x41", "0xd0c"): "neoverse_n1",
    ("0x41", "0xd40"): "neoverse_v1",
    ("0x41", "0xd49"): "neoverse_n2",
    ("0x41", "0xd4f"): "neoverse_v2",
    ("0x43", "0x0af"): "thunderx2",
    ("0x46", "0x001"): "a64fx",
}


def microarchitecture(
    vendor: str | None, flags: Set[str], family: int | None, model: int | None, arm: tuple[str, str] | None = None
) -> str | None:
    """The family's name, such as `skylake_avx512`, `zen3` or `neoverse_v2`.

    Args:
        vendor: as `lscpu` or /proc/cpuinfo names it.
        flags: instruction set flags of /proc/cpuinfo.
        family: x86 family.
        model: x86 model.
        arm: implementer and part of /proc/cpuinfo.

    """
    if arm is not None:
        return _ARM.get(arm)
    if vendor == "GenuineIntel":
        return next((name for name, needed in _INTEL if needed <= flags), None)
    if vendor == "AuthenticAMD" and model is not None:
        return _zen(family, model)
    return None


def _zen(family: int | None, model: int) -> str | None:
    if family == 0x17:
        return "zen2" if model >= 0x31 else "zen"
    if family == 0x19:
        return "zen4" if 0x10 <= model <= 0x1F or 0x60 <= model <= 0x7F or 0xA0 <= model <= 0xAF else "zen3"
    return "zen5" if family == 0x1A else None
