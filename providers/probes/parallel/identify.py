"""Which MPI a launcher or an information program belongs to, by its own words, with version and fabrics.

Sources: ompi_info(1), mpirun(1) of Open MPI; `mpichversion` of MPICH and `mpiname` of MVAPICH; Hydra's `--version`;
Intel's and IBM's users' guides. MVAPICH brings Hydra too, under the version of MPICH that it was made from, so Hydra
alone tells neither the implementation nor its version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from providers.probes.parallel.launchers import Program

__all__ = ["HYDRA", "Told", "fabrics_of_device", "fabrics_of_ompi_info", "identify"]

HYDRA = "hydra"


@dataclass(frozen=True, slots=True)
class Told:
    """What one program tells."""

    implementation: str
    """A name of ours, `hydra`, or `other`: a launcher that is no MPI library's own."""
    version: str | None = None
    fabrics: tuple[str, ...] | None = None


_WORDS = (
    ("spectrum-mpi", r"IBM Spectrum MPI\)?\s+v?(\d[\w.]*)"),
    ("openmpi", r"\((?:Open MPI|OpenRTE)\)\s+v?(\d[\w.]*)"),
    ("intel-mpi", r"Intel\(R\) MPI Library[^\n]{0,200}?Version\s+(\d[\w.]*)"),
    ("cray-mpich", r"CRAY MPICH version\s+(\d[\w.]*)"),
    ("mvapich", r"^MVAPICH(?:2|2-\w+|-\w+)?(?:\s+Version:)?\s+(\d[\w.]*)"),
    ("mpich", r"^MPICH Version:\s+(\d[\w.]*)"),
)  # fmt: skip
_COMPILED = tuple((name, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for name, pattern in _WORDS)
_OTHER = re.compile(r"^(?:mpiexec|mpirun)? ?(?:PALS|slurm|srun)\b|^mpiexec version \d", re.IGNORECASE | re.MULTILINE)
_DEVICE = re.compile(r"Device:\s*(ch\d:\S+)|--with-device=(ch\d:[\w:,+-]+)|^(ch\d:\S+)\s*$", re.MULTILINE)


def identify(program: Program) -> Told | None:
    """What a program tells; None where it failed or its words are not known."""
    if program.rc != 0:
        return None
    text = program.text
    if program.name == "ompi_info":
        version = re.search(r"^(?:(?:ompi|smpi):version:full:|(?:Open|IBM Spectrum) MPI )v?(\d\S*)", text, re.MULTILINE)
        if version is None:
            return None
        spectrum = re.search(r"Spectrum MPI", text, re.IGNORECASE) is not None
        return Told("spectrum-mpi" if spectrum else "openmpi", version[1], fabrics_of_ompi_info(text))
    if "HYDRA build details" in text:
        if _device(text).startswith(("ch3:mrail", "ch3:psm")):
            return Told("mvapich", None, fabrics_of_device(_device(text)))
        return Told(HYDRA)
    for name, pattern in _COMPILED:
        found = pattern.search(text)
        if found is not None:
            device = _device(text)
            fabrics = fabrics_of_device(device) if device else None
            return Told(
                name, found[1], ("ofi", "shared-memory") if name == "intel-mpi" and _since_2019(found[1]) else fabrics
            )
    return Told("other") if _OTHER.search(text) else None


def _since_2019(version: str) -> bool:
    """From 2019 on Intel MPI has libfabric alone."""
    year = version.partition(".")[0]
    return year.isdigit() and int(year) >= 2019


def _device(text: str) -> str:
    found = _DEVICE.search(text)
    return next((group for group in found.groups() if group), "") if found else ""


_COMPONENTS = {
    "pml:ucx": "ucx", "btl:uct": "ucx", "mtl:ofi": "ofi", "btl:ofi": "ofi", "btl:openib": "verbs", "mtl:psm": "psm",
    "mtl:psm2": "psm2", "mtl:mxm": "mxm", "pml:yalla": "mxm", "btl:ugni": "ugni", "btl:usnic": "usnic",
    "mtl:portals4": "portals4", "btl:portals4": "portals4", "pml:pami": "pami", "btl:tcp": "tcp",
    "btl:vader": "shared-memory", "btl:sm": "shared-memory",
}  # fmt: skip


def fabrics_of_ompi_info(text: str) -> tuple[str, ...] | None:
    """What Open MPI's components reach; None where no component is listed."""
    found = re.findall(r"^mca:((?:pml|mtl|btl):\w+):version:", text, re.MULTILINE)
    if not found:
        return None
    return tuple(sorted({_COMPONENTS[name] for name in found if name in _COMPONENTS}))


def fabrics_of_device(device: str) -> tuple[str, ...] | None:
    """What an MPICH device reaches: `ch4:ucx`, `ch3:nemesis:tcp`, `ch3:mrail`; None where it does not tell."""
    kind, _, rest = device.strip().partition(":")
    parts = [part for part in re.split(r"[:,+]", rest) if part]
    if kind == "ch4" and parts:
        return tuple(part for part in parts if part in ("ofi", "ucx")) or None
    if kind == "ch3" and parts[:1] == ["mrail"]:
        return ("verbs",)
    if kind == "ch3" and parts[:1] == ["nemesis"]:
        return tuple(parts[1:]) or ("tcp",)
    return (parts[0],) if kind == "ch3" and parts and parts[0].startswith("psm") else None
