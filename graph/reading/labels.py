"""Labels of notes (`Tasks on every node: 64`, `charge to: astro-88`) in the words that the other rules know.

A label stands at the beginning of an item: of a line, or between signs that part items. Where its unit stands in the
label (`walltime (hours): 5`), it is put behind the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.lexicon import FOREIGN_UNITS, FOREIGN_WORDS

__all__ = ["labelled"]

_LABEL = re.compile(
    r"(?m)(?:^|(?<=[|;,/])(?=[ \t]))[ \t]*(?:(?:[-*•·–—]|\d{1,2}[.)])[ \t]+)?"  # noqa: RUF001  # as people type them
    r"(?P<label>(?:#[ \t]?)?[A-Za-z][\w./#'-]*(?:[ \t][\w./#'-]+){0,6}?)"
    r"(?:[ \t]*[(\[](?P<note>[^()\[\]\n]{1,24})[)\]])?"
    r"[ \t]*(?P<sign>[:=])(?=[ \t]+(?P<value>[^\n|;,]*))"
)
_EACH = r"[ /-](?:(?:on|for|per|in|of|at)[ -])?(?:(?:the|an?|one|each|every|single)[ -])*"
_TASKS = r"(?:(?:number|no\.?|nr\.?|count|#) ?(?:of )?)?(?:mpi[ -])?(?:tasks?|ranks?|process(?:es)?|procs?)"
_CORES = r"(?:(?:number|no\.?|nr\.?|count|#) ?(?:of )?)?(?:cpu[ -])?(?:cores?|cpus?|processors?)"
_GPUS = r"(?:(?:number|no\.?|nr\.?|count|#) ?(?:of )?)?(?:gpus?(?: cards?)?|graphics cards?|accelerators?)"
_NODE, _TASK = "(?:compute )?(?:nodes?|hosts?|machines?)", "(?:mpi )?(?:tasks?|ranks?|process(?:es)?|procs?)"
_COUNTED = (
    r"(?:total |requested |required )?{0}(?: count| total| requested| needed| required)?"
    r"|(?:how many|no\.?|nr\.?|number) (?:of )?(?:total |the )?{0}"
)
_LIMIT = (
    r"(?:job )?(?:run ?time|wall ?time|wall ?clock(?: time)?|time|duration)"
    r"(?: (?:limit|max(?:imum)?|needed|required|requested))?|(?:max(?:imum|\.)?|expected|est(?:imated|\.)?|requested) "
    r"(?:job )?(?:run ?time|wall ?time|wall ?clock(?: time)?|time|duration|length)|job length"
)
_KNOWN: tuple[tuple[str, str], ...] = (
    (rf"{_TASKS}{_EACH}{_NODE}", "tasks per node:"),
    (rf"{_CORES}{_EACH}{_NODE}", "cores per node:"),
    (rf"{_GPUS}{_EACH}{_NODE}", "gpus per node:"),
    (rf"{_GPUS}{_EACH}{_TASK}", "gpus per task:"),
    (rf"{_CORES}{_EACH}{_TASK}", "cores per task:"),
    (rf"(?:openmp |omp )?threads?{_EACH}{_TASK}", "threads per task:"),
    (_COUNTED.format(_NODE), "nodes:"),
    (_COUNTED.format("(?:mpi )?(?:tasks|ranks|processes|procs)"), "tasks:"),
    (_COUNTED.format("(?:cpu )?(?:cores|cpus)"), "cores:"),
    (_COUNTED.format("(?:gpus?|graphics cards|accelerators?)"), "gpus:"),
    (r"(?:to be )?(?:charged?|bill(?:ed)?|debit|book(?:ed)?|pay|paid)(?: it)? (?:to|from|by|on)|charge (?:code|account)"
     r"|charge (?:number|project)|billing(?: code| to)?|cost cent(?:er|re)"
     r"|(?:project|account|allocation|grant)[ /](?:code|id|number|no\.?|name|account|head)", "account:"),
    (r"not before|no earlier than|not earlier than|(?:start|begin)(?:ing)? (?:after|from|not before|no earlier than)"
     r"|earliest(?: start(?: time)?)?|earliest begin", "start after"),
    (r"(?:must |has to |should )?(?:be )?(?:finish(?:ed)?|done|end|ready|complete[d]?|deliver(?:y|ed)?) by"
     r"|(?:hard )?deadline|latest (?:end|finish)", "deadline:"),
    (r"executable|exec|exe|binary|command line|run line|run command|launch(?: command| line)?|job command"
     r"|programm?e? to run", "command:"),
    (_LIMIT, "walltime:"),
    (r"(?:queue|partition)(?:[ /](?:name|partition|queue))?", "queue:"),
    (r"(?:node[- ])?local (?:scratch|tmp|disk|ssd|nvme|storage)(?: space)?", "local disk:"),
    (r"env(?:ironment)?(?: variables?)?", "environment:"),
)  # fmt: skip
"""What a label may be, all of it, and the words for it; the first that fits counts."""
_PATTERNS = tuple((re.compile(words), norm) for words, norm in _KNOWN)
_UNITS = {
    **dict.fromkeys(("h", "hr", "hrs", "hours", "hour", "in hours", "in h"), "hours"),
    **dict.fromkeys(("m", "min", "mins", "minutes", "in minutes", "in min"), "minutes"),
    **dict.fromkeys(("d", "days", "in days"), "days"),
    **dict.fromkeys(("s", "sec", "seconds", "in seconds"), "seconds"),
    **{words: unit for unit in ("mb", "gb", "tb", "mib", "gib", "tib") for words in (unit, f"in {unit}")},
}  # fmt: skip
_NOTES = frozenset(("hh:mm:ss", "hh:mm", "d-hh:mm:ss", "dd-hh:mm:ss", "h:mm:ss", "days-hh:mm:ss", "total", "in total"))
_BOUNDS = {"min": "at least", "minimum": "at least", "max": "at most", "maximum": "at most"}
_PER = re.compile(r"(?:(?P<unit>[kmgt]i?b) )?(?:per|/|each) ?(?P<per>node|task|rank|process|core|cpu|gpu)")
_MEMORY = re.compile(r"(?:main |total )?(?:memory|mem|ram)(?: needed| required)?")
_SPELT = re.compile(r"(?P<label>.{1,80}?)(?: in (?P<unit>hours|minutes|days|[mgt]i?b))")
_CURLY = re.compile(r"(?<![^\s(\[,;])[A-Za-z]{2,8}n’t(?!\w)")  # noqa: RUF001  # as typed
"""`doesn’t`: rules know it with a straight sign."""  # noqa: RUF001  # as typed
_TITLED = re.compile(r"(?:job|run|name of (?:the |this )?(?:job|run)|(?:job|run) (?:label|title|tag|id))")
_TITLE = re.compile(r"[A-Za-z0-9][\w.@-]*")
"""What a job is called: one word, which a digit or hyphen tells from a program where only `job` is before it."""
_CONCURRENT = re.compile(r"(?:max(?:imum)? )?(?:(?:running )?at (?:once|a time)|concurrent(?:ly)?|simultaneous(?:ly)?)")
_OF_GPUS = re.compile(
    r"(?i)(?:^|[|;,\n])[ \t]*(?:gpus?|gpu (?:type|model)|card|accelerator)[ \t]*[:=][^|;\n]*[|;,\n][^|;\n]*$"
)


_BOLD = re.compile(
    r"(?P<mark>\*\*|__)(?P<label>[A-Za-z][\w /'-]{1,30}?)(?P<inside>[ ]?:)?(?P=mark)(?P<behind>[ ]?[:=])?(?=[ \t])"
)
"""`**Nodes:** 2`: a label in bold letters."""
_GLUED = re.compile(r"(?<![\w./:-])(?:np|nprocs|nranks)=(?P<count>\d{1,7})(?![\w.])")
_ROW = re.compile(
    r"(?m)^[ \t]*(?P<row>\|[ \t]*(?P<label>[A-Za-z][\w ./'-]{1,30}?)[ \t]*\|)(?=(?P<value>[^|\n]+)\|[ \t]*$)"
)
"""`| nodes | 4 |`: a row of a table with two columns."""
_SHORT = re.compile(
    r"(?i)(?<![\w.,/:=-])(?P<nodes>\d{1,5}) ?n(?:odes?)?(?:[ \t]*(?:[x×*@,/]|with)[ \t]*|[ \t]+)"  # noqa: RUF001  # as typed
    r"(?P<count>\d{1,4}) ?(?P<unit>ppn|tpn|rpn|cpn)(?![\w/-])"
)
"""`8n x 48ppn`: nodes, and tasks (`cpn`: cores) of each."""
_EACH_NODE = re.compile(r"(?i)(?<![\w.,/:=-])(?P<count>\d{1,4}) ?(?:ppn|tpn|rpn)(?![\w/-])(?![ \t]*[:=])")

_EVEN_IF = re.compile(
    r"(?i)(?<![\w-])(?P<lead>even (?:if|when|though|should)|no matter (?:if|whether|how)|(?:regardless|irrespective) of"
    r" (?:whether|if|how)|whether(?: or not)?|auch wenn|selbst wenn|egal ob|même si|peu importe si)"
    r" (?:the |le |la |der )?job (?:number |no\.? ?|#)?\d{1,12} (?:has |is |does |did |a |hat )?"
    r"(?P<end>(?:fail(?:s|ed)?|crash(?:es|ed)?|dies?|died|end(?:s|ed)?|abort(?:s|ed)?|succeed(?:s|ed)?|finish(?:es|ed)?"
    r"|work(?:s|ed)?|scheitert|fehlschlägt|abbricht|abstürzt|échoue|échoué|plante|réussit)"
    r"(?: (?:or|oder|ou) (?:not|nicht|non|pas|fails?|succeeds?|crashes))?)(?![\w-])"
)
"""`even if job 12 fails`: it is waited for, whatever becomes of it."""


def labelled(text: str, *, foreign: bool = False) -> Iterator[tuple[int, int, str]]:
    """Labels that other rules would not know, each with its place and what to read in its place.

    Args:
        text: as written.
        foreign: whether labels may be in German or French (`Anzahl der Knoten`, `Nombre de processus par nœud`).

    """
    for match in _LABEL.finditer(text):
        said = re.sub(r"[ \t]+", " ", match["label"].lower()).replace("_", " ")
        said = _in_english(said) if foreign else said
        norm = _norm(said, (match["note"] or "").lower().strip(), match["value"].strip(), text[: match.start("label")])
        if norm is None or (norm[0] == said + match["sign"] and not norm[1] and not match["note"]):
            continue
        end = match.start("value") + len(match["value"].rstrip()) if norm[1] else match.end("sign")
        yield match.start("label"), end, norm[0] + norm[1]
    for match in _BOLD.finditer(text):
        if match["inside"] or match["behind"]:
            said = re.sub(r"[ \t]+", " ", match["label"].lower()).replace("_", " ")
            known = _norm(said, "", "", "")
            yield *match.span(), known[0] if known else f"{said}:"
    for match in _GLUED.finditer(text):
        yield *match.span(), f"{match['count']} tasks"
    for match in _ROW.finditer(text):
        said = re.sub(r"[ \t]+", " ", match["label"].lower()).replace("_", " ")
        known = _norm(said, "", match["value"].strip(), "")
        yield match.start("row"), match.end("row"), f"; {known[0] if known and not known[1] else f'{said}:'}"
    for match in _SHORT.finditer(text):
        unit = "cores" if match["unit"].lower() == "cpn" else "tasks"
        yield *match.span(), f"{match['nodes']} nodes, {match['count']} {unit} per node"
    for match in _CURLY.finditer(text):
        yield match.start(), match.end(), match[0].lower().replace("’", "'")  # noqa: RUF001  # as typed
    for match in _EVEN_IF.finditer(text):
        yield *match.span("lead"), "after"
        yield *match.span("end"), "whatever its outcome"
    for match in _EACH_NODE.finditer(text):
        yield match.start(), match.end(), f"{match['count']} tasks per node"


def _in_english(said: str) -> str:
    """A German or French label in English words, as far as they are of the field."""
    said = re.sub(r"(?<=\w)d'|(?<![\w-])(?:d'|der |des |de la |de |du |les |la |le |die )", "", said)
    said = re.sub(r"^(.*?(?:processus|tâches|rangs)) mpi(?= |$)", r"mpi \1", said)
    said = re.sub(r"^mpi nombre ", "nombre mpi ", said).replace("par processus", "par process").replace("mpi-", "mpi ")
    words = [FOREIGN_UNITS.get(word) or FOREIGN_WORDS.get(word, word) for word in said.split(" ")]
    return re.sub(r"^number (?!of )", "number of ", " ".join(words))


def _norm(said: str, note: str, value: str, before: str) -> tuple[str, str] | None:
    """What a label is called, and its value where the unit belongs to it."""
    number = re.fullmatch(r"\d{1,7}(?:\.\d{1,3})?", value)
    if number and _CONCURRENT.fullmatch(said):
        return "", f"at most {value} at once"
    if number and said in ("count", "quantity", "how many") and _OF_GPUS.search(before):
        return "gpus:", ""
    if (
        _TITLED.fullmatch(said)
        and _TITLE.fullmatch(value)
        and (said not in ("job", "run") or re.search(r"[\d_-]", value))
    ):
        return "job name:", ""
    spelt = _SPELT.fullmatch(said) if not note else None
    if spelt is not None:
        said, note = spelt["label"], spelt["unit"]
    bound = _BOUNDS.get(note) if number else None
    reach = re.fullmatch(r"(\d{1,6}) ?(?:-|–|to|\.\.) ?(\d{1,6})", value)  # noqa: RUF001  # as people type them
    if bound is not None or (reach is not None and not note):
        counted = next((norm for words, norm in _PATTERNS if words.fullmatch(said)), "")
        if reach is not None:
            return (
                ("", f"{reach[1]} to {reach[2]} {counted[:-1]}") if counted in ("nodes:", "tasks:", "cores:") else None
            )
        return ("", f"{bound} {value} {counted[:-1]}") if counted in ("nodes:", "tasks:", "cores:", "gpus:") else None
    per = _PER.fullmatch(note)
    unit = _UNITS.get(per["unit"] or "" if per else note, "")
    if _MEMORY.fullmatch(said):
        norm = f"memory per {per['per']}:" if per else "total memory:" if note in ("total", "in total") else "memory:"
    else:
        norm = next((norm for words, norm in _PATTERNS if words.fullmatch(said)), "")
        if per and norm in ("tasks:", "cores:", "gpus:"):
            norm = f"{norm[:-1]} per {per['per']}:"
        elif per:
            return None
    if unit and (unit[-1] == "b") != norm.startswith(("memory", "total", "local")):
        return None
    if not norm or (note and not per and note not in _NOTES and not unit):
        return None
    if unit and not number:
        return (norm, "") if value.lower().endswith(unit.lower()) or ":" in value else None
    return norm, f" {value} {unit}" if unit else ""
