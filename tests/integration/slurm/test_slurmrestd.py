"""The second way to a real Slurm: slurmrestd over a socket, and over HTTP with a token in a file of its owner's."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dragoman.attempt import AttemptState
from dragoman.command import Command
from dragoman.job import JobRef, JobState
from dragoman.model import now
from dragoman.observation import Outcome
from dragoman.site import Site
from providers.schedulers.client import SchedulerClient
from providers.schedulers.slurm import SlurmDialect
from providers.schedulers.slurm_rest import SlurmRestDialect

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Place, Slurm

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.anyio,
    pytest.mark.skipif(
        shutil.which("slurmrestd", path="/usr/sbin:/usr/bin:/sbin") is None or shutil.which("curl") is None,
        reason="no slurmrestd or no curl here: apt-get install slurmrestd slurm-wlm-jwt-plugin curl",
    ),
]


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


class Server:
    """A slurmrestd of the account that submits."""

    def __init__(self, slurm: Slurm, way: str, name: str) -> None:
        self.slurm = slurm
        self.token = ""
        if way == "socket":
            self.address = f"unix:{slurm.work_dir}/{name}.rest"
            plugin = "rest_auth/local"
        else:
            self.address = f"http://127.0.0.1:{free_port()}"
            plugin = "rest_auth/jwt"
            self.token = f"{slurm.work_dir}/{name}.token"
            self.shell('umask 077; scontrol token lifespan=600 >"$1"', self.token)
        self.words = ["slurmrestd", "-a", plugin, self.address.removeprefix("http://")]
        self.process: subprocess.Popen[bytes] | None = None

    def shell(self, script: str, *words: str) -> None:
        argv = [*self.slurm.as_user, "/bin/sh", "-c", script, "sh", *words]
        subprocess.run(argv, env=self.slurm.environment, check=True, timeout=30)  # noqa: TID251  # a fixture may block

    def start(self) -> None:
        daemon = {"SLURM_JWT": "daemon"} if self.token else {}
        self.process = subprocess.Popen(
            [*self.slurm.as_user, *self.words], cwd=self.slurm.work_dir, env={**self.slurm.environment, **daemon},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def client(self, place: Place, *, window_s: float = 2.0) -> SchedulerClient:
        paths = {"slurmrestd": self.address, **({"slurm_token": self.token} if self.token else {})}
        site = Site(name="cluster", scheduler="slurm", work_root=str(place.root), settle_window_s=window_s, paths=paths)
        dialect = SlurmDialect.for_site(site)
        assert isinstance(dialect, SlurmRestDialect)
        return SchedulerClient(dialect, place.client().transport, site)


@pytest.fixture(params=["socket", "http"])
def server(request: pytest.FixtureRequest, slurm: Slurm, place: Place) -> Iterator[Server]:
    made = Server(slurm, request.param, place.prefix)
    made.start()
    yield made
    made.stop()


async def up(client: SchedulerClient) -> None:
    with anyio.fail_after(15):
        while (await client.workload(0)).value is None:  # noqa: ASYNC110  # no event tells it
            await anyio.sleep(0.1)


async def test_a_whole_job(server: Server, place: Place) -> None:
    client = server.client(place)
    await up(client)
    workload = (await client.workload(0)).value
    assert workload is not None
    queues = {queue.name: queue for queue in workload.queues or ()}
    assert (queues["debug"].default, queues["debug"].max_walltime_s, queues["debug"].nodes_total) == (True, 3600, 4)
    assert (queues["closed"].usable.value, queues["small"].max_walltime_s) == ("no", 300)
    gpus = [group for group in workload.groups or () if group.gpus]
    assert [(gpu.model, gpu.count, gpu.free) for gpu in gpus[0].gpus or ()] == [("a100", 4, 8)]
    accounts = (await client.accounts()).value
    assert accounts is not None
    assert {account.name for account in accounts.accounts} == {"proj1", "proj2"}

    body = 'test -n "$HOME" && test "$PWD" = "${0%/*}" || pwd\nexit 4\n'
    fields: dict[str, Any] = {
        "shape": {"nodes": 2, "tasks_per_node": 2, "memory": {"bytes": 2**28, "per": "node"}},
        "queue": "debug",
    }
    attempt = await place.prepared(client, place.attempt(1, body, **fields))
    record = await place.settled(client, attempt)
    assert (record.state, record.adopted) == (AttemptState.SUBMITTED, False)
    again = await client.submit(attempt)
    assert again.job == record.job
    found = await client.find(attempt.tag)
    assert found.value is not None
    assert record.job is not None
    assert found.value.job_id == record.job.job_id
    end = (await place.ended(client, record))[0]
    assert (end.state, end.exit_code, len(end.nodes)) == (JobState.FAILED, 4, 2)
    assert (await client.find(f"{attempt.tag[:-1]}9")).outcome is Outcome.ABSENT
    with anyio.fail_after(20):
        while record.job.job_id not in (past := (await client.history([record.job])).jobs):  # noqa: ASYNC110
            await anyio.sleep(0.3)
    # The accounting of 22.05 tells an exit code of 0 and SUCCESS of every job: with another state it is none.
    assert (past[record.job.job_id].state, past[record.job.job_id].exit_code) in [
        (JobState.FAILED, c) for c in (4, None)
    ]
    assert place.runs() == ["1"]


async def test_the_same_is_asked_for_as_by_sbatch(server: Server, place: Place, slurm: Slurm) -> None:
    client, plain = server.client(place), place.client()
    await up(client)
    fields: dict[str, Any] = {
        "shape": {"nodes": 1, "tasks_per_node": 2, "cpus_per_task": 3, "gpus": {"count": 2, "per": "node"},
                  "memory": {"bytes": 2**30, "per": "cpu"}, "constraint": "nvlink", "exclusive": True},
        "queue": "gpu", "account": "proj1", "qos": "short", "walltime_s": 1000, "requeue": True,
        "start_after": "2035-01-01T00:00:00Z", "array": {"ranges": [{"first": 2, "last": 8, "step": 3}], "at_once": 1},
    }  # fmt: skip
    shown: list[dict[str, str]] = []
    for number, way in enumerate((plain, client)):
        attempt = await place.prepared(way, place.attempt(number, **fields))
        record = await place.settled(way, attempt)
        assert record.job is not None, record.answer
        _, out, _ = await slurm.run("scontrol", "-o", "show", "job", record.job.job_id)
        shown.append({word.partition("=")[0]: word.partition("=")[2] for word in out.split()})
        assert (await way.cancel(record.job)).outcome is Outcome.OK
    # What differs by itself, and the command: none comes through the server.
    own = {"JobId", "ArrayJobId", "JobName", "Comment", "Command", "WorkDir", "StdOut", "StdErr", "StdIn", "SubmitTime",
           "EligibleTime", "AccrueTime", "AllocNode:Sid", "LastSchedEval", "Priority", "Power"}  # fmt: skip
    by_sbatch, by_rest = ({key: value for key, value in one.items() if key not in own} for one in shown)
    assert by_rest == by_sbatch


async def test_hold_release_cancel_and_unknown_ids(server: Server, place: Place) -> None:
    client = server.client(place)
    await up(client)
    later: dict[str, Any] = {"start_after": "2035-01-01T00:00:00Z"}
    record = await place.settled(client, await place.prepared(client, place.attempt(1, **later)))
    assert record.job is not None

    async def state() -> JobState:
        assert record.job is not None
        return (await client.status([record.job])).jobs[record.job.job_id].state

    assert (await client.hold(record.job)).outcome is Outcome.OK
    assert await state() is JobState.HELD
    assert (await client.release(record.job)).outcome is Outcome.OK
    assert await state() is JobState.PENDING
    assert (await client.cancel(record.job)).outcome is Outcome.OK
    assert await state() is JobState.CANCELLED
    unknown = JobRef(job_id="999999")
    assert (await client.cancel(unknown)).outcome is Outcome.ABSENT
    assert (await client.hold(unknown)).outcome is not Outcome.OK
    answers = await client.status([unknown])
    assert (dict(answers.jobs), answers.trouble) == ({}, "")


async def test_refusals_and_a_server_that_is_down(server: Server, place: Place) -> None:
    client = server.client(place)
    await up(client)
    refused = await place.settled(client, await place.prepared(client, place.attempt(1, queue="nowhere")))
    assert (refused.state, refused.reason_class) == (AttemptState.REFUSED, "never")
    assert "nvalid partition" in refused.answer
    held = await place.settled(client, await place.prepared(client, place.attempt(2, native_options=["--hold"])))
    assert held.state is AttemptState.SUBMITTED, "an error beside the number is none"
    assert held.job is not None
    server.stop()
    assert (await client.status([held.job])).trouble
    assert (await client.find("dgm-abcdefabcdef-a1")).outcome is Outcome.UNKNOWN
    assert (await client.workload(0)).value is None
    assert (await client.cancel(held.job)).outcome is Outcome.UNKNOWN
    down = await place.settled(client, await place.prepared(client, place.attempt(3)))
    assert (down.state, down.reason_class) == (AttemptState.REFUSED, "wait")
    assert place.runs() == []


async def test_a_lost_answer_is_settled_by_the_tag(slurm: Slurm, place: Place) -> None:
    """The job is there and the step died before it could write down the answer."""
    made = Server(slurm, "socket", place.prefix)
    made.start()
    try:
        client = made.client(place)
        await up(client)
        attempt = await place.prepared(client, place.attempt(1, "sleep 1"))
        command = client.dialect.submit_command(attempt.spec, f"{attempt.spec.control_dir}/script")
        await client.attempts.submit(attempt.spec, "true", Command(("/bin/sh", "-c", "kill -9 $PPID")), generation=1)
        assert (await client.transport.run(command)).rc == 0
        record = await place.settled(client, attempt)
        assert (record.state, record.adopted) == (AttemptState.SUBMITTED, True)
        await place.ended(client, record)
        assert len(await place.jobs()) == 1
        assert place.runs() == ["1"]
    finally:
        made.stop()


async def test_a_token_is_read_at_the_site_and_shown_nowhere(slurm: Slurm, place: Place) -> None:
    made = Server(slurm, "http", place.prefix)
    made.start()
    try:
        client = made.client(place)
        await up(client)
        attempt = place.attempt(1)
        token = (await client.transport.read_file(made.token)).decode().strip().removeprefix("SLURM_JWT=")
        command = client.dialect.submit_command(attempt.spec, "/x")
        commands = [command, *client.dialect.status_commands([]), *client.dialect.history_commands([], now())]
        assert all(token not in f"{one.argv}{one.stdin!r}{one.environment}" for one in commands)
        look = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep '[e]yJ'"
        traced = Command(("/bin/sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9; do {look}; sleep 0.03; done"))
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(client.workload, 0)
            assert (await client.transport.run(traced)).out == ""
        made.shell('chmod 644 "$1"', made.token)
        opened = await place.settled(client, await place.prepared(client, attempt))
        assert (opened.state, opened.reason_class) == (AttemptState.REFUSED, "person")
        assert "chmod 600" in opened.answer
        made.shell('chmod 600 "$1"; echo SLURM_JWT=eyJ.wrong.token >"$1"', made.token)
        wrong = await place.settled(client, await place.prepared(client, place.attempt(2)))
        assert (wrong.state, wrong.reason_class) == (AttemptState.REFUSED, "wait"), "as where the controller is down"
        assert "eyJ" not in wrong.answer
    finally:
        made.stop()
