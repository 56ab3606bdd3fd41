"""What ended jobs used, which of our tags the queue shows, and which accounts may be charged."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from dragoman.command import Completed
from dragoman.facts import Account
from dragoman.job import JobRef, JobState
from dragoman.observation import Outcome
from dragoman.site import Site
from providers.schedulers.slurm import SlurmDialect

Done = Callable[..., Completed]
SINCE = datetime(2024, 5, 1, 9, tzinfo=UTC)
TAG = "dgm-0123456789ab-a0"


def record(job: str, raw: str, state: str, code: str, given: str, rss: str, name: str = "job") -> str:
    times = "2024-05-01T10:00:00|2024-05-01T10:01:00|2024-05-01T10:02:00"
    return f"{job}|{raw}|{state}|batch|{times}|60|n1|None|{code}||{given}|{rss}|{name}\n"


def usage(slurm: SlurmDialect, done: Done, text: str, *ids: str) -> dict[str, tuple[JobState, int | None, str]]:
    refs = [JobRef(job_id=job_id) for job_id in ids]
    (command,) = slurm.usage_commands(refs, SINCE)
    answers = slurm.parse_history(done(text, argv=command.argv), refs)
    assert answers.trouble == ""
    return {name: (each.state, each.max_rss_bytes, each.reason) for name, each in answers.jobs.items()}


def test_steps_tell_what_was_used_and_nothing_else(slurm: SlurmDialect, done: Done) -> None:
    text = (
        record("7", "7", "COMPLETED", "0:0", "cpu=1,mem=4G", "", "a|b")
        + record("7.batch", "7.batch", "COMPLETED", "0:0", "cpu=1,mem=4G", "1200K", "batch")
        + record("7.0", "7.0", "FAILED", "9:0", "cpu=1,mem=4G", "3M", "srun")
        + record("8", "8", "COMPLETED", "0:0", "mem=4G", "")
        + record("8.batch", "8.batch", "COMPLETED", "0:0", "mem=4G", "", "batch")
    )
    assert usage(slurm, done, text, "7", "8") == {
        "7": (JobState.COMPLETED, 3 * 2**20, ""),
        "8": (JobState.COMPLETED, None, ""),
    }


def test_of_an_array_the_hungriest_task_counts(slurm: SlurmDialect, done: Done) -> None:
    text = "".join(
        record(f"9_{task}{step}", f"{raw}{step}", "COMPLETED", "0:0", "mem=4G", rss)
        for task, raw, peak in ((1, 9, "10K"), (2, 10, "20K"))
        for step, rss in (("", ""), (".batch", peak))
    )
    found = usage(slurm, done, text, "9", "9_1", "10")
    assert {name: rss for name, (_, rss, _) in found.items()} == {"9": 20480, "9_1": 10240, "10": 20480}


@pytest.mark.parametrize(
    ("state", "code", "given", "rss", "ours"),
    [
        ("FAILED", "0:9", "cpu=1,mem=50M", "302624K", JobState.OUT_OF_MEMORY),
        ("FAILED", "0:9", "cpu=1,mem=500M", "302624K", JobState.FAILED),
        ("FAILED", "0:9", "cpu=1", "302624K", JobState.FAILED),
        ("FAILED", "1:0", "cpu=1,mem=50M", "302624K", JobState.FAILED),
        ("OUT_OF_MEMORY", "0:125", "cpu=1,mem=50M", "51000K", JobState.OUT_OF_MEMORY),
        ("CANCELLED by 1002", "0:9", "cpu=1,mem=50M", "302624K", JobState.CANCELLED),
    ],
)
def test_killed_for_its_memory(
    slurm: SlurmDialect, done: Done, state: str, code: str, given: str, rss: str, ours: JobState
) -> None:
    """The row of the job may lag behind those of its steps, so what it was given is taken from either."""
    text = record("7", "7", state, code, "16?", "") + record("7.batch", "7.batch", "CANCELLED", "0:9", given, rss)
    found = usage(slurm, done, text, "7")["7"]
    assert found[0] is ours
    assert ("one task held" in found[2]) is (ours is JobState.OUT_OF_MEMORY and state == "FAILED")


def queued(job: str, name: str, comment: str, state: str = "PENDING") -> str:
    return f"{job}|{job}|{state}|batch|2024-05-01T10:00:00|N/A|N/A|0:00||Priority||{comment}|{name}\n"


def test_our_tags_in_the_queue(slurm: SlurmDialect, done: Done) -> None:
    other = TAG.replace("a0", "a1")
    text = (
        queued("1", f"my job.{TAG}", TAG)
        + queued("2", "stripped", other)
        + queued("3", "theirs", "(null)")
        + queued("4", f"x{TAG}", "(null)")
        + queued("5_[1-3]", f"job.{TAG}", "")
        + queued("5_0", f"job.{TAG}", "", "RUNNING")
    )
    answers = slurm.parse_list_tags(done(text, argv=slurm.list_tags_commands()[0].argv))
    assert {name: (each.ref.tag, each.state) for name, each in answers.jobs.items()} == {
        "1": (TAG, JobState.PENDING),
        "2": (other, JobState.PENDING),
        "5": (TAG, JobState.RUNNING),
    }
    down = slurm.parse_list_tags(done("", "slurm_load_jobs error: Unable to contact slurm controller", 1))
    assert (dict(down.jobs), bool(down.trouble)) == ({}, True)


ASSOCIATIONS = "proj1|big|proj2||normal,short\nproj1|big|proj1||normal\nproj1|big|proj1|gpu|high\n"
SHARES = """root||||
 proj1|||cpu=600,mem=66
  proj1|ann||cpu=600
 proj2||cpu=6000,gres/gpu=60|cpu=600,gres/gpu=45
  proj2|ann||cpu=10
""".replace("root||||", "root|||cpu=9")


def accounts(slurm: SlurmDialect, *texts: str | Exception) -> tuple[Outcome, tuple[Account, ...]]:
    done = [text if isinstance(text, Exception) else Completed(("x",), 0, text.encode(), b"") for text in texts]
    answer = slurm.parse_accounts(done)
    return answer.outcome, answer.value.accounts if answer.value is not None else ()


def test_accounts_with_what_is_left(slurm: SlurmDialect) -> None:
    """The tightest limit is told: of 60 GPU minutes 15 are left, a quarter; of the core minutes nine tenths."""
    assert accounts(slurm, ASSOCIATIONS, SHARES) == (
        Outcome.OK,
        (
            Account(name="proj1", default=True, qos=("normal", "high")),
            Account(name="proj2", balance=0.25, unit="gpu-hours", qos=("normal", "short")),
        ),
    )


def test_a_limit_above_counts(slurm: SlurmDialect) -> None:
    shares = "root|||cpu=9\n dept||cpu=600|cpu=540\n  proj1||cpu=6000|cpu=0\n   proj1|ann||cpu=0\n"
    _, found = accounts(slurm, "proj1|big|proj1||normal\n", shares)
    assert found == (Account(name="proj1", balance=1.0, unit="core-hours", default=True, qos=("normal",)),)


@pytest.mark.parametrize("shares", ["", "garbage\n", TimeoutError("slow")])
def test_without_shares_the_balance_is_unknown_and_not_zero(slurm: SlurmDialect, shares: str | Exception) -> None:
    outcome, found = accounts(slurm, ASSOCIATIONS, shares)
    assert outcome is Outcome.OK
    assert {each.balance for each in found} == {None}


def test_no_answer_is_unknown_and_no_account_is_absent(slurm: SlurmDialect) -> None:
    assert accounts(slurm, TimeoutError("slow"), SHARES)[0] is Outcome.UNKNOWN
    assert accounts(slurm, "", SHARES)[0] is Outcome.ABSENT
    plugin = Completed(("sacctmgr",), 1, b"You are not running a supported accounting_storage plugin\n", b"")
    assert slurm.parse_accounts([plugin]).outcome is Outcome.UNKNOWN


def test_the_sites_clock_zone(slurm: SlurmDialect) -> None:
    from dragoman.errors import SiteFileError

    zurich = SlurmDialect.for_site(Site(name="a", scheduler="slurm", time_zone="Europe/Zurich"))
    assert "TZ" not in zurich.list_tags_commands()[0].environment
    assert slurm.list_tags_commands()[0].environment["TZ"] == "UTC"
    with pytest.raises(SiteFileError, match="no time zone 'Mars/Olympus'"):
        SlurmDialect.for_site(Site(name="a", scheduler="slurm", time_zone="Mars/Olympus"))
