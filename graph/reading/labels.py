"""Labels of notes (`Tasks on every node: 64`, `charge to: astro-88`) in the words that the other rules know.

A label stands at the beginning of an item: of a line, or between signs that part items. Where its unit stands in the
label (`walltime (hours): 5`), it is put behind the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.label_sense import sense_of
from graph.reading.lexicon import FOREIGN_UNITS, FOREIGN_WORDS

__all__ = ["labelled"]

_LABEL = re.compile(
    r"(?m)(?:^|(?<=[|;,/])(?=[ \t]))[ \t]*(?:(?:[-*•·–—]|\d{1,2}[.)])[ \t]+)?"  # noqa: RUF001  # as people type them
    r"(?P<label>(?:#[ \t]?)?[A-Za-z][\w./#'-]*(?:[ \t][\w./#'-]+){0,6}?)"
    r"(?:[ \t]*[(\[](?P<note>[^()\[\]\n]{1,24})[)\]])?"
    r"[ \t]*(?P<sign>[:=]|\.{2,20}:?)(?=[ \t]+(?P<value>[^\n|;,]*))"
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
    (r"q|(?:queue|partition)(?:[ /](?:name|partition|queue))?", "queue:"),
    (r"(?:proj|prj|acct)\.?", "account:"),
    (r"sw", "software:"),
    (r"wt", "walltime:"),
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
_TIMES = re.compile(r"(?:(?:number of|how many|no\. of|run|wall) )?(?P<unit>hours|hrs|minutes|mins|days)")
_BOUND = re.compile(r"(?:(?P<most>max(?:imum|\.)?|at most|most)|min(?:imum|\.)?|at least|least) (?P<what>[a-z ]{4,30})")
_REPEATED = re.compile(
    r"(?:(?:number|count|no\.) of |how many )?(?:copies|repeats|repetitions|replicas|replicates|instances|array (?:size"
    r"|tasks|elements|jobs|members)|independent runs|(?:size|length) of (?:the )?array|array)"
)
_SHARED = re.compile(
    r"(?P<n>\d{1,6}) ?(?P<per>(?:per|/|on each|on every|for each|for every|in each|a|each|every) ?(?:mpi )?(?:node|host"
    r"|machine|task|rank|process|gpu|core)|each)(?P<rest>)"
)
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
_RANKS = re.compile(r"(?<![\w./:-])-?(?:np|nprocs|nranks)[ \t]*[=:]?[ \t]*(?P<count>\d{1,7})(?![\w.])")
"""`np=8`, `nranks: 8`, `-np 8`: a launcher's word for tasks, without its line."""
_ROW = re.compile(
    r"(?m)^[ \t]*(?P<row>\|[ \t]*(?P<label>[A-Za-z][\w ./'-]{1,30}?)[ \t]*\|)(?=(?P<value>[^|\n]+)\|[ \t]*$)"
)
"""`| nodes | 4 |`: a row of a table with two columns."""
_HEADING = re.compile(
    r"(?mi)^[ \t]*(?P<head>\|[^|\n\d]{1,30}\|[^|\n\d]{1,30}\|)[ \t]*\n[ \t]*\|[ \t]*:?-{2,60}:?[ \t]*\|["
    r" \t|:-]{1,80}(?=\n)"
)
"""`| item | value |`: the heading of such a table."""
_WIDE = re.compile(
    r"(?m)^[ \t]*(?P<heads>\|(?:[^|\n\d]{1,30}\|){3,12})[ \t]*\n(?P<rule>[ \t]*\|"
    r"(?:[ \t]*:?-{2,60}:?[ \t]*\|){3,12}[ \t]*\n)"
    r"[ \t]*(?P<row>\|(?:[^|\n]{1,80}\|){3,12})[ \t]*(?=\n(?![ \t]*\|)|\Z)"
)
_SHORT = re.compile(
    r"(?i)(?<![\w.,/:=-])(?P<nodes>\d{1,5}) ?n(?:odes?)?(?:[ \t]*(?:[x×*@,/]|with)[ \t]*|[ \t]+)"  # noqa: RUF001  # as typed
    r"(?P<count>\d{1,4}) ?(?P<unit>ppn|tpn|rpn|cpn)(?![\w/-])"
)
"""`8n x 48ppn`: nodes, and tasks (`cpn`: cores) of each."""
_LETTERED = re.compile(
    r"(?<![\w.,/:=-])(?<!\bat )(?:(?P<cores>\d{1,5})c|(?P<nodes>\d{1,5})n)"
    r"(?=[ \t]*(?:$|[\n,;|+&)]|[ \t](?:\d|(?:on|for|per|x|each|with)\b)|/(?:node|task|rank|proc|job)))"
)
"""`32c`, `4n`: cores and nodes by their letter, as an item of its own."""
_KEYS = {
    "q": "queue", "part": "partition", "acc": "account", "acct": "account", "prj": "project", "proj": "project",
    "sw": "software",
}  # fmt: skip
_KEY = re.compile(
    rf"(?<![\w./:@+-])(?P<key>{'|'.join(_KEYS)})[ \t]?(?P<sign>[:=])(?=[ \t]?[A-Za-z])"
    rf"|(?<![\w./:@+-])(?P<time>wt)(?P<is>[:=])(?=[ \t]?\d)"
)
"""`q=long`, `acct: phys1`: a field by its short name, wherever it stands."""
_SIGNED = re.compile(
    r"(?i)(?<![\w./:-])(?:(?P<start>(?:start(?:s|ing)?|begin(?:s|ning)?)[ \t]?(?:>=?|≥|=>))"
    r"|(?P<end>(?:done|ends?|finish(?:ed)?|ready|back|complete[d]?)[ \t]?(?:<=?|≤|=<)))(?=[ \t]?\w)"
)
"""`start >= Friday 6:00`, `done <= 2026-12-06`."""
_TABBED = re.compile(
    r"(?m)^[ \t]*(?P<label>[A-Za-z][\w./'-]*(?: [\w./'-]+){0,4})(?P<gap>\t+| {3,20})(?=(?P<value>[^\s|][^\n]{0,200})$)"
)
"""A label and its value in two columns, with a tab or blanks between."""
_THREADS = re.compile(r"(?i)(?<![\w.,/:=-])(?P<count>\d{1,4}) ?(?:thr|thrds?|thds?)(?=/)")
_EACH_NODE = re.compile(
    r"(?i)(?<![\w.,/:=-])(?P<count>\d{1,4}) ?(?:ppn|tpn|rpn|(?P<cores>cpn))(?![\w/-])(?![ \t]*[:=])"
)

_EVEN_IF = re.compile(
    r"(?i)(?<![\w-])(?P<lead>even (?:if|when|though|should)|no matter (?:if|whether|how)"
    r"|(?:(?:it|i|we) )?(?:does not|doesn't|do not|don't|no longer) (?:matters?|care|mind)(?: any ?more| any longer"
    r"| now)? (?:if|whether|how)|(?:regardless|irrespective) of"
    r" (?:whether|if|how)|whether(?: or not)?|auch wenn|selbst wenn|egal ob|même si|peu importe si)"
    r" (?:the |le |la |der )?job (?:number |no\.? ?|#)?\d{1,12} (?:has |is |does |did |a |hat )?"
    r"(?P<end>(?:fail(?:s|ed)?|crash(?:es|ed)?|dies?|died|end(?:s|ed)?|abort(?:s|ed)?|succeed(?:s|ed)?|finish(?:es|ed)?"
    r"|work(?:s|ed)?|scheitert|fehlschlägt|abbricht|abstürzt|échoue|échoué|plante|réussit)"
    r"(?: (?:or|oder|ou) (?:not|nicht|non|pas|fails?|succeeds?|crashes))?"
    r"(?:[,;] (?:and |but )?it (?:only |just )?(?:has|needs) (?:only )?to (?:be|have) (?:ended|over|finished|done))?)"
    r"(?![\w-])"
)
"""`even if job 12 fails`: it is waited for, whatever becomes of it."""


_PER_BEHIND = re.compile(
    r"(?i)(?:^|(?<=[,;|\n] ))(?P<unit>tasks|ranks|processes|procs|cores|cpus|gpus|threads) per (?P<of>node|task|rank"
    r"|process) "
    r"(?P<count>\d{1,5})(?=[ \t]*(?:[,;|\n]|$))"
)
"""`nodes 7, tasks per node 128`."""


def labelled(text: str, *, foreign: bool = False) -> Iterator[tuple[int, int, str]]:
    """Labels that other rules would not know, each with its place and what to read in its place.

    Args:
        text: as written.
        foreign: whether labels may be in German or French (`Anzahl der Knoten`, `Nombre de processus par nœud`).

    """
    leaders = sum(match["sign"][0] == "." for match in _LABEL.finditer(text))
    for match in _LABEL.finditer(text):
        said = re.sub(r"[ \t]+", " ", match["label"].lower()).replace("_", " ").rstrip(". ")
        said = _in_english(said) if foreign else said
        norm = _norm(said, (match["note"] or "").lower().strip(), match["value"].strip(), text[: match.start("label")])
        if norm is None and match["sign"][0] == ".":
            if leaders > 1:
                yield match.start("label"), match.end("sign"), f"{said}:"
            continue
        if norm is None or (norm[0] == said + match["sign"] and not norm[1] and not match["note"]):
            continue
        end = match.start("value") + len(match["value"].rstrip()) if norm[1] else match.end("sign")
        yield match.start("label"), end, norm[0] + norm[1]
    for match in _BOLD.finditer(text):
        if match["inside"] or match["behind"]:
            said = re.sub(r"[ \t]+", " ", match["label"].lower()).replace("_", " ")
            known = _norm(said, "", "", "")
            yield *match.span(), known[0] if known else f"{said}:"
    for match in _RANKS.finditer(text):
        yield *match.span(), f"{match['count']} tasks"
    for match in _HEADING.finditer(text):
        yield match.start("head"), match.end(), ";"
    heads = {match.start("head") for match in _HEADING.finditer(text)}
    yield from _wide(text)
    for match in _ROW.finditer(text):
        if match.start("row") in heads:
            continue
        said = re.sub(r"[ \t]+", " ", match["label"].lower()).replace("_", " ")
        known = _norm(said, "", match["value"].strip(), "")
        end = match.start("value") + len(match["value"].rstrip()) if known and known[1] else match.end("row")
        yield match.start("row"), end, f"; {''.join(known or (f'{said}:', ''))}"
    for match in _PER_BEHIND.finditer(text):
        yield *match.span(), f"{match['count']} {match['unit'].lower()} per {match['of'].lower()}"
    for match in _SHORT.finditer(text):
        unit = "cores" if match["unit"].lower() == "cpn" else "tasks"
        yield *match.span(), f"{match['nodes']} nodes, {match['count']} {unit} per node"
    for match in _CURLY.finditer(text):
        yield match.start(), match.end(), match[0].lower().replace("’", "'")  # noqa: RUF001  # as typed
    for match in _EVEN_IF.finditer(text):
        yield *match.span("lead"), "after"
        yield *match.span("end"), "whatever its outcome"
    for match in _KEY.finditer(text):
        yield *match.span(), f"{_KEYS[match['key']]}{match['sign']}" if match["key"] else f"walltime{match['is']}"
    for match in _SIGNED.finditer(text):
        glued = "" if text[match.end()].isspace() else " "
        yield *match.span(), f"{'start after' if match['start'] else 'done by'}{glued}"
    columns = [*_TABBED.finditer(text)]
    for match in columns if len(columns) > 1 else ():
        said = match["label"].lower().replace("_", " ")
        known = _norm(said, "", match["value"].strip(), "")
        whole = known is not None and not known[0].strip()
        end = match.end() + len(match["value"].rstrip()) if known and known[1] else match.end("label")
        yield match.start("label"), end, known[1] if whole and known else "".join(known or (f"{said}:", ""))
    for match in _LETTERED.finditer(text):
        yield *match.span(), f"{match['cores']} cores" if match["cores"] else f"{match['nodes']} nodes"
    for match in _THREADS.finditer(text):
        yield *match.span(), f"{match['count']} threads"
    for match in _EACH_NODE.finditer(text):
        yield match.start(), match.end(), f"{match['count']} {'cores' if match['cores'] else 'tasks'} per node"


def _in_english(said: str) -> str:
    """A German or French label in English words, as far as they are of the field."""
    said = re.sub(r"(?<=\w)d'|(?<![\w-])(?:d'|der |des |de la |de |du |les |la |le |die )", "", said)
    said = re.sub(r"^(.*?(?:processus|tâches|rangs)) mpi(?= |$)", r"mpi \1", said)
    said = re.sub(r"^mpi nombre ", "nombre mpi ", said).replace("par processus", "par process").replace("mpi-", "mpi ")
    words = [FOREIGN_UNITS.get(word) or FOREIGN_WORDS.get(word, word) for word in said.split(" ")]
    return re.sub(r"^number (?!of )", "number of ", " ".join(words))


def _wide(text: str) -> Iterator[tuple[int, int, str]]:
    """A table with a heading of many columns and one row: each value behind its label."""
    for match in _WIDE.finditer(text):
        labels = [cell.strip() for cell in match["heads"].strip().strip("|").split("|")]
        cells = [*re.finditer(r"\|(?=[^|\n]*\|)", match["row"])]
        if len(labels) != len(cells):
            continue
        yield match.start("heads"), match.end("rule") - 1, ";"
        for label, cell in zip(labels, cells, strict=True):
            said = re.sub(r"[ \t]+", " ", label.lower()).replace("_", " ")
            value = match["row"][cell.end() :].split("|")[0].strip()
            known = _norm(said, "", value, "")
            at = match.start("row") + cell.start()
            yield at, at + 1, f"; {known[0] if known and known[0] and not known[1] else f'{said}:'}"


def _known(said: str) -> str:
    return next((norm for words, norm in _PATTERNS if words.fullmatch(said)), "")


def _counted(said: str) -> str:
    """What a label counts: `gpus` of `GPUs`, `tasks` of `number of ranks`; nothing where it counts nothing."""
    norm = _known(said) or sense_of(said, "1") or ""
    return norm[:-1] if norm in ("tasks:", "cores:", "gpus:", "threads:") else ""


def _norm(said: str, note: str, value: str, before: str) -> tuple[str, str] | None:
    """What a label is called, and its value where the unit belongs to it."""
    number = re.fullmatch(r"\d{1,7}(?:\.\d{1,3})?", value)
    if number and _CONCURRENT.fullmatch(said):
        return "", f"at most {value} at once"
    if number and (time := _TIMES.fullmatch(said)):
        return "walltime:", f" {value} {time['unit']}"
    if number and (ends := _BOUND.fullmatch(said)) and "nodes:" in (_known(ends["what"]), sense_of(ends["what"], "1")):
        return "", f"{'at most' if ends['most'] else 'at least'} {value} nodes"
    if re.fullmatch(
        r"(?:fall-?back|back-?up|second(?:ary)?|alternat(?:iv)?e|spare|2nd|other) (?:queue"
        r"|partition)",
        said,
    ):
        return "otherwise queue:", ""
    if number and _REPEATED.fullmatch(said):
        return "", f"{value} copies"
    if shared := _SHARED.fullmatch(value.lower()):
        counted = _counted(said)
        return ("", f"{shared['n']} {counted} {shared['per']}") if counted else None
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
        counted = _known(said)
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
        norm = _known(said)
        if per and norm in ("tasks:", "cores:", "gpus:"):
            norm = f"{norm[:-1]} per {per['per']}:"
        elif per:
            return None
    if not norm and not note:
        norm = sense_of(said, value) or ""
    if unit and (unit[-1] == "b") != norm.startswith(("memory", "total", "local")):
        return None
    if not norm or (note and not per and note not in _NOTES and not unit):
        return None
    if unit and not number:
        return (norm, "") if value.lower().endswith(unit.lower()) or ":" in value else None
    return norm, f" {value} {unit}" if unit else ""
