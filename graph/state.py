"""The graph's state: plain JSON under stable keys, checked into one model at the entry of every node."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, NonNegativeInt, ValidationError, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from dragoman.errors import DragomanError
from dragoman.job import JobRef
from dragoman.model import JsonObject, Model, Moment
from dragoman.request import JobRequest, Policy
from dragoman.selection import ApprovalRule
from graph.migrations import SCHEMA_VERSION, migrate

__all__ = ["GraphInput", "GraphOutput", "GraphState", "Options", "ThreadState", "enter"]


class Options(Model):
    """How one thread is to be run."""

    # What stands under a field is its description wherever a form is made of this, as in LangGraph Studio.
    model_config = ConfigDict(use_attribute_docstrings=True)

    policy: Policy = "soonest"
    """How proposals are ranked, where the request does not say."""
    approve: Literal["ask", "auto"] = "ask"
    """auto: the written rules may approve; where none allows, the person is asked all the same."""
    site: str | None = None
    """Dispatch to this site: no other is asked, every check is kept."""
    seed: int = 0
    """Of random policies."""
    most_attempts: Annotated[int, Field(ge=1, le=20)] = 3
    """Submissions over the life of the thread, resubmissions and other sites included."""
    on_lost: Literal["resubmit", "renegotiate", "ask"] = "resubmit"
    """When a job lost its node or was preempted."""
    base_dir: str | None = Field(default=None, pattern=r"^/")
    """Folder on this host that relative inputs are meant from."""
    time_zone: str | None = None
    """IANA zone of the person, for times without one."""
    sites_file: str | None = Field(default=None, pattern=r"^/")
    """The fleet that the request was made with, which the thread keeps whichever process runs it.

    A server's threads go by the server's fleet alone.
    """
    sites_digest: SkipJsonSchema[str | None] = Field(default=None, max_length=64)
    """What that file meant when the request was made; with it and no file, the fleet was this machine alone."""
    asking: Literal["at-once", "serial", "batched"] = "at-once"
    """Ask the sites at once, one by one, or in batches, where a rate limit wants it."""
    batch: Annotated[int, Field(ge=1, le=1000)] = 10
    """Sites of one batch."""
    batch_pause_s: Annotated[float, Field(ge=0, le=3600)] = 0
    """Seconds between batches, or between sites that are asked one by one."""
    site_timeout_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    """Seconds that one site may take; what it has not answered then is unknown. None: as the settings say."""
    approval_rules: SkipJsonSchema[tuple[ApprovalRule, ...] | None] = None
    """The written rules of who made the request, which count whichever process runs the thread. None: that process's.

    A server's threads go by the server's rules alone: a client cannot bring its own.
    """
    dispatch: bool = True
    """False: stop after the selection (`ask`)."""


_REQUEST = {
    "title": "Request",
    "description": "Words (`4 tasks on one node for 5 minutes: python3 pi.py`), a whole job script, or the fields of a "
    "request form. What is not understood or can mean two things is asked back.",
    "anyOf": [{"type": "string"}, {"type": "object"}],
}


class GraphInput(TypedDict, total=False):
    """What a thread is begun with: `request` is enough."""

    request: Annotated[Any, WithJsonSchema(_REQUEST)]
    options: Annotated[dict[str, Any], WithJsonSchema({**Options.model_json_schema(), "title": "Options"})]
    asked_at: Annotated[
        str, Field(title="Asked at", description="when it was asked (ISO 8601 with zone): `tomorrow` counts from it")
    ]
    prepared: Annotated[
        dict[str, Any],
        Field(title="Prepared", description="leave empty: for programs that read the request before they stored it"),
    ]


class GraphState(GraphInput, total=False):
    """The channels. What each means is told at `ThreadState`."""

    schema_version: int
    model_read: bool
    reading: dict[str, Any]
    round: int
    proposals: dict[str, Any]
    selection: dict[str, Any]
    decision: dict[str, Any]
    excluded: list[str]
    attempt: dict[str, Any]
    attempts_made: int
    phase: str
    cancelling: bool
    job: dict[str, Any]
    waits: int
    outcome: str
    outcome_words: str
    results: dict[str, Any]
    prediction: dict[str, Any]


class GraphOutput(TypedDict, total=False):
    """What a finished run answers."""

    outcome: str
    outcome_words: str
    results: dict[str, Any]
    job: dict[str, Any]
    prediction: dict[str, Any]


class CurrentAttempt(Model):
    """The submission that the thread is at."""

    tag: str
    number: NonNegativeInt
    site: str
    control_dir: str
    work_dir: str
    job: JobRef | None = None
    submitted_at: Moment | None = None
    described: JsonObject | None = None
    """The site as it was described when the attempt was made: what was handed to it is looked for there."""


class ThreadState(Model):
    """The state as nodes read it."""

    schema_version: Literal[1] = 1
    request: Any = None
    """As given, secrets taken out."""
    options: Options = Options()
    asked_at: Moment | None = None
    prepared: JsonObject | None = None
    """A dumped `graph.reading.reading.Reading`, from an interface that read the request before it was stored."""
    model_read: bool = False
    """A model was asked about words that the rules could not read; what it read is in `prepared`, as questions."""
    reading: JobRequest | None = None
    """The request as understood, with answers and edits in it."""
    round: NonNegativeInt = 0
    """Grows with each edit of the request; proposals belong to a round."""
    proposals: dict[str, JsonObject] = {}
    """At most 300 bytes a site, for people; the whole ones are in the ledger."""
    selection: JsonObject | None = None
    decision: JsonObject | None = None
    """The approval."""
    excluded: tuple[str, ...] = ()
    """Sites that refused, failed or were sent away by a person."""
    attempt: CurrentAttempt | None = None
    attempts_made: NonNegativeInt = 0
    phase: Literal["in", "out"] = "in"
    """Which way the data mover is to move."""
    cancelling: bool = False
    """The canceller has done its part: what follows brings the thread to its end."""
    job: JsonObject | None = None
    """Last known status, small."""
    waits: NonNegativeInt = 0
    """Pauses so far: numbers the next one, the same after a replay."""
    outcome: Literal["", "completed", "failed", "cancelled", "refused", "no-site", "rejected", "selected"] = ""
    outcome_words: str = ""
    results: JsonObject | None = None
    prediction: JsonObject | None = None


def enter(raw: GraphState) -> ThreadState:
    """Check the channels' plain data into the model, migrating what an older release stored.

    Raises:
        DragomanError: where it cannot be read, naming the field.

    """
    data = migrate({key: value for key, value in raw.items() if value is not None})
    try:
        return ThreadState.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise DragomanError(
            f"the stored state does not fit: {first['msg']}",
            where=".".join(str(part) for part in first["loc"]),
            cure=f"this release reads schema versions up to {SCHEMA_VERSION}; `dragoman doctor` tells more",
        ) from error
