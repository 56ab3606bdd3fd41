"""Names without a version, taken for software only where they stand in its place: `run X`, `needs X`, `an X job`."""

from __future__ import annotations

import re

from pydantic import ValidationError
from simplemma import is_known

from dragoman.request import SoftwareNeed
from dragoman.versions import VersionBound, VersionRange
from graph.reading.builds import is_a_manager, own_name
from graph.reading.draft import Draft
from graph.reading.ordinary import is_ordinary
from graph.reading.plain_words import LABELS, NOUNS, plain_word
from graph.reading.software_needs import add_need, ask_about, joined
from graph.reading.verbs import VERBS

__all__ = ["read_bare_names"]

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
_ACRONYMS = (
    "path ld_library_path ssd ssds nvme hdd raid numa avx avx2 avx512 avx-512 avx-2 ai ml llm nlp cnn gan cfd fem"
    " fea dft md mc les dns rans"
    " pic qmc qm mm hpc mri mrt eeg snp gwas rna dna remd fep abf wgs dmrg"
)
_MAKES = (
    "nda itar hipaa gdpr amd intel nvidia arm x86 x86_64 aarch64 skylake icelake milan rome genoa zen broadwell"
    " haswell cascadelake"
    " sapphire"
    " monday tuesday wednesday thursday friday saturday sunday"
)
_METHODS = frozenset((_ACRONYMS + " " + _MAKES).split())
"""Methods and things of the field, in capitals like names of software."""
_RUN = frozenset("run runs running execute executing launch launching".split())  # noqa: SIM905
_DIRECT = frozenset(
    "use uses using need needs requires require requiring with load loaded via install installed".split()  # noqa: SIM905
)
_LOOSE = frozenset("of for do perform by to and or plus have has let give put place".split())  # noqa: SIM905
"""Words before a name, and before any other word as well."""
_STRONG = frozenset("package software application app module modules install installed load loaded called".split())  # noqa: SIM905
_CALLED = re.compile(
    r"(?<![\w-])(?:programs?|software|package|code|solver|tool|application|app|module|library|suite|something|thing"
    r"|model"
    r"|simulator|framework|engine|binary|pipeline|product|one)(?: (?:that|which|is|are|we|need|use|it's|it|simply"
    r"|also)){0,4} called (?:the |an? )?$"
)
_NAMED_SO = re.compile(
    r" ?(?:is |are |being |(?:must|should|has to|have to|needs? to) be )?(?:installed|available|loaded)\b"
    r"| (?:must|should|has to|have to|needs? to) be (?:there|present|on site)\b| (?:package|software|module)\b"
)
_IN_A_RUNTIME = re.compile(
    r" (?:via|in|inside|under|through) (?:an? |the )?(?:docker|apptainer|singularity|podman|spack|conda|easybuild)\b"
)
_RUN_LAST = re.compile(r" (?:run let|run)(?= ?(?:[,.;?!)]|$))")
_SIGNED = re.compile(
    r"\b(?:thanks|thank you|thx|regards|cheers|best|wishes|sincerely|yours|grüße|grüßen|gruß|vielen dank|mfg|merci"
    r"|danke|cordialement)"
    r"(?: a lot| in advance| so much| very much| again| for (?:the|your|all|any|all your|all the)"
    r" (?:help|time|support|work|effort|advice|patience))?[ ,.!-]{1,4}$"
)
_USE = re.compile(
    r"(?:'s)? (?:[a-z-]{3,14} )?(?:jobs?|simulations?|workloads?|runs?|calculations?|benchmarks?|cases?"
    r"|computations?|renderings?"
    r"|alignments?|mappings?|optimi[sz]ations?|refinements?|sampling|transcriptions?|docking|fits?|scans?|sweeps?"
    r"|inference|search(?:es)?|nowcasts?|hindcasts?|forecasts?|dockings?|trainings?|analys[ei]s|workflows?"
    r"|assembl(?:y|ies)"
    r"|models?"
    r"|experiments?|pipelines?|solver|ensembles?|reforecasts?|reruns?|control(?: run)?|reanalys[ei]s|screening"
    r"|campaigns?)\b"
)
_DOES = re.compile(
    r"(?:'s)?(?: [a-z-]{3,14}){0,2} (?:needs?|requires?|wants?|uses?|must|should|shall|has to|have to|is to|can be"
    r"|could be|gets"
    r"|takes)\b"
)
"""`SPECFEM3D requires 96 nodes`: what stands before is what runs."""
_RELEASE = re.compile(r"(?:[a-z]|checkpoint|release|rev|build|patch|sp|stable_?)-?\d[\w.]*")
_RUN_OF = re.compile(r"(?:run|runs|simulation|simulations|calculation|calculations|job|jobs) (?:of|with) $")
_OF_WHAT = re.compile(r" (?:run|simulation|calculation|job|forecast)s? (?:of|with) ([a-z][\w+-]*)")
_EITHER = re.compile(r"(?<![\w-])either $")
"""Before the first of two names, which stand as one of them would."""
_BEGINNINGS = ("", "run", "please run", "submit", "start", "launch", "execute", "schedule")
_MADE_WITH = re.compile(r" (?:scripts?|programs?|codes?|notebooks?|files?|macros?|workflows?)\b")
_COMPOUND = re.compile(r"-(?:free|like|based|only|style|aware|friendly|less|type|ready|level|scale)$")
_ADJECTIVE = re.compile(
    r" (?!(?:on|with|for|at|in|and|or|using|by|to|from|is|as|jobs?|runs?|needs?"
    r"|requires?)\b)(?P<noun>[a-z]{3,})"
)
_DESCRIBING = re.compile(r"[a-z-]+(?:ed|ing|al|ive|ous|ic|ary|less|ful|able)")
_INSIDE = re.compile(r"[^\W\d_][\w-]*(?:[A-Z]|\d)")
"""A capital or a digit inside a word, which is surely a name."""
_COUNTED = re.compile(r"(?: on)? \x00")
_PROSE = 6
"""More words than these that no rule knows are a story, in which a plain word names no software."""
_NAME_LIKE = re.compile(r"[a-z][\w+-]*(?:/[a-z][\w+-]*|\.(?:js|jl|net|io|ai))?")
_TOKEN = re.compile(r"[^\s\x00,;:!?()\[\]{}\"'`]+")


def read_bare_names(draft: Draft) -> None:
    """Find software by its place in the sentence."""
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


def _ends_a_run(word: str) -> bool:
    return plain_word(word) or word in ("called", "named")


def _bare(draft: Draft, spans: list[tuple[int, int]], *, prose: bool) -> None:
    """A run of words that no rule knows: software, if it stands where software is named; else it stays unread."""
    start, end = spans[0][0], spans[-1][1]
    norm, name = draft.line.norm, draft.line.words(start, end)
    if len(spans) > 2 or spans[-1][0] in draft.numbered or start in draft.numbered:
        return
    if "/" in name and not all(part[:1].isupper() and not part.isupper() for part in name.split("/")):
        return  # `Elmer/Ice` is a name, `CPU/GPU` and `and/or` are two words
    before, following = _EITHER.sub("", norm[max(0, start - 60) : start]), norm[end : end + 60]
    if _SIGNED.search(before):
        return
    cue = _CUE.search(before)
    if cue is not None and cue["cue"] == "called" and not _CALLED.search(before):
        return  # `the mesh is called wing3`
    if cue is not None and "is " in cue["filler"] and cue["cue"] not in LABELS | {"code"}:
        cue = None
    if cue is not None and cue["cue"] in ("for", "of") and "the " in cue["filler"] and not _USE.match(following):
        cue = None  # `the forecast for the Elbe`
    if cue is not None and cue["cue"] in _WEAK and not any(map(str.isupper, name)):
        cue = None
    opening = not before.strip() or before.rstrip().endswith((".", "!", "?", ":", ";"))
    in_list = joined(draft, start)
    if len(spans) == 2 and _marked(draft, *spans[0], plain_capital=True) and _USE.match(norm[spans[0][1] :]):
        _bare(draft, spans[:1], prose=prose)  # `a Gadget-4 cosmology run`
        return
    single = len(spans) == 1
    listed = before.endswith(", ") or (cue is not None and cue["cue"] in ("and", "or", "plus"))
    named = bool(_NAMED_SO.match(following)) or (cue is not None and cue["cue"] in _STRONG)
    unknown = single and not is_known(norm[start:end], "en")
    named = named or (unknown and re.match(r" (?:is|are) (?:needed|required)\b", following) is not None)
    named = named or (opening and single and _IN_A_RUNTIME.match(following) is not None)
    named = named or (before.endswith(("get ", "getting ", "bring ")) and following.startswith((" running", " to run")))
    marked = not (_COMPOUND.search(norm[start:end]) or _describes(name, following)) and all(
        _marked(draft, *span, plain_capital=not (prose or (opening and single))) for span in spans
    )
    if draft.line.foreign and marked and _RUN_LAST.match(following):
        named = True  # `bitte GADGET-4 bis Freitag durchrechnen`
    verb = single and name.replace("-", "").isalpha() and name.islower()
    if cue is not None and cue["filler"].endswith("to ") and verb and cue["cue"] not in _STRONG:
        return  # `want to train`: a verb
    if (
        norm[start:end] in _METHODS
        or norm[start:end] in ("monte carlo", "monte-carlo", "molecular dynamics")
        or norm[start:end] in NOUNS
        or (name in VERBS and single)
        or is_a_manager(draft, start, end)
    ):
        return
    run_of = _RUN_OF.search(before) is not None
    if norm[end : end + 1] in ("(", "=") or (norm[end : end + 1] == ":" and not run_of and in_list != "or"):
        return  # `CCSD(T)`, and a label
    what = _OF_WHAT.match(following)
    if what is not None and not plain_word(what[1]):
        return  # `a quarter-degree run of MOM6`
    if (prose or draft.line.foreign) and not (marked or named) and (cue is None or cue["cue"] not in _DIRECT | _RUN):
        return
    if _MADE_WITH.match(following) and cue is not None and _OWN.search(cue["filler"]):
        return  # `a Python script`
    own = cue is not None and bool(_OWN.search(cue["filler"]))
    direct = cue is not None and (
        cue["cue"] in _DIRECT or (marked and cue["cue"] == "for" and _stands_with_software(draft, end))
    )
    release = spans[-1] if len(spans) == 2 and _RELEASE.fullmatch(norm[slice(*spans[-1])]) else None
    dated = release is not None and re.fullmatch(r"r20\d\d[ab]", norm[slice(*release)])
    if release is not None and (_marked(draft, *spans[0], plain_capital=True) or (dated and (opening or cue))):
        written = re.sub(r"^[vV](?=\d)", "", draft.line.words(*release))
        version = VersionRange(bounds=(VersionBound(operator="==", version=written),))
        add_need(draft, SoftwareNeed(name=draft.line.words(*spans[0]), version=version), start, end)
        return
    if own and not single and not named:
        return
    described = _ADJECTIVE.match(following) if single and not (marked or named) and name.islower() else None
    of_it = cue is not None and cue["cue"] in ("of", "for")
    if described and (is_known(name, "en") or (of_it and is_ordinary(described["noun"]) and not _USE.match(following))):
        return  # `alignment of metagenomic reads`
    if listed and not marked and not named and in_list is None:
        return
    if not (named or marked or in_list or (single and (opening or cue is not None) and not own)):
        return
    if not single and not (named or marked):
        return
    if not (named or marked) and not (
        cue
        or _USE.match(following)
        or following.startswith((" on ", " with ", " for ", ",", *((" and ", " or ", " & ") if in_list else ())))
        or (opening and draft.line.open.startswith(" \x00", end) and not is_known(name.lower(), "en"))
    ):
        return
    does = bool(_DOES.match(following)) and not before.endswith((" at ", " in ", " on ", " the "))
    if (
        opening
        and single
        and _DESCRIBING.fullmatch(name.lower())
        and is_known(name.lower(), "en")
        and _USE.match(following)
    ):
        return  # `Coupled job: ...`
    counted = following.startswith((" on ", " ")) and _COUNTED.match(draft.line.open, end) is not None
    if _INSIDE.search(name) and counted and (opening or following.startswith(" on ")) and not _runs_a_command(draft):
        named = True  # `OpenRadioss on 12 nodes`, `Nek5000 8 nodes`
    if marked and not (cue or opening or listed or named or in_list or does or _USE.match(following)):
        return
    begins = marked and before.strip() in _BEGINNINGS and not _is_given_a_command(draft)
    begins = begins and following.startswith((" with ", " on ", ",", " using "))  # `PyTorch with CUDA 12.1 on 1 GPU`
    if _runs_a_command(draft) and not (named or in_list or begins or (marked and direct and not own)):
        return
    if before.endswith(" with ") and start - 6 in draft.software_ends:
        ask_about(draft, name, start, end)
        return
    if in_list and not (named or marked) and is_ordinary(name):
        return  # `deepmd-kit 3.0, trainig`: a word with a typing error
    if not (named or marked or in_list):
        if draft.fields.get("software") or "command" in draft.fields or "script" in draft.fields:
            return
        if cue is not None and cue["cue"] in _LOOSE and not run_of and name.islower() and is_known(name, "en"):
            return  # `a model of pine forests`, `it finished with success`
        draft.default(f"{name!r} is taken as the name of software")
    try:
        add_need(draft, SoftwareNeed(name=own_name(name)), start, end)
    except ValidationError:
        return


def _marked(draft: Draft, start: int, end: int, *, plain_capital: bool) -> bool:
    """Whether a word looks like a name: capitals, digits or signs; one capital counts where sentences do not begin."""
    name = draft.line.words(start, end)
    if (not plain_capital or draft.line.foreign) and name[1:].islower():
        return False
    return any(letter.isupper() or letter.isdigit() or letter in "-_+" for letter in name)


def _stands_with_software(draft: Draft, end: int) -> bool:
    """`for PyTorch with ROCm 6.0`: what runs with software is software."""
    following = draft.line.norm[end : end + 6] == " with "
    return following and any(
        draft.line.place(s.start) == end + 6
        for s in draft.sources
        if s.start is not None and s.field.startswith("software.")
    )


def _describes(name: str, following: str) -> bool:
    """Whether words of the language joined by hyphens stand before what they describe (`resting-state scans`)."""
    parts = name.split("-")
    return (
        name.islower()
        and len(parts) > 1
        and all(is_known(part, "en") for part in parts)
        and (len(parts) > 2 or re.match(r" [a-z]{3,}", following) is not None)  # `body-in-white`
    )


def _runs_a_command(draft: Draft) -> bool:
    """What runs is known: other names are software only where the sentence says so."""
    versioned = any(need.version is not None for need in draft.fields.get("software", ()))
    return versioned or _is_given_a_command(draft)


def _is_given_a_command(draft: Draft) -> bool:
    return "command" in draft.fields or "script" in draft.fields or draft.asks("command")
