"""The script that an approved site would be handed, written before anybody approves it."""

from __future__ import annotations

from contextlib import suppress

from dragoman.attempt import attempt_tag
from dragoman.errors import DragomanError, SiteNotHere, TransportError
from dragoman.kleene import Truth
from dragoman.proposal import Check, Proposal
from dragoman.request import JobRequest
from graph.job_spec import job_spec
from graph.node import Step
from graph.planned import without_fit
from graph.reach import scheduler_at
from providers.site_runtime import SiteRuntime

__all__ = ["script_for", "writable"]

_UNKNOWN_FOLDER = "/FOLDER-OF-JOBS"


def writable(step: Step, request: JobRequest, proposal: Proposal) -> Proposal:
    """The proposal of a real site that fits, if its scheduler's script can be written at all; else it does not fit.

    What a scheduler has no words for (an array, an option that it does not have) is told when the site is asked, not
    when somebody has approved it.
    """
    runnable = request.command or request.script is not None or proposal.run is not None
    if proposal.simulated or proposal.fits is not Truth.YES or not runnable:
        return proposal
    runtime, tag = step.open_site(proposal.site), _next_tag(step)
    try:
        _rendered(runtime, request, proposal, tag, f"{_UNKNOWN_FOLDER}/{tag}")
    except SiteNotHere:
        raise
    except DragomanError as error:
        return without_fit(proposal, Check(
            requirement="a script for the scheduler", field=error.where or "request", kind="script", result=Truth.NO,
            reason=str(error)[:1000],
        ))  # fmt: skip
    return proposal


async def script_for(step: Step, request: JobRequest, proposal: Proposal) -> tuple[str | None, str]:
    """The next attempt's script at a site, to the letter, and what to know of it; None, and why there is none.

    Nothing is written at the site. Secret values stand in no script.
    """
    if proposal.simulated:
        return None, "the site is simulated: nothing would be submitted"
    tag = _next_tag(step)
    note = "for the selected site; another site's is written when it is approved"
    try:
        runtime = step.open_site(proposal.site)
        try:
            control_dir = await scheduler_at(runtime).control_dir(tag)
        except TransportError as error:
            control_dir, note = f"{_UNKNOWN_FOLDER}/{tag}", f"{note}; the folder there is not known now: {error}"
        return _rendered(runtime, request, proposal, tag, control_dir), note
    except SiteNotHere:
        if not _left_the_fleet(step, proposal.site):
            raise
        return None, f"cannot be written: {proposal.site} is not in the sites file any more"
    except DragomanError as error:
        return None, f"cannot be written: {error}"


def _left_the_fleet(step: Step, name: str) -> bool:
    """Whether the sites file of the thread can be read here and does not have the site."""
    with suppress(SiteNotHere):
        return name not in {site.name for site in step.fleet().sites}
    return False


def _next_tag(step: Step) -> str:
    return attempt_tag(step.thread_id, "dispatcher", step.state.attempts_made + 1)


def _rendered(runtime: SiteRuntime, request: JobRequest, proposal: Proposal, tag: str, control_dir: str) -> str:
    spec = job_spec(request, runtime.site, proposal, tag=tag, control_dir=control_dir, work_dir=f"{control_dir}/work")
    return scheduler_at(runtime).dialect.render(spec)
