"""What a job's owner is mailed about, event by event."""

from __future__ import annotations

import pytest

from providers.translation.translate import translate_script

TO = {
    "slurm": "--mail-user=a@b.org", "pbs": "-M a@b.org", "torque": "-M a@b.org", "sge": "-M a@b.org",
    "lsf": "-u a@b.org", "oar": "",
}  # fmt: skip
MARK = {"slurm": "#SBATCH", "pbs": "#PBS", "torque": "#PBS", "sge": "#$", "lsf": "#BSUB", "oar": "#OAR"}
SAID = [
    ("slurm", "--mail-type=BEGIN,END"), ("pbs", "-m be"), ("torque", "-m be"), ("sge", "-m be"), ("lsf", "-B\n-N"),
    ("oar", "--notify [RUNNING,END]mail:a@b.org"),
]  # fmt: skip
ON_FAIL = [
    ("slurm", "--mail-type=FAIL"), ("pbs", "-m a"), ("sge", "-m a"), ("lsf", "-Ne"),
    ("oar", "--notify [ERROR]mail:a@b.org"),
]  # fmt: skip


def script(name: str, option: str) -> str:
    lines = [*option.split("\n"), *([TO[name]] if TO[name] else [])]
    return "#!/bin/bash\n" + "".join(f"{MARK[name]} {line}\n" for line in lines) + "./app\n"


@pytest.mark.parametrize("events", [SAID, ON_FAIL], ids=["begin and end", "fail"])
@pytest.mark.parametrize("source", ["slurm", "pbs", "sge", "lsf", "oar"])
def test_the_same_events_are_mailed(source: str, events: list[tuple[str, str]]) -> None:
    known = dict(events)
    for target, option in events:
        if target == source:
            continue
        made = translate_script(script(source, known[source]), target, source=source)
        wanted = option.replace("BEGIN,END", "BEGIN,END,FAIL") if source == "lsf" else option
        if source == "lsf" and events is SAID:  # -N is of all ends
            wanted = {"pbs": "-m abe", "torque": "-m abe", "sge": "-m bea", "oar": "--notify mail:a@b.org"}.get(
                target, wanted
            )
        assert all(f"{MARK[target]} {line}\n" in made.script for line in wanted.split("\n")), made.script
        assert [remark for remark in made.lost if "mail" in remark.why] == []


@pytest.mark.parametrize(
    ("source", "option", "told", "written"),
    [
        ("slurm", "--mail-type=END,TIME_LIMIT_80,REQUEUE", ["TIME_LIMIT_80", "REQUEUE"], "-m e"),
        ("sge", "-m es", ["s"], "-m e"),
        ("oar", "--notify [END,SUSPENDED]mail:a@b.org", ["SUSPENDED"], "-m e"),
    ],
)
def test_events_of_one_scheduler_are_told_and_the_others_stay(
    source: str, option: str, told: list[str], written: str
) -> None:
    made = translate_script(script(source, option), "pbs", source=source)
    assert [remark.words for remark in made.lost] == told
    assert {remark.line for remark in made.lost} == {2}
    assert f"#PBS {written}\n" in made.script
