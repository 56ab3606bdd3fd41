"""The diff of a translation can be applied."""

from __future__ import annotations

import pytest

from providers.translation.translate import translate_script


def applied(text: str, diff: str) -> str:
    """What a unified diff makes of a text."""
    old, made, at = text.splitlines(keepends=True), list[str](), 0
    mark = ""
    for line in diff.splitlines(keepends=True)[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1].lstrip("-").partition(",")
            until = int(start) - (count != "0")
            made += old[at:until]
            at = until
        elif line.startswith("\\"):
            made[-1:] = [made[-1].removesuffix("\n")] if mark != "-" else made[-1:]
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert old[at].rstrip("\n") == line[1:].rstrip("\n")
            made += [line[1:]] if line.startswith(" ") else []
            at += 1
        mark = line[0]
    return "".join([*made, *old[at:]])


@pytest.mark.parametrize(
    "body",
    [
        "cd /w\n\n\n\n\n\n\n\n\necho $SLURM_JOB_ID\n" + "true\n" * 9 + "srun ./a\nsrun ./b",
        "srun \\\n  -n 2 \\\n  ./a\necho\n",
        "srun \\\n  -n 2 ./a",
        "echo 1\necho 2\necho 3\necho $SLURM_CPUS_PER_TASK\n",
    ],
)
def test_the_diff_makes_the_body(body: str) -> None:
    text = f"#!/bin/bash\n#SBATCH -n 2 -c 3 -D /w\n{body}"
    made = translate_script(text, "pbs")
    after = applied(text, made.diff)
    assert made.script.endswith(after.split("\n", 2)[2])
    assert "SLURM" not in after
    assert "srun" not in after
