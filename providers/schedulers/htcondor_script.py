"""A job spec as a submit description (condor_submit(1)), and descriptions read back as requests.

condor_submit reads a description, and the job is a program beside it. Ours is one file: the program, in whose comments
`#CONDOR key = value` the description stands, so that people see it and it can be read back. What is handed in is that
description with the program's place. The file system has to be shared (`should_transfer_files = NO`).

A description has no time limit and starts a job again whenever it lost its machine. So each has one rule of its own,
`periodic_remove`, over two attributes of its own, `DragomanWalltime` (seconds) and `DragomanRequeue`. Processes of a
cluster are only counted, so `DragomanArray` has the indices of an array's tasks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import ScriptReading
from dragoman.request import ArrayRange, ArraySpec
from dragoman.shape import Gpus, Memory
from providers.schedulers.directives import Directive, checked
from providers.schedulers.htcondor_status import POOL
from providers.schedulers.job_output import output_lines, scheduler_log
from providers.schedulers.job_script import job_lines
from providers.schedulers.script_draft import Option, ScriptDraft, read_number
from providers.schedulers.script_words import Fill, Kept, ScriptWords, Writing, output_path
from providers.schedulers.slots import (
    array_text,
    gpus_per_node,
    index_lines,
    left_out,
    memory_per_node,
    read_indices,
    refuse,
    slots_of,
)

__all__ = ["CONDOR_WORDS", "description", "read_condor_script", "render_condor_script"]

PREFIX = "#CONDOR"
REMOVE = (
    "(JobStatus == 2 && time() - JobCurrentStartDate > DragomanWalltime)"
    " || (JobStatus == 1 && NumJobStarts > 0 && DragomanRequeue =!= true)"
)
"""An attribute that is not there makes its half undefined, which removes nothing."""
ENVIRONMENT = '"DRAGOMAN_CLUSTER=$(ClusterId) DRAGOMAN_PROC=$(ProcId)"'
"""HTCondor itself tells a job neither its id nor its place in the cluster."""
_REFUSED: Mapping[str, str] = {
    "components": "ask for one shape",
    "queue": "HTCondor has no queues: give what the machines are to have as the constraint",
    "queues": "HTCondor has no queues: give what the machines are to have as the constraint",
    "qos": "take it out",
    "reservation": "take it out",
    "file_systems": "give what the machines are to have as the constraint",
    "dependencies": "hand in the next job when this one has ended, or use DAGMan",
    "start_after": "give deferral_time as a native option: the machine is then kept from its match on",
    "shape.exclusive": "ask for all cores of a machine",
}
_OURS = frozenset({
    "executable", "arguments", "universe", "initialdir", "output", "error", "log", "environment", "getenv",
    "should_transfer_files", "when_to_transfer_output", "notification", "notify_user", "periodic_remove", "queue",
    "+dragomantag", "stream_output", "stream_error",
})  # fmt: skip
_UNITS = {"": 1, "K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}


def _value(value: str, where: str) -> str:
    """A value that no macro and no second line can come out of."""
    if "$" in checked(value, where=where) or value != value.strip() or not value:
        raise BadRequest(f"{value[:60]!r} cannot stand in a submit description", where=where, cure="leave out $")
    return value


def _text(value: str, where: str) -> str:
    if re.search(r"[\"'\\]", _value(value, where)):
        raise BadRequest(f"{value[:60]!r} cannot stand in a submit description", where=where, cure="leave out quotes")
    return value


def _asked(spec: JobSpec) -> list[str]:
    """What the job needs, as lines of a description, `queue` last."""
    # The pool itself is told as a queue, since there are none.
    named = spec.model_copy(update={"queue": None}) if spec.queue == POOL else spec
    refuse(named, "HTCondor", _REFUSED)
    shape, slots = spec.shape, slots_of(spec.shape)
    if (slots.nodes or 1) > 1:
        cure = "ask for one machine; several need the parallel universe, which few pools have"
        raise BadRequest("a job runs on one machine", where="nodes", cure=cure)
    lines = [f"batch_name = {_text(spec.name, 'name')[:100]}.{spec.tag}", f"request_cpus = {slots.total}"]
    memory, gpus = memory_per_node(shape), gpus_per_node(shape)
    if memory is not None:
        lines.append(f"request_memory = {-(-memory // 2**20)}M")
    if gpus:
        lines.append(f"request_gpus = {gpus}")
        if shape.gpus is not None and shape.gpus.model is not None:
            model = re.escape(_text(shape.gpus.model, "gpus.model")).replace("\\ ", " ").replace("\\-", "-")
            lines.append(f'require_gpus = regexp("{_text(model, "gpus.model")}", DeviceName, "i")')
    if shape.local_disk_bytes is not None:
        lines.append(f"request_disk = {-(-shape.local_disk_bytes // 1024)}K")
    if shape.constraint is not None:
        lines.append(f"requirements = {_value(shape.constraint, 'constraint')}")
    if spec.account is not None:
        lines.append(f"accounting_group = {_text(spec.account, 'account')}")
    if spec.priority is not None:
        lines.append(f"priority = {spec.priority}")
    if spec.licenses:
        lines.append(f"concurrency_limits = {','.join(_text(each, 'licenses') for each in spec.licenses)}")
    if spec.walltime_s is not None:
        lines.append(f"+DragomanWalltime = {spec.walltime_s}")
    if spec.requeue:
        lines.append("+DragomanRequeue = true")
    lines.append(f"periodic_remove = {REMOVE}")
    lines += [_native(line) for line in spec.native_options]
    if spec.array is not None:
        lines.append(f'+DragomanArray = "{array_text(spec.array)}"')
    if spec.array is not None and spec.array.at_once is not None:
        lines.append(f"max_materialize = {spec.array.at_once}")
    return [*lines, f"queue {spec.array.size if spec.array is not None else 1}"]


def _native(line: str) -> str:
    match = re.fullmatch(r"(\+?[A-Za-z_][\w.]*)\s*=\s*(.+)", _value(line, "native_options"), re.ASCII)
    if match is None or match[1].lower() in _OURS:
        cure = "write it like rank = Memory"
        raise BadRequest(f"{line[:120]!r} is not taken from a request", where="native_options", cure=cure)
    return f"{match[1]} = {match[2]}"


def description(spec: JobSpec, script: str) -> str:
    """What condor_submit is given; `script` is the program's path."""
    path, log = (_text(text, "control_dir") for text in (script, scheduler_log(spec)))
    each = ".$(ProcId)" if spec.array is not None else ""
    return "\n".join(
        [
            "universe = vanilla",
            "executable = /bin/sh",  # the program need not be executable, nor its file system
            f"arguments = \"'{path}'\"",
            f"initialdir = {_text(spec.work_dir, 'work_dir')}",
            "transfer_executable = false",
            "should_transfer_files = NO",
            f"output = {log}{each}",
            f"error = {log}{each}",
            "getenv = false",
            f"environment = {ENVIRONMENT}",
            "notification = never",
            f'+DragomanTag = "{spec.tag}"',
            *_asked(spec),
            "",
        ]
    )


def render_condor_script(spec: JobSpec) -> str:
    """The program, starting with `#!/bin/sh`.

    Raises:
        BadRequest: a value that cannot stand in a description, or a need that HTCondor has no word for.

    """
    lines = ["#!/bin/sh", *(f"{PREFIX} {line}" for line in _asked(spec)), *left_out(spec)]
    task = ""
    if spec.array is not None:
        lines += index_lines(spec.array, "${DRAGOMAN_PROC:-0}")
        task = "$DRAGOMAN_TASK"
    lines += output_lines(spec, task=task)
    restart = '$(sed -n "s/^NumJobStarts = //p" "${_CONDOR_JOB_AD:-/dev/null}" 2>/dev/null)'
    return "\n".join([*lines, *job_lines(spec, job_id="${DRAGOMAN_CLUSTER:-}", restart=restart, task=task)]) + "\n"


# Reading

_LINE = re.compile(r"\s*(\+?[A-Za-z_][\w.]*)\s*=\s*(.*?)\s*", re.ASCII)
_QUEUE = re.compile(r"\s*queue(?:\s+(\d{1,9}))?\s*", re.IGNORECASE | re.ASCII)


def read_condor_script(text: str) -> ScriptReading:
    """The request that a script with `#CONDOR` lines makes, or a submit description by itself."""
    if not re.search(rf"^{PREFIX}\b", text, re.MULTILINE) and re.search(r"^\s*queue\b", text, re.I | re.MULTILINE):
        text = _as_script(text)
    draft = ScriptDraft(text, "HTCondor", PREFIX)
    for directive in draft.parts.directives:
        queue = _QUEUE.fullmatch(directive.text)
        match = _LINE.fullmatch(directive.text)
        if queue is not None:
            if queue[1] and int(queue[1]) > 1:
                tasks = draft.job.get("array") or ArraySpec(ranges=(ArrayRange(first=0, last=int(queue[1]) - 1),))
                draft.set(directive, directive.text.strip(), array=tasks)
        elif match is None or not match[2]:
            words = f"{directive.text.strip()[:60]!r} is no line of a submit description (write key = value)"
            draft.problem(directive, words)
        else:
            _take(draft, directive, Option(match[1].lower(), (match[2],), f"{match[1]} = {match[2]}"))
    most, array = draft.job.pop("max_materialize", None), draft.job.get("array")
    if isinstance(array, ArraySpec) and isinstance(most, int):
        draft.job["array"] = array.model_copy(update={"at_once": most})
    model, gpus = draft.job.pop("gpu_model", None), draft.shape.get("gpus")
    if isinstance(gpus, Gpus) and isinstance(model, str):
        draft.shape["gpus"] = gpus.model_copy(update={"model": model})
    return draft.finish()


def _as_script(text: str) -> str:
    """A description by itself: its program with its arguments is the body."""
    said = {match[1].lower(): match[2] for line in text.splitlines() if (match := _LINE.fullmatch(line)) is not None}
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    command = f"{said.get('executable', '')} {said.get('arguments', '')}".strip()
    return "\n".join(["#!/bin/sh", *(f"{PREFIX} {line}" for line in lines), command, ""])


def _take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    name, value = option.name, option.value
    number = read_number(value)
    match name:
        case "batch_name" | "jobbatchname" | "+jobbatchname":
            draft.job_name(directive, Option(option.name, (value.strip('"'),), option.written))
        case "request_cpus" | "request_gpus" | "max_materialize" | "+dragomanwalltime" if number is None:
            draft.problem(directive, f"{name} = {value[:40]!r} is no number (write a whole number from 1)")
        case "request_cpus":
            draft.set_shape(directive, option.written, cpus=number)
        case "request_gpus":
            draft.set_shape(directive, option.written, gpus=Gpus.model_validate({"count": number, "per": "job"}))
        case "max_materialize" | "+dragomanwalltime":
            field = "walltime_s" if name.startswith("+") else name
            draft.set(directive, option.written, **{field: number})
        case "request_memory" | "request_disk":
            _size(draft, directive, option)
        case "require_gpus" if model := re.fullmatch(r'regexp\("([^"\\]+)", DeviceName, "i"\)', value):
            draft.job["gpu_model"] = model[1]
        case "requirements" if len(value) <= 256:
            draft.set_shape(directive, option.written, constraint=value)
        case "accounting_group":
            draft.name(directive, option, "account")
        case "priority" if re.fullmatch(r"-?\d{1,6}", value, re.ASCII):
            draft.native(option.written, name)
        case "concurrency_limits":
            draft.set(directive, option.written, licenses=tuple(part.strip() for part in value.split(",")))
        case "+dragomanarray" if ranges := read_indices(value.strip('"')):
            draft.set(directive, option.written, array=ArraySpec(ranges=ranges))
        case "+dragomanrequeue":
            draft.set(directive, option.written, requeue=value.lower() == "true")
        case "periodic_remove" | "environment" if value in (REMOVE, ENVIRONMENT):
            pass  # what we write with every job
        case _ if name in _OURS:
            draft.ours(option.written, name)
        case _:
            draft.native(option.written, name)


def _size(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    """Megabytes of memory or kilobytes of disk, or with a unit."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*([KMGT]?)B?", option.value, re.IGNORECASE | re.ASCII)
    memory = option.name == "request_memory"
    if match is None or float(match[1]) == 0:
        draft.native(option.written, option.name)
        draft.note(directive, f"{option.written[:80]} is kept for HTCondor only")
        return
    unit = match[2].upper() or ("M" if memory else "K")
    amount = round(float(match[1]) * _UNITS[unit] * 2**20)
    if memory:
        draft.set_shape(directive, option.written, memory=Memory.model_validate({"bytes": amount, "per": "node"}))
    else:
        draft.set_shape(directive, option.written, local_disk_bytes=amount)


# Translating


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.add("name", "batch_name = {}", kept.name, lambda text: _text(text, "name"))
    writing.add("work_dir", "initialdir = {}", kept.work_dir, lambda text: _text(text, "work_dir"))
    output_path(
        writing, "stdout", kept.stdout, CONDOR_WORDS.fills, "output = {}", lambda text: checked(text, where="x")
    )
    stderr = kept.stderr if not kept.joined else kept.stdout or kept.stderr
    output_path(writing, "stderr", stderr, CONDOR_WORDS.fills, "error = {}", lambda text: checked(text, where="x"))
    if kept.joined and kept.stdout is None and kept.stderr is None:
        why = "stdout and stderr are joined only in a file that is named (name one with output and error)"
        writing.lost["joined"] = why
    writing.add("mail_to", "notify_user = {}", kept.mail_to, lambda text: _text(text, "mail_to"))
    if kept.mail_on is not None:
        wanted = kept.mail_on - {"begin"}
        word = "never" if not wanted else {"end": "complete", "fail": "error"}.get("".join(wanted), "always")
        writing.options.append(f"notification = {word}")
    if kept.requeue is not None:
        writing.options.append(f"+DragomanRequeue = {str(kept.requeue).lower()}")
    writing.options.append(f"environment = {ENVIRONMENT}")
    if kept.inherits:
        writing.options.append("getenv = true")
    return writing


_HAND_IN: Final = (
    "condor_submit takes descriptions: sed -n 's/^#CONDOR //p' JOB | condor_submit -append executable=JOB -"
)
CONDOR_WORDS: Final = ScriptWords(
    title="HTCondor",
    also_called=("condor",),
    prefix=PREFIX,
    family=r"_CONDOR_\w+|DRAGOMAN_(?:CLUSTER|PROC)",
    inherits=False,
    slots="cores",
    write=_write,
    variables={"job_id": ("DRAGOMAN_CLUSTER",), "array_id": ("DRAGOMAN_CLUSTER",), "task": ("DRAGOMAN_PROC",)},
    commands=frozenset({"condor_submit", "condor_q", "condor_rm", "condor_hold", "condor_release", "condor_history"}),
    own=frozenset({"batch_name", "initialdir", "output", "error", "+DragomanRequeue"}),
    fills={Fill.JOB: "$(ClusterId).$(ProcId)", Fill.ARRAY: "$(ClusterId)"},
    reads={"initialdir": "work_dir", "output": "stdout", "error": "stderr", "notify_user": "mail_to"},
    quiet=(f"periodic_remove = {REMOVE}", f"environment = {ENVIRONMENT}"),
    shared_id=".",
    first_index=0,
    notes=((r"^queue\b", _HAND_IN),),
)  # fmt: skip
