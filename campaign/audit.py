"""Counts what happened, at the jobs themselves and in the queue, against what dragoman's books say."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psycopg.rows import DictRow

if TYPE_CHECKING:
    from campaign.director import Campaign

__all__ = ["Counts", "audit"]

CHECKPOINTS = """
SELECT thread_id, checkpoint_id, parent_checkpoint_id, (metadata ->> 'lease_epoch')::bigint AS epoch
FROM checkpoints WHERE checkpoint_ns = '' ORDER BY thread_id, checkpoint_id
"""


@dataclass
class Counts:
    """Each of these is to be 0; `details` says of what."""

    submitted_twice: int = 0
    run_twice: int = 0
    lost: int = 0
    finished_that_were_not: int = 0
    not_at_rest: int = 0
    parked_with_error: int = 0
    written_after_lease: int = 0
    asked_twice: int = 0
    left_running: int = 0
    resumed_by_another_event: int = 0
    said_twice: int = 0
    details: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def hold(self) -> bool:
        """Whether all promises were kept."""
        return not any(value for name, value in vars(self).items() if name not in ("details", "outcomes"))


async def audit(campaign: Campaign) -> Counts:
    """Count."""
    counts = Counts()
    starts, ends = _marks(campaign)
    _bodies(counts, starts)
    _queue(campaign, counts)
    await _threads(campaign, counts, starts, ends)
    await _writes(campaign, counts)
    return counts


def _marks(campaign: Campaign) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Starts by tag (each with its job's name), and when those came to their end that did."""
    starts: dict[str, list[str]] = defaultdict(list)
    ends = {}
    for line in campaign.place.marks.read_text().splitlines():
        tag, what, name, at = line.split()
        if what == "start":
            starts[tag].append(name)
        else:
            ends[tag] = float(at)
    return starts, ends


def _bodies(counts: Counts, starts: dict[str, list[str]]) -> None:
    for tag, names in starts.items():
        if len(names) > 1:
            counts.run_twice += 1
            counts.details.append(f"run twice: {tag} ({names[0]})")


def _queue(campaign: Campaign, counts: Counts) -> None:
    """Jobs that the queue really took, by attempt; and those that are still there."""
    taken: Counter[str] = Counter()
    names = campaign.place.queue / "names"
    for line in names.read_text().splitlines() if names.exists() else ():
        tag, own = line.split()
        taken[tag] += (campaign.place.queue / "tags" / own).exists()
    for tag, number in taken.items():
        if number > 1:
            counts.submitted_twice += 1
            counts.details.append(f"submitted {number} times: {tag}")
    for place in ("waiting", "running"):
        for entry in (campaign.place.queue / place).glob("*.json"):
            counts.left_running += 1
            counts.details.append(f"left {place}: {json.loads(entry.read_text()).get('tag')}")


async def _threads(campaign: Campaign, counts: Counts, starts: dict[str, list[str]], ends: dict[str, float]) -> None:
    threads = await campaign.rows("SELECT * FROM dragoman_ledger.threads")
    attempts = await campaign.rows("SELECT thread_id, tag, state FROM dragoman_ledger.attempts ORDER BY number")
    said = {
        row["thread_id"]: row["words"]
        for row in await campaign.rows(
            "SELECT thread_id, string_agg(words, '; ') AS words FROM dragoman_ledger.timeline"
            " WHERE step IN ('collector', 'data_mover') GROUP BY 1"
        )
    }
    seen = {
        row["thread_id"]: row["at"].timestamp()
        for row in await campaign.rows(
            "SELECT thread_id, max(at) AS at FROM dragoman_ledger.timeline"
            " WHERE step = 'monitor' AND words LIKE '%% is completed' GROUP BY 1",
            (),
        )
    }
    waits = await campaign.rows("SELECT thread_id, kind FROM dragoman_ledger.waits WHERE closed_at IS NULL")
    asked = {row["thread_id"] for row in waits if row["kind"] in ("approval", "question")}
    tags = defaultdict(list)
    for each in attempts:
        tags[each["thread_id"]].append(each["tag"])
    names = Counter(row["title"][10:19] for row in threads)
    by_name: dict[str, DictRow] = {row["title"][10:19]: row for row in threads}
    for request in campaign.requests:
        name = request.job.name
        if (row := by_name.get(name)) is None:
            counts.lost += 1
            counts.details.append(f"lost: {name} has no thread")
            continue
        if names[name] > 1:
            counts.asked_twice += 1
            counts.details.append(f"two threads: {name}")
        own = tags[row["thread_id"]]
        ran, ended = [tag for tag in own if tag in starts], [tag for tag in own if tag in ends]
        outcome, error = str(row["outcome"]), f"{row['thread_id'][:8]} {name} {row['status']} {row['outcome']}"
        counts.outcomes[outcome or str(row["status"])] += 1
        if row["status"] == "poisoned":
            counts.parked_with_error += 1
            counts.details.append(f"parked with an error: {error}: {row['error'][:200]}")
        elif row["status"] != "done" and row["thread_id"] not in asked:
            counts.not_at_rest += 1
            counts.details.append(f"not at rest: {error}")
        early = row["thread_id"] in seen and ended and seen[row["thread_id"]] < ends[ended[-1]]
        if outcome == "completed" and (not ended or ended[-1] != own[-1] or request.job.fails or early):
            counts.finished_that_were_not += 1
            counts.details.append(f"finished that was not: {error}, attempts {own}, ended {ended}")
        if outcome == "completed":
            result = campaign.place.data / "results" / row["thread_id"] / "out.txt"
            if not result.exists() or result.read_text() != f"input\nresult of {name}\n":
                counts.lost += 1
                counts.details.append(f"lost: the result of {error}")
        # A disk that is full when the job starts or writes ends the job, and the thread says so.
        full = any(fault.kind == "disk-site" for fault in campaign.fired)
        told = any(f"exit code {code}" in said.get(row["thread_id"], "") for code in (9, 114))
        excused = (
            row["thread_id"] in campaign.cancels
            or (campaign.lost_jobs and len(own) > 1)
            or (full and (told or not own))
        )
        if outcome == "failed" and not request.job.fails and not excused:
            counts.lost += 1
            counts.details.append(f"lost: {error}, attempts {own}, ran {ran}: {said.get(row['thread_id'])}")
        if outcome in ("cancelled", "no-site", "rejected") and row["thread_id"] not in campaign.cancels:
            counts.lost += 1
            counts.details.append(f"lost: {error} and nobody asked for it")
        if outcome == "refused" and request.job.mode != "refuse":
            counts.lost += 1
            counts.details.append(f"lost: {error} and nobody refused")


async def _writes(campaign: Campaign, counts: Counts) -> None:
    """Checkpoints of one thread are a chain whose leases only grow, and no line of its story is there twice."""
    children: Counter[tuple[str, str]] = Counter()
    epochs: dict[tuple[str, str], int] = {}
    for row in await campaign.rows(CHECKPOINTS):
        key, parent = (row["thread_id"], row["checkpoint_id"]), (row["thread_id"], row["parent_checkpoint_id"])
        epochs[key] = row["epoch"] or 0
        children[parent] += 1
        if children[parent] > 1 or epochs.get(parent, 0) > epochs[key]:
            counts.written_after_lease += 1
            counts.details.append(f"written after its lease had ended: checkpoint {key[1]} of {key[0][:8]}")
    resumed = await campaign.rows(
        "SELECT w.thread_id, w.kind, w.sequence FROM dragoman_ledger.waits w"
        " JOIN dragoman_ledger.threads t ON t.thread_id = w.thread_id"
        " WHERE w.closed_at IS NOT NULL AND NOT w.has_event AND w.closed_at < t.updated_at"
    )
    for row in resumed:
        counts.resumed_by_another_event += 1
        counts.details.append(
            f"resumed without its event: wait {row['sequence']} ({row['kind']}) of {row['thread_id']}"
        )
    said = await campaign.rows(
        "SELECT thread_id, words, count(*) AS number FROM dragoman_ledger.timeline t"
        " WHERE (SELECT count(*) FROM dragoman_ledger.attempts a WHERE a.thread_id = t.thread_id) < 2"
        " AND (words LIKE 'submitted as job%%' OR words IN ('completed', 'cancelled') OR words LIKE 'staged %%')"
        " GROUP BY 1, 2 HAVING count(*) > 1", ()
    )  # fmt: skip
    for row in said:
        counts.said_twice += 1
        counts.details.append(f"said twice: {row['thread_id'][:8]}: {row['words']}")
