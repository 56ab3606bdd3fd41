"""What `qstat -f` and `pbsnodes` print, as flat records: text (any version) or JSON (PBS 14 and later).

The dialects ask for text: it shows every job that was asked for, where JSON of some versions showed only the first,
and it keeps values as they are, where JSON turns `007` into 7 and breaks on quotes and control characters in a value.
JSON is understood all the same, broken JSON as far as single records can be told apart.

In a record the first value of a name counts, because names that decide (state, queue) are printed before the values
that users choose.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Record", "Records", "read_records"]

_HEADER = re.compile(r"(?:(?:Job Id|Queue|Server): )?(\S.{0,255})")
_ATTRIBUTE = re.compile(r"^(?!\t\S)[ \t]+([A-Za-z_][\w.-]*) = ?(.*(?:\n\t\S.*)*)$", re.MULTILINE)
_BLANKS = (" \n", "\t\n", "\r", " =  ", " = \t")
"""Where a value may have blanks around it."""
_UNINDENTED = re.compile(r"\n(?=[^\s])")
_KINDS = ("Jobs", "Queue", "Server", "nodes")


class Record(NamedTuple):
    """One job, queue, server or node; names of resources with a dot (`Resource_List.walltime`)."""

    name: str
    values: dict[str, str]
    mended: bool = False
    """The JSON around it was broken: what it says is a hint, and no end of a job."""


class Records(NamedTuple):
    """What was read, and why the answer as a whole is not to be trusted (empty: it is)."""

    records: list[Record]
    trouble: str = ""


def read_records(
    text: str, *, wanted: frozenset[str] | None = None, containing: str = "", only: frozenset[str] | None = None
) -> Records:
    """Records of the text or JSON.

    Args:
        text: stdout of the command.
        wanted: numbers of jobs; others are passed over without being read (200,000 jobs are many).
        containing: only records whose text has this.
        only: names of attributes to keep; None: all.

    """
    stripped = text.lstrip()
    if stripped[:1] == "{":
        return _json(stripped)
    records: list[Record] = []
    bad = ""
    for block in _blocks(text):
        if wanted is not None:
            head = block[8:40] if block.startswith("Job Id: ") else block[:32]
            if re.split(r"[.\[\s]", head, maxsplit=1)[0] not in wanted:
                continue
        if containing and containing not in block:
            continue
        record = _block(block, only)
        if record is None:
            bad = bad or f"the answer is not what was asked for: {' '.join(block.split())[:120]}"
        else:
            records.append(record)
    return Records(records, bad)


def _blocks(text: str) -> Iterator[str]:
    """Pieces that begin with a line that is not indented."""
    start = 0
    while start < len(text):
        following = _UNINDENTED.search(text, start)
        end = following.start() if following is not None else len(text)
        block = text[start:end]
        start = end + 1
        if block.strip():
            yield block


@functools.cache
def _attributes_of(only: frozenset[str]) -> re.Pattern[str]:
    """These attributes alone: most lines of a record are not looked into. A line that begins with a tab goes on."""
    names = "|".join(re.escape(name) for name in sorted(only))
    return re.compile(rf"^(?!\t\S)[ \t]+({names}) = ?(.*(?:\n\t\S.*)*)$", re.MULTILINE)


def _plain(block: str, at: int, only: frozenset[str]) -> dict[str, str]:
    """The same where each line has four blanks before it, as qstat writes them; empty where it is to be read anew."""
    values: dict[str, str] = {}
    for line in block[at:].split("\n    "):
        name, _, value = line.partition(" = ")
        if name in only and name not in values:
            if "\n" in value:
                value = value.replace("\n\t", "")
                if "\n" in value:
                    return {}
            values[name] = value.strip()
    return values


def _block(block: str, only: frozenset[str] | None) -> Record | None:
    at = block.find("\n")
    header = _HEADER.fullmatch(block[:at].rstrip()) if at > 0 else None
    if header is None:
        return None
    if only is not None and (values := _plain(block, at, only)):
        return Record(header[1], values)
    found = (_ATTRIBUTE if only is None else _attributes_of(only)).findall(block, at + 1)
    found.reverse()  # the first value of a name counts
    values = dict(found)
    for name, value in values.items():
        if "\n\t" in value:
            # Long values go on in lines that begin with a tab; they are cut anywhere, so nothing is put in between.
            values[name] = value.replace("\n\t", "")
    if any(blank in block for blank in _BLANKS) or block[-1:].isspace():
        values = {name: value.strip() for name, value in values.items()}
    return Record(header[1], values) if values or _ATTRIBUTE.search(block, at + 1) is not None else None


def _json(text: str) -> Records:
    try:
        document = json.loads(text, strict=False, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return _mended(text)
    if not isinstance(document, dict):
        return Records([], "the answer is no JSON object")
    if not ({"timestamp", "pbs_version", "pbs_server"} & document.keys() or any(kind in document for kind in _KINDS)):
        return Records([], "the answer is JSON, but not of PBS")
    records: list[Record] = []
    for kind in _KINDS:
        found = document.get(kind)
        if isinstance(found, dict):
            records.extend(Record(str(name), _flat(value)) for name, value in found.items() if isinstance(value, dict))
    return Records(records)


def _flat(value: dict[str, object], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            if name == "Variable_List":
                flat[name] = ",".join(f"{key}={_word(one)}" for key, one in item.items())
            else:
                flat.update(_flat(item, f"{prefix}{name}."))
        elif item is not None:
            flat[f"{prefix}{name}"] = _word(item)
    return flat


def _word(item: object) -> str:
    if isinstance(item, list):
        return ", ".join(_word(one) for one in item)
    return str(item)


_KEY = re.compile(r"\"(\d{1,12}(?:\[\d*\])?\.[\w.-]+)\"\s*:\s*\{")
_FIELD = re.compile(
    r"\"(job_state|queue|Job_Name|comment|substate|Exit_status|exec_host|Hold_Types|ctime|stime)\"\s*:\s*"
    r"(?:\"((?:[^\"\\]|\\.)*)\"|([\d.+-]+))(?=\s*[,}])"
)


def _mended(text: str) -> Records:
    """Jobs of JSON that is broken somewhere: each by itself, so that one value of one job hides no other."""
    keys = list(_KEY.finditer(text))
    records: list[Record] = []
    lost: list[str] = []
    names = [key[1] for key in keys]
    for key, after in itertools.zip_longest(keys, keys[1:]):
        values: dict[str, str] = {}
        for field in _FIELD.finditer(text, key.end(), after.start() if after is not None else len(text)):
            values.setdefault(field[1], field[2] if field[2] is not None else field[3])
        # A name that comes twice may be another job's value that looks like a record.
        if "job_state" in values and names.count(key[1]) == 1:
            records.append(Record(key[1], values, mended=True))
        else:
            lost.append(key[1])
    told = f"; not readable: {', '.join(lost[:5])}" if lost else ""
    return Records(records, f"the answer is broken JSON{told}")
