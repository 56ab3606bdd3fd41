"""What no rule understood: words that carry meaning are told to the person, padding is not."""

from __future__ import annotations

import re

from graph.reading.asides import pass_over_asides
from graph.reading.background import pass_over_remarks
from graph.reading.demands import is_unmet
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.file_names import names_a_file
from graph.reading.idioms import read_idioms
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, PADDING
from graph.reading.nature import pass_over_measures
from graph.reading.ordinary import asks_nothing, clauses_of
from graph.reading.verbs import VERBS

__all__ = ["read_leftover", "read_options"]

_WORD = re.compile(r"[^\s\x00,;!?()\[\]{}\"“”«»…]+")
_EDGES = ".:'`*-\u2013\u2014"
_PLAIN = re.compile(r"[.:*'`•\u2013\u2014\-/=+&#>]+(?<!&&)(?<!>>)")
_LETTERS = frozenset("aioxuàyéè×•")  # noqa: RUF001  # articles, `x` between counts, and what is left of an accent
_SAY_NOTHING = PADDING | EVERYDAY | (VERBS - KEYWORDS - FUNCTION_WORDS)

_OF_A_STORY = (
    r"(?<![\w-])(?:(?:last|previous|past) (?:weeks?|months?|years?|times?|nights?|spring|summer"
    r"|winter)(?:'s)?"
    r"|(?:would|will|is) (?:it|this|that) be possible|is (?:it|this) possible"
    r"|serait-i[lt] (?:donc )?possible(?: de| d')?|wäre es (?:wohl )?möglich|(?:nice|good|great|lovely|pleasant"
    r"|relaxing) weekend"
    r"|bonne (?:day|week|end)|schönen? (?:day|week|abend|gruß))(?![\w-])"
)
_NUMBERED = (
    r"(?<![\w-])(?:chapters?|sections?|figures?|fig\.?|no\.?|nr\.?|rounds?|phase|referee|reviewer|group|appendix|volume"
    r"|question|exercise|lecture|sheet|take|fold|cycle|experiment|trial|attempt|study|paper|season|grade|semester|page"
    r"|work package|wp|deliverable|milestone|kapitel|abschnitt|gruppe|groupe|chapitre) ?(?:no\.? ?)?#?\d{1,4}"
    r"(?: ?(?:,|and) ?\d{1,4})?(?= ?(?:[,.;:!?)]|$)| (?:of|from|in|for|wants?|asks?|is|was)(?![\w-]))"
)
"""What people number in what they tell of."""
_OPTION = r"--?[a-z][\w-]*(?:[= ][^\s\x00,;-][^\s\x00,;]*)?"
_OPTIONS = rf"(?:^|(?<=[ ,:])){_OPTION}(?: {_OPTION})* (?=\x00)"


def read_options(draft: Draft) -> None:
    """`-N 2 -t 30 ./sim`: options of some program that is not named, told back as they stand."""
    for match in draft.line.find(_OPTIONS):
        draft.unread.append(draft.words(match.start(), match.end() - 1))
        draft.line.claim(*match.span())


def read_leftover(draft: Draft) -> None:
    """Everything that is left, joined where it stands together."""
    read_idioms(draft)
    pass_over_asides(draft)
    pass_over_remarks(draft)
    pass_over_measures(draft)
    for match in (found for rule in (_OF_A_STORY, _NUMBERED) for found in draft.line.find(rule)):
        draft.aside(*match.span())
    text = draft.open_but_asides()
    named = bool({"command", "software", "script", "containers"} & draft.fields.keys())
    for start, end in clauses_of(draft.line.norm) if named else ():
        if text[start:end].strip() and "\x00" not in text[start:end] and is_unmet(draft.line.norm[start:end]):
            draft.unread.append(draft.words(start, end).strip(" ,.;:!?"))
            draft.told.append((start, end))
            draft.line.claim(start, end)
    run: list[int] = []
    found: list[str] = []
    passed: list[str] = []
    title = _title(draft)
    table = draft.line.text.count(" | ") > 1

    def close() -> None:
        if not run:
            return
        words = draft.words(run[0], run[1]).strip(" :'`*").rstrip(".")
        if run[0] < title and named:
            draft.default(f"{draft.words(*run)!r} is taken as a title")
        elif named and not names_a_file(words) and asks_nothing(draft, text, *run):
            passed.append(words)
        else:
            draft.told.append((run[0], run[1]))
            found.append(words.rstrip("-") if re.match(r"--?\w|\.{1,2}/", words) else words.strip(" .:'`*-"))
        run.clear()

    last = -2
    for match in _WORD.finditer(draft.line.open):
        word = match[0].strip(_EDGES)
        original = draft.line.words(*match.span()).lower().strip(_EDGES)
        padding = (
            not word or word in _SAY_NOTHING or _PLAIN.fullmatch(match[0])
            or (word.isdigit() and original == "one")
            or (len(word) == 1 and (word in _LETTERS or not word.isalnum()) and (word != "|" or table))
        )  # fmt: skip
        if padding and not names_a_file(match[0]):
            close()
            continue
        if run and match.start() - last <= 1:
            run[1] = match.end()
        else:
            close()
            run.extend(match.span())
        last = match.end()
    close()
    if passed:
        words = ", ".join(repr(words) for words in dict.fromkeys(passed))
        draft.default(f"{words[:1500]} say nothing that a site can be asked for")
    draft.unread.extend(dict.fromkeys(found))


_TITLE = re.compile(
    r"\s*[^:\n\x00]{1,80}?(?::[ \t]|\n(?=[ \t]*(?:[-*•]|\d{1,2}[.)]|[^\W\d][\w /'-]{1,24} ?[:=])[ \t]))"
)


def _title(draft: Draft) -> int:
    """Where a title ends, in the normal form (`ambient noise: array 1-366, ...`); 0: there is none."""
    match = _TITLE.match(draft.line.text)
    words = match[0].rstrip(" \t:\n").lower().split() if match else []
    if (
        match is None
        or not 1 < len(words) <= 6
        or not all(re.fullmatch(r"[^\W\d_]+(?:[-/'][^\W\d_]+)*", word) for word in words)
    ):
        return 0
    if set(words) & (KEYWORDS | FUNCTION_WORDS) or not draft.line.is_open(*match.span()):
        return 0
    return draft.line.place(match.end())
