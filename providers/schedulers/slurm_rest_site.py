"""Partitions and nodes of slurmrestd as the records that `scontrol -o show` prints, so that one reader reads both.

Two shapes of JSON: flat fields of versions up to 0.0.38, nested ones with `{"set": ..., "number": ...}` later.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable

from dragoman.facts import Account
from dragoman.model import Json, JsonObject
from providers.schedulers.base import format_clock
from providers.schedulers.slurm_json import json_number

__all__ = ["account_list", "node_records", "partition_records", "release_of"]


def node_records(text: str) -> str:
    """Lines of `NodeName=...`. Raises `ValueError` for what is no such JSON."""
    return "".join(f"{_line(_node(each))}\n" for each in _items(text, "nodes"))


def partition_records(text: str) -> str:
    """Lines of `PartitionName=...`. Raises `ValueError` for what is no such JSON."""
    return "".join(f"{_line(_partition(each))}\n" for each in _items(text, "partitions"))


def account_list(text: str) -> tuple[Account, ...]:
    """The accounts of associations, by name. Raises `ValueError` for what is no such JSON."""
    found: dict[str, Account] = {}
    for each in _items(text, "associations"):
        name, levels = each.get("account"), each.get("qos")
        if not isinstance(name, str) or not name or not each.get("user"):
            continue
        known = found[name].qos if name in found else ()
        qos = tuple(level for level in levels if isinstance(level, str)) if isinstance(levels, list) else ()
        default = each.get("is_default") is True or (name in found and found[name].default)
        found[name] = Account(name=name, qos=tuple(dict.fromkeys((*known, *qos))), default=default)
    return tuple(found[name] for name in sorted(found))


def release_of(text: str) -> str | None:
    """Slurm's release, which every answer names."""
    match = re.search(r'"release": *"([^"]{1,40})"', text)
    return match[1] if match is not None else None


def _items(text: str, key: str) -> list[JsonObject]:
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    found = data.get(key) if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise ValueError(f"JSON without a list of {key}")
    return [each for each in found if isinstance(each, dict)]


def _line(record: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in record.items() if value)


def _at(item: JsonObject, *path: str) -> Json:
    found: Json = item
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _word(*values: Json) -> str:
    """The first text, or list as `a,b`, without blanks: a record's values have none."""
    for value in values:
        if isinstance(value, list):
            return ",".join("".join(each.split()) for each in value if isinstance(each, str))
        if isinstance(value, str) and value:
            return "".join(value.split())
    return ""


def _number(*values: Json) -> str:
    """The first count; `-1` and what is not set are none."""
    for value in values:
        number = json_number(value)
        if number is not None and math.isfinite(number) and number >= 0:
            return str(int(number))
    return ""


def _mebibytes(*values: Json) -> str:
    found = _number(*values)
    return f"{found}M" if found else ""


def _states(*values: Json) -> str:
    words: list[str] = []
    for value in values:
        words += [value] if isinstance(value, str) else [one for one in value or () if isinstance(one, str)]  # type: ignore[union-attr]
    return "+".join("".join(word.split()).upper() for word in words)


def _node(item: JsonObject) -> dict[str, str]:
    return {
        "NodeName": _word(item.get("name")),
        "State": _states(item.get("state"), item.get("state_flags")),
        "Partitions": _word(item.get("partitions")),
        "CPUAlloc": _number(item.get("alloc_cpus")),
        "CPUEfctv": _number(item.get("effective_cpus")),
        "CPUTot": _number(item.get("cpus")),
        "Sockets": _number(item.get("sockets")),
        "CoresPerSocket": _number(item.get("cores")),
        "ThreadsPerCore": _number(item.get("threads")),
        "RealMemory": _number(item.get("real_memory")),
        "MemSpecLimit": _number(item.get("specialized_memory")),
        "AllocMem": _number(item.get("alloc_memory")),
        "TmpDisk": _number(item.get("temporary_disk")),
        "Gres": _word(item.get("gres")),
        "GresUsed": _word(item.get("gres_used")),
        "CfgTRES": _word(item.get("tres")),
        "AllocTRES": _word(item.get("tres_used")),
        "ActiveFeatures": _word(item.get("active_features")),
    }


def _time(*values: Json) -> str:
    """Minutes as `scontrol` writes them; `-1` and infinite are no limit."""
    for value in values:
        number = json_number(value)
        infinite = isinstance(value, dict) and value.get("infinite") is True
        if infinite or number == -1:
            return "UNLIMITED"
        if number is not None and math.isfinite(number) and number >= 0:
            return format_clock(int(number) * 60, days=True)
    return ""


def _partition(item: JsonObject) -> dict[str, str]:
    flags = {flag.lower() for flag in _texts(item.get("flags"))}
    return {
        "PartitionName": _word(item.get("name")),
        "State": _states(item.get("state", _at(item, "partition", "state"))),
        "Default": "YES" if "default" in flags else "",
        "RootOnly": "YES" if flags & {"root_only", "rootonly"} else "",
        "ReqResv": "YES" if flags & {"require_reservation", "req_resv"} else "",
        "TotalNodes": _number(item.get("total_nodes"), _at(item, "nodes", "total")),
        "MaxTime": _time(item.get("max_time_limit"), _at(item, "maximums", "time")),
        "DefaultTime": _time(item.get("default_time_limit"), _at(item, "defaults", "time")),
        "MinNodes": _number(item.get("min nodes per job"), _at(item, "minimums", "nodes")),
        "MaxNodes": _number(item.get("maximum_nodes_per_job"), _at(item, "maximums", "nodes")),
        "MaxCPUsPerNode": _number(item.get("maximum_cpus_per_node"), _at(item, "maximums", "cpus_per_node")),
        "MaxMemPerNode": _number(item.get("maximum_memory_per_node")),
        "AllowAccounts": _word(item.get("allowed_accounts"), _at(item, "accounts", "allowed")),
        "AllowGroups": _word(item.get("allowed_groups"), _at(item, "groups", "allowed")),
    }


def _texts(value: Json) -> Iterable[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
