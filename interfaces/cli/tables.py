"""What people see: proposals as a table with reasons, a thread's story, predicted against happened."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dragoman.model import JsonObject
from dragoman.request import JobRequest
from dragoman.units import format_bytes, format_duration
from providers.translation.dispatch import script_for

__all__ = [
    "clean",
    "console",
    "print_error_end",
    "print_outcome",
    "print_problem",
    "print_proposals",
    "print_question",
    "print_threads",
    "start_words",
]

_COLOURS = {
    "READY": "green",
    "BUSY": "yellow",
    "INCOMPATIBLE": "red",
    "NEEDS_INFORMATION": "cyan",
    "UNKNOWN": "magenta",
}


_MOST_CHANGED = 200


def console() -> Console:
    """On stdout, for what was asked for; progress and advice go to stderr (`say`). Colours at a terminal only."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 140)


def clean(text: object) -> str:
    """Text from elsewhere, for a terminal: control characters made visible, markup inert."""
    shown = "".join(character if character.isprintable() or character == "\n" else "�" for character in str(text))
    return escape(shown)


def print_proposals(document: JsonObject) -> None:
    """The proposals, the selected one first."""
    selection = _object(document.get("selection"))
    ranks = {str(_object(each).get("site")): _object(each) for each in _list(selection.get("ranking"))}
    table = Table("", "site", "verdict", "start", "cost", "why", show_lines=False, expand=False)
    order = {name: place for place, name in enumerate(ranks)}
    proposals = [_object(each) for each in _list(document.get("proposals"))]
    for each in sorted(proposals, key=lambda one: order.get(str(one["site"]), len(order))):
        verdict, site = str(each["verdict"]), str(each["site"])
        rank = ranks.get(site, {}).get("rank")
        start = {"expected_s": each.get("expected_start_s"), **_object(each.get("start"))}
        # One below the other: the column stays narrow, so that names of sites are not broken.
        narrow = start_words(start).replace(", ", "\n").replace(" (", "\n(")
        when = "" if verdict not in ("READY", "BUSY") else clean(narrow)
        reasons = "; ".join(clean(reason) for reason in _list(each.get("reasons"))[:4])
        hints = [clean(hint) for hint in _list(each.get("would_fit"))[:2]]
        why = reasons + "".join(f"\n→ {hint}" for hint in hints)
        marker = "→" if site == selection.get("site") else str(rank or "")
        simulated = " (simulated)" if each.get("simulated") else ""
        colour = _COLOURS.get(verdict, "white")
        table.add_row(marker, clean(site) + simulated, f"[{colour}]{verdict}[/]", when, _cost(each), why)
    console().print(table)
    if selection.get("why"):
        console().print(f"selected: {clean(selection.get('site') or 'none')} ({clean(selection['why'])})")
    selected = next((each for each in proposals if each["site"] == selection.get("site")), {})
    _print_command(selected)
    _print_translation(_object(_object(document.get("request")).get("request")), selected)


def start_words(start: JsonObject) -> str:
    """When a job would start: what is expected, between what bounds, and who says so."""
    expected, low, high = (_number(start.get(key)) for key in ("expected_s", "low_s", "high_s"))
    if expected == 0 and (not high or start.get("now") == "yes"):
        return "now"
    words = format_duration(expected)
    if low is not None and high is not None and (low, high) != (expected, expected):
        words += f", {format_duration(low)} to {format_duration(high)}"
    elif low is not None and high is None:
        words += f", {format_duration(low)} at least" if low != expected else " at least"
    elif low is None and high is not None:
        words += f", {format_duration(high)} at most"
    method = str(start.get("method") or "none")
    return words if method == "none" else f"{words} ({method})"


def _print_translation(given: JsonObject, proposal: JsonObject) -> None:
    """What changes in a script that was written for another scheduler than the selected site's."""
    script, scheduler = given.get("script"), str(proposal.get("scheduler") or "")
    if not script or not scheduler or given.get("script_dialect") in (None, scheduler):
        return
    request = JobRequest.model_validate(given)
    before, after = (text.splitlines() for text in (str(script), script_for(str(script), request, scheduler)))
    names = clean(given["script_dialect"]), f"{clean(scheduler)}, at {clean(proposal.get('site'))}"
    lines = list(unified_diff(before, after, *names, lineterm=""))
    console().print("the script would change so:" if lines else f"the script stays as it is for {clean(scheduler)}")
    for line in lines[:_MOST_CHANGED]:
        console().print(f"  {clean(line)}", soft_wrap=True)
    if len(lines) > _MOST_CHANGED:
        console().print(f"  [{len(lines) - _MOST_CHANGED} more lines]", markup=False)


def _print_command(proposal: JsonObject) -> None:
    """The whole command at the selected site, and what was put around it and why."""
    command = proposal.get("command")
    if not command:
        return
    lines = str(command).splitlines()
    console().print("it would run:")
    for line in lines[:30]:
        console().print(f"  {clean(line)}", soft_wrap=True)
    if len(lines) > 30:
        console().print(f"  [{len(lines) - 30} more lines]", markup=False)
    for note in _list(proposal.get("command_notes"))[:10]:
        console().print(f"  ({clean(note)})", soft_wrap=True)


def _cost(proposal: JsonObject) -> str:
    amount, unit = _number(proposal.get("cost")), str(proposal.get("cost_unit") or "none")
    if amount is None:
        return "unknown"
    return f"{amount:g}" if unit == "none" else f"{amount:g} {clean(unit)}"


def print_problem(asked: JsonObject) -> None:
    """What was wrong with the answer that was given before, if one was."""
    if asked.get("problem"):
        console().print(f"[bold]that cannot be used:[/] {clean(asked['problem'])}")


def print_question(asked: JsonObject) -> None:
    """A question to the person, with its options."""
    print_problem(asked)
    console().print(clean(asked.get("question") or asked.get("why") or "The thread waits for an answer."))
    for option in _list(_object(asked.get("about")).get("options")):
        console().print(f"  - {clean(_object(option).get('label'))}")


def print_outcome(document: JsonObject) -> None:
    """How it ended: results, and what was predicted against what happened."""
    words = clean(document.get("words") or document["state"])
    console().print(f"[bold]{clean(document['state'])}[/]: {words}")
    submission, results = _object(document.get("submission")), _object(document.get("results"))
    if submission:
        where = f"{clean(submission.get('site'))} ({clean(submission.get('scheduler'))})"
        console().print(f"job {clean(submission.get('job_id'))} at {where}, tag {clean(submission.get('tag'))}")
    if results.get("dir"):
        console().print(f"results in {clean(results['dir'])}")
        for entry in _list(results.get("files"))[:20]:
            file = _object(entry)
            console().print(
                f"  {clean(file['name'])}  {format_bytes(int(str(file['bytes'])))}  sha256 {str(file['sha256'])[:16]}…"
            )
    _print_prediction(_object(document.get("prediction")))


def print_error_end(document: JsonObject, lines: int = 10) -> None:
    """The last lines of a failed job's stderr, where it was brought back."""
    folder = _object(document.get("results")).get("dir")
    file = Path(str(folder)) / "stderr.log"
    if not folder or not file.is_file():
        return
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - 8192))
        end = stream.read().decode("utf-8", "replace").splitlines()[-lines:]
    for line in end:
        console().print(f"  stderr: {clean(line)}")


def _print_prediction(prediction: JsonObject) -> None:
    happened = _object(prediction.get("happened"))
    if not happened:
        return
    table = Table("", "predicted", "happened")
    table.add_row(
        "start", format_duration(_number(prediction.get("start_s"))), format_duration(_number(happened.get("start_s")))
    )
    wall = _number(prediction.get("walltime_s"))
    table.add_row(
        "run",
        f"at most {format_duration(wall)}" if wall else "no limit stated",
        format_duration(_number(happened.get("run_s"))),
    )
    cost = _number(prediction.get("cost"))
    table.add_row(
        "cost",
        "unknown" if cost is None else f"at most {cost:g}",
        "not told by the site" if cost else "0" if cost == 0 else "unknown",
    )
    console().print(table)


def print_threads(lines: Sequence[JsonObject]) -> None:
    """Threads, the newest first."""
    table = Table("thread", "state", "request", "changed")
    for line in lines:
        table.add_row(
            str(line["thread_id"])[:8], clean(line["state"]), clean(line["title"]), str(line["updated_at"])[:19]
        )
    console().print(table)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
