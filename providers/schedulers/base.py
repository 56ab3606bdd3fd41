"""The shared base of scheduler dialects: tables, classification of answers, and verbs that a scheduler lacks.

A dialect is pure: it turns words into argument lists and scripts, and outputs into words. It subclasses `BaseDialect`,
fills the tables and overrides the verbs that its scheduler has. Tables carry the manual's own names, so that a page of
the manual can be laid beside them.

Two rules hold for every dialect: exit status 0 together with an id means accepted, whatever stands on stderr; and a
word that is in no table becomes *unknown*, never an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Self, TypeVar

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest
from dragoman.facts import Workload
from dragoman.job import JobRef, JobSpec, JobState, ReasonClass
from dragoman.observation import Answer
from dragoman.proposal import StartEstimate
from dragoman.protocols import JobAnswers, ScriptReading, SubmitAnswer
from dragoman.site import Site
from providers.schedulers.filter_words import FILTER_WORDS
from providers.schedulers.rules import Rule, Rules, classify, table
from providers.schedulers.script_words import ScriptWords

__all__ = [
    "LONGEST_QUEUE", "NO_CONNECTION", "BaseDialect", "Rule", "Rules", "chunks", "first_line", "format_clock",
    "one_line", "table",
]  # fmt: skip

T = TypeVar("T")


LONGEST_QUEUE = 256 * 2**20
"""Bytes of an answer about all jobs of the user, where it cannot be asked about some only: 200,000 jobs and more."""

NO_CONNECTION = re.compile(
    r"timed? ?out|time-out|unable to contact|connection (?:refused|reset|closed|timed)|cannot connect|can't connect"
    r"|could not connect|unable to connect|failed to connect|failed to open persistent connection|connect failure"
    r"|no route to host|network is unreachable|name or service not known|temporar(?:y|ily) (?:failure|unavailable"
    r"|unable)|broken pipe|end of file|communication (?:\w+ )?(?:failure|error)|message (?:send|receive) failure"
    r"|unexpected message|standby mode|send/recv|server (?:is )?(?:down|not running)"
    r"|connection to the server \S+ was refused|currently unable to handle the request"
    r"|not responding|please wait|service unavailable|try again later|zero bytes were transmitted|transport endpoint"
    r"|lost connection|no contact|premature end",
    re.IGNORECASE,
)
"""The scheduler gave no answer: for a submit a doubt, for a question no knowledge. Never a statement about a job."""

_NOT_ASKED = re.compile(
    r"\berror\b|\bfatal\b|unable to|failed to (?:fetch|get|read|load|open|query)|cannot"
    r"|could ?n[o']t|connect failed|is down|permission denied|not permitted",
    re.IGNORECASE,
)


class BaseDialect:
    """Defaults of a dialect (see `dragoman.protocols.Dialect` for what each verb answers)."""

    name: str = ""
    states: ClassVar[Mapping[str, JobState]] = {}
    """The scheduler's word, as its manual writes it, to ours."""
    reasons: ClassVar[Rules] = ()
    """Why a job waits."""
    errors: ClassVar[Rules] = ()
    """Why a submit or another command was refused."""
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    """A line of stdout that tells the new job's id, as groups `id` and perhaps `cluster`; the last such line counts."""
    droppable: ClassVar[tuple[str, ...]] = ()
    """Submit options without which the submit means the same, for versions that do not know them."""
    unset: ClassVar[tuple[str, ...]] = ()
    """Variables that would change what the scheduler's commands do or print."""
    environment: Mapping[str, str] = {}
    """Set for commands that only ask; a submit keeps the user's own, because jobs inherit it."""
    ids_per_command: ClassVar[int] = 400
    ids: ClassVar[re.Pattern[str]] = re.compile(r"[1-9]\d{0,17}", re.ASCII)
    """What names one job. 0 names none, and to some commands all jobs of the user (`bkill 0`)."""
    from_zero: ClassVar[bool] = False
    """Whether its first job has the number 0."""
    script_words: ClassVar[ScriptWords | None] = None
    """What its scripts say besides needs, for translating them; None: it has no scripts."""

    path_keys: ClassVar[tuple[str, ...]] = ()
    """Keys of `paths` in a site's file that `for_site` reads. Others are refused there as misspelt."""

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """The dialect as this site speaks it; where the site's file has nothing to say about it, the plain one."""
        return cls()

    @classmethod
    def anywhere(cls) -> Self:
        """The dialect where no site is known, with the names that most sites use."""
        return cls()

    # What subclasses call

    def ask(self, *argv: str, timeout_s: float = 60.0, max_output_bytes: int = 64 * 2**20) -> Command:
        """A command that asks something, with the environment cleared of what would change its output."""
        return Command(
            argv=argv,
            environment=self.environment,
            unset=self.unset,
            timeout_s=timeout_s,
            max_output_bytes=max_output_bytes,
        )

    def act(self, *argv: str, timeout_s: float = 120.0) -> Command:
        """A command that changes something: nothing is added to the user's environment."""
        return Command(argv=argv, unset=self.unset, timeout_s=timeout_s)

    def number(self, ref: JobRef) -> str:
        """The id, where it names one job by the dialect's `ids`. Raises `BadRequest` for anything else."""
        if self.ids.fullmatch(ref.job_id) is None:
            cure = "give the id that the submit command printed"
            raise BadRequest(f"{ref.job_id[:80]!r} is no job id of {self.name}", where="job_id", cure=cure)
        return ref.job_id

    def numbers(self, refs: Iterable[JobRef]) -> list[str]:
        """The ids of all, each once. Raises `BadRequest` as `number` does."""
        return list(dict.fromkeys(self.number(ref) for ref in refs))

    def state(self, word: str) -> JobState:
        """Our word for the scheduler's; a word that is not in the table is unknown."""
        return self.states.get(word, JobState.UNKNOWN)

    def reason_class(self, reason: str) -> ReasonClass:
        """What a reason for waiting means."""
        return classify(self.reasons, reason)

    def error_class(self, text: str) -> ReasonClass:
        """What an error message means: by the scheduler's own words, else by those of sites' own filters."""
        own = classify(self.errors, text)
        return own if own is not ReasonClass.UNKNOWN else classify(FILTER_WORDS, text)

    def trouble(self, done: Completed, *, ok: Iterable[int] = (0,)) -> str:
        """Why an answer is not to be trusted as a whole; empty where the command ended as it should."""
        if done.truncated:
            return f"the output of {_program(done)} was cut off"
        if done.rc not in ok:
            return one_line(done.err) or one_line(done.out) or f"{_program(done)} ended with exit code {done.rc}"
        return ""

    def doubted(self, done: Completed) -> str:
        """Words of trouble beside an answer that is well-formed: what it does not show is absent by nothing."""
        lines = [line for line in done.err.splitlines() if "warning" not in line.lower()]
        words = one_line(" ".join(lines))
        return words if words and (self.in_doubt(words) or _NOT_ASKED.search(words)) else ""

    def told(self, done: Sequence[Completed | Exception], count: int) -> tuple[list[str | None], list[str]]:
        """What `count` commands printed, None for each that is not to be trusted, and why those are not."""
        texts: list[str | None] = []
        troubles: list[str] = []
        for one in [*done, *[Completed((), 1, b"", b"not asked")] * (count - len(done))][:count]:
            trouble = one_line(str(one)) or type(one).__name__ if isinstance(one, Exception) else self.trouble(one)
            texts.append(None if trouble or isinstance(one, Exception) else one.out)
            if trouble:
                troubles.append(trouble)
        return texts, troubles

    # Submit

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """Accepted, refused or in doubt: the same order of judgement for every scheduler."""
        job = self.submitted(done)
        nobody = job is not None and not self.from_zero and re.match(r"0+(?!\d)", job.job_id) is not None
        notes = tuple(line.strip()[:500] for line in done.err.splitlines() if line.strip())[:20]
        if done.rc == 0 and job is not None and not nobody:
            return SubmitAnswer(job=job, warnings=notes)
        words = one_line(f"{done.err}\n{done.out}") or f"{_program(done)} ended with exit code {done.rc} and no words"
        if job is not None:
            return SubmitAnswer(doubt=f"an id ({job.job_id}) and exit code {done.rc}: {words}"[:2000], warnings=notes)
        if done.rc == 0:
            return SubmitAnswer(doubt=f"exit code 0 and no id that can be read: {words}"[:2000], warnings=notes)
        unknown = self._unknown_options(done.err)
        if unknown:
            return SubmitAnswer(refused=words, reason_class=ReasonClass.NEVER, retry_without=unknown)
        if done.rc >= 128 and done.rc != 255:
            return SubmitAnswer(doubt=f"the submit command was ended by signal {done.rc - 128}: {words}"[:2000])
        if self.in_doubt(words):
            return SubmitAnswer(doubt=words, reason_class=ReasonClass.WAIT)
        return SubmitAnswer(refused=words, reason_class=self._refusal_class(done, words))

    def _refusal_class(self, done: Completed, words: str) -> ReasonClass:
        """By what is said on stderr; a banner on stdout speaks of anything, and counts where a filter refuses in it."""
        if not done.err.strip():
            return self.error_class(words)
        own = self.error_class(one_line(done.err))
        return own if own is not ReasonClass.UNKNOWN else classify(FILTER_WORDS, one_line(done.out))

    def submitted(self, done: Completed) -> JobRef | None:
        """The id on stdout, if there is one. Banners come before it, so the last line that looks like one counts."""
        for line in reversed(done.out.splitlines()):
            match = self.accepted.search(line)
            if match is not None:
                groups = match.groupdict()
                return JobRef(job_id=groups["id"], cluster=groups.get("cluster") or None)
        return None

    def in_doubt(self, words: str) -> bool:
        """Whether a failed submit's words leave open that the job was taken."""
        return NO_CONNECTION.search(words) is not None

    def _unknown_options(self, words: str) -> tuple[str, ...]:
        if not re.search(r"(?:unrecogni[sz]ed|unknown|invalid|illegal) option|no such option", words, re.IGNORECASE):
            return ()
        return tuple(
            option
            for option in self.droppable
            if re.search(rf"(?<![\w-])-*{re.escape(option.lstrip('-'))}(?![\w-])", words)
        )

    # Verbs that a scheduler may lack

    def estimate_command(self, spec: JobSpec, script_path: str) -> Command | None:
        """No dry run."""
        return None

    def parse_estimate(self, done: Completed, at: datetime) -> Answer[StartEstimate]:
        """No dry run."""
        return Answer[StartEstimate].unknown(f"{self.name} has no way to ask for a start time")

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """No accounting."""
        return []

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """No accounting."""
        return JobAnswers(jobs={}, trouble=f"{self.name} keeps no history")

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """No way to look for a tag."""
        return []

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """No way to look for a tag."""
        return Answer[JobRef].unknown(f"{self.name} cannot be asked for a tag")

    def hold_command(self, ref: JobRef) -> Command | None:
        """No hold."""
        return None

    def release_command(self, ref: JobRef) -> Command | None:
        """No release."""
        return None

    def workload_commands(self) -> list[Command]:
        """No question about queues and nodes."""
        return []

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """No question about queues and nodes."""
        return Answer[Workload].unknown(f"{self.name} does not tell about queues and nodes")

    def read_script(self, text: str) -> ScriptReading:
        """No scripts."""
        raise BadRequest(
            f"{self.name} has no job scripts", where="script", cure="hand in the command, or another scheduler's script"
        )


def _program(done: Completed) -> str:
    return done.argv[0] if done.argv else "the command"


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in their order, at most `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def one_line(text: str, *, limit: int = 1000) -> str:
    """Text as one line without control characters, cut to `limit` characters: safe to store and show."""
    if len(text) <= limit and text.isprintable():
        return " ".join(text.split())
    printable = "".join(character if character.isprintable() else " " for character in text[: 8 * limit])
    return " ".join(printable.split())[:limit]


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def format_clock(seconds: int, *, days: bool = False) -> str:
    """`HH:MM:SS`, hours beyond 99 where needed; with `days` `D-HH:MM:SS` from one day on (Slurm's form)."""
    day, rest = divmod(seconds, 86400) if days else (0, seconds)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{day}-{clock}" if day else clock
