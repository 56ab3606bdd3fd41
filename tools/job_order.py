"""A job as an agent orders it, without a ledger: its key takes the ledger's place.

The key makes the attempt's tag, the tag names the attempt's folder at the site, and the folder settles whether the job
was submitted: so the same key is one job, whoever asks again and whatever died in between.
"""

from __future__ import annotations

from pydantic import ConfigDict, Field, PositiveInt

from dragoman.attempt import Attempt, attempt_tag
from dragoman.errors import BadRequest, SubmitRefused
from dragoman.job import JobRef, JobSpec
from dragoman.model import Model, Moment
from dragoman.request import ArraySpec, Dependency, EnvironmentVariable, Line, Name
from dragoman.shape import Shape
from providers.command_body import command_body
from providers.schedulers.client import SchedulerClient
from providers.site_runtime import SiteRuntime

__all__ = ["JobOrder", "Submitted", "submit_order"]

STEP = "tool"


class JobOrder(Model):
    """One job for this site's scheduler."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    key: str = Field(min_length=1, max_length=200)
    """Your own name for this job, different for every job: the same key never makes a second one."""
    command: tuple[str, ...] = ()
    """Program and arguments, one item each; no shell is involved. Instead of `script`."""
    script: str | None = None
    """Lines of a shell script without directives of a scheduler. Instead of `command`."""
    name: Name = "dragoman"
    shape: Shape = Shape()
    """Nodes, tasks, cores, GPUs and memory; what is left out is up to the site."""
    walltime_s: PositiveInt | None = None
    """Longest run time in seconds: the job is ended then."""
    walltime_min_s: PositiveInt | None = None
    """Shortest run time in seconds that will do, where the scheduler may choose."""
    components: tuple[Shape, ...] = ()
    """Of a heterogeneous job: all at once; leave `shape` out then."""
    queue: Name | None = None
    account: Name | None = None
    qos: Name | None = None
    reservation: Name | None = None
    array: ArraySpec | None = None
    dependencies: tuple[Dependency, ...] = ()
    """Jobs of this scheduler to wait for, by their job_id."""
    licenses: tuple[Line, ...] = ()
    start_after: Moment | None = None
    """Not before this moment, with its zone."""
    requeue: bool = False
    """Whether it may be run again after its node failed."""
    environment: tuple[EnvironmentVariable, ...] = ()
    """Variables with plain values; secrets are not taken here."""
    image: Line | None = None
    """Container image, where the scheduler itself runs containers."""
    work_dir: Line | None = None
    """Absolute folder at the site in which it runs; None: a fresh one of its own."""
    native_options: tuple[Line, ...] = ()
    """Options of this very scheduler, as its submit command takes them."""


class Submitted(Model):
    """What became of an order."""

    state: str
    """`submitted`; `refused`: nothing was submitted; `in-doubt`: only a person can tell; `abandoned`."""
    job: JobRef | None = None
    work_dir: str = ""
    """Where it runs and where stdout.log and stderr.log are."""
    words: str = ""
    """The scheduler's own words."""
    reason_class: str = "unknown"
    """Of a refusal: `wait` passes by itself, `never` does not, `person` when a person acts."""
    found: bool = False
    """It had been submitted before under this key."""


async def submit_order(runtime: SiteRuntime, job: JobOrder | None, attempt: Attempt | None) -> Model:
    """Submit one of the two.

    Raises:
        BadRequest: both or none of them, an attempt for another site or scheduler, or a job that cannot be written for
            this scheduler.
        NotSettled: perhaps submitted; the same call again tells.
        SubmitRefused: the site is simulated.

    """
    if (job is None) == (attempt is None):
        raise BadRequest("exactly one of job and attempt is wanted", where="submit", cure="give a job with its key")
    scheduler = runtime.scheduler
    if attempt is not None:
        _at_home(runtime, attempt)
        return await scheduler.submit(attempt)
    assert job is not None  # noqa: S101 - one of them is there
    if not isinstance(scheduler, SchedulerClient):
        raise SubmitRefused(
            f"site {runtime.site.name} is simulated: it can answer but not run work",
            where=runtime.site.name,
            cure="choose a site that is not simulated",
            reason_class="never",
        )
    made = await _attempt(scheduler, job)
    before = (await scheduler.attempts.look([made.spec.control_dir]))[made.spec.control_dir]
    await scheduler.prepare(made.spec.control_dir, made.spec.work_dir)
    record = await scheduler.submit(made)
    return Submitted(
        state=record.state.value,
        job=record.job,
        work_dir=made.spec.work_dir,
        words=record.answer,
        reason_class=record.reason_class,
        found=bool(before.claims),
    )


def _at_home(runtime: SiteRuntime, attempt: Attempt) -> None:
    """An attempt is written for one scheduler at one site: at another its words would mean something else."""
    here = (runtime.site.name, runtime.site.scheduler)
    if (attempt.site, attempt.scheduler) != here:
        raise BadRequest(
            f"this attempt is for {attempt.scheduler} at site {attempt.site}; here is {here[1]} at site {here[0]}",
            where="attempt",
            cure=f"submit it with the tool of site {attempt.site}, or make a job for this one",
        )


def _told_here(job: JobOrder) -> None:
    for number, one in enumerate(job.dependencies):
        if one.thread_id is not None:
            raise BadRequest(
                "a thread is no job of this scheduler", where=f"job.dependencies.{number}", cure="give a job_id"
            )
    for variable in job.environment:
        if variable.secret is not None:
            raise BadRequest(
                f"{variable.name} refers to a secret, which an order does not carry",
                where="job.environment",
                cure="keep the secret in a file at the site that the script reads, or dispatch a request",
            )


async def _attempt(scheduler: SchedulerClient, job: JobOrder) -> Attempt:
    if bool(job.command) == (job.script is not None):
        raise BadRequest("exactly one of command and script is wanted", where="job", cure="give a command")
    _told_here(job)
    tag = attempt_tag(job.key, STEP, 0)
    control_dir = await scheduler.control_dir(tag)
    script = job.script if job.script is not None else command_body(job.command)
    first = script.partition("\n")[0]
    spec = JobSpec(
        tag=tag,
        name=job.name,
        shape=job.components[0] if job.components else job.shape,
        components=job.components,
        walltime_s=job.walltime_s,
        walltime_min_s=job.walltime_min_s,
        work_dir=job.work_dir or f"{control_dir}/work",
        control_dir=control_dir,
        body=script,
        body_interpreter=first[2:].strip() if first.startswith("#!") else "/bin/sh",
        account=job.account or scheduler.site.default_account,
        queue=job.queue or scheduler.site.default_queue,
        qos=job.qos,
        reservation=job.reservation,
        array=job.array,
        dependencies=job.dependencies,
        licenses=job.licenses,
        start_after=job.start_after,
        requeue=job.requeue,
        environment=job.environment,
        image=job.image,
        native_options=job.native_options,
    )
    return Attempt(
        tag=tag, thread_id=job.key, step=STEP, number=0, site=scheduler.site.name, scheduler=scheduler.site.scheduler,
        spec=spec,
    )  # fmt: skip
