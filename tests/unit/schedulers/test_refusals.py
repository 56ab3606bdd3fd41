"""Refusals behind banners and in the words of sites' own filters: what they mean (case SS03 and its kind)."""

from __future__ import annotations

import pytest

from dragoman.command import Completed
from dragoman.job import ReasonClass
from dragoman.protocols import SubmitAnswer
from providers.registry import dialects

WAIT, NEVER, PERSON, UNKNOWN = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON, ReasonClass.UNKNOWN
BANNER = """-----------------------------------------------
   Welcome to the Example Supercomputer, 2024 edition 17
-----------------------------------------------
No reservation for this job
--> Verifying availability of your home dir (/home1/03872/alice)...OK
--> Checking available allocation (Proj_2024)...{}
"""


def submitted(name: str, rc: int, out: str = "", err: str = "") -> SubmitAnswer:
    return dialects.get(name)().parse_submit(Completed(("submit",), rc, out.encode(), err.encode()))


@pytest.mark.parametrize(
    ("name", "last", "job_id"),
    [
        ("slurm", "Submitted batch job 55473", "55473"), ("slurm", "55473", "55473"), ("slurm", "55473;c3", "55473"),
        ("slurm", "Submitted batch job 55473 on cluster c3", "55473"),
        ("pbs", "412635.pbs01.example.org", "412635.pbs01.example.org"), ("pbs", "412[].pbs01", "412[].pbs01"),
        ("torque", "412635.pbs01", "412635.pbs01"), ("lsf", "Job <289263> is submitted to queue <normal>.", "289263"),
        ("sge", 'Your job 3145 ("x") has been submitted', "3145"), ("oar", "OAR_JOB_ID=4217", "4217"),
    ],
)  # fmt: skip
def test_the_id_stands_behind_the_banner(name: str, last: str, job_id: str) -> None:
    answer = submitted(name, 0, f"{BANNER.format('OK')}{last}\n")
    assert answer.job is not None
    assert (answer.job.job_id, answer.refused, answer.doubt) == (job_id, "", "")


@pytest.mark.parametrize("name", ["slurm", "pbs", "torque", "lsf", "sge", "oar"])
def test_a_banner_alone_is_no_job(name: str) -> None:
    assert submitted(name, 0, BANNER.format("OK")).doubt
    refused = submitted(name, 1, BANNER.format("FAILED"))
    assert (refused.job, bool(refused.refused), refused.reason_class) == (None, True, PERSON)


REFUSALS = [
    ("ERROR: You have exceeded your quota on /home1", PERSON),
    ("ERROR: Project abc has no hours left", PERSON),
    ("Budget: xyz has no CUs", PERSON),
    ("Your allocation ABC123 expired on 2024-09-30", PERSON),
    ("Balance of account chem is negative", PERSON),
    ("Please accept the usage policy at https://example.org first", PERSON),
    ("Two-factor login needed", PERSON),
    ("You must specify a walltime", NEVER),
    ("Please request a walltime under 24:00:00", NEVER),
    ("The maximum number of nodes in debug is 2", NEVER),
    ("Walltime of this job is too long", NEVER),
    ("The system is under maintenance until Friday", WAIT),
    ("Submission is currently disabled", WAIT),
    ("Your wish is 17", UNKNOWN),
]


@pytest.mark.parametrize(("words", "meaning"), REFUSALS)
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("slurm", "sbatch: error: {}\nsbatch: error: Batch job submission failed: Unspecified error\n"),
        ("pbs", "qsub: hook 'site' rejected request\nqsub: {}\n"),
        ("lsf", "{}\nJob not submitted.\n"),
        ("sge", "Unable to run job: {}.\nExiting.\n"),
    ],
)
def test_words_of_sites_own_filters(name: str, lines: str, words: str, meaning: ReasonClass) -> None:
    answer = submitted(name, 1, BANNER.format("OK"), lines.format(words))
    assert (answer.job, answer.doubt, answer.reason_class) == (None, "", meaning)


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("Invalid Trackable RESource (TRES) specification", NEVER),
        ("Requested GRES option unsupported by configured SelectType plugin", NEVER),
        ("Pathname of a file, directory or other parameter too long", NEVER),
        ("Burst Buffer request invalid", NEVER),
        ("CPU count per node can not be satisfied", NEVER),
        ("Requested topology configuration is not available", NEVER),
        ("Incompatible versions of client and server code", PERSON),
        ("Job cannot be submitted without the current user's uid", PERSON),
        ("Requested operation is presently disabled", WAIT),
        ("Requested node configuration is not available", NEVER),
        ("Invalid account or account/partition combination specified", NEVER),
        ("Requested nodes are busy", WAIT),
        ("Access/permission denied", PERSON),
        ("Unspecified error", UNKNOWN),
    ],
)
def test_slurm_s_own_words(words: str, meaning: ReasonClass) -> None:
    answer = submitted("slurm", 1, BANNER.format("OK"), f"sbatch: error: Batch job submission failed: {words}\n")
    assert (answer.job, answer.doubt, answer.reason_class) == (None, "", meaning)


@pytest.mark.parametrize(
    ("name", "rc", "words", "meaning"),
    [
        ("pbs", 2, "qsub: directive error: -l foo", NEVER),
        ("pbs", 1, "qsub: node(s) specification error", NEVER),
        ("pbs", 1, "qsub: Failed to authenticate", PERSON),
        ("pbs", 170, "qsub: Unknown queue MSG=cannot locate queue", NEVER),
        ("pbs", 38, "qsub: would exceed queue generic's per-user limit of jobs in 'Q' state", WAIT),
        ("torque", 184, "qsub: submit error (Queue is not enabled)", PERSON),
        ("lsf", 255, "Request from a non-LSF host rejected. Job not submitted.", PERSON),
        ("lsf", 255, "Host or host group is not used by the queue. Job not submitted.", NEVER),
        ("lsf", 255, "Queue does not accept jobs with <8> processors. Job not submitted.", NEVER),
        ("lsf", 255, "User <a>: Pending job slot threshold reached. Job not submitted.", WAIT),
        ("lsf", 255, "Request aborted by esub. Job not submitted.", PERSON),
    ],
)
def test_words_of_pbs_and_lsf(name: str, rc: int, words: str, meaning: ReasonClass) -> None:
    answer = submitted(name, rc, "", f"{words}\n")
    assert (answer.job, answer.doubt, answer.reason_class) == (None, "", meaning)
