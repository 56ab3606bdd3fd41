"""Software by name and version, found by where it stands: beside a version, or after words like `run` and `needs`."""

from __future__ import annotations

import re

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import SoftwareNeed
from dragoman.versions import VersionBound, VersionRange
from graph.reading.builds import is_a_manager, own_name, with_build
from graph.reading.conditions import in_its_absence, only_if_there
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, NUMBER_WORDS, PADDING
from graph.reading.reading import Option
from graph.reading.verbs import VERBS
from graph.reading.version_lists import with_other_versions
from graph.reading.version_places import ASIDE, as_written, read_version_apart, turned
from graph.reading.version_words import COUNTED, MEASURED, MORE, MUST_BE, RANGE, VERSION_WORD

__all__ = ["read_software"]

NAME = (
    r"(?P<name>[a-z][\w+.-]*(?<![.,-])(?: (?!(?:between|versions?|release|ver|v|at|no|not|newer|later|older"
    r"|earlier|before|after|above|below|minimum|min|maximum|max|up|other|except|exactly|any|ab|from|in|of|or|and|on"
    r"|with|for|>|<|=)(?![\w]))[a-z][\w+-]*[a-z0-9+](?![\w.]))?)"
)
VERSIONED = (
    rf"(?<![\w./@:-]){NAME}(?:,? \(?|; ?(?=version)|-?@|/| ?(?=[<>=!≥≤])|{MUST_BE})(?:(?:in|of|with"
    rf"|at) (?:an? |the |any )?)?{RANGE}\)?{MORE}"
)
_CUE = re.compile(
    r"(?:^|[ \x00-])(?P<cue>run|runs|running|use|uses|using|needs?|requires?|requiring|with|want|wants|have|has"
    r"|execute|executing|executed|schedule|put|place|let|give|benchmark|to(?! (?:run|use|have))|by|launch"
    r"|launching|start|starting|load|loaded|install|installed|called|package|software|application|app|program"
    r"|code|module|modules|of|for"
    r"|do|perform|via|request|and|or|plus)[:= ](?P<filler>(?:(?:to|run|use|have|a|an|the|my|our|some|parallel"
    r"|software|package"
    r"|application|module|load|version|of|job|simulation|simulations|jobs|is) )*)$"
)
_WEAK = frozenset("schedule put place let give benchmark to by".split())  # noqa: SIM905
"""Words before a name only where it looks like one."""
_OWN = re.compile(r"\b(?:my|our|a|an|some)\b")
_NOUNS = frozenset(
    [
        "package",
        "software",
        "application",
        "code",
        "program",
        "module",
        "version",
        "versions",
        "tool",
        "library",
        "release",
        "container",
        "containers",
        "which",
    ]
)
_NUMBERED = frozenset(
    "room section chapter figure fig table page building floor ext extension appendix equation volume issue level phase"  # noqa: SIM905
    " stage step part round question item paragraph slide grade case deliverable milestone task work-package".split()
)
"""Things that people number, which no software is."""
_ACRONYMS = (
    "ssd ssds nvme hdd raid numa avx avx2 avx512 ai ml llm nlp cnn gan cfd fem fea dft md mc les dns rans"
    " pic qmc qm mm hpc mri mrt eeg snp gwas rna dna"
)
_METHODS = frozenset(_ACRONYMS.split())
"""Methods and things of the field, in capitals like names of software."""
_COMPARED = frozenset("later earlier newer older higher lower above below".split())  # noqa: SIM905
_BUILDS = frozenset("build builds installation install binary executable suite toolkit".split())  # noqa: SIM905
_LABELS = frozenset("benchmark module modules package software application app program tool library".split())  # noqa: SIM905
_PROSE = 6
"""More words than these that no rule knows are a story, in which a plain word names no software."""
_RUN = frozenset("run runs running execute executing launch launching".split())  # noqa: SIM905
_DIRECT = frozenset(
    "use uses using need needs requires require requiring with load loaded via install installed".split()  # noqa: SIM905
)
_STRONG = frozenset("package software application app module modules install installed load loaded called".split())  # noqa: SIM905
_NAMED_SO = re.compile(
    r" ?(?:is |are |being |(?:must|should|has to|have to|needs? to) be )?(?:installed|available|loaded)\b"
    r"| (?:must|should|has to|have to|needs? to) be (?:there|present|on site)\b| (?:package|software|module)\b"
)
_SIGNED = re.compile(
    r"\b(?:thanks|thank you|thx|regards|cheers|best|wishes|sincerely|yours|grüße|grüßen|gruß|vielen dank|mfg|merci"
    r"|danke|cordialement)"
    r"(?: a lot| in advance| so much| very much| again)?[ ,.!-]{1,4}$"
)
_USE = re.compile(
    r"(?:'s)? (?:[a-z-]{3,14} )?(?:jobs?|simulations?|workloads?|runs?|calculations?|benchmarks?|cases?"
    r"|computations?|renderings?"
    r"|alignments?|mappings?|optimi[sz]ations?|refinements?|sampling|transcriptions?|docking|fits?|scans?|sweeps?"
    r"|inference|search(?:es)?|nowcasts?|hindcasts?|forecasts?|dockings?|trainings?|analys[ei]s|workflows?"
    r"|assembl(?:y|ies)"
    r"|models?"
    r"|experiments?|pipelines?|solver)\b"
)
_DOES = re.compile(
    r"(?:'s)?(?: [a-z-]{3,14}){0,2} (?:needs?|requires?|wants?|uses?|must|should|shall|has to|have to|is to|can be"
    r"|could be|gets"
    r"|takes)\b"
)
"""`SPECFEM3D requires 96 nodes`: what stands before is what runs."""
_RELEASE = re.compile(r"(?:[a-z]|checkpoint|release|rev|build|patch|sp)-?\d[\w.]*")
_BUILT = re.compile(r"(?: (?:build|builds|installation|install|binary|executable))?(?: of)?")
_INSTEAD = re.compile(
    r"(?: ?\))? (?:(?:is|are|can|may|should|will) (?:to )?be (?:used|taken)(?: instead)?|(?:would|will|can|could|is"
    r"|works?)(?: also)?) ?(?:do|be|work|serve)?(?: (?:ok|okay|fine|good|alright))?"
    r" ?(?:as well|too|also|instead)?(?= ?[.,;)!?]|$)"
)
_MADE_WITH = re.compile(r" (?:scripts?|programs?|codes?|notebooks?|files?|macros?|workflows?)\b")
_COMPOUND = re.compile(r"-(?:free|like|based|only|style|aware|friendly|less|type|ready|level|scale)$")
_NAME_LIKE = re.compile(r"[a-z][\w+-]*(?:\.(?:js|jl|net|io|ai))?")
_TOKEN = re.compile(r"[^\s\x00,;:!?()\[\]{}\"'`]+")


def plain_word(word: str) -> bool:
    """Whether a word belongs to the language of requests and so names no software."""
    return (
        word in PADDING
        or word in EVERYDAY
        or word in FUNCTION_WORDS
        or word in KEYWORDS
        or word in NUMBER_WORDS
        or len(word) < 2
        or word in _COMPARED
        or word.endswith("-installed")
    )


def read_software(draft: Draft) -> None:
    """Find software with versions, then software by its place in the sentence."""
    for match in draft.line.find(VERSIONED):
        _versioned(draft, match)
    run: list[tuple[int, int]] = []
    runs: list[list[tuple[int, int]]] = []
    for match in _TOKEN.finditer(draft.line.open):
        start, end = match.start(), match.start() + len(match[0].rstrip(".-\u2013"))
        if not _NAME_LIKE.fullmatch(draft.line.norm[start:end]) or _ends_a_run(draft.line.norm[start:end]):
            continue
        if run and start - run[-1][1] == 1 and draft.line.norm[run[-1][1]] == " ":
            run.append((start, end))
        else:
            run = [(start, end)]
            runs.append(run)
    prose = sum(len(spans) for spans in runs) > _PROSE
    for spans in runs:
        _bare(draft, spans, prose=prose)
    read_version_apart(draft)


def _ends_a_run(word: str) -> bool:
    return plain_word(word) or word in ("called", "named")


def _trim(draft: Draft, start: int, end: int) -> tuple[int, int] | None:
    """The part of a name that is no word of the language: `running GROMACS` is GROMACS."""
    norm = draft.line.norm[start:end]
    words = norm.split(" ")
    single = len(words) == 1 and len(words[0]) == 1 and draft.line.words(start, end).isupper()
    while (
        words
        and not single
        and (plain_word(words[0]) or (words[0] in _LABELS and draft.line.words(start, start + 1).islower()))
    ):
        start += len(words.pop(0)) + 1
    written = draft.line.words(start, end).split(" ") if words else []
    if len(written) == 2 and written[0].isalpha() and written[0].islower() and any(map(str.isupper, written[1])):
        start += len(words.pop(0)) + 1  # `tolerates VASP`
    while words and not single and (plain_word(words[-1]) or words[-1] in _BUILDS):
        end -= len(words.pop()) + 1
    return (start, end) if words and start < end else None


def _versioned(draft: Draft, match: re.Match[str]) -> None:
    whole = (match["version"] or match["version2"] or match["version3"] or match["version4"] or "").isdigit()
    if re.compile(rf" ?{COUNTED if whole else MEASURED}").match(draft.line.norm, match.end()):
        return  # `dies after twenty minutes`
    span = _trim(draft, *match.span("name"))
    if (span is None or span[1] != match.end("name")) and match["op"]:
        word = re.search(r"(?<![\w.-])[a-z]{4,}$", match["name"])
        cue = re.search(
            r"(?:run|use|using|need|with|install|load) $",
            draft.line.norm[: match.start("name")][-16:] + match["name"][: word.start()] if word else "",
        )
        if word and cue and word[0] not in _NOUNS:
            span = (match.start("name") + word.start(), match.end("name"))
    if span is None or not _BUILT.fullmatch(draft.line.norm, span[1], match.end("name")):
        return
    between = draft.line.norm[span[1] : match.end()].lstrip()
    if (
        between.startswith(",")
        and match["op"]
        and not re.match(rf",? ?\(?(?:but )?(?:any|not {VERSION_WORD}|{VERSION_WORD})", between)
    ):
        after = draft.line.norm[match.end() : match.end() + 12]
        if "." not in match["version"] or not re.match(r" ?(?:$|[,;.)]|(?:on|but|and|with|in|for|from) )", after):
            return  # `LAMMPS, at least 4 nodes`
    if draft.line.norm[slice(*span)] in _NUMBERED or is_a_manager(draft, *span):
        return
    found = as_written(draft, match)
    aside = ASIDE.search(draft.line.norm[max(0, span[0] - 40) : span[0]])
    if aside is not None and found is not None:
        found = turned(found, aside, match)
    try:
        need = SoftwareNeed(name=own_name(draft.line.words(*span)), version=found)
    except (ValidationError, BadRequest):
        return
    if (
        "_" in need.name
        and need.name.isupper()
        and re.search(
            r" (?:must|should|has|have|needs?|shall"
            r"|ought) ",
            match[0],
        )
    ):
        return  # `OMP_NUM_THREADS must be 16`
    if re.fullmatch(r"\d\+\d", match["version"] or match["version3"] or ""):
        return  # `Nf=2+1`
    if match["version4"] and between.startswith(","):
        return  # `matlab, 1 licence`
    if match["version4"] and re.fullmatch(r"[a-z ]+", need.name) and not match["after4"]:
        listed = re.match(r" ?[,;]| jobs?\b| runs?\b", draft.line.norm[match.end() :])
        if (
            draft.line.norm[: span[0]].strip()
            or not listed
            or draft.line.norm[span[1] : match.start("version4")] != " "
        ):
            return
        draft.default(f"{draft.words(*match.span())!r} is taken as software with its version")
    _add(draft, need, span[0] - (len(aside[0]) if aside else 0), match.end())


def _bare(draft: Draft, spans: list[tuple[int, int]], *, prose: bool) -> None:
    """A run of words that no rule knows: software, if it stands where software is named; else it stays unread."""
    start, end = spans[0][0], spans[-1][1]
    norm, name = draft.line.norm, draft.line.words(start, end)
    if len(spans) > 2:
        return
    before, following = norm[max(0, start - 60) : start], norm[end : end + 60]
    if _SIGNED.search(before):
        return
    cue = _CUE.search(before)
    if cue is not None and "is " in cue["filler"] and cue["cue"] not in _LABELS | {"code"}:
        cue = None
    if cue is not None and cue["cue"] in ("for", "of") and "the " in cue["filler"] and not _USE.match(following):
        cue = None  # `the forecast for the Elbe`
    if cue is not None and cue["cue"] in _WEAK and not any(map(str.isupper, name)):
        cue = None
    opening = not before.strip() or before.rstrip().endswith((".", "!", "?", ":", ";"))
    joined = _joined(draft, start)
    if len(spans) == 2 and _marked(draft, *spans[0], plain_capital=True) and _USE.match(norm[spans[0][1] :]):
        _bare(draft, spans[:1], prose=prose)  # `a Gadget-4 cosmology run`
        return
    single = len(spans) == 1
    listed = before.endswith(", ") or (cue is not None and cue["cue"] in ("and", "or", "plus"))
    named = bool(_NAMED_SO.match(following)) or (cue is not None and cue["cue"] in _STRONG)
    marked = not _COMPOUND.search(norm[start:end]) and all(
        _marked(draft, *span, plain_capital=not (prose or (opening and single))) for span in spans
    )
    verb = single and name.replace("-", "").isalpha() and name.islower()
    if cue is not None and cue["filler"].endswith("to ") and verb and cue["cue"] not in _STRONG:
        return  # `want to train`: a verb
    if (
        norm[start:end] in _METHODS
        or norm[start:end] in _NOUNS
        or (name in VERBS and single)
        or is_a_manager(draft, start, end)
    ):
        return
    if norm[end : end + 1] in ("(", ":", "="):
        return  # `CCSD(T)`, and a label
    if (prose or draft.line.foreign) and not (marked or named) and (cue is None or cue["cue"] not in _DIRECT | _RUN):
        return
    if _MADE_WITH.match(following) and cue is not None and _OWN.search(cue["filler"]):
        return  # `a Python script`
    own = cue is not None and bool(_OWN.search(cue["filler"]))
    direct = cue is not None and cue["cue"] in _DIRECT
    release = spans[-1] if len(spans) == 2 and _RELEASE.fullmatch(norm[slice(*spans[-1])]) else None
    dated = release is not None and re.fullmatch(r"r20\d\d[ab]", norm[slice(*release)])
    if release is not None and (_marked(draft, *spans[0], plain_capital=True) or (dated and (opening or cue))):
        written = re.sub(r"^[vV](?=\d)", "", draft.line.words(*release))
        version = VersionRange(bounds=(VersionBound(operator="==", version=written),))
        _add(draft, SoftwareNeed(name=draft.line.words(*spans[0]), version=version), start, end)
        return
    if own and not single and not named:
        return
    if listed and not marked and not named and joined is None:
        return
    if not (named or marked or joined or (single and (opening or cue is not None) and not own)):
        return
    if not single and not (named or marked):
        return
    if not (named or marked) and not (
        cue or _USE.match(following) or following.startswith((" on ", " with ", " for ", ","))
    ):
        return
    does = bool(_DOES.match(following)) and not before.endswith((" at ", " in ", " on ", " the "))
    if marked and not (cue or opening or listed or named or joined or does or _USE.match(following)):
        return
    if _runs_a_command(draft) and not (named or joined or (marked and direct and not own)):
        return
    if before.endswith(" with ") and start - 6 in draft.software_ends:
        _ask_about(draft, name, start, end)
        return
    if not (named or marked or joined):
        if draft.fields.get("software") or "command" in draft.fields or "script" in draft.fields:
            return
        draft.default(f"{name!r} is taken as the name of software")
    try:
        _add(draft, SoftwareNeed(name=own_name(name)), start, end)
    except ValidationError:
        return


def _marked(draft: Draft, start: int, end: int, *, plain_capital: bool) -> bool:
    """Whether a word looks like a name: capitals, digits or signs; one capital counts where sentences do not begin."""
    name = draft.line.words(start, end)
    if (not plain_capital or draft.line.foreign) and name[1:].islower():
        return False
    return any(letter.isupper() or letter.isdigit() or letter in "-_+" for letter in name)


def _runs_a_command(draft: Draft) -> bool:
    """What runs is known: other names are software only where the sentence says so."""
    versioned = any(need.version is not None for need in draft.fields.get("software", ()))
    return versioned or "command" in draft.fields or "script" in draft.fields or draft.asks("command")


def _ask_about(draft: Draft, name: str, start: int, end: int) -> None:
    """`LAMMPS with KOKKOS`: how it must be built, or software of its own."""
    known = draft.fields["software"]
    index, last = len(known) - 1, known[-1]
    variants = [*last.variants, name]
    options = [
        Option(label=f"{last.name} must be built with it", patch={f"software.{index}.variants": variants}),
        Option(label="it is software of its own", patch={f"software.{index + 1}": {"name": name}}),
        Option(label="neither"),
    ]
    draft.ask(f"software.{index}.variants", start, end, f"Is {name!r} part of {last.name}?", options)


def _joined(draft: Draft, start: int) -> str | None:
    """`and` or `or` where a name follows other software in a list."""
    before = draft.line.norm[max(0, start - 56) : start]
    match = re.search(
        r"(?:,? (and|or)(?:,? (?:failing that|as an? alternative|if not|alternatively|else"
        r"|if (?:that|it)(?: is|'s) not (?:there|available|possible|installed)|if that isn't (?:there"
        r"|available)))?,?|,) $",
        before,
    )
    if match is None or start - len(match[0]) not in draft.software_ends:
        return None
    return match[1] or "and"


def _add(draft: Draft, need: SoftwareNeed, start: int, end: int) -> None:
    if draft.negated(start, end) or only_if_there(draft, start, end):
        return
    known = draft.fields.setdefault("software", [])
    if known and (_joined(draft, start) == "or" or in_its_absence(draft, start)):
        last = known[-1]
        known[-1] = last.model_copy(update={"alternatives": (*last.alternatives, need)})
        draft.source(f"software.{len(known) - 1}.alternatives", start, end)
        draft.line.claim(max(ended for ended in draft.software_ends if ended < start), start)
        draft.software_ends.add(end)
        return
    instead = _INSTEAD.match(draft.line.norm, end)
    if known and instead and re.search(r"\b(?:do|well|too|also|instead|fine|ok|okay)\b", instead[0]):
        known[-1] = known[-1].model_copy(update={"alternatives": (*known[-1].alternatives, need)})
        draft.source(f"software.{len(known) - 1}.alternatives", start, instead.end())
        draft.software_ends.add(instead.end())
        return
    need, end = with_other_versions(draft, need, end)
    need, start, end = with_build(draft, need, start, end)
    draft.software_ends.add(end)
    for index, other in enumerate(known):
        if other.name.lower() != need.name.lower():
            continue
        if need.version is not None and other.version is None:
            known[index] = need
        elif need.version is not None and need.version != other.version:
            draft.ask(
                f"software.{index}.version", start, end, f"Which version of {need.name} counts?",
                [Option(label=str(v), patch={f"software.{index}.version": str(v)})
                 for v in (other.version, need.version)],
            )  # fmt: skip
            return
        draft.source(f"software.{index}", start, end)
        return
    draft.add("software", need, start, end)
