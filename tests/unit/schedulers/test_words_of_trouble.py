"""A well-formed answer that shows nothing, beside words of trouble on stderr: nobody is absent by it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef
from dragoman.observation import Outcome
from providers.registry import dialects

TAG = "dgm-0123456789ab-a0"
SINCE = datetime(2024, 1, 1, tzinfo=UTC)
TROUBLE = [
    "cannot connect to server: Connection refused", "LSF is down. Please wait ...", "DBI connect failed: timeout",
    "Unable to connect to the server: dial tcp: i/o timeout", "error: commlib error: got select error",
    "slurm_load_jobs error: Unable to contact slurm controller (connect failure)", "flux: error: lost connection",
    "-- Failed to fetch ads from: <10.0.0.1:9618>",
]  # fmt: skip
NOTHING = [
    ("lsf", '{"COMMAND":"bjobs","JOBS":0,"RECORDS":[]}'), ("oar", "{}"), ("oar", ""),
    ("oar", '{"1":{"state":"Terminated","exit_code":0}}'), ("kubernetes", '{"kind":"List","items":[]}'),
    ("kubernetes", '{"apiVersion":"batch/v1","items":[],"kind":"JobList"}'), ("slurm", ""), ("pbs", ""), ("torque", ""),
    ("sge", '<?xml version="1.0"?><job_info><queue_info></queue_info><job_info></job_info></job_info>'),
    ("sge", "job-ID\n"), ("htcondor", "[]"), ("htcondor", ""), ("flux", '{"jobs":[]}'), ("flux", ""),
]  # fmt: skip


@pytest.mark.parametrize("err", TROUBLE)
@pytest.mark.parametrize(("name", "out"), NOTHING)
def test_nobody_is_absent(name: str, out: str, err: str) -> None:
    dialect = dialects.get(name)()
    ref = JobRef(job_id=TAG if name == "kubernetes" else "77", tag=TAG)
    for command in dialect.status_commands([ref]):
        done = Completed(command.argv, 0, out.encode(), err.encode() + b"\n")
        answers = dialect.parse_status(done, [ref])
        assert (answers.jobs, answers.absent) == ({}, frozenset())
        assert answers.trouble
    for command in dialect.find_commands(TAG, SINCE):
        done = Completed(command.argv, 0, out.encode(), err.encode() + b"\n")
        assert dialect.parse_find(done, TAG).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(("name", "out"), [("lsf", NOTHING[0][1]), ("oar", NOTHING[3][1]), ("sge", NOTHING[9][1])])
@pytest.mark.parametrize("err", ["", "Warning: error messages are kept for a week\n", "Welcome to the cluster\n"])
def test_other_words_leave_an_answer_as_it_is(name: str, out: str, err: str) -> None:
    done = Completed(dialects.get(name)().status_commands([JobRef(job_id="77")])[0].argv, 0, out.encode(), err.encode())
    assert dialects.get(name)().parse_status(done, [JobRef(job_id="77")]).absent == {"77"}


def test_oar_shows_the_oldest_job_always() -> None:
    answers = dialects.get("oar")().parse_status(Completed(("oarstat",), 0, b"{}", b""), [JobRef(job_id="77")])
    assert (answers.absent, answers.trouble) == (frozenset(), "oarstat shows no job, not even the oldest")


@pytest.mark.parametrize("job_id", [None, "", {"a": 1}, ["55"], True, "x", "55[", 1.5])
def test_a_job_of_lsf_without_an_id_may_be_any(job_id: object) -> None:
    rows = [{"JOBID": "56", "STAT": "RUN"}, {"JOBID": job_id, "STAT": "RUN"}]
    out = json.dumps({"JOBS": 2, "RECORDS": rows}).encode()
    refs = [JobRef(job_id="55"), JobRef(job_id="56")]
    answers = dialects.get("lsf")().parse_status(Completed(("bjobs",), 0, out, b""), refs)
    assert (set(answers.jobs), answers.absent) == ({"56"}, frozenset())
    assert answers.trouble


@pytest.mark.parametrize("row", ["", "<JB_job_number/>", "<JB_job_number> </JB_job_number>", "<JB_job_number>x"])
def test_a_row_of_grid_engine_without_an_id_may_be_any(row: str) -> None:
    end = "</JB_job_number>" if row.endswith("x") else ""
    whole = "<job_list state='running'><JB_job_number>56</JB_job_number><state>r</state></job_list>"
    out = f"<job_info><queue_info>{whole}<job_list>{row}{end}<state>r</state></job_list></queue_info></job_info>"
    refs = [JobRef(job_id="55"), JobRef(job_id="56")]
    answers = dialects.get("sge")().parse_status(Completed(("qstat",), 0, out.encode(), b""), refs)
    assert (set(answers.jobs), answers.absent) == ({"56"}, frozenset())
    assert answers.trouble
