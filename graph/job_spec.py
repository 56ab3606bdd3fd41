"""From an approved proposal to the job spec for that site's scheduler."""

from __future__ import annotations

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.proposal import Proposal
from dragoman.request import EnvironmentVariable, JobRequest
from dragoman.run_plan import RunPlan
from dragoman.shape import Shape
from dragoman.site import Site
from graph.node import Step
from graph.state import CurrentAttempt
from graph.verdict.cpus import cpus_stated, in_cpus
from providers.command_body import command_body, plan_body
from providers.translation.dispatch import foreign_words, script_for, without_foreign_words

__all__ = ["job_spec", "spec_for"]


async def spec_for(step: Step, site: Site, current: CurrentAttempt) -> JobSpec:
    """The job spec of the thread's current attempt: the same for the same attempt."""
    proposals = await step.deps.ledger.proposals(step.thread_id, step.state.round)
    proposal = next(each for each in proposals if each.site == current.site)
    request = step.state.reading or JobRequest()
    return job_spec(
        request, site, proposal, tag=current.tag, control_dir=current.control_dir, work_dir=current.work_dir
    )


def job_spec(
    request: JobRequest, site: Site, proposal: Proposal, *, tag: str, control_dir: str, work_dir: str
) -> JobSpec:
    """Resolve the request for one site: the shape that the proposal answers, its queue and account.

    Raises:
        BadRequest: when nothing is there to run.

    """
    foreign = foreign_words(request, site.scheduler)
    if "dependencies" in foreign:
        # Left out, the job would start too early.
        raise BadRequest(foreign["dependencies"], where="dependencies", cure="edit the request")
    body, interpreter = _body(request, site, proposal.run)
    request = without_foreign_words(request, site.scheduler)
    shape = request.shape_at(proposal.shape_index)
    cpus = proposal.constraints.get("cpus")
    if isinstance(cpus, int):
        shape = shape.model_copy(update={"cpus": cpus})
    one = cpus_stated(proposal.constraints)
    added = proposal.run.environment if proposal.run is not None else ()
    queue = proposal.queue or request.queue or site.default_queue
    return JobSpec(
        tag=tag,
        name=_name(request, proposal.run),
        shape=in_cpus(shape, one),
        components=tuple(in_cpus(each, one) for each in request.components),
        walltime_s=request.walltime_s,
        walltime_min_s=request.walltime_min_s,
        work_dir=work_dir,
        control_dir=control_dir,
        body=body,
        body_interpreter=interpreter,
        environment=(*_sizes(shape), *added, *request.environment),
        account=proposal.account or request.account,
        queue=queue,
        queues=request.queues if queue == request.queue else (),
        qos=request.qos,
        reservation=request.reservation,
        licenses=request.licenses,
        array=request.array,
        dependencies=request.dependencies,
        start_after=request.start_after,
        requeue=bool(request.requeue),
        image=proposal.run.image if proposal.run is not None else None,
        native_options=request.native_options,
    )


def _name(request: JobRequest, run: RunPlan | None) -> str:
    if request.name:
        return request.name
    command = request.command or (run.command if run is not None else ())
    word = command[0].rpartition("/")[2] if command else "dragoman"
    kept = "".join(
        character for character in word if character.isascii() and (character.isalnum() or character in "._-")
    )
    return kept.lstrip("._-")[:64] or "dragoman"


def _body(request: JobRequest, site: Site, run: RunPlan | None) -> tuple[str, str]:
    """Shell lines and their interpreter. A script keeps its own; a command is quoted word by word."""
    if request.script is not None:
        first = request.script.partition("\n")[0]
        interpreter = first[2:].strip() if first.startswith("#!") else "/bin/sh"
        return script_for(request.script, request, site.scheduler), interpreter
    if run is not None and run.problem:
        raise BadRequest(run.problem, where="command", cure="edit the request, or choose another site")
    if run is not None and run.command:
        return plan_body(run), "/bin/sh"
    if not request.command:
        raise BadRequest("the request says nothing to run", where="command", cure="give a command or a script")
    return command_body(request.command), "/bin/sh"


def _sizes(shape: Shape) -> tuple[EnvironmentVariable, ...]:
    """What the job may use, for programs that divide their own work."""
    sizes = {
        "DRAGOMAN_NODES": shape.node_count,
        "DRAGOMAN_TASKS": shape.task_count,
        "DRAGOMAN_CPUS_PER_TASK": shape.cpus_per_task,
    }
    return tuple(EnvironmentVariable(name=name, value=str(count)) for name, count in sizes.items() if count is not None)
