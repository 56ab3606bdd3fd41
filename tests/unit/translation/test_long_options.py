"""Options that are whole words behind one dash: none is read as a letter with the rest glued to it."""

from __future__ import annotations

import pytest

from providers.schedulers.lsf_tables import OPTIONS as LSF
from providers.schedulers.sge_tables import OPTIONS as SGE
from providers.translation.report import Translation
from providers.translation.translate import translate_script


def translated(prefix: str, option: str, target: str = "slurm") -> Translation:
    return translate_script(f"#!/bin/bash\n{prefix} {option}\n./app\n", target)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('-env "none"', "#SBATCH --export=NONE"), ("-env none", "#SBATCH --export=NONE"), ("-n4", "#SBATCH --ntasks=4"),
        ("-W1:30", "#SBATCH --time=01:30:00"), ("-o%J.out", "#SBATCH --output=%j.out"),
    ],
)  # fmt: skip
def test_what_is_known_is_written(written: str, words: str) -> None:
    assert words in translated("#BSUB", written).script.replace("0-", "").splitlines()


@pytest.mark.parametrize(
    "option",
    ["-outdir out", "-ul", "-ar", "-ti", "-ne", "-nl", "-tty", "-XF", "-jsm d", "-datachk", "-zork 3", "-user",
     "-emil x", '-env "A=1"'],
)  # fmt: skip
@pytest.mark.parametrize("target", ["slurm", "pbs"])
def test_what_is_not_is_told_with_its_line(option: str, target: str) -> None:
    made = translated("#BSUB", option, target)
    assert [remark.line for remark in made.lost] == [2]
    assert made.lost[0].words == option.replace('"', "")
    head = [line for line in made.script.splitlines() if line.startswith(("#SBATCH", "#PBS"))]
    assert head in ([], ["#PBS -S /bin/bash"], ["#PBS -V", "#PBS -S /bin/bash"], ["#PBS -S /bin/bash", "#PBS -V"])


def options_of(table: dict[str, int]) -> list[str]:
    return [name for name in table if len(name) > 2 and table[name] == 0]


@pytest.mark.parametrize(
    ("prefix", "option"),
    [("#BSUB", name) for name in options_of(LSF)] + [("#$", name) for name in options_of(SGE) if name != "-cwd"],
)
def test_no_long_option_becomes_a_short_one_with_a_value(prefix: str, option: str) -> None:
    script = translated(prefix, option).script
    assert option[2:] not in "".join(line.partition("=")[2] for line in script.splitlines() if line[:2] == "#S")
