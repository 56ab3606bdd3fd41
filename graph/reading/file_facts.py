"""What is said of a file beside its name: how large it is, where it lies, under which name it is needed."""

from __future__ import annotations

import re

from dragoman.request import InputFile, Source
from dragoman.units import parse_bytes
from graph.reading.draft import Draft
from graph.reading.file_names import last_part
from graph.reading.line import pattern
from graph.reading.reading import Option

__all__ = ["ask_two_of_a_name", "name_behind", "sites_before", "sites_behind", "size_behind", "with_facts"]

_FACTS = (
    r",? ?(?:\(|(?:which|that|and|it) (?:it )?(?:is|has|are) )(?:(?:about|ca\.?|approx\.?|roughly|around|some"
    r"|~) ?)?(?P<bytes>\d+(?:[.,]\d{1,2})? ?[kmgtp]i?b)?"
    r"(?:[,;]? ?(?:with )?sha-?256(?: sum)?[:= ] ?(?P<sha>[0-9a-f]{64}))?(?:(?: of data| in size| large| big"
    r"| in all)|\))(?![\w-])"
)
BEHIND = (
    r"(?:,? ?(?P<of>of )?| and (?P<is>(?:is|has|holds|weighs) ))(?:about |ca\.? |approx\.? |around |roughly "
    r"|some |~ ?)?(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b)"
    r"(?P<said> of data| in size| large| big| in all| in total| altogether| overall)?(?= ?(?:[,;)]|\.(?!\d)|$))"
)
_SURELY_DATA = 10**12


def with_facts(draft: Draft, item: InputFile, end: int) -> InputFile:
    """`/data/x.h5 (1.5 TB, sha256 ...)`: what stands in brackets behind a file is of the file."""
    match = pattern(_FACTS).match(draft.line.open, end)
    if match is None or not (match["bytes"] or match["sha"]):
        return item
    draft.line.claim(*match.span())
    size = parse_bytes(match["bytes"].replace(",", ".")) if match["bytes"] else item.bytes
    return item.model_copy(update={"bytes": size, "sha256": match["sha"] or item.sha256})


def size_behind(draft: Draft, end: int) -> None:
    """`input on /scratch/a at site juno, 2 TB`: the file's size; less than a terabyte can be memory and is asked."""
    match = pattern(BEHIND).match(draft.line.open, end)
    if match is None or draft.fields["inputs"][-1].bytes is not None:
        return
    at, size = len(draft.fields["inputs"]) - 1, parse_bytes(match["bytes"])
    if match["said"] or match["of"] or match["is"] or size >= _SURELY_DATA or _of_its_own(draft, *match.span()):
        draft.fields["inputs"][at] = draft.fields["inputs"][at].model_copy(update={"bytes": size})
        draft.source(f"inputs.{at}.bytes", *match.span())
        return
    draft.ask(
        "shapes.0.memory", *match.span(),
        f"{draft.words(*match.span('bytes'))!r}: is that the size of the input, or main memory?",
        [Option(label="the size of the input", patch={f"inputs.{at}.bytes": size}),
         Option(label="main memory of the job", patch={"shapes.0.memory": {"bytes": size, "per": "job"}})],
    )  # fmt: skip


_ASKED = re.compile(
    r"\d ?(?:x |nodes?|cores?|cpus?|gpus?|tasks?|ranks?|processes|threads?|h|hours?|hrs?|min"
    r"|minutes?|days?)\b"
)


def _of_its_own(draft: Draft, start: int, end: int) -> bool:
    """Whether a sentence tells of the data only, and ends with its size (`The input is at /data/a.tar, 35 GB.`)."""
    norm = draft.line.norm
    first = max(norm.rfind(sign, 0, start) for sign in (". ", "; ", "! ", "? ")) + 2
    ends = re.match(r"\)?(?:[.;](?: |$)|$)", norm[end:]) is not None
    return ends and first > 1 and _ASKED.search(norm[first:start]) is None and "./" not in norm[first:start]


def sites_behind(draft: Draft, names: str, known: dict[str, str]) -> None:
    """`/data/a.nc, which is 120 GB in size and stored at titan`: where the file lies that was just spoken of."""
    rule = (
        r"(?<=\x00)[ ,]{0,2}(?:and |which |that |it )*(?:is |are )?(?:stored|located|kept|lies?|lying|lives?|sits?"
        rf"|to be found|found)(?: now| already)? (?:at|on) (?:the )?(?:site |cluster )?(?P<site>{names})(?![\w-])"
    )
    in_brackets = (
        rf"(?<=\x00)(?: ?\(|,? )(?:stored |located |lies |kept )?(?:at|on) (?:site )?(?P<site>{names})"
        r"(?:[,;] ?(?:about |ca\. |~ ?)?(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b))?\)"
    )
    for match in (found for each in (rule, in_brackets) for found in draft.line.find(each)):
        index = _before(draft, match)
        if index is not None and draft.fields["inputs"][index].site is None:
            changed: dict[str, object] = {"site": known[match["site"]]}
            size = match.groupdict().get("bytes")
            changed |= {"bytes": parse_bytes(size)} if size else {}
            draft.fields["inputs"][index] = draft.fields["inputs"][index].model_copy(update=changed)
            draft.source(f"inputs.{index}.site", *match.span())


NAME_BEHIND = (
    r"(?<=\x00)[ ,]{0,2}(?:and |which |that |it )*(?:(?:must|has to|have to|is to|are to|should|shall"
    r"|needs? to) )?(?:be )?"
    r"(?:supplied|provided|made available|available|staged(?: in)?|called|named|renamed(?: to)?|delivered|needed"
    r"|present"
    r"|brought in|copied in|saved|stored|kept|downloaded|fetched)?(?: to (?:the job|it))? (?:as "
    r"|under the name )?(?P<as>[\w-]+\.[\w.-]*\w)(?![\w/])"
)


def name_behind(draft: Draft) -> None:
    """`/data/wing.cgns, which lies at juno, must be supplied as mesh.cgns`: the name in the job's folder."""
    for match in draft.line.find(NAME_BEHIND):
        index = _before(draft, match)
        if index is not None:
            changed = {"name": draft.line.words(*match.span("as"))}
            draft.fields["inputs"][index] = draft.fields["inputs"][index].model_copy(update=changed)
            draft.source(f"inputs.{index}.name", *match.span())


def _before(draft: Draft, match: re.Match[str]) -> int | None:
    """Which input was spoken of last before a place; None: something else was."""
    at = draft.line.span(match.start(), match.end())[0]
    last = max((source for source in draft.sources if (source.start or 0) < at), key=_begin, default=None)
    place = re.fullmatch(r"inputs\.(\d+)(?:\.\w+)?", last.field) if last else None
    return int(place[1]) if place else None


def sites_before(draft: Draft, names: str, known: dict[str, str]) -> None:
    """`juno:/data/a.nc`: the site stands before the path."""
    for index, item in enumerate(draft.fields["inputs"]):
        place = re.fullmatch(rf"(?i)(?P<site>{names}):(?P<path>~?/.+)", item.source)
        if place is not None and item.site is None:
            renamed = item.name if item.name != item.source else last_part(place["path"])
            changed = {"site": known[place["site"].lower()], "source": place["path"], "name": renamed}
            draft.fields["inputs"][index] = item.model_copy(update=changed)


def _begin(source: Source) -> int:
    return source.start or 0


def ask_two_of_a_name(draft: Draft) -> None:
    """`/a/x.dat and /b/x.dat`: both would lie at one place in the job's folder."""
    names = [item.name for item in draft.fields.get("inputs", ())]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        sources = ", ".join(item.source for item in draft.fields["inputs"] if item.name == name)
        draft.contested.add("inputs")
        draft.ask("inputs", 0, 0, f"Both {sources} would be {name!r} in the job's folder. Under which names?", [])
