"""A request while it is being read: what each rule found, where, and what two rules said differently."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from dragoman.request import JobRequest, Source
from dragoman.secrets import redact
from graph.reading.line import Line
from graph.reading.past import was_so
from graph.reading.reading import Option, Question

__all__ = ["Amount", "Draft"]

MAX_ITEMS, MAX_QUESTIONS = 256, 64

_FILLER = (
    r"(?:(?:any|an?|the|use|using|need|needs|with|in|on|at|require|requires|want|run|running|of|our|my|usual"
    r"|previous|former)[ ]){0,3}"
)
_NOT = re.compile(
    r"(?<![\w-])(?:no|not|without|never|avoid|avoiding|any(?:thing)? (?:but|except)|except|excluding|instead of"
    r"|other than|apart from|aside from"
    r"|rather than|don't|doesn't"
    r"|do not|does not"
    rf"|shouldn't|should not|must not|cannot|can't|isn't|preferably|ideally|if possible,?|optionally|maybe"
    rf"|perhaps)[ ]{_FILLER}$"
)
_NOT_INSIDE = re.compile(
    rf"{_FILLER}(?:no|without|not)[ ](?!(?:take|run|last|be|need|require|use|cost|spend|burn|go) (?:longer|more"
    rf"|over)|(?:to )?(?:start|begin|run) before|exceed|more|less|fewer"
    rf"|longer"
    rf"|later|earlier|before|until|hurry|rush|urgent)"
)

_NOT_AFTER = re.compile(
    r"(?:(?: network| fabric| file ?system| support| nodes?)?,? \(?(?:(?:that |this |which |it )?(?:is|are|would be"
    r"|being|as) )?"
    r"(?:(?:isn't|aren't|wasn't|not)(?: really| strictly| absolutely| at all)? (?:needed|required|necessary|mandatory"
    r"|essential|important|a must|critical)|optional(?:ly)?|nice(?: to have)?|preferred|preferable|welcome|a (?:plus"
    r"|bonus)|unnecessary|not (?:a must"
    r"|strictly needed"
    r"|needed|required|necessary|mandatory|essential|important|wanted|allowed|acceptable|an option|ok|okay)"
    r"|if (?:it is |it's |that is |they are )?(?:possible|available|there(?: is one)?|you have (?:it|them|one)|free)"
    r"|where (?:possible|available)))(?![\w-])\)?"
)
_GUESSED = re.compile(r"(?<![\w-])(?:maybe|perhaps) (?:for )?$")
_WISHED = re.compile(
    r"(?<![\w-])(?:optional(?:ly)?|nice|preferred|preferabl[ey]|ideally|welcome|plus|bonus|if possible|if available"
    r"|where (?:possible|available)|(?:not|[a-z]+n't)(?: really| strictly| absolutely| at all)? (?:a must|needed"
    r"|required"
    r"|necessary|mandatory|essential|important|critical)|unnecessary"
    r"|strictly needed)(?![\w-])"
)
"""What says that something would be nice to have, or is not needed."""
_CORRECTED = re.compile(
    r"(?<![\w-])(?:sorry|no|nope|oops|pardon|rather|actually|make (?:that|it)|i mean|i meant|correction|corrected"
    r"|set (?:the |a |its |our )?(?:time |wall ?time )?(?:limit|walltime) (?:to|at)|this time|but now|now"
    r"|instead|better|or better|kidding|wait|scratch that|nah|or rather"
    r"|(?:but|so) (?:please |just |better |let's |let us |i would |i'd |we |i ){0,2}(?:give (?:it|me|us|them)|ask for"
    r"|reserve|request|book|plan|take|set|call it|allow|grant))(?![\w-])"
)

_INSTEAD = re.compile(
    r"(?<![\w-])(?:instead of|rather than|in place of|no longer|not(?: more)?|statt|anstatt|plut\u00f4t (?:que|than)"
    r"|au lieu de"
    r"|at lieu of)(?: (?:on|at|the|with|for|in|to|only))*[ ,]*$"
)
"""Before the second of two statements: the first one counts."""
_JOBS_OWN = re.compile(
    r".*[.,;:!?)]|run|runs|running|start|starts|starting|begin|beginning|launch|submit|schedule|scheduled|job|it|this"
    r"|please|and|but|only|or|then|go|available|ready|earliest|hours?|nodes?|cores?|min|minutes|once|be|free"
)

Unit = Literal["node", "task", "core", "thread", "gpu", "memory", "disk"]


@dataclass(slots=True)
class Amount:
    """One counted thing in the text, before it is known how the counts belong together."""

    unit: Unit
    low: int | None
    high: int | None
    start: int
    end: int
    per: str | None = None
    """`node`, `task`, `core`, `gpu`, `job`, or None where nothing was said."""
    model: str | None = None
    vendor: str | None = None
    each_bytes: int | None = None
    """Memory of each GPU."""
    single: bool = False
    """Written as a property of its unit (`32-core node`)."""


@dataclass(slots=True)
class Draft:
    """Collects fields, sources and questions of one text."""

    line: Line
    now: datetime
    time_zone: str | None = None
    origin: Literal["text", "form", "option", "script", "person"] = "text"
    fields: dict[str, Any] = field(default_factory=dict)
    amounts: list[Amount] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    defaults: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    contested: set[str] = field(default_factory=set)
    """Fields stated twice, differently: left open until the person answers."""
    software_ends: set[int] = field(default_factory=set)
    """Where names of software ended, in the normal form."""
    numbered: set[int] = field(default_factory=set)
    """Where names of numbered things begin (`NGC 253`), which no software is."""
    gpu_memory: list[tuple[int, int, int]] = field(default_factory=list)
    """Memory of each GPU in bytes with its place, until the GPUs are counted."""
    gpu_vendors: list[tuple[str | None, int, int]] = field(default_factory=list)
    """Makes of GPUs with their place, until the GPUs are counted; None: GPUs of any make (`a GPU node`)."""
    gpu_models: list[tuple[str, int, int]] = field(default_factory=list)
    """Models of GPUs with their place, until the GPUs are counted."""
    stated_at: dict[str, int] = field(default_factory=dict)
    """Where each field of one value was stated last."""
    told: list[tuple[int, int]] = field(default_factory=list)
    """Where words stand that are told back, in the normal form."""
    asides: list[tuple[int, int]] = field(default_factory=list)
    """What was claimed because it asks for nothing, in the normal form."""
    known: JobRequest | None = None
    """What the words are about, where that is stated apart from them: the request of a script."""
    parts: list[Draft] = field(default_factory=list)
    """Values of a form, each a text of its own, whose counts are related when the form is known."""

    def words(self, start: int, end: int) -> str:
        """The words of a stretch of the normal form, as written, without secrets."""
        return redact(self.line.words(start, end))[:2000]

    def aside(self, start: int, end: int) -> None:
        """Claim a stretch that asks for nothing."""
        self.asides.append((start, end))
        self.line.claim(start, end)

    def aside_text(self, start: int, end: int) -> None:
        """Claim a stretch that asks for nothing, by offsets of the text as written."""
        self.aside(self.line.place(start), self.line.place(end))

    def open_but_asides(self) -> str:
        """The normal form with what was read hidden, and blanks where something was found to ask for nothing."""
        letters = list(self.line.open)
        for start, end in self.asides:
            letters[start:end] = " " * (end - start)
        return "".join(letters)

    def source(self, path: str, start: int, end: int) -> None:
        """Remember the words a field was read from, and claim them."""
        offset = self.line.span(start, end)[0]
        source = Source(field=path, words=self.words(start, end), origin=self._kind(), start=offset)
        self.sources.append(source)
        self.line.claim(start, end)

    def _kind(self) -> Literal["text", "form", "script", "person", "option"]:
        return self.origin

    def negated(self, start: int, end: int, *, wish: bool = False, guess: bool = False) -> bool:
        """Whether the words about it say `not`: then nothing is stated, and the words are told back.

        With `wish`, what would only be nice to have is named, not told: sites without it count too. With `guess`, an
        amount is stated too where it is only guessed (`maybe 5 hours`).
        """
        before = self.line.open[max(0, start - 40) : start]
        guessed = _GUESSED.search(before) if guess else None
        if guessed is not None:
            self.aside(start - len(guessed[0]), start)
            return False
        found = _NOT.search(before) or _NOT_INSIDE.match(self.line.norm[start:end])
        if found is None:
            later = _NOT_AFTER.match(self.line.open, end)
            if later is not None:
                self._turned(start, later.end(), wished=wish and _WISHED.search(later[0]) is not None)
            return later is not None
        first = max(0, start - len(found[0]) if found.re is _NOT else start)
        self._turned(first, end, wished=wish and found.re is _NOT and _WISHED.match(found[0]) is not None)
        return True

    def _turned(self, start: int, end: int, *, wished: bool) -> None:
        words = self.words(start, end).strip()
        if wished:
            self.default(f"{words!r} is a wish: sites without it count too")
        else:
            self.unread.append(words)
        self.line.claim(start, end)

    def corrected(self, start: int, end: int) -> bool:
        """Whether the words between two statements say that the later one counts; claims those words."""
        if self.preferred(start, end):
            return False
        found = [*_CORRECTED.finditer(self.line.norm, start, end)] if 0 <= end - start <= 120 else []
        for match in found:
            self.line.claim(*match.span())
        return bool(found)

    def preferred(self, start: int, end: int) -> bool:
        """Whether the words between two statements say that the first counts: `64 GB instead of 128 GB`."""
        if not 0 <= end - start <= 120:
            return False
        match = _INSTEAD.search(self.line.norm[start:end])
        if match is not None:
            self.line.claim(start + match.start(), end)
        return match is not None

    def named(self, sites: Sequence[str]) -> dict[str, str]:
        """Sites of the fleet whose names stand in the text, by those names in lower case."""
        return {site.lower(): site for site in sites if site.lower() in self.line.norm}

    def of_a_story(self, at: int) -> bool:
        """Whether a place or day follows a word that is none of the job's: `I fly on Friday`, `a paper on bees`."""
        before = re.search(r"([^\s\x00]+) ?$", self.line.open[max(0, at - 80) : at])
        return before is not None and not _JOBS_OWN.fullmatch(before[1])

    def put(self, path: str, value: Any, start: int, end: int, *, label: str = "") -> None:  # noqa: ANN401  # values of any field
        """State a field that has one value; a second, different value becomes a question."""
        if self.negated(start, end, guess=path == "walltime_s"):
            return
        words = self.words(start, end)
        if self.fields.get(path, value) != value and self.preferred(self.stated_at.get(path, end), start):
            self.default(f"{words!r} does not count: what was said before is wanted instead of it")
            self.line.claim(start, end)
            return
        if self.fields.get(path, value) != value and self.corrected(self.stated_at.get(path, end), start):
            self.default(f"{words!r} counts, not what was said before")
            self.fields.pop(path)
        if path in self.fields and self.fields[path] != value and self._one_tells_how_it_was(path, start, end):
            if self._was(path):
                self.fields[path] = value
                self.sources = [source for source in self.sources if source.field != path]
                self.stated_at[path] = end
                self.source(path, start, end)
            else:
                self.line.claim(start, end)
            return
        if path in self.fields and self.fields[path] != value:
            earlier = next((s.words for s in self.sources if s.field == path), "earlier")
            self.contested.add(path)
            self.ask(
                path, start, end,
                f"{path} is stated twice: {earlier!r} and {words!r}. Which one counts?",
                [Option(label=earlier, patch={path: _plain(self.fields[path])}),
                 Option(label=label or words, patch={path: _plain(value)})],
            )  # fmt: skip
            return
        self.fields[path] = value
        self.stated_at[path] = end
        self.source(path, start, end)

    def _was(self, path: str) -> bool:
        """Whether what a field was read from tells how it was."""
        source = next((source for source in self.sources if source.field == path), None)
        if source is None or source.start is None or path not in self.stated_at:
            return False
        return was_so(self.line.norm, self.line.place(source.start), self.stated_at[path])

    def _one_tells_how_it_was(self, path: str, start: int, end: int) -> bool:
        """Whether of two statements of a field exactly one tells how it was; which one is named."""
        earlier, later = self._was(path), was_so(self.line.norm, start, end)
        if earlier == later or path in self.contested:
            return False
        words = next(s.words for s in self.sources if s.field == path) if earlier else self.words(start, end)
        self.default(f"{words!r} tells how it was, and does not count")
        return True

    def add(self, path: str, value: Any, start: int, end: int) -> None:  # noqa: ANN401  # values of any field
        """Add to a field that is a list."""
        if path != "sites_not" and self.negated(start, end):
            return
        items = self.fields.setdefault(path, [])
        if len(items) >= MAX_ITEMS:
            raise BadRequest(
                f"more than {MAX_ITEMS} items", where=path, cure="describe the work in one request, or use a form"
            )
        if value not in items:
            items.append(value)
        self.source(f"{path}.{items.index(value)}", start, end)

    def ask(
        self, path: str, start: int, end: int, text: str, options: list[Option], *, free: bool = True
    ) -> None:  # fmt: skip
        """Ask the person, and claim the words."""
        words = self.words(start, end) if end > start else ""
        if len(self.questions) >= MAX_QUESTIONS:
            raise BadRequest("too much of the request is uncertain", where=path, cure="say it shorter, or use a form")
        number = sum(1 for question in self.questions if question.field == path)
        name = path.replace("_", "-").lower() + (f".{number + 1}" if number else "")
        self.questions.append(
            Question(
                id=name[:64],
                field=path,
                words=words,
                start=self.line.span(start, end)[0] if words else None,
                text=text,
                options=tuple(options),
                free=free,
            )
        )
        self.line.claim(start, end)

    def ask_plain(self, path: str, words: str, start: int, text: str, options: list[Option]) -> None:
        """Ask about words by their place in the text as written; a rule that does so claims them itself."""
        question = Question(id=path, field=path, words=words, start=start, text=text, options=tuple(options))
        self.questions.append(question)

    def begins_at(self, path: str, at: int) -> bool:
        """Whether the words that a field was read from begin at a place of the normal form."""
        places = (item.start for item in self.sources if item.field == path and item.start is not None)
        return any(self.line.place(start) == at for start in places)

    def asks(self, path: str) -> bool:
        """Whether there is a question about a field."""
        return any(question.field == path for question in self.questions)

    def default(self, sentence: str) -> None:
        """Name a harmless choice."""
        if sentence not in self.defaults:
            self.defaults.append(sentence)


def _plain(value: Any) -> Any:  # noqa: ANN401  # values of any field
    if isinstance(value, datetime):
        return value.isoformat()
    dumped: JsonObject | Any = (
        value.model_dump(mode="json", exclude_defaults=True) if hasattr(value, "model_dump") else value
    )
    if isinstance(dumped, datetime):
        return dumped.isoformat()
    return [_plain(item) for item in dumped] if isinstance(dumped, list | tuple) else dumped
