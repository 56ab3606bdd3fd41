"""Real headers to every scheduler: nothing that a directive says is lost without a word."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dragoman.errors import BadRequest
from dragoman.shape import Shape
from providers.registry import dialects
from providers.translation.translate import dialect_named, translate_script, words_of

CAPTURES = Path(__file__).parents[2] / "captures"
HEADERS = sorted(
    path
    for folder in ("slurm_scripts", "pbs_scripts", "flux_scripts", "other_scripts")
    for path in (CAPTURES / folder).glob("*.txt")
)
TARGETS = [name for name, make in dialects.items() if not getattr(make, "only_scripts", False)]
MALFORMED = "malformed-exclude-timemin"
GOOD = [path for path in HEADERS if path.stem != MALFORMED]
LINE = re.compile(r"(#(?:SBATCH|PBS|flux:|BSUB|OAR|COBALT))\s(.*)")
SAID_BY_DEFAULT = re.compile(
    # One is what is meant where no number stands; LSF's one host is one node.
    # Cobalt's mode `script` is how all others run a script.
    r"(?:-N|-c|-n|--nodes|--ntasks|--cpus-per-task|--(?:n)?tasks-per-node)[ =]1|-R span\[hosts=1\]|--mode script"
)
"""Options without which a job is the same."""


def test_there_are_headers_of_each_scheduler_and_every_target_is_tried() -> None:
    assert len(GOOD) >= 20
    assert {"flux", "kubernetes", "lsf", "machine", "oar", "pbs", "sge", "slurm", "torque"} <= set(TARGETS)


def script_of(path: Path) -> list[str]:
    return f"#!/bin/bash\n{path.read_text()}\n./app\n".split("\n")


def options_of(prefix: str, text: str) -> list[str]:
    """Each option of a directive line with its value."""
    if prefix == "#OAR":
        return [text]
    found: list[list[str]] = []
    for word in shlex.split(text, comments=True):
        if found and not re.match(r"-\D", word):
            found[-1].append(word)
        else:
            found.append([word])
    return [" ".join(words) for words in found]


def without(lines: list[str], at: int, option: int) -> str:
    """The script with one option less, its lines counted as before."""
    match = LINE.match(lines[at])
    assert match is not None
    left = [each for number, each in enumerate(options_of(match[1], match[2])) if number != option]
    words = " ".join(
        shlex.quote(word) if re.search(r"[\[\]]", word) else word for each in left for word in each.split()
    )
    return "\n".join([*lines[:at], f"{match[1]} {words}" if left else "# nothing", *lines[at + 1 :]])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_each_option_is_in_the_target_or_told(path: Path, target: str) -> None:
    """Taking an option out changes what is written or what is told, or else it said what is so without it."""
    lines = script_of(path)
    whole = translate_script("\n".join(lines), target)
    silent: list[str] = []
    for at, line in enumerate(lines):
        match = LINE.match(line)
        if match is None or "hetjob" in line:
            continue
        options = options_of(match[1], match[2])
        for number, option in enumerate(options):
            less = translate_script(without(lines, at, number), target, source=whole.source)
            same = less.script.replace("# nothing\n", "") == whole.script and less.report == whole.report
            again = "\n".join(lines).count(option) > 1
            if same and not again and SAID_BY_DEFAULT.fullmatch(option) is None:
                silent.append(option)
    joined = {"slurm": "-j oe", "flux": "-j oe", "lsf": "-j oe", "oar": "--mail-type=ALL"}.get(target)
    assert [option for option in silent if option != joined] == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_what_is_lost_is_named_with_its_line_and_stands_in_the_script(path: Path, target: str) -> None:
    lines = script_of(path)
    made = translate_script("\n".join(lines), target)
    for remark in made.lost:
        assert remark.line is not None, remark
        assert re.sub(r"[\s=\"']", "", remark.words) in re.sub(r"[\s=\"']", "", lines[remark.line - 1])
        assert f"# not translated: line {remark.line}: {remark.words}: " in made.script


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "kubernetes"])
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_the_target_reads_back_what_the_source_asked_for(path: Path, target: str) -> None:
    made = translate_script("\n".join(script_of(path)), target)
    reading = dialect_named(target).read_script(made.script)
    assert reading.problems == ()
    assert reading.interpreter == "/bin/bash"
    assert reading.body.endswith("\n./app\n")
    lost = {source.field for source in made.request.sources for remark in made.lost if source.words == remark.words}
    for field in ("name", "walltime_s", "account", "queue"):
        wanted, got = getattr(made.request, field), getattr(reading.request, field)
        if field == "walltime_s" and target == "lsf" and wanted is not None:
            wanted = -(-wanted // 60) * 60  # bsub counts minutes
        assert got == wanted or field in lost, field
    for field in ("queues", "reservation", "dependencies", "start_after", "requeue", "walltime_min_s"):
        wanted, got = getattr(made.request, field), getattr(reading.request, field)
        assert got == wanted or not wanted or field in lost, field
    words = words_of(dialect_named(target))
    if made.request.array is not None and words is not None and words.first_index is None:  # else the body computes it
        assert reading.request.array == made.request.array or "array" in lost
    asked = made.request.components or (made.request.shape,)
    found = reading.request.components or (reading.request.shape,)
    if any(field.startswith("components") for field in lost):
        return
    assert len(asked) == len(found)
    for one, other in zip(asked, found, strict=True):
        shape_is_the_same(one, other, {field.rpartition(".")[2] for field in lost}, target)


def shape_is_the_same(asked: Shape, found: Shape, lost: set[str], target: str) -> None:
    """Numbers as they are in all; those of one node where none are stated. What was told may differ."""
    counts = {"nodes", "tasks", "tasks_per_node", "cpus_per_task", "cpus_per_node", "cpus"}
    alone = {"nodes": 1} if asked.node_count is None else {}
    asked = asked.model_copy(update=alone)
    if not counts & lost and not asked.exclusive:
        assert asked.total_cpus is None or (found.total_cpus or 1) == asked.total_cpus
        if target not in ("sge", "machine"):  # an environment of one host, and a host, have no number of nodes
            assert (found.node_count or 1) == (asked.node_count or 1)
    if "gpus" not in lost:
        assert found.model_copy(update=alone).total_gpus == asked.total_gpus
        model = asked.gpus.model if asked.gpus is not None else None
        assert (found.gpus.model if found.gpus is not None else None) == model
    if asked.memory is not None and "memory" not in lost:
        assert found.memory is not None
    if asked.exclusive and "exclusive" not in lost:
        assert found.exclusive
    if asked.local_disk_bytes and "local_disk_bytes" not in lost:
        assert found.local_disk_bytes == asked.local_disk_bytes


@pytest.mark.parametrize("target", TARGETS)
def test_a_malformed_directive_is_named_with_its_cure_and_nothing_is_written(target: str) -> None:
    path = next(path for path in HEADERS if path.stem == MALFORMED)
    with pytest.raises(BadRequest, match=r"line 16: --exclude has no value \(give one or delete the line\)") as told:
        translate_script("\n".join(script_of(path)), target)
    assert told.value.exit_code == 2


@pytest.mark.parametrize("target", ["cobalt", "moab"])
def test_no_script_is_written_for_what_no_site_runs(target: str) -> None:
    with pytest.raises(BadRequest, match="read only"):
        translate_script("#!/bin/sh\n#SBATCH -n 1\n./app\n", target)
