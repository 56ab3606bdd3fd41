"""What a model concludes, and what of it counts: statements with evidence, suggestions that the rules have tried."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dragoman.errors import BadRequest
from dragoman.kleene import Truth
from dragoman.model import JsonValue
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Suggestion, Verdict
from dragoman.request import JobRequest
from dragoman.shape import Shape
from dragoman.site import Site
from dragoman.units import counted
from graph.model.contradiction import Held, contradicts
from graph.reading.answers import apply_patch
from graph.verdict.conventions import Conventions
from graph.verdict.evaluate import evaluate

__all__ = ["CONCLUDE", "Change", "Conclusion", "Statement", "explained", "plain_value", "tried"]

_MAY_CHANGE = re.compile(
    r"(?:shapes\.\d{1,2}(?:\.\w+){0,2}|walltime_s|queue|mpi|software\.\d{1,2}\.(?:name|version)|urgent)"
)
_NAMED = re.compile(
    r"(?i)\b(?P<what>queue|partition|package|module|site|account|cluster|host)s?\s+[`'\"]?(?P<name>[\w.+/@-]{2,64})"
)
_NAMED_BEFORE = re.compile(
    r"(?i)(?<![\w./@-])[`'\"]?(?P<name>[a-z][\w.+/@-]{1,63})[`'\"]?\s+"
    r"(?P<what>queue|partition|package|module|site|account|cluster|host)s?\b"
)
_SHAPED = re.compile(
    r"(?<![\w./@-])(?P<name>"
    r"[a-z][\w+.-]*[/@]v?\d[\w.+-]*"  # gromacs/2024.2, openmpi@4.1
    r"|[a-z]+\d*(?:_\w+)+"  # gpu_long
    r"|(?:[a-z][a-z0-9]*-)+\w*\d\w*)"  # intel-2023
    r"(?![\w/@-])",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[`'\"](?P<name>[a-z][\w.+/@-]{1,63})[`'\"]", re.IGNORECASE)
_PLAIN_WORDS = frozenset(
    re.findall(
        r"\w+",
        "accepts allows and are at but can could does for from gives has have holds in is it lets limit limits manager"
        " may might must needs no not of offers on or should so takes that the there this to wants was were which will"
        " with would",
    )
)
_BEFORE = _PLAIN_WORDS | frozenset(
    re.findall(
        r"\w+",
        "a all an another any busy closed compute cpu default different each empty every execution first free full gpu"
        " hpc idle installed its job large local login longer matching more named one only open other our remote"
        " requested routing same second several shorter simulated single software some such suitable target their"
        " these those two usable user users whole your",
    )
)
"""Words before `queue` and the like that name none."""
_FIELDS = frozenset([*JobRequest.model_fields, *Shape.model_fields, *Proposal.model_fields])


class Statement(BaseModel):
    """One sentence of an explanation."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=600)
    cites: list[str] = Field(default_factory=list, max_length=32, description="ids of observations")


class Change(BaseModel):
    """A change of the request with which the site would fit."""

    model_config = ConfigDict(extra="forbid")

    field: str = Field(max_length=64, description="dotted path, such as shapes.0.nodes or walltime_s")
    value: Any = Field(description="the new value")


class Conclusion(BaseModel):
    """What was found. Call it once, at the end."""

    model_config = ConfigDict(extra="forbid")

    explanation: list[Statement] = Field(default_factory=list, max_length=8)
    suggestions: list[Change] = Field(default_factory=list, max_length=8)
    verdict: Verdict | None = None
    """Nobody asks for it and it counts for nothing; one that is no verdict shows that the rest cannot be relied on."""

    @model_validator(mode="after")
    def _says_something(self) -> Conclusion:
        if not self.model_fields_set & {"explanation", "suggestions"}:
            raise ValueError("neither an explanation nor suggestions")
        return self


CONCLUDE: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "conclude",
        "description": "What was found. Call it once, at the end.",
        "parameters": {
            "type": "object",
            "properties": {
                "explanation": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string"},
                            "cites": {"type": "array", "items": {"type": "string"}},
                        },
                        "required": ["text", "cites"],
                    },
                },
                "suggestions": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "field": {"type": "string", "description": "such as shapes.0.nodes or walltime_s"},
                            "value": {"type": "string", "description": "the new value, as JSON"},
                        },
                        "required": ["field", "value"],
                    },
                },
            },
            "required": ["explanation", "suggestions"],
        },
    },
}


def explained(
    conclusion: Conclusion, site: Site, request: JobRequest, evidence: Sequence[Observation],
    verdict: Verdict | None = None,
) -> str:  # fmt: skip
    """The statements that cite what was observed, name nothing else and say nothing against the verdict.

    Each is given as the model's words, with what it cites; what was left out is counted with the reason.
    """
    ids = {each.id for each in evidence}
    known = {name for each in evidence for name in _names([each.provider, each.tool, each.arguments, each.value])}
    known |= {word.strip("'\"`.,;:()").lower() for each in evidence for word in each.reason.split()}
    known |= _FIELDS | {site.name.lower(), site.scheduler.lower(), *_names(request.dump())}
    held = Held(request, evidence)
    kept: list[str] = []
    left: Counter[str] = Counter()
    for statement in conclusion.explanation:
        text = statement.text
        invented = [match for match in _NAMED.finditer(text) if not _observed(match, site, known)]
        before = [match for match in _NAMED_BEFORE.finditer(text) if match["name"].lower() not in _BEFORE]
        invented += [match for match in before if not _shown(match["name"], known)]
        shaped = [match for kind in (_SHAPED, _QUOTED) for match in kind.finditer(text)]
        invented += [match for match in shaped if not _shown(match["name"], known | ids)]
        if statement.cites and ids.issuperset(statement.cites) and not invented:
            trouble = contradicts(text, verdict, held)
        else:
            trouble = "names or claims what no observation here holds"
        if trouble:
            left[trouble] += 1
        else:
            kept.append(f"the model says: {' '.join(text.split())} [cites {', '.join(statement.cites)}]")
    kept += [f"left out: {counted(count, 'statement')} ({why})" for why, count in left.items()]
    return "\n".join(kept)


def _names(value: object) -> Iterator[str]:
    """Names and versions in a value, lower case: texts without a space. A word of a longer text is no name."""
    if isinstance(value, str):
        if not re.search(r"\s", value):
            yield value.lower()
            yield from (part for part in re.split(r"[/@]", value.lower()) if part)
    elif isinstance(value, dict | list):
        if isinstance(value, dict):
            yield from (key.lower() for key in value)
        for each in value.values() if isinstance(value, dict) else value:
            yield from _names(each)


def _observed(match: re.Match[str], site: Site, known: Collection[str]) -> bool:
    """Whether what a sentence names is there; a site, cluster or host can only be this one."""
    name = match["name"].strip(".,;:").lower()
    if name in _PLAIN_WORDS:
        return True
    if match["what"].lower() in ("site", "cluster", "host"):
        return name == site.name.lower()
    return _shown(name, known)


def _shown(name: str, known: Collection[str]) -> bool:
    """Whether a name occurs in what was observed or asked, whole or in all its parts."""
    bare = name.strip(".,;:").lower()
    return bare in known or all(part in known for part in re.split(r"[/@]", bare))


def tried(
    conclusion: Conclusion, site: Site, request: JobRequest, evidence: Sequence[Observation], proposal: Proposal,
    conventions: Conventions,
) -> list[Suggestion]:  # fmt: skip
    """The suggestions with which the rules find that the site fits."""
    found: list[Suggestion] = []
    known = {(each.field, each.offered) for each in proposal.suggestions}
    for change in conclusion.suggestions[:3]:
        value = plain_value(change.value)
        if proposal.fits is Truth.YES or not _MAY_CHANGE.fullmatch(change.field):
            continue
        try:
            changed = apply_patch(request, {change.field: value})
        except (BadRequest, ValueError):
            continue
        judged = evaluate(changed, site, evidence, proposal.made_at, proposal.round, conventions)
        offered = str(value)[:80]
        if judged.fits is Truth.YES and (change.field, offered) not in known:
            words = f"fits with {change.field} = {offered}"
            found.append(
                Suggestion(field=change.field, asked=_stated(request, change.field), offered=offered, words=words)
            )
    return found


def plain_value(value: object) -> JsonValue:
    """A value that a model wrote as JSON text, or as itself."""
    if not isinstance(value, str):
        return json.loads(json.dumps(value, default=str))  # type: ignore[no-any-return]
    try:
        return json.loads(value)  # type: ignore[no-any-return]
    except ValueError:
        return value


def _stated(request: JobRequest, path: str) -> str:
    value: Any = request.dump()
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) and part.isdigit() and int(part) < len(value) else (
            value.get(part) if isinstance(value, dict) else None
        )  # fmt: skip
    return "nothing" if value is None else str(value)[:80]
