"""Reports of the site-side step, with all that may come between."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dragoman.command import Completed
from dragoman.errors import TransportError
from dragoman.kleene import Truth
from providers.attempt_look import AttemptLook, Claim, ExitRecord, StepAnswer, read_looks

REPORT = """\
dragoman-attempt begin
dir /scratch/dgm-0123456789ab-a0
host login1
now 1796026686
claim 1 step login1 16968 234567 1796026680 120 ed8c
answer 1 ended 1
out 1 Welcome
out 1 dragoman-attempt end of nothing
out 1 {nothing}
err 1 sbatch: error: Socket timed out
claim 2 step login2 77 - 1796026683 120 ed8d
alive 2 unknown
out 2 Submitted batch
claim 3 abandoned:ann
absent 1 1796026681
owner job:812
in starts:restart 0 host n1 pid 5 at 2026-11-30T08:00:00Z
in exit:rc 137
in exit:signal 9
in exit:started 2026-11-30T08:00:00Z
in exit:ended nonsense
in exit:job 812
in exit:restart 0
in exit:host n1
in exit.7:rc 0
in duplicates:duplicate 813 owner job:812 host n2 at 2026-11-30T08:00:01Z
dragoman-attempt end
""".replace("{nothing}", "")


def done(text: str, *, err: str = "", rc: int = 0, truncated: bool = False) -> Completed:
    return Completed(("/bin/sh",), rc, text.encode(), err.encode(), truncated=truncated)


def test_reads_everything_that_a_folder_shows() -> None:
    assert read_looks(done(REPORT)) == [
        AttemptLook(
            control_dir="/scratch/dgm-0123456789ab-a0",
            now=1796026686,
            claims=(
                Claim(1, host="login1", pid="16968", at=1796026680, limit_s=120, nonce="ed8c", alive=Truth.NO),
                Claim(2, host="login2", pid="77", at=1796026683, limit_s=120, nonce="ed8d", alive=Truth.UNKNOWN),
                Claim(3, abandoned_by="ann"),
            ),
            answers={
                1: StepAnswer(
                    1,
                    "ended",
                    1,
                    out="Welcome\ndragoman-attempt end of nothing\n",
                    err="sbatch: error: Socket timed out",
                )
            },
            partial={2: "Submitted batch", 3: ""},
            absent_since={1: 1796026681},
            owner="812",
            starts={"": ["restart 0 host n1 pid 5 at 2026-11-30T08:00:00Z"]},
            exits={
                "": ExitRecord(137, 9, datetime(2026, 11, 30, 8, tzinfo=UTC), None, "812", "0", "n1"),
            },
            duplicates=("duplicate 813 owner job:812 host n2 at 2026-11-30T08:00:01Z",),
        )
    ]


def test_banners_around_the_report_are_not_read() -> None:
    noisy = f"claim 1 abandoned:motd\nowner job:1\n{REPORT}claim 9 abandoned:logout\nnow 1\n"
    assert read_looks(done(noisy)) == read_looks(done(REPORT))


def test_several_reports_come_in_their_order() -> None:
    other = "dragoman-attempt begin\ndir /b\nnow 2\nempty\ndragoman-attempt end\n"
    looks = read_looks(done(REPORT + other))
    assert [look.control_dir for look in looks] == ["/scratch/dgm-0123456789ab-a0", "/b"]
    assert (looks[1].empty, looks[1].latest) == (True, None)


def test_an_answer_that_was_cut_off_shows_nothing() -> None:
    lines = REPORT.splitlines(keepends=True)
    for length in range(len(lines)):
        with pytest.raises(TransportError, match="incomplete"):
            read_looks(done("".join(lines[:length])))
    with pytest.raises(TransportError, match="incomplete"):
        read_looks(done(REPORT, truncated=True))
    with pytest.raises(TransportError, match="No such shell"):
        read_looks(done("", err="No such shell", rc=1))


def test_lines_that_are_not_understood_make_no_facts() -> None:
    strange = """\
dragoman-attempt begin
dir /a
now 5
claim x step h 1 - 1 1 n
claim 1 something else
answer 1 ended x
absent 1 yesterday
owner somebody
in exit:rc x
dragoman-attempt end
"""
    (look,) = read_looks(done(strange))
    assert look == AttemptLook(control_dir="/a", now=5, claims=(Claim(1),), partial={1: ""})
