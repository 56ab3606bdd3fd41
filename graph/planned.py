"""A proposal with its plan to run the command: made when the site is asked, so that what is approved is what is run."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.errors import DragomanError
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Check, Proposal, Verdict
from dragoman.request import JobRequest
from dragoman.run_plan import RunPlan
from dragoman.shape import Shape
from dragoman.site import Site
from graph.reading.launchers import read_launch
from graph.verdict.conventions import STRICT, Conventions
from graph.verdict.evidence import Evidence
from graph.verdict.means import means_of
from providers.commands.plan import plan_run
from providers.recipes.shelf import Shelf

__all__ = ["line_stays", "planned", "without_fit"]

_COUNTS = ("tasks", "nodes", "tasks_per_node", "cpus_per_task")
_LIMITS = ("walltime_s", "queue", "account")


def planned(
    proposal: Proposal,
    request: JobRequest,
    site: Site,
    observations: Sequence[Observation],
    shelf: Shelf,
    conventions: Conventions = STRICT,
) -> Proposal:
    """The proposal with its plan. Where no command can be put together the site does not fit, and why is said.

    Args:
        proposal: as the checks have it.
        request: what it answers.
        site: of the proposal; a simulated one gets no plan.
        observations: the evidence of the checks.
        shelf: recipes for this site.
        conventions: what may stand for what.

    """
    if site.simulated is not None or proposal.fits is Truth.NO or proposal.error:
        return proposal
    plan = _plan(proposal, request, site, observations, shelf, conventions)
    if plan is None or not plan.problem or proposal.fits is not Truth.YES:
        return proposal.model_copy(update={"run": plan})
    check = Check(
        requirement="a command to run", field="command", kind="software", result=Truth.NO, reason=plan.problem
    )
    return without_fit(proposal.model_copy(update={"run": plan}), check)


def without_fit(proposal: Proposal, check: Check) -> Proposal:
    """The proposal after one more check that says no."""
    return proposal.model_copy(
        update={
            "checks": (*proposal.checks, check), "fits": Truth.NO, "verdict": Verdict.INCOMPATIBLE,
            "reasons": (check.reason,), "queue": None,
        }
    )  # fmt: skip


def _plan(
    proposal: Proposal, request: JobRequest, site: Site, observations: Sequence[Observation], shelf: Shelf,
    conventions: Conventions,
) -> RunPlan | None:  # fmt: skip
    shape = request.shape_at(proposal.shape_index)
    recipe, where = None, ""
    if request.recipe is not None:
        try:
            kept = shelf.at(site.name).get(request.recipe)
            recipe = kept.use()
            where = f"{recipe.name} ({'shipped' if kept.shipped else kept.where})"
        except DragomanError as error:
            return RunPlan(problem=str(error)[:1000])
    means = means_of(request, site, proposal.scheduler, proposal.queue, Evidence(observations), conventions)
    shared = isinstance(proposal.constraints.get("cpus"), int)
    return plan_run(
        request, site, shape, means, recipe, where=where, shared=shared, line_stays=line_stays(request, shape)
    )


def line_stays(request: JobRequest, shape: Shape) -> bool:
    """Whether the launch line still says what the request says: words may have changed the one and not the other."""
    said = read_launch((*request.launch_line, *request.command)) if request.launch_line else None
    if said is None:
        return True
    counts = all(getattr(shape, name) == said.shape[name] for name in _COUNTS if name in said.shape)
    return counts and all(getattr(request, name) == said.fields[name] for name in _LIMITS if name in said.fields)
