"""A site whose description changed since it was approved is not acted on: it is asked again, and so is the person."""

from __future__ import annotations

from dragoman.attempt import attempt_tag
from dragoman.model import JsonObject
from dragoman.selection import Approval
from dragoman.site_meaning import site_digest
from graph.node import Goto, Step, goto

__all__ = ["described_otherwise", "whereabouts"]


async def described_otherwise(step: Step, name: str) -> Goto | None:
    """The way back to the sites, where the sites file says otherwise than when this one was approved; None: go on.

    Only before anything was handed to the site: what it was handed is seen to its end.
    """
    approved = Approval.model_validate(step.state.decision or {"decision": "refuse"}).site_digest
    if not approved:
        return None
    now = next((site for site in step.fleet().sites if site.name == name), None)
    if now is not None and site_digest(now) == approved:
        return None
    why = "is not in the sites file any more" if now is None else "is described otherwise than when it was approved"
    await step.say(f"{name} {why}: asking the sites again", site=name)
    made = step.state.attempts_made
    tag = attempt_tag(step.thread_id, "dispatcher", made + 1)
    if any(plan.id == f"{tag}-in" for plan, _ in await step.deps.ledger.transfers(step.thread_id)):
        made += 1  # what was begun to be moved there stays that attempt's
    return goto(
        step, "negotiator", round=step.state.round + 1, excluded=[], selection={}, decision={}, attempt=None,
        phase="in", attempts_made=made,
    )  # fmt: skip


def whereabouts(step: Step) -> JsonObject:
    """What a watcher needs to find the site of the thread's attempt: the fleet, and how the site was described."""
    origin, at = step.origin, step.state.attempt
    found: JsonObject = {}
    if origin is not None:
        found["fleet"] = origin.dump()
    if at is not None and at.described is not None:
        found["described"] = at.described
    return found
