"""What the values of sbatch's options mean in our words, one small function an option (sbatch(1))."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from dragoman.request import ArraySpec, ContainerNeed, Dependency, EnvironmentVariable
from dragoman.shape import Gpus, Memory
from providers.schedulers.script_draft import read_name
from providers.schedulers.slots import read_indices
from providers.schedulers.slurm_values import read_gres, read_memory

__all__ = ["JOB_FIELDS", "SHAPE_FIELDS", "Taken", "Unreadable", "read_time_limit"]


class Unreadable(Exception):
    """A value that sbatch would refuse, or whose meaning is not certain; the text names value and cure."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one option says."""

    fields: Mapping[str, object] = field(default_factory=dict)
    native: tuple[str, ...] = ()
    """Options that have to stay as they are, as `name=value`."""
    clears: tuple[str, ...] = ()
    """Fields that this option takes back."""
    note: str = ""


Reader = Callable[[str], Taken]

_COUNT = re.compile(r"(\d{1,9})([kKmM]?)", re.ASCII)
_GPU_MODEL = re.compile(r"[a-z0-9][a-z0-9 ._\-]{0,63}", re.ASCII)


def _number(text: str, *, least: int = 1) -> int:
    match = _COUNT.fullmatch(text.strip())
    number = int(match[1]) * {"": 1, "k": 1024, "m": 1024**2}[match[2].lower()] if match is not None else -1
    if number < least:
        cure = "sbatch expands no variables: write the number" if "$" in text else f"write a whole number from {least}"
        raise Unreadable(f"{text[:60]!r} is no number ({cure})")
    return number


def _count_of(name: str) -> Reader:
    return lambda text: Taken({name: _number(text)})


def _nodes(text: str) -> Taken:
    if "," in text or ":" in text:  # a list of sizes, since 23.11
        return Taken({"nodes": None, "nodes_max": None}, (f"nodes={text}",), note=f"--nodes={text[:80]} lists sizes")
    low, dash, high = text.partition("-")
    lowest = _number(low)
    highest = _number(high) if dash else None
    if highest is not None and highest < lowest:
        raise Unreadable(f"{text[:60]!r} is no range (write the smaller number first)")
    return Taken({"nodes": lowest, "nodes_max": highest if highest != lowest else None})


def _memory_per(per: str, option: str) -> Reader:
    def read(text: str) -> Taken:
        amount = _amount(text)
        if amount == 0:
            return Taken({"memory": None}, (f"{option}=0",), note=f"--{option}=0 asks for all memory of each node")
        return Taken({"memory": Memory(bytes=amount, per=per)})  # type: ignore[arg-type]  # per is one of its words

    return read


def _amount(text: str) -> int:
    amount = read_memory(text)
    if amount is None:
        raise Unreadable(f"{text[:60]!r} is no amount of memory (write it like 64G; without a unit it is megabytes)")
    return amount


def _tmp(text: str) -> Taken:
    return Taken({"local_disk_bytes": _amount(text) or None})


def _gpus_per(per: str, option: str) -> Reader:
    def read(text: str) -> Taken:
        if "," in text:
            return Taken(native=(f"{option}={text}",), note=f"--{option}={text[:80]} asks for several kinds of GPU")
        model, colon, count = text.rpartition(":")
        if not colon and not text[:1].isdigit():
            model, count = text, "1"
        return Taken({"gpus": _gpus(model or None, _number(count, least=0), per)})

    return read


def _gpus(model: str | None, count: int, per: str) -> Gpus | None:
    if count == 0:
        return None
    if model is not None and _GPU_MODEL.fullmatch(model.lower()) is None:
        raise Unreadable(f"{model[:60]!r} is no model of GPU")
    return Gpus(count=count, per=per, model=model.lower() if model is not None else None)  # type: ignore[arg-type]


def _gres(text: str) -> Taken:
    entries = read_gres(text)
    if entries is None:
        raise Unreadable(f"{text[:60]!r} is no list of resources (write it like gpu:a100:2,nvme:1)")
    written = [part.strip() for part in text.split(",")]
    gpus = [entry for entry in entries if entry.name == "gpu"]
    others = [part for part, entry in zip(written, entries, strict=False) if entry.name != "gpu"]
    if len(gpus) > 1:
        return Taken({"gpus": None}, (f"gres={text}",), note=f"--gres={text[:80]} asks for several kinds of GPU")
    native = (f"gres={','.join(others)}",) if others else ()
    taken = {"gpus": _gpus(gpus[0].model, gpus[0].amount, "node")} if gpus else {}
    return Taken(taken, native)


def _exclusive(text: str) -> Taken:
    return Taken({"exclusive": True}, (f"exclusive={text}",) if text else ())


def _oversubscribe(text: str) -> Taken:
    return Taken({"exclusive": False}, ("oversubscribe",))


def _constraint(text: str) -> Taken:
    if len(text) > 256:
        raise Unreadable("the expression is too long (256 characters at most)")
    return Taken({"constraint": text})


SHAPE_FIELDS: dict[str, Reader] = {
    "nodes": _nodes,
    "ntasks": _count_of("tasks"),
    "ntasks-per-node": _count_of("tasks_per_node"),
    "cpus-per-task": _count_of("cpus_per_task"),
    "mem": _memory_per("node", "mem"),
    "mem-per-cpu": _memory_per("cpu", "mem-per-cpu"),
    "mem-per-gpu": _memory_per("gpu", "mem-per-gpu"),
    "tmp": _tmp,
    "gpus": _gpus_per("job", "gpus"),
    "gpus-per-node": _gpus_per("node", "gpus-per-node"),
    "gpus-per-task": _gpus_per("task", "gpus-per-task"),
    "gres": _gres,
    "exclusive": _exclusive,
    "oversubscribe": _oversubscribe,
    "constraint": _constraint,
}
"""Options that a component of a heterogeneous job has for itself."""


def _name(field_name: str) -> Reader:
    def read(text: str) -> Taken:
        if read_name(text) is None:
            raise Unreadable(f"{text[:60]!r} is not usable (letters, digits, blank and . _ + @ / : - only)")
        return Taken({field_name: text})

    return read


def _job_name(text: str) -> Taken:
    if read_name(text) is not None:
        return Taken({"name": text})
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:128]
    if not cleaned:
        return Taken(clears=("name",), note=f"the job's name {text[:60]!r} cannot be kept")
    return Taken({"name": cleaned}, note=f"the job's name {text[:60]!r} becomes {cleaned!r}")


def _partition(text: str) -> Taken:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names or any(read_name(name) is None for name in names):
        raise Unreadable(f"{text[:60]!r} is no name of a partition")
    return Taken({"queue": names[0], "queues": names if len(names) > 1 else ()})


_TIME = re.compile(
    r"(?:(\d{1,6})-(\d{1,6})(?::(\d{1,6}))?(?::(\d{1,6}))?|(\d{1,9})(?::(\d{1,6}))?(?::(\d{1,6}))?)", re.A
)


def read_time_limit(text: str) -> int | None:
    """Seconds of `30` (minutes), `30:00`, `2:00:00`, `3-0`, `3-0:30` or `3-0:30:15`; None for no limit.

    Raises:
        Unreadable: it is no time of sbatch.

    """
    text = text.strip()
    if text.upper() in {"UNLIMITED", "INFINITE", "-1"}:
        return None
    match = _TIME.fullmatch(text)
    if match is None:
        raise Unreadable(f"{text[:60]!r} is no time (write it like 02:00:00 or 1-12:00:00)")
    if match[1] is not None:
        days, hours, minutes, seconds = (int(match[index] or 0) for index in (1, 2, 3, 4))
        total = days * 86400 + hours * 3600 + minutes * 60 + seconds
    elif match[7] is not None:
        total = int(match[5]) * 3600 + int(match[6]) * 60 + int(match[7])
    else:
        total = int(match[5]) * 60 + int(match[6] or 0)
    return total or None


def _time(field_name: str) -> Reader:
    def read(text: str) -> Taken:
        seconds = read_time_limit(text)
        if seconds is None:
            return Taken(clears=(field_name,), note=f"{text[:40]!r} is no limit to Slurm: the site's default is taken")
        short = re.fullmatch(r"\d+:\d+", text.strip())
        note = f"{text} is {seconds // 60} min {seconds % 60} s to Slurm (minutes and seconds)" if short else ""
        return Taken({field_name: seconds}, note=note)

    return read


def _array(text: str) -> Taken:
    indices, percent, at_once = text.partition("%")
    ranges = read_indices(indices)
    if ranges is None:
        raise Unreadable(f"{text[:60]!r} is no list of indices (write it like 0-9, 1,3,5 or 0-20:5%2)")
    return Taken({"array": ArraySpec(ranges=ranges, at_once=_number(at_once) if percent else None)})


_DEPENDENCY = re.compile(r"(afterok|afterany|afternotok|after):(\d+(?:_(?:\d+|\*)|\+\d+)?(?::\d+(?:_\d+)?)*)", re.ASCII)


def _dependency(text: str) -> Taken:
    found: list[Dependency] = []
    for part in text.split(","):
        match = _DEPENDENCY.fullmatch(part.strip())
        if part.strip() == "singleton":
            found.append(Dependency(kind="singleton"))
        elif match is not None and "*" not in part:
            found.extend(Dependency(kind=match[1], job_id=one) for one in match[2].split(":"))  # type: ignore[arg-type]
        else:
            note = f"the dependency {text[:80]!r} is kept for Slurm only"
            return Taken(native=(f"dependency={text}",), clears=("dependencies",), note=note)
    return Taken({"dependencies": tuple(found)})


def _export(text: str) -> Taken:
    """Variables with a value are the job's environment; `ALL` is the default, anything else stays as it is."""
    variables: list[EnvironmentVariable] = []
    rest: list[str] = []
    for part in re.split(r",(?=\s*[A-Za-z_])", text):
        name, equals, value = part.strip().partition("=")
        if equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
            variables.append(EnvironmentVariable(name=name, value=value))
        elif part.strip().upper() != "ALL":
            rest.append(part.strip())
    return Taken({"environment": tuple(variables)}, (f"export={','.join(rest)}",) if rest else ())


def _licenses(text: str) -> Taken:
    return Taken({"licenses": tuple(part.strip() for part in text.split(",") if part.strip())})


def _begin(text: str) -> Taken:
    match = re.fullmatch(r"uts(\d{7,11})", text, re.ASCII)
    if match is not None:
        return Taken({"start_after": datetime.fromtimestamp(int(match[1]), UTC)})
    note = f"--begin={text[:60]} is by the site's clock and is kept for Slurm only"
    return Taken(native=(f"begin={text}",), clears=("start_after",), note=note)


def _image(runtime: str, option: str) -> Reader:
    def read(text: str) -> Taken:
        return Taken({"containers": (ContainerNeed(runtimes=(runtime,), image=text),)}, (f"{option}={text}",))

    return read


JOB_FIELDS: dict[str, Reader] = {
    "account": _name("account"),
    "array": _array,
    "begin": _begin,
    "dependency": _dependency,
    "export": _export,
    "image": _image("shifter", "image"),
    "job-name": _job_name,
    "licenses": _licenses,
    "no-requeue": lambda text: Taken({"requeue": False}),
    "partition": _partition,
    "qos": _name("qos"),
    "requeue": lambda text: Taken({"requeue": True}),
    "reservation": _name("reservation"),
    "time": _time("walltime_s"),
    "time-min": _time("walltime_min_s"),
}
"""Options of the whole job; those of a later component are kept for Slurm."""
