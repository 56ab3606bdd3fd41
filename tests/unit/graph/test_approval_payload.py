from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.kleene import Truth
from dragoman.proposal import Check, Cost, Proposal, Verdict
from dragoman.request import JobRequest
from graph.approval_answer import ANSWER_SCHEMA
from graph.approval_payload import MOST_BYTES, ApprovalPayload, approval_schema, payload_for
from graph.selection.rank import rank

Make = Callable[..., dict[str, Any]]

LONG = "ä" * 300
EVIL = '\x01"\\\u2028😀' * 60


@pytest.fixture
def fleet(at: datetime) -> Callable[..., list[Proposal]]:
    """Proposals with long names and long reasons; every third site cannot take the work."""

    def make(count: int, words: str = "needs more than it has", checks: int = 30) -> list[Proposal]:
        return [
            Proposal(
                site=f"site-{number:03}-{'x' * 50}",
                verdict=Verdict.INCOMPATIBLE if number % 3 == 2 else Verdict.BUSY,
                fits=Truth.NO if number % 3 == 2 else Truth.YES,
                reasons=(words,) * 9,
                checks=tuple(
                    Check(requirement=words, field="shapes.0", reason=words, kind="shape", result=result)
                    for result in (Truth.YES, Truth.UNKNOWN, Truth.NO)
                    for _ in range(checks // 3)
                ),
                cost=Cost(amount=number, unit="USD", basis=words),
                made_at=at,
            )
            for number in range(count)
        ]

    return make


@pytest.fixture
def payload() -> Make:
    def make(request: JobRequest, proposals: list[Proposal], **more: Any) -> dict[str, Any]:
        selection = rank(proposals, "min-cost", round_=0, seed=0, excluded=())
        order = {each.site: each for each in proposals}
        able = [order[ranked.site] for ranked in selection.ranking if ranked.rank is not None]
        made: dict[str, Any] = payload_for(request, selection, able, **more)
        ApprovalPayload.model_validate(made)
        return made

    return make


def wire(payload: dict[str, Any]) -> int:
    """Bytes with the two keys that a pause adds."""
    return len(json.dumps({"wait_id": "0" * 32, "kind": "approval", **payload}).encode())


def test_five_hundred_sites_fit_and_each_is_told_of(fleet: Any, payload: Make) -> None:
    made = payload(JobRequest(command=("true",)), fleet(500), script="#!/bin/sh\n" + "line\n" * 5000)
    assert wire(made) <= MOST_BYTES
    assert len(made["proposals"]) == 10
    assert len(made["other_sites"]) + made["more_sites"] == 490
    assert made["more_sites"] == 0
    assert "more characters]" in made["script"]


HUGE: dict[str, JobRequest] = {
    "script": JobRequest(script="#!/bin/sh\n" + "echo äöü 'quoted' \"text\"\n" * 150_000),
    "command": JobRequest(command=("run", *(f"--option-{number}={LONG}" for number in range(20_000)))),
    "one word": JobRequest(command=("x" * 131_072,)),
    "environment": JobRequest.model_validate(
        {"command": ["true"], "environment": [{"name": f"V{n}", "value": EVIL * 20} for n in range(2000)]}
    ),
    "inputs": JobRequest.model_validate(
        {"command": ["true"], "inputs": [{"source": f"/data/{LONG}/{n}", "name": f"{n}"} for n in range(5000)]}
    ),
    "notes": JobRequest(command=("true",), notes=("a note of some length, told many times over",) * 5000),
    "shapes": JobRequest.model_validate(
        {"command": ["true"], "shapes": [{"nodes": n + 1, "tasks": n + 1} for n in range(300)]}
    ),
    "software": JobRequest.model_validate(
        {"command": ["true"], "software": [{"name": f"package{n}", "variants": ["+mpi"] * 200} for n in range(500)]}
    ),
}


@pytest.mark.parametrize("kind", HUGE)
def test_huge_requests_fit(kind: str, fleet: Any, payload: Make) -> None:
    made = payload(
        HUGE[kind], fleet(500, EVIL[:900]), script=f"#!/bin/sh\n{EVIL * 2000}", script_note=EVIL * 99,
        problem=EVIL * 99, evidence=EVIL * 99,
    )  # fmt: skip
    assert wire(made) <= MOST_BYTES
    assert made["proposals"]
    assert made["request"]


def test_what_is_cut_says_so(fleet: Any, payload: Make) -> None:
    made = payload(HUGE["command"], fleet(3))
    assert any(str(word).endswith("more]") for word in made["request"]["command"])
    assert payload(HUGE["inputs"], fleet(3))["more_transfers"] == 5000 - len(
        payload(HUGE["inputs"], fleet(3))["transfers"]
    )


def test_a_small_request_is_shown_whole(fleet: Any, payload: Make) -> None:
    request = JobRequest(command=("lmp", "-in", "in.lj"), walltime_s=7200)
    made = payload(request, fleet(4, checks=6), script="#!/bin/sh\nlmp\n")
    assert made["request"] == {"command": ["lmp", "-in", "in.lj"], "walltime_s": 7200}
    assert (made["script"], made["charge"]) == ("#!/bin/sh\nlmp\n", "0 USD: needs more than it has")
    first = made["proposals"][0]
    assert [line.split(":")[0] for line in first["checks"]] == ["no", "no", "unknown", "unknown", "yes", "yes"]
    assert first["more_checks"] == 0
    assert [line.split(":")[0][:8] for line in made["other_sites"]] == ["site-002"]


def test_an_unknown_cost_is_not_zero(fleet: Any, payload: Make) -> None:
    proposals = [each.model_copy(update={"cost": Cost()}) for each in fleet(1)]
    made = payload(JobRequest(command=("true",)), proposals)
    assert (made["charge"], made["proposals"][0]["cost"]) == ("an amount not known", None)


def test_the_schema_in_the_docs_is_this_one() -> None:
    """`dragoman schema approval > docs/approval.schema.json` writes it anew."""
    kept = json.loads((Path(__file__).parents[3] / "docs/approval.schema.json").read_text())
    assert kept == approval_schema()
    assert kept["$defs"]["ApprovalAnswer"]["properties"] == ANSWER_SCHEMA["properties"]
    for name, schema in kept["$defs"].items():
        if "properties" not in schema:
            continue
        assert schema["description"], name
        assert [field for field, told in schema["properties"].items() if not told.get("description")] == [], name
