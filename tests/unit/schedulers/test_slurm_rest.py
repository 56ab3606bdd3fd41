"""slurmrestd: a job in the fields of old and new versions, answers in both shapes, no secret in a site file."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.errors import BadRequest, SiteFileError
from dragoman.job import JobRef, JobSpec, JobState, ReasonClass
from dragoman.model import now
from dragoman.observation import Outcome
from dragoman.site import Site
from providers.schedulers.slurm import SlurmDialect
from providers.schedulers.slurm_rest import SlurmRestDialect

HERE: dict[str, Any] = {
    "tag": "dgm-abcdefabcdef-a1", "work_dir": "/w", "control_dir": "/c", "body": "true\n", "walltime_s": 90,
    "shape": {"nodes": 2, "tasks_per_node": 4},
}  # fmt: skip
FULL: dict[str, Any] = {
    **HERE, "queue": "gpu", "account": "a", "qos": "q", "reservation": "r", "licenses": ["x:2"],
    "start_after": "2030-01-01T00:00:00Z", "requeue": True, "walltime_min_s": 61,
    "dependencies": [{"kind": "afterok", "job_id": "7"}], "array": {"ranges": [{"first": 1, "last": 3}]},
    "shape": {"nodes": 2, "tasks_per_node": 4, "cpus_per_task": 3, "gpus": {"count": 2, "per": "node", "model": "a100"},
              "memory": {"bytes": 2**30, "per": "node"}, "constraint": "ib", "exclusive": True},
}  # fmt: skip


def dialect(**paths: str) -> SlurmRestDialect:
    made = SlurmDialect.for_site(Site(name="s", scheduler="slurm", paths={"slurmrestd": "http://host:6820", **paths}))
    assert isinstance(made, SlurmRestDialect)
    return made


def bodies(fields: dict[str, Any]) -> list[dict[str, Any]]:
    command = dialect().submit_command(JobSpec.model_validate(fields), "/c/script")
    old, new, end = command.stdin.decode().split("\n")
    assert end == ""
    return [json.loads(line)["job"] if line else {} for line in (old, new)]


def test_a_job_in_the_fields_of_both_dialects() -> None:
    old, new = bodies(FULL)
    both = {
        "name": "dragoman.dgm-abcdefabcdef-a1", "comment": "dgm-abcdefabcdef-a1", "current_working_directory": "/w",
        "standard_output": "/w/stdout.log.%a", "standard_error": "/w/stderr.log.%a", "array": "1-3",
        "dependency": "afterok:7", "licenses": "x:2", "account": "a", "partition": "gpu", "qos": "q",
        "reservation": "r", "constraints": "ib", "tasks": 8, "tasks_per_node": 4, "cpus_per_task": 3, "nodes": "2",
        "requeue": True,
    }  # fmt: skip
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert old == {
        **both, "environment": {"PATH": path}, "open_mode": "append", "begin_time": "uts1893456000", "time_limit": 2,
        "time_minimum": 2, "gres": "gpu:a100:2", "memory_per_node": 1024, "exclusive": "exclusive",
    }  # fmt: skip
    assert new == {
        **both, "environment": [f"PATH={path}"], "open_mode": ["APPEND"], "shared": ["none"],
        "begin_time": {"set": True, "number": 1893456000}, "time_limit": {"set": True, "number": 2},
        "time_minimum": {"set": True, "number": 2}, "tres_per_node": "gres/gpu:a100:2",
        "memory_per_node": {"set": True, "number": 1024},
    }  # fmt: skip


def test_every_option_of_the_script_has_its_field() -> None:
    """What sbatch would be told and no field tells would be lost."""
    script = SlurmDialect().render(JobSpec.model_validate(FULL))
    told = [line for line in script.splitlines() if line.startswith("#SBATCH")]
    assert len(told) == len(bodies(FULL)[0]) + 1 - 2, "mail is off by itself; environment and tasks come on top"


@pytest.mark.parametrize(
    ("extra", "where"),
    [
        ({"native_options": ["--switches=1"]}, "native_options"),
        ({"native_options": ["--signal=B:USR1@60"]}, "native_options"),
        ({"components": [{"nodes": 1}, {"nodes": 2}]}, "components"),
        ({"native_options": ["--time=sometime"]}, "native_options"),
    ],
)
def test_what_has_no_field_is_refused(extra: dict[str, Any], where: str) -> None:
    spec = JobSpec.model_validate({**HERE, "walltime_s": None, **extra})
    with pytest.raises(BadRequest) as caught:
        dialect().submit_command(spec, "/c/script")
    assert caught.value.where == where
    assert caught.value.cure


def test_what_only_some_versions_have_is_an_empty_line_for_the_others() -> None:
    old, new = bodies({**HERE, "shape": {"nodes": 1, "local_disk_bytes": 2**30}})
    assert old == {}
    assert new["temporary_disk_per_node"] == 1024
    old, new = bodies({**HERE, "priority": 5})
    assert (old["priority"], new) == ("5", {})


@pytest.mark.parametrize(
    ("paths", "field"),
    [
        ({"slurmrestd": "host:6820"}, "paths.slurmrestd"),
        ({"slurmrestd": "http://user:secret@host:6820"}, "paths.slurmrestd"),
        ({"slurmrestd": "unix:relative"}, "paths.slurmrestd"),
        ({"slurmrestd": "http://h/;rm -rf"}, "paths.slurmrestd"),
        ({"slurm_token": "eyJhbGciOiJIUzI1NiJ9.x.y"}, "paths.slurm_token"),
    ],
)
def test_wrong_paths_are_refused_and_a_token_is_not_repeated(paths: dict[str, str], field: str) -> None:
    with pytest.raises(SiteFileError) as caught:
        dialect(**paths)
    assert caught.value.where == f"s: {field}"
    assert "eyJ" not in str(caught.value)


def test_without_that_path_slurm_is_asked_by_its_commands() -> None:
    made = SlurmDialect.for_site(Site(name="s", scheduler="slurm", paths={"spack": "/opt/spack"}))
    assert type(made) is SlurmDialect


def answer(body: object, status: str = "200", rc: int = 0, err: str = "") -> Completed:
    return Completed(("/bin/sh", "/slurm/@/jobs"), rc, f"{json.dumps(body)}\n{status}\n".encode(), err.encode())


REF = JobRef(job_id="7")


def test_jobs_in_both_shapes() -> None:
    old = {"jobs": [{"job_id": 7, "job_state": "RUNNING", "name": "n", "array_job_id": 0, "array_task_id": None}]}
    new = {
        "jobs": [{"job_id": 7, "job_state": ["RUNNING"], "array_job_id": {"set": True, "infinite": False, "number": 0},
                  "array_task_id": {"set": False, "infinite": False, "number": 0}}]
    }  # fmt: skip
    for body in (old, new):
        answers = dialect().parse_status(answer({**body, "errors": [], "warnings": []}), [REF])
        assert (answers.jobs["7"].state, answers.trouble) == (JobState.RUNNING, "")


@pytest.mark.parametrize(
    "done",
    [
        answer({"jobs": [], "errors": [{"description": "Unable to contact slurm controller"}]}, "500"),
        answer({"jobs": [], "errors": [{"error": "Unspecified error", "errno": -1}]}),
        answer("Authentication failure", "401"),
        answer({}, "000", 7, "curl: (7) Failed to connect\nslurmrestd cannot be reached: nothing was sent\n"),
        Completed(("/bin/sh",), 0, b'{"jobs": [', b""),
        Completed(("/bin/sh",), 0, b"", b""),
    ],
)
def test_no_answer_is_never_an_absence(done: Completed) -> None:
    answers = dialect().parse_status(done, [REF])
    assert (dict(answers.jobs), answers.absent) == ({}, frozenset())
    assert answers.trouble
    assert dialect().parse_find(done, "dgm-abcdefabcdef-a1").outcome is Outcome.UNKNOWN
    assert dialect().parse_history(done, [REF]).trouble
    assert dialect().parse_workload([done, done]).outcome is Outcome.UNKNOWN
    assert dialect().parse_accounts([done]).outcome is Outcome.UNKNOWN


def test_an_accounting_that_found_nothing_has_answered() -> None:
    nothing = {"jobs": [], "errors": [{"description": "Nothing found", "error_number": 9003, "error": "x"}]}
    assert dialect().parse_find(answer(nothing), "dgm-abcdefabcdef-a1").outcome is Outcome.ABSENT


@pytest.mark.parametrize(
    ("done", "kind"),
    [
        (Completed((), 0, b'{"job_id": 12, "errors": []}', b""), "job"),
        (Completed((), 0, b'{"result":{"job_id":12},"job_id":12}', b"Job is in held state"), "job"),
        (Completed((), 0, b'{"errors": []}', b""), "doubt"),
        (Completed((), 22, b"", b"slurmrestd: HTTP 500: Invalid partition name specified"), "never"),
        (Completed((), 22, b"", b"slurmrestd: HTTP 500: Unable to contact slurm controller"), "doubt"),
        (Completed((), 22, b"", b"slurmrestd: HTTP 504: service unavailable: gateway"), "doubt"),
        (Completed((), 28, b"", b"curl: (28) Operation timed out"), "doubt"),
        (Completed((), 52, b"", b"curl: (52) Empty reply from server"), "doubt"),
        (Completed((), 22, b"", b"slurmrestd: nothing was sent: HTTP 401: authentication failure"), "person"),
        (Completed((), 7, b"", b"curl: (7) no\nslurmrestd cannot be reached: nothing was sent"), "wait"),
    ],
)
def test_what_a_submission_says(done: Completed, kind: str) -> None:
    said = dialect().parse_submit(done)
    if kind == "job":
        assert said.job == JobRef(job_id="12")
    elif kind == "doubt":
        assert (bool(said.doubt), said.job, said.refused) == (True, None, "")
    else:
        assert (said.reason_class, said.doubt) == (ReasonClass(kind), "")


def test_partitions_and_nodes_of_new_versions() -> None:
    def number(value: int) -> dict[str, Any]:
        return {"set": True, "infinite": False, "number": value}

    partitions = {
        "meta": {"slurm": {"release": "24.05.2"}}, "errors": [],
        "partitions": [
            {"name": "gpu", "partition": {"state": ["UP"]}, "nodes": {"total": 3}, "minimums": {"nodes": 0},
             "maximums": {"time": number(90), "nodes": number(2)}, "defaults": {"time": number(30)},
             "accounts": {"allowed": "a,b"}, "groups": {"allowed": ""}},
            {"name": "long", "partition": {"state": ["DOWN"]}, "nodes": {"total": 3},
             "maximums": {"time": {"set": False, "infinite": True, "number": 0}}},
        ],
    }  # fmt: skip
    node = {
        "name": "g1", "state": ["MIXED", "PLANNED"], "partitions": ["gpu"], "cpus": 32, "effective_cpus": 30,
        "alloc_cpus": 8, "cores": 16, "sockets": 2, "threads": 1, "real_memory": 1000, "alloc_memory": 100,
        "specialized_memory": 0, "temporary_disk": 0, "gres": "gpu:a100:4(S:0-1)", "gres_used": "gpu:a100:1(IDX:0)",
        "active_features": ["ib", "nv"], "reason": "State=IDLE Partitions=x", "tres": "cpu=30,gres/gpu=4",
    }  # fmt: skip
    idle = {**node, "name": "g2", "state": ["IDLE"], "alloc_cpus": 0, "gres_used": "gpu:a100:0(IDX:N/A)"}
    workload = dialect().parse_workload([answer(partitions), answer({"nodes": [node, idle], "errors": []})]).value
    assert workload is not None
    assert (workload.version, workload.jobs_pending) == ("24.05.2", None)
    assert workload.queues is not None
    assert workload.groups is not None
    gpu, long = workload.queues
    assert (gpu.max_walltime_s, gpu.default_walltime_s, gpu.max_nodes, gpu.nodes_idle) == (5400, 1800, 2, 1)
    assert gpu.allowed_accounts == ("a", "b")
    assert (long.usable.value, long.walltime_unlimited, long.max_walltime_s) == ("no", True, None)
    group = workload.groups[0]
    assert (group.nodes, group.nodes_idle, group.cpus_per_node, group.cpus_free) == (2, 1, 30, 30)
    assert [(card.model, card.count, card.free) for card in group.gpus or ()] == [("a100", 4, 4)]
    assert group.features == ("ib", "nv")


class Rest:
    """A small HTTP server that speaks one version of the API, as it is told to."""

    def __init__(self, version: int) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.headers: list[str | None] = []
        self.status, self.answer = 200, '{"job_id":5,"errors":[]}'
        rest, base = self, f"/slurm/v0.0.{version}/"

        class Handler(BaseHTTPRequestHandler):
            def reply(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
                rest.headers.append(self.headers["X-SLURM-USER-TOKEN"])
                known = self.path.startswith(base)
                if known and not self.path.endswith("/ping"):
                    rest.asked.append((self.command, self.path, body))
                ping = self.path.endswith("/ping")
                self.send_response(404 if not known else 200 if ping else rest.status)
                self.end_headers()
                self.wfile.write(b"{}" if ping else rest.answer.encode())

            do_GET = do_POST = do_DELETE = reply  # noqa: N815  # the library's names

            def log_message(self, *_: object) -> None:
                """Nothing on the tests' output."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(params=[38, 42])
def rest(request: pytest.FixtureRequest) -> Iterator[Rest]:
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    made = Rest(request.param)
    yield made
    made.server.shutdown()
    made.server.server_close()


def run(made: SlurmRestDialect, command: Any) -> Completed:
    done = subprocess.run(command.argv, input=command.stdin, capture_output=True, timeout=30, check=False)  # noqa: TID251  # no event loop here
    return Completed(command.argv, done.returncode, done.stdout, done.stderr)


def test_the_version_is_found_and_the_body_is_that_of_the_version(rest: Rest, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text('SLURM_JWT=eyJ.a-b_c.d\nheader = "X-Evil: 1"\n')
    token.chmod(0o600)
    made = dialect(slurmrestd=rest.url, slurm_token=str(token))
    said = made.parse_submit(run(made, made.submit_command(JobSpec.model_validate(HERE), "/c/script")))
    assert said.job == JobRef(job_id="5")
    (method, path, body), old = rest.asked[0], "0.0.38" in rest.asked[0][1]
    assert (method, path.rpartition("/v0.0.")[0]) == ("POST", "/slurm")
    assert json.loads(body)["job"]["time_limit"] == (2 if old else {"set": True, "number": 2})
    assert set(rest.headers) == {"eyJ.a-b_c.d"}
    token.chmod(0o640)
    said = made.parse_submit(run(made, made.submit_command(JobSpec.model_validate(HERE), "/c/script")))
    assert (said.reason_class, len(rest.asked)) == (ReasonClass.PERSON, 1)


def test_orders_that_are_passed_over_are_none(rest: Rest) -> None:
    made = dialect(slurmrestd=rest.url)
    hold = made.hold_command(REF)
    rest.answer = (
        '{\n  "errors": [\n  ],\n  "warnings": [\n    {\n"description": "Ignoring unknown field \\"hold\\""\n}]}'
    )
    done = run(made, hold)
    assert (done.rc, "Ignoring unknown field" in done.err) == (22, True)
    rest.answer = '{"errors": []}'
    assert run(made, hold).rc == 0
    rest.status, rest.answer = 500, '{"errors": [\n{\n  "error": "Invalid job id specified"\n}]}'
    assert made.parse_cancel(run(made, made.cancel_command(REF))).outcome is Outcome.ABSENT
    rest.status, rest.answer = 200, '{"jobs": []}'
    assert made.parse_status(run(made, made.status_commands([REF])[0]), [REF]).absent == frozenset({"7"})
    assert made.parse_history(run(made, made.history_commands([REF], now())[0]), [REF]).trouble, "another path is 404"
    rest.server.shutdown()
    rest.server.server_close()
    assert made.parse_status(run(made, made.status_commands([REF])[0]), [REF]).trouble
