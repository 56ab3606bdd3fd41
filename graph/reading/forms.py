"""A request as a form: the fields of the model, and the short spellings that people use for their values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import ContainerNeed, InputFile, JobRequest, OutputFile, SoftwareNeed, Source
from dragoman.secrets import redact
from dragoman.shape import Shape
from graph.reading.arrays import parse_array, read_arrays
from graph.reading.commands import split_command
from graph.reading.counts import read_counts
from graph.reading.document import NoForm, check_letters
from graph.reading.draft import Draft
from graph.reading.empty_values import says_nothing
from graph.reading.environment import variable
from graph.reading.form_files import file_names, no_file
from graph.reading.gpu_facts import give_what_gpus_have
from graph.reading.gpus import read_gpus
from graph.reading.launchers import read_launch
from graph.reading.lexicon import NUMBER_WORDS
from graph.reading.line import Line
from graph.reading.memory import read_memory
from graph.reading.merge import refusal
from graph.reading.moments import read_moments
from graph.reading.platform import read_platform
from graph.reading.software import read_software
from graph.reading.submit_lines import is_submit_line
from graph.reading.times import read_times
from graph.reading.told_commands import open_quote
from graph.reading.wishes import read_wishes

__all__ = ["FORM_FIELDS", "read_form"]

_ALIASES = {
    "env": "environment", "cmd": "command", "time": "walltime", "time_limit": "walltime", "walltime_s": "walltime_s",
    "project": "account", "partition": "queue", "policy": "objective", "mem": "memory", "container": "containers",
    "network": "networks", "input": "inputs", "output": "outputs", "results": "outputs", "job_name": "name",
    "site": "sites", "dependency": "dependencies", "ranks": "tasks", "ntasks": "tasks", "cores": "cpus",
    "start": "start_after", "filesystems": "storage", "local_disk": "local_disk_bytes",
    "ntasks_per_node": "tasks_per_node", "filesystem": "storage", "file_system": "storage", "license": "licenses",
    "interconnect": "networks", "fabric": "networks",
}  # fmt: skip
_SHAPE = frozenset(Shape.model_fields)
FORM_FIELDS = frozenset(JobRequest.model_fields) | _SHAPE | frozenset(_ALIASES) | {"walltime"} - {"sources"}
_WRITTEN = {
    "gpus_per_node": "write gpus: 4 per node", "gpu": "write gpus: 4 per node, or gpus: 8", "ngpus": "write gpus: 8",
    "gpus_per_task": "write gpus: {count: 1, per: task}", "gres": "write gpus: 4 per node",
    "mem_per_cpu": "write memory: 4 GB per core", "memory_per_cpu": "write memory: 4 GB per core",
    "memory_per_core": "write memory: 4 GB per core", "memory_per_node": "write memory: 64 GB per node",
    "mem_per_node": "write memory: 64 GB per node", "mem_per_gpu": "write memory: 16 GB per GPU",
    "ppn": "write tasks_per_node", "count": "write nodes: 4, or tasks: 8",
    "threads": "write cpus_per_task",
    "image": "write containers: [{image: IMAGE}]",
}  # fmt: skip
"""How to write what others have a field for."""


_MISTYPED = 0.8
"""How like a field a label is that can only be meant for it."""


def _unknown(name: str, known: frozenset[str], where: str = "") -> BadRequest:
    written = _WRITTEN.get(name.lower().replace("-", "_"))
    if written:
        return NoForm(f"there is no field {name!r}", where=where or name, cure=written)
    near = difflib.get_close_matches(name.lower()[:64], known, 1, 0.5)
    what, place = f"there is no field {redact(name[:80])!r}", where or name[:80]
    cure = f"did you mean {near[0]!r}?" if near else f"known fields: {', '.join(sorted(known)[:40])}"
    mistyped = near and difflib.SequenceMatcher(None, name.lower()[:64], near[0]).ratio() > _MISTYPED
    return (BadRequest if mistyped else NoForm)(what, where=place, cure=cure)


def read_form(given: Mapping[str, Any], draft: Draft) -> dict[str, Any]:
    """Fields of the request; shape fields are left in `shape`. Questions, secrets and sources go to the draft.

    Raises:
        BadRequest: for an unknown field (the nearest is named) or a value that cannot be used.

    """
    fields: dict[str, Any] = {}
    shape: dict[str, Any] = {}
    seen: set[str] = set()
    for raw, value in given.items():
        if not isinstance(raw, str):
            raise BadRequest("a field's name must be text", where="request", cure="name a field of the request")
        check_letters(raw, "request")
        check_letters(value, raw)
        said = raw.lower().replace("-", "_")
        name = _ALIASES.get(said, said)
        if name not in FORM_FIELDS:
            raise _unknown(raw, FORM_FIELDS)
        if value is None or (isinstance(value, str) and says_nothing(draft, raw, name, value)):
            continue
        stated = name.removesuffix("_s")
        if stated in seen:
            raise BadRequest(f"{name} is stated twice", where=raw, cure="keep one of them")
        seen.add(stated)
        reader = _READERS.get(name)
        target = shape if name in _SHAPE else fields
        if reader is not None:
            reader(draft, target, raw, value)
        else:
            target[name] = _strict(name, value)
        if name not in ("environment", "sources", "schema_version"):
            path = f"shapes.0.{name}" if name in _SHAPE else name
            draft.sources.append(
                Source(field=path, words=redact(f"{raw}: {_short(value)}")[:2000], origin=draft.origin)
            )
    _check_shape_entries(fields)
    if shape:
        fields["shape"] = shape
    return fields


def _strict(name: str, value: Any) -> Any:  # noqa: ANN401  # form values are of any kind
    if isinstance(value, bool) and name in ("nodes", "tasks", "cpus", "tasks_per_node", "cpus_per_task", "walltime_s"):
        raise BadRequest("true or false is no number", where=name, cure="give a whole number")
    if isinstance(value, str) and name in (
        "nodes",
        "tasks",
        "cpus",
        "tasks_per_node",
        "cpus_per_task",
        "cpus_per_node",
    ):
        cleaned = re.fullmatch(r"\s*(\d{1,9})\s*", value)
        if cleaned is None:
            number = NUMBER_WORDS.get(value.strip().lower(), 4)
            more = re.match(r"\s*\d{1,9}\s*[^\d\s.,]", value)  # `4 (exclusive)`, `2-4`: words say it
            raise (NoForm if more else BadRequest)(
                f"{value[:80]!r} is no whole number", where=name, cure=f"give a whole number, such as {number}"
            )
        return int(cleaned[1])
    if isinstance(value, str) and name in ("sites", "sites_not", "queues", "licenses", "native_options", "notes"):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _check_shape_entries(fields: dict[str, Any]) -> None:
    for group in ("shapes", "components"):
        entries = fields.get(group)
        for index, entry in enumerate(list(entries) if isinstance(entries, list | tuple) else []):
            if isinstance(entry, Mapping):
                for name in entry:
                    if name not in _SHAPE:
                        raise _unknown(str(name), _SHAPE, f"{group}.{index}.{str(name)[:80]}")


def _short(value: Any) -> str:  # noqa: ANN401  # form values are of any kind
    return str(value)[:500]


def _by_rules(draft: Draft, text: str, where: str, *rules: Callable[[Draft], None]) -> Draft:
    """Read one value with the rules for words; all of it must be understood."""
    if any(ord(letter) < 32 for letter in text):
        raise BadRequest("control characters are not allowed here", where=where, cure="give one line of plain text")
    part = Draft(Line(text), draft.now, draft.time_zone, origin=draft.origin)
    for rule in rules:
        rule(part)
    if re.search(r"[^\s\x00,.;]", part.line.open):
        raise BadRequest(
            f"{redact(text)[:120]!r} is not understood", where=where, cure=_CURES.get(where, "see the schema")
        )
    draft.questions.extend(part.questions)
    draft.defaults.extend(part.defaults)
    part.questions, part.defaults = [], []
    return part


_CURES = {
    "walltime": "write it like 2h30, 90 min or 02:00:00", "memory": "write it like 64 GB per node",
    "gpus": "write it like 4 per node, or 8 A100", "budget": "write it like 50 node-hours",
    "deadline": "write it like 2026-12-01T08:00+01:00", "start_after": "write it like 2026-12-01T08:00+01:00",
    "software": "write it like gromacs>=2024.1",
    "dependencies": 'write it like {"kind": "afterok", "job_id": "1234"}, or afterok:1234',
    "containers": 'write it like {"runtimes": ["apptainer"], "image": "docker://ubuntu:22.04"}',
    "storage": 'write it like {"kinds": ["lustre"]}', "networks": 'write it like {"fabrics": ["infiniband"]}',
    "mpi": 'write it like {"implementations": ["openmpi"], "version": ">=4.1"}',
}  # fmt: skip


def _walltime(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    text = str(value).strip()
    if re.fullmatch(r"[1-9]\d*(\.\d+)?", text) or isinstance(value, bool):
        raise BadRequest(f"{text} has no unit", where=where, cure="write 90 min or 2h, or give walltime_s in seconds")
    part = _by_rules(draft, text, "walltime", read_times)
    if "walltime_s" in part.fields:
        fields["walltime_s"] = part.fields["walltime_s"]


def _walltime_s(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    if str(value).strip() in ("0", "0.0"):
        draft.default("'walltime_s: 0': no time limit is asked for; sites apply their own, so set one")
        return
    fields["walltime_s"] = _strict("walltime_s", value)


def _amount(unit: str) -> Callable[[Draft, dict[str, Any], str, Any], None]:
    def read(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
        if isinstance(value, Mapping):
            fields[unit] = dict(value)
            return
        text = str(value).strip()
        if unit == "gpus" and (text.isdigit() or re.match(r"\d+ ?(?:per|/|each)", text)):
            text = re.sub(r"^(\d+)", r"\1 gpus", text)
        if unit == "gpus" and text in ("0", "0 gpus"):
            return
        if unit == "memory" and text.isdigit():
            raise BadRequest(f"{text} has no unit", where=where, cure="write it like 64 GB per node")
        part = _by_rules(draft, text, unit, read_gpus, read_memory, read_counts, give_what_gpus_have)
        draft.parts.append(part)

    return read


def _moment(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    name = _ALIASES.get(where.lower(), where.lower())
    text = str(value).strip()
    word = (
        ""
        if re.match(r"(?i)(?:before|by|until|after|not before|from)\b", text)
        else "by "
        if name == "deadline"
        else "after "
    )
    part = _by_rules(draft, word + text, name, read_moments)
    if name in part.fields:
        fields[name] = part.fields[name]


def _command(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    if isinstance(value, str):
        argv = split_command(value)
        if argv is None and open_quote(value):
            raise BadRequest("a quotation does not end", where=where, cure="close it, or give a list of arguments")
        if argv is None:
            fields["script"] = value + "\n"
            draft.default(f"{redact(value)[:200]!r} needs a shell and is run as a script, as written")
            return
        _no_submit_line(where, argv)
        launch = read_launch(argv)
        draft.unread.extend(launch.unknown)
        draft.fields["launched"] = launch
        fields["command"] = launch.argv
        return
    if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
        _no_submit_line(where, value)
    fields["command"] = tuple(value) if isinstance(value, list | tuple) else value


def _script(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    fields[where.lower()] = value
    text = value.strip() if isinstance(value, str) else ""
    if re.fullmatch(r"[\w.~@+/-]*[./][\w@+/-][\w.@+/-]*", text):
        draft.default(f"the script is one line that runs {redact(text)[:200]!r}; that file is not opened by its name")


def _no_submit_line(where: str, argv: Sequence[str]) -> None:
    if is_submit_line(argv):
        raise BadRequest(
            "this line hands a job in, and is not what the job runs", where=where,
            cure="give its options as fields and its script as `script`, or run `dragoman run -f FILE` with the script",
        )  # fmt: skip


def _each(value: Any) -> list[Any]:  # noqa: ANN401
    return list(value) if isinstance(value, list | tuple) else [value]


def _software(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    needs: list[Any] = []
    for index, item in enumerate(_each(value)):
        if not isinstance(item, str):
            needs.append(item)
        elif re.fullmatch(r"[A-Za-z0-9][\w+.-]*( [\w+.-]*[A-Za-z][\w+.-]*)?", item) and not re.search(r" v?\d", item):
            needs.append(SoftwareNeed(name=item))
        else:
            part = _by_rules(draft, f"run {item}", "software", _drop_first, read_software)
            if len(part.fields.get("software", [])) != 1:
                raise BadRequest(f"{item[:80]!r} is not understood", where=f"{where}.{index}", cure=_CURES["software"])
            needs += part.fields["software"]
    fields["software"] = tuple(needs)


def _drop_first(draft: Draft) -> None:
    draft.line.claim(0, 4)


def _files(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    name = _ALIASES.get(where.lower(), where.lower())
    items: list[Any] = []
    for index, item in enumerate(part for each in _each(value) for part in file_names(each)):
        if not isinstance(item, str):
            items.append(item)
            continue
        if no_file(item):
            raise NoForm(
                f"{redact(item)[:120]!r} is no file's name", where=f"{name}.{index}", cure="give one path each"
            )
        try:
            items.append(
                OutputFile(pattern=item) if name == "outputs"
                else InputFile(source=item, name=item.rstrip("/").rsplit("/", 1)[-1] if "/" in item else item)
            )  # fmt: skip
        except ValidationError as error:
            raise refusal(error, where=f"{name}.{index}") from error
    fields[name] = tuple(items)


_SEVERAL = re.compile(r"[A-Z_][A-Z0-9_]*=[^\s\"']*(?:\s+[A-Z_][A-Z0-9_]*=[^\s\"']*)+")
"""`DATA_ROOT=/x MODE=fast`: several variables in one value, as a shell would take them."""


def _environment(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
    pairs: list[tuple[str, Any]] = []
    ready: list[Any] = []
    if isinstance(value, Mapping):
        pairs = [(str(name), text) for name, text in value.items()]
    else:
        for index, item in enumerate(_each(value)):
            if isinstance(item, str) and _SEVERAL.fullmatch(item):
                pairs += [(one.partition("=")[0], one.partition("=")[2]) for one in item.split()]
            elif isinstance(item, str) and "=" in item:
                pairs.append((item.partition("=")[0].strip(), item.partition("=")[2]))
            elif isinstance(item, Mapping) and set(item) == {"name", "value"}:
                pairs.append((str(item["name"]), item["value"]))
            elif isinstance(item, Mapping):
                ready.append(dict(item))
            else:
                raise BadRequest("not a variable", where=f"environment.{index}", cure="write NAME=value")
    try:
        for name, text in pairs:
            plain = "" if text is None else str(text).lower() if isinstance(text, bool) else str(text)
            ready.append(variable(draft.secrets, name, plain))
    except ValidationError as error:
        raise refusal(error, where="environment") from error
    fields["environment"] = tuple(ready)


_IMAGE = re.compile(r"(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?/)?[a-z0-9][a-z0-9._/-]*(?::[\w.-]+|@sha256:[0-9a-f]{64})")


def _words(name: str, *rules: Callable[[Draft], None]) -> Callable[[Draft, dict[str, Any], str, Any], None]:
    def read(draft: Draft, fields: dict[str, Any], where: str, value: Any) -> None:  # noqa: ANN401
        if name == "array" and isinstance(value, str):
            body, _, limit = value.strip().partition("%")
            spec = (
                parse_array(body, limit or None)
                if re.fullmatch(r"[\d,:-]{1,4000}", body) and (not limit or limit.isdigit())
                else None
            )
            if spec is None:
                raise BadRequest(f"{value[:80]!r} is no array", where=where, cure="write it like 1-100%10")
            fields[name] = spec
            return
        parts = _each(value)
        if not all(isinstance(part, str) for part in parts):
            fields[name] = value if name in ("budget", "mpi", "array", "objective") else tuple(parts)
            return
        found: list[Any] = []
        for item in parts:
            if name == "objective" and re.fullmatch(r"[a-z-]{3,20}", item) and item in _POLICIES:
                fields[name] = item
                return
            if name == "containers" and _IMAGE.fullmatch(item):
                found.append(ContainerNeed(image=item))
                continue
            part = _by_rules(draft, item, name, *rules)
            result = part.fields.get(name)
            if result is None and not part.questions:
                raise BadRequest(
                    f"{item[:80]!r} is not understood", where=where, cure=_CURES.get(name, "see the schema")
                )
            found += result if isinstance(result, list) else [] if result is None else [result]
        if found:
            fields[name] = found[0] if name in ("budget", "mpi", "objective") else tuple(found)

    return read


_POLICIES = frozenset(
    ("first-ready", "soonest", "min-cost", "queue-depth", "random", "run-anytime", "agentic", "min-energy")
)
_READERS: dict[str, Callable[[Draft, dict[str, Any], str, Any], None]] = {
    "walltime": _walltime, "walltime_s": _walltime_s, "memory": _amount("memory"), "gpus": _amount("gpus"),
    "deadline": _moment, "start_after": _moment, "command": _command, "script": _script, "software": _software,
    "inputs": _files, "outputs": _files, "environment": _environment, "budget": _words("budget", read_wishes),
    "objective": _words("objective", read_wishes), "array": _words("array"),
    "networks": _words("networks", read_platform), "storage": _words("storage", read_platform),
    "containers": _words("containers", read_platform),
    "mpi": _words("mpi", read_platform), "dependencies": _words("dependencies", read_arrays),
}  # fmt: skip
