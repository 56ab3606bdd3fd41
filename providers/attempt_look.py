"""What an attempt's folder shows, read from the report of the site-side step (`attempt_step.sh`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from dragoman.command import Completed
from dragoman.errors import TransportError
from dragoman.kleene import Truth

__all__ = ["AttemptLook", "Claim", "ExitRecord", "StepAnswer", "read_looks"]

_BEGIN, _END = "dragoman-attempt begin", "dragoman-attempt end"


@dataclass(frozen=True, slots=True)
class Claim:
    """Who submits, or never will."""

    generation: int
    abandoned_by: str = ""
    """Not empty: nobody submits any more."""
    host: str = ""
    pid: str = ""
    at: int = 0
    """Seconds since the epoch, by the site's clock."""
    limit_s: int = 0
    """The submit command is ended after this."""
    nonce: str = ""
    alive: Truth = Truth.UNKNOWN
    """Whether the process that claimed still runs; unknown from another login node. No where an answer is there."""


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What the submit command answered, as the step recorded it."""

    generation: int
    how: str
    """`ended`, `killed` (by its time limit or from outside: perhaps submitted) or `given-up` (not submitted)."""
    rc: int
    out: str = ""
    err: str = ""

    def completed(self, argv: tuple[str, ...]) -> Completed:
        """As the dialect's `parse_submit` takes it."""
        return Completed(argv=argv, rc=self.rc, stdout=self.out.encode(), stderr=self.err.encode())


@dataclass(frozen=True, slots=True)
class ExitRecord:
    """What the job wrote at its end."""

    rc: int
    signal: int | None
    started_at: datetime | None
    ended_at: datetime | None
    job_id: str
    restart: str
    host: str


@dataclass(frozen=True, slots=True)
class AttemptLook:
    """One look at an attempt's folder."""

    control_dir: str
    now: int
    """Seconds since the epoch, by the site's clock."""
    trouble: str = ""
    """Why the folder could not be read: then nothing is shown."""
    empty: bool = False
    """There is no such folder."""
    stopped: str = ""
    """Why the step that gave this report did not claim: `claimed`, `input`, `missing`, `owner`, `folder`."""
    claims: tuple[Claim, ...] = ()
    """By generation."""
    answers: dict[int, StepAnswer] = field(default_factory=dict)
    partial: dict[int, str] = field(default_factory=dict)
    """What the submit command had printed where its step did not live to record an answer."""
    absent_since: dict[int, int] = field(default_factory=dict)
    """By generation, when queue and history first said cleanly that there is no such job."""
    owner: str = ""
    """The scheduler's id of the job that runs or ran this attempt."""
    barred_by: str = ""
    """Not empty: no job runs this attempt any more."""
    starts: dict[str, list[str]] = field(default_factory=dict)
    """By array index (`""`: no array)."""
    exits: dict[str, ExitRecord] = field(default_factory=dict)
    """By array index (`""`: no array)."""
    duplicates: tuple[str, ...] = ()
    """Jobs with this tag that ended without running it."""

    @property
    def latest(self) -> Claim | None:
        """The newest claim."""
        return self.claims[-1] if self.claims else None


def read_looks(done: Completed) -> list[AttemptLook]:
    """Reports in the order they were asked for; lines before, between and after them are not ours.

    Raises:
        TransportError: a report is missing or was cut off. Nothing is known then.

    """
    looks: list[AttemptLook] = []
    block: list[str] | None = None
    for line in done.out.split("\n"):
        if line == _BEGIN:
            block = []
        elif line == _END and block is not None:
            looks.append(_look(block))
            block = None
        elif block is not None:
            block.append(line)
    if not looks or block is not None or done.truncated:
        words = " ".join(f"{done.err} {done.out}".split())[:300]
        raise TransportError(
            f"the site's answer about an attempt came incomplete (exit code {done.rc}): {words}",
            cure="look again; nothing is submitted on such an answer",
        )
    return looks


def _look(block: list[str]) -> AttemptLook:
    facts: dict[str, str] = {}
    claims: dict[int, Claim] = {}
    alive: dict[int, Truth] = {}
    heads: dict[int, tuple[str, int]] = {}
    printed: dict[tuple[str, int], list[str]] = {}
    absent: dict[int, int] = {}
    starts: dict[str, list[str]] = {}
    exits: dict[str, dict[str, str]] = {}
    duplicates: list[str] = []
    for line in block:
        word, _, rest = line.partition(" ")
        if word in {"claim", "alive", "answer", "absent", "out", "err"}:
            number, _, rest = rest.partition(" ")
            if not number.isdecimal():
                continue
            generation = int(number)
            if word == "claim":
                claims[generation] = _claim(generation, rest)
            elif word == "alive":
                alive[generation] = Truth(rest) if rest in {"yes", "no"} else Truth.UNKNOWN
            elif word == "answer":
                how, _, rc = rest.partition(" ")
                if rc.lstrip("-").isdecimal():
                    heads[generation] = (how, int(rc))
            elif word == "absent" and rest.isdecimal():
                absent[generation] = int(rest)
            elif word in {"out", "err"}:
                printed.setdefault((word, generation), []).append(rest)
        elif word == "in":
            name, _, text = rest.partition(":")
            kind, _, task = name.partition(".")
            if kind == "starts":
                starts.setdefault(task, []).append(text)
            elif kind == "exit":
                key, _, value = text.partition(" ")
                exits.setdefault(task, {})[key] = value
            elif kind == "duplicates":
                duplicates.append(text)
        elif word in {"dir", "now", "trouble", "stopped", "owner", "empty"}:
            facts[word] = rest
    texts = {key: "\n".join(lines) for key, lines in printed.items()}
    owner = facts.get("owner", "")
    return AttemptLook(
        control_dir=facts.get("dir", ""),
        now=int(facts.get("now") or 0),
        trouble=facts.get("trouble", ""),
        empty="empty" in facts,
        stopped=facts.get("stopped", ""),
        claims=tuple(_with_alive(claims[n], Truth.NO if n in heads else alive.get(n)) for n in sorted(claims)),
        answers={
            n: StepAnswer(n, how, rc, texts.get(("out", n), ""), texts.get(("err", n), ""))
            for n, (how, rc) in heads.items()
        },
        partial={
            n: f"{texts.get(('out', n), '')} {texts.get(('err', n), '')}".strip() for n in claims if n not in heads
        },
        absent_since=absent,
        owner=owner.removeprefix("job:") if owner.startswith("job:") else "",
        barred_by=owner.removeprefix("abandoned:") if owner.startswith("abandoned:") else "",
        starts=starts,
        exits={task: record for task, lines in exits.items() if (record := _exit(lines)) is not None},
        duplicates=tuple(duplicates),
    )


def _claim(generation: int, target: str) -> Claim:
    if target.startswith("abandoned:"):
        return Claim(generation, abandoned_by=target.removeprefix("abandoned:") or "somebody")
    words = target.split(" ")
    if len(words) != 7 or words[0] != "step":
        return Claim(generation)
    _, host, pid, _, at, limit, nonce = words
    return Claim(
        generation,
        host=host,
        pid=pid,
        at=int(at) if at.isdecimal() else 0,
        limit_s=int(limit) if limit.isdecimal() else 0,
        nonce=nonce,
    )


def _with_alive(claim: Claim, alive: Truth | None) -> Claim:
    if claim.abandoned_by or alive is None:
        return claim
    return Claim(
        claim.generation, host=claim.host, pid=claim.pid, at=claim.at, limit_s=claim.limit_s, nonce=claim.nonce,
        alive=alive,
    )  # fmt: skip


def _exit(lines: dict[str, str]) -> ExitRecord | None:
    """None where the record is not one that a job script wrote."""
    rc = lines.get("rc", "")
    if not rc.isdecimal() or "job" not in lines:
        return None
    signal = lines.get("signal", "")
    return ExitRecord(
        rc=int(rc),
        signal=int(signal) if signal.isdecimal() else None,
        started_at=_moment(lines.get("started", "")),
        ended_at=_moment(lines.get("ended", "")),
        job_id=lines["job"],
        restart=lines.get("restart", ""),
        host=lines.get("host", ""),
    )


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
