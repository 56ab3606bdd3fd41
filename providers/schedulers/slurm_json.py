"""Slurm's JSON, in the shapes of releases 21.08 to 25.11, as rows like those of the text formats.

Our own commands ask for text, whose fields are ours to choose. JSON is read all the same: sites wrap the commands, and
workers hand over what they have. What changed between releases: a state was a word, then a list with flags; numbers
became `{"set": ..., "infinite": ..., "number": ...}`; accounting nests state, time and exit code.
"""

from __future__ import annotations

import math

from dragoman.model import Json, JsonObject
from providers.schedulers.json_items import decode_items
from providers.schedulers.slurm_rows import Row

__all__ = ["json_number", "json_rows", "json_state"]


_BEYOND = 2**63
"""No number of Slurm's is as large; `Infinity` and `NaN`, which some JSON writers put, are not smaller."""


def json_number(value: Json) -> float | None:
    """A number in any of the shapes: infinite where it says so, None where it is not set."""
    if isinstance(value, dict):
        if value.get("infinite") is True:
            return math.inf
        return json_number(value.get("number")) if value.get("set", True) is True else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _BEYOND:
        return None
    return float(value)


def _whole(value: Json) -> int | None:
    """A count or an id; what is not finite is none."""
    number = json_number(value)
    return int(number) if number is not None and math.isfinite(number) else None


def json_state(value: Json) -> str:
    """A state in any of the shapes, its flags joined by `+` (`RUNNING+CONFIGURING`)."""
    if isinstance(value, dict):
        value = value.get("current")
    words = value if isinstance(value, list) else [value]
    return "+".join(word for word in words if isinstance(word, str))


def json_rows(text: str) -> tuple[list[Row], str]:
    """Jobs of `squeue --json`, `scontrol show job --json` or `sacct --json`, and what is wrong with the answer.

    A controller that is down still answers with exit code 0, no jobs and `errors`.
    """
    try:
        data, jobs = decode_items(text, "jobs", lambda job: _row(job) if isinstance(job, dict) else None)
    except (ValueError, RecursionError) as error:
        return [], f"JSON that cannot be read: {str(error)[:200]}"
    if jobs is None:
        return [], "JSON without a list of jobs"
    errors = data.get("errors")
    trouble = ""
    if isinstance(errors, list) and errors:
        first = errors[0]
        words = first.get("description") or first.get("error") if isinstance(first, dict) else first
        trouble = str(words)[:500] or "the scheduler reported an error"
    rows = [row for row in jobs if row is not None]
    if len(rows) < len(jobs) and not trouble and not rows:
        trouble = "no job in the JSON has an id"
    return rows, trouble


def _row(job: JsonObject) -> Row | None:
    number = _whole(job.get("job_id"))
    if number is None:
        return None
    raw = str(number)
    time = job.get("time")
    times: JsonObject = time if isinstance(time, dict) else {}
    state = job.get("job_state", job.get("state"))
    inner = state.get("reason") if isinstance(state, dict) else ""
    comment = job.get("comment")
    if isinstance(comment, dict):
        comment = comment.get("job")
    nodes = job.get("nodes")
    return Row(
        id=_shown_id(job, raw),
        raw=raw,
        state=json_state(state),
        queue=_text(job.get("partition")),
        submitted=_stamp(job.get("submit_time", times.get("submission"))),
        started=_stamp(job.get("start_time", times.get("start"))),
        ended=_stamp(job.get("end_time", times.get("end"))),
        elapsed=_seconds(times.get("elapsed")),
        nodes=_text(nodes),
        reason=_text(job.get("state_reason", inner)),
        exit=_exit(job.get("exit_code")),
        comment=_text(comment),
        name=_text(job.get("name")),
        restarts=_seconds(job.get("restart_cnt")),
    )


def _shown_id(job: JsonObject, raw: str) -> str:
    array, het = job.get("array"), job.get("het")
    nested: JsonObject = array if isinstance(array, dict) else {}
    base = _whole(job.get("array_job_id", nested.get("job_id")))
    if base:
        task = _whole(job.get("array_task_id", nested.get("task_id")))
        listed = job.get("array_task_string", nested.get("task"))
        if task is not None:
            return f"{base}_{task}"
        return f"{base}_[{listed}]" if isinstance(listed, str) and listed else str(base)
    nested = het if isinstance(het, dict) else {}
    base = _whole(job.get("het_job_id", nested.get("job_id")))
    offset = _whole(job.get("het_job_offset", nested.get("job_offset")))
    return f"{base}+{offset or 0}" if base else raw


def _exit(value: Json) -> str:
    """`3:0`, as the text formats have it, of a raw wait status or of an object."""
    if isinstance(value, dict) and "return_code" in value:
        signal = value.get("signal")
        number = signal.get("id", signal.get("signal_id")) if isinstance(signal, dict) else None
        return f"{_seconds(value.get('return_code')) or 0}:{_seconds(number) or 0}"
    status = json_number(value)
    if status is None or math.isinf(status):
        return ""
    return f"{int(status) >> 8 & 255}:{int(status) & 127}"


def _stamp(value: Json) -> str:
    number = json_number(value)
    return f"@{int(number)}" if number and not math.isinf(number) else ""


def _seconds(value: Json) -> str:
    number = json_number(value)
    return str(int(number)) if number is not None and not math.isinf(number) and number >= 0 else ""


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
