"""The script that an approved site would be handed, written before anybody approves it."""

from __future__ import annotations

from dragoman.attempt import attempt_tag
from dragoman.errors import DragomanError, SiteNotHere, TransportError
from dragoman.proposal import Proposal
from dragoman.request import JobRequest
from graph.job_spec import job_spec
from graph.node import Step
from graph.reach import scheduler_at

__all__ = ["script_for"]


async def script_for(step: Step, request: JobRequest, proposal: Proposal) -> tuple[str | None, str]:
    """The next attempt's script at a site, to the letter, and what to know of it; None, and why there is none.

    Nothing is written at the site. Secret values stand in no script.
    """
    if proposal.simulated:
        return None, "the site is simulated: nothing would be submitted"
    tag = attempt_tag(step.thread_id, "dispatcher", step.state.attempts_made + 1)
    note = "for the selected site; another site's is written when it is approved"
    try:
        runtime = step.open_site(proposal.site)
        scheduler = scheduler_at(runtime)
        try:
            control_dir = await scheduler.control_dir(tag)
        except TransportError as error:
            control_dir, note = f"~/.dragoman/{tag}", f"{note}; the folder there is not known now: {error}"
        spec = job_spec(
            request, runtime.site, proposal, tag=tag, control_dir=control_dir, work_dir=f"{control_dir}/work"
        )
        return scheduler.dialect.render(spec), note
    except SiteNotHere:
        raise
    except DragomanError as error:
        return None, f"cannot be written: {error}"
