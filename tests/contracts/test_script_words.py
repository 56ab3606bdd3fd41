"""What every dialect with scripts must bring along, so that its scripts can be translated: a new one is tested here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragoman.job import JobSpec
from dragoman.shape import Shape
from providers.registry import dialects
from providers.schedulers.script_words import MEANINGS, Fill, Kept, ScriptWords, read_path, write_path
from providers.script_reading import dialect_of_script
from providers.translation import translate
from providers.translation.report import Translation
from providers.translation.translate import dialect_named, translate_script

pytestmark = pytest.mark.parametrize("name", dialects.names())

SAID = Kept(
    name="lammps", interpreter="/bin/bash", stdout=("out.", "log"), stderr=("err.log",), joined=False,
    work_dir="/work/x", mail_to="me@example.org", mail_on=frozenset({"end"}), inherits=True, requeue=True,
)  # fmt: skip
OPTIONS = {"sge": "-pe smp 4", "lsf": "-n 4", "oar": "-l core=4", "pbs": "-l ncpus=4", "torque": "-l procs=4",
           "moab": "-l procs=4", "cobalt": "-n 4", "machine": "--cpus=4", "slurm": "-n 4", "flux": "-n 4",
           "htcondor": "request_cpus = 4"}  # fmt: skip


def words_of(name: str) -> ScriptWords:
    words = getattr(dialect_named(name), "script_words", None)
    assert isinstance(words, ScriptWords), "a dialect that reads or writes scripts says what its scripts say"
    return words


def read_only(name: str) -> bool:
    return bool(getattr(dialects.get(name), "only_scripts", False))


def test_its_variables_are_ours_and_of_its_family(name: str) -> None:
    words = words_of(name)
    assert {*words.variables, *words.also.values(), *words.expressions} <= MEANINGS | {"task"}
    family = re.compile(words.family)
    own = [each for names in words.variables.values() for each in names] + list(words.also)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", each) for each in own)
    assert [each for each in own if family.fullmatch(each) is None and each != "QUEUE"] == []
    assert "HOME" not in own


def test_its_launcher_can_say_how_many_tasks(name: str) -> None:
    for launcher in words_of(name).launchers:
        assert "tasks" in launcher.options.values()
    assert read_only(name) or "tasks" in words_of(name).launchers[0].writes


def test_what_is_kept_is_written_or_told(name: str) -> None:
    """Each field makes an option of its own, or is named as lost; or the whole document says it (work_dir of a pod)."""
    words = words_of(name)
    if read_only(name):
        pytest.skip("no scripts are written for it")
    whole = words.write(SAID)
    for field in ("name", "stdout", "stderr", "work_dir", "mail_to", "mail_on", "requeue"):
        less = words.write(Kept(**{each: getattr(SAID, each) for each in Kept.__slots__ if each != field}))
        said = whole.options != less.options or field in whole.lost
        elsewhere = {("kubernetes", "name"), ("kubernetes", "work_dir"), ("kubernetes", "requeue"), ("lsf", "name"),
                     ("pbs", "work_dir"), ("oar", "mail_on")}  # fmt: skip
        assert said or (name, field) in elsewhere, field


def test_a_name_that_cannot_stand_in_a_directive_is_told(name: str) -> None:
    if read_only(name) or words_of(name).whole is not None or name == "machine":
        pytest.skip("its names are not directives, or are encoded")
    for bad in ("a\nb", "a\x00b"):
        writing = words_of(name).write(Kept(interpreter="/bin/sh", stdout=(bad,), work_dir=bad, mail_to=bad))
        assert not any(bad in option or "\n" in option for option in writing.options)
        assert "stdout" in writing.lost


def test_its_marks_in_file_names_come_back(name: str) -> None:
    words = words_of(name)
    path = tuple(part for fill in words.fills if fill is not Fill.ARRAY for part in ("x-", fill))
    text = write_path(path, words.fills)
    assert text is not None
    assert read_path(text, words.fills) == path


def header(name: str) -> str:
    """Directives that ask for four cores, or four nodes."""
    prefix = words_of(name).prefix
    if name in OPTIONS:
        return f"{prefix} {OPTIONS[name]}\n"
    spec = JobSpec(tag="dgm-0123456789ab-a0", shape=Shape(nodes=4), work_dir="/w/w", control_dir="/w", body="x\n")
    lines = dialect_named(name).render(spec).splitlines()
    return "".join(f"{line}\n" for line in lines if line.startswith(prefix))


def translated(name: str, target: str) -> Translation:
    return translate_script(f"#!/bin/sh\n{header(name)}./app\n", target, source=name)


@pytest.mark.parametrize("target", ["flux", "kubernetes", "lsf", "machine", "oar", "pbs", "sge", "slurm", "torque"])
def test_it_is_translated_to_every_other(name: str, target: str) -> None:
    if name == "kubernetes":
        pytest.skip("it has no scripts to read")
    made = translated(name, target)
    assert (made.source, made.target) == (name, target)
    assert "./app\n" in made.script
    assert made.request.shape.total_cpus == 4 or made.request.shape.node_count == 4


def test_its_own_script_stays_what_it_asks_for(name: str) -> None:
    if name == "kubernetes" or read_only(name):
        pytest.skip("it has no scripts to read, or none are written")
    made = translated(name, name)
    assert made.lost == ()
    assert made.script == f"#!/bin/sh\n{header(name)}./app\n"


def test_the_engine_knows_no_dialect_by_name(name: str) -> None:
    """What differs is a field of its words, so that a new dialect changes nothing there."""
    engine = (Path(translate.__file__).parent).glob("*.py")
    title = words_of(name).title
    named = re.compile(rf"""["']({re.escape(name)}|{re.escape(title)})["']""")
    code = {path.name: re.sub(r'""".*?"""|#.*', "", path.read_text(), flags=re.DOTALL) for path in engine}
    assert [file for file, text in code.items() if named.search(text)] == []


def test_its_scripts_are_known_by_their_directives(name: str) -> None:
    words = words_of(name)
    if words.whole is not None:
        pytest.skip("it has no scripts to read")
    found = dialect_of_script(f"#!/bin/sh\n# a job\n{header(name)}./app\n")
    assert found is not None
    assert words_of(found).prefix == words.prefix


def test_it_is_found_by_its_other_names(name: str) -> None:
    also = words_of(name).also_called
    assert [dialect_named(each.upper()).name for each in also] == [name] * len(also)
