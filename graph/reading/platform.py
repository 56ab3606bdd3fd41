"""What a site must have beside the software: fabric, file systems, MPI library, container runtime and image."""

from __future__ import annotations

import re
from itertools import pairwise

from pydantic import ValidationError

from dragoman.request import ContainerNeed, MpiNeed, NetworkNeed, StorageNeed
from dragoman.versions import VersionRange
from graph.reading.draft import Draft
from graph.reading.line import pattern
from graph.reading.memory import bytes_of
from graph.reading.numbers import NUMBER
from graph.reading.past import was_so
from graph.reading.version_words import MUST_BE, RANGE, version_range

__all__ = ["read_platform"]

FABRICS = {
    "infiniband": r"infini[- ]?band|ib(?= (?:network|fabric|interconnect|connectivity|required|needed|please)|$"
    r"|[,;.])|(?:hdr|ndr|edr"
    r"|fdr)(?:[ -]?\d{2,3})?(?: infiniband)?",
    "omni-path": r"omni[- ]?path|opa(?= (?:network|fabric|interconnect))",
    "slingshot": r"slingshot(?:[- ]?1[01])?",
    "roce": r"rocev?2?",
    "ethernet": r"(?:gigabit )?ethernet|(?P<gbe>\d{1,3}) ?(?:gbe|gige|g(?:bit)? ethernet)",
}
STORAGE = {
    "lustre": r"lustre", "gpfs": r"gpfs|(?:ibm )?spectrum[- ]scale|storage scale", "beegfs": r"bee[- ]?gfs|fhgfs",
    "nfs": r"nfs(?:v?[34](?:\.\d)?)?", "cifs": r"cifs|smb", "s3": r"s3(?!:| bucket:? ?s3:)",
    "ceph": r"ceph(?:fs)?", "daos": r"daos",
    "local-scratch": r"local[- ]scratch|node[- ]local (?:scratch|storage|disk)|burst[- ]buffer",
    "weka": r"wekafs|weka\.?io",
    "panfs": r"panfs|panasas", "orangefs": r"orangefs", "glusterfs": r"gluster(?:fs)?", "hdfs": r"hdfs",
    "vast": r"vast(?= (?:storage|file))", "zfs": r"zfs",
}  # fmt: skip
MPI = {
    "openmpi": r"open[- ]?mpi|ompi", "intel-mpi": r"intel[- ]?mpi|impi|intel oneapi mpi|oneapi mpi",
    "cray-mpich": r"cray[- ]mpich", "mvapich": r"mvapich2?(?:-gdr)?", "mpich": r"mpich\d?",
    "spectrum-mpi": r"spectrum[- ]mpi",
}  # fmt: skip
RUNTIMES = (
    r"singularity(?:[- ]?ce|pro)?|apptainer|docker|podman(?:-hpc)?|charliecloud|shifter|enroot|sarus|udocker"
    r"|kubernetes|pyxis"
)
_LEAD = (
    r"(?:(?<=\x00/)|(?<![\w./-]))(?:(?:on|over|with|via|using|an?|the|and|support for|connected by|having|has"
    r"|uses?|needs?|needing|requires?|in|inside|backed by|under|through) ){0,4}"
)
_FABRIC_TAIL = (
    r"(?: (?:network|fabric|interconnect|connectivity|connections?|backend|links?|networking"
    r"|connected))?(?: between (?:the )?nodes)?"
)
_STORAGE_TAIL = (
    r"(?: (?:parallel )?(?:backend|shares?|volumes?|file ?systems?|storage|scratch|mounted|mount"
    r"|available|bucket|support))*"
)
_OR = re.compile(r" ?(?:,|/|,? or|,? and) ?")
FREE_THERE = (
    rf" ?[,(]? ?(?:with |and |having |has )?(?:at least |min(?:imum)?\.?(?: of)? |>= ?|about "
    rf"|~ ?)?(?P<n>{NUMBER})(?: |-)?"
    r"(?P<unit>[kmgtp]i?bs?)(?: of)? (?:free|available|space|quota|storage)(?: space| storage| disk| quota)?"
    r"(?: (?:there|on it|in it))?\)?(?![\w-])"
)
_SCORNED = re.compile(r"(?:over|on|with|via|than) (?:plain |ordinary |simple |slow |normal |mere |just )$")
"""`over plain ethernet`, where another fabric was named."""
_NO_PATH = r"(?![\w:/@.-]\w)"
LOW_LATENCY = (
    r"(?<![\w-])(?:(?:with|and|support|for|needs?|requires?|a|an|the) ){0,3}(?:low|lowest|minimal"
    r"|smallest)(?: possible)?"
    r"(?: |-)(?P<first>mpi )?latency(?: (?P<mpi>mpi)| (?:network(?:ing)?|interconnect|fabric|communication))?"
    r"(?: support)?(?![\w-])"
)
SPEED = (
    r"(?<![\w.])(?:(?:with|at least|min(?:imum)?\.?|>=|a|and) ){0,2}(?P<speed>\d{1,4}) ?(?:gbit/s"
    r"|gb/s(?= ?(?:\x00|infiniband|omni|slingshot|roce|ethernet|hdr|ndr|edr))"
    r"|gb/s (?:network|interconnect|fabric)|gbps|gbit)"
    r"(?: (?:network|interconnect|fabric|connectivity|links?))?(?![\w/])"
    r"|(?<![\w-])(?:network|interconnect|fabric)(?: speed| bandwidth)?(?: of|:| ?=)? ?(?:at least |min\.? |>= ?)?"
    r"(?P<speed2>\d{1,4}) ?g(?:b(?:it)?/s|bit|bps|be)(?: or (?:better|faster|more))?(?![\w/])"
)
IMAGE = (
    r"(?<![\w/.:@-])(?:(?:in|inside|using|with|from|on|the|an?|container|image|runtime|docker(?= (?:image"
    r"|container)\b)|oci) ){0,5}(?:image "
    r"|container )?(?:is |: ?|= ?)?"
    r"[\"'`]?(?P<image>(?:docker|oras|library|shub|oci)://[^\s,;\x00\"'`]+|[^\s,;\x00\"'`]+\.(?:sif|simg|sqsh)(?!\w)"
    r"|(?:[a-z0-9-]+\.)+[a-z]{2,6}(?::\d+)?/[\w./-]+(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?)[\"'`]?(?: image"
    r"| container)?"
)
SIF = r"(?<![\w/])(?:container |image |file |in |the )+[\"'`]?(?P<image>~?/[\w./+-]+\.(?:sif|simg|sqsh))(?!\w)"
_TAG = r"[\"'`]?(?P<image>[a-z0-9][\w./-]*(?::[\w.-]+|/[\w.-]+))[\"'`]?(?!\w)"
TAGGED = r"(?<![\w/])(?:container |docker(?= image) |the |oci ){0,6}(?:image|container)(?: is|:| ?=)? " + _TAG
_BEHIND_RUNTIME = "|".join(f"(?<={name})" for name in ("docker", "podman", "apptainer", "singularity", "sarus"))
BRACKETED = rf"(?:{_BEHIND_RUNTIME}) ?\((?=[\w.-]+/){_TAG}\)?"
"""`in docker (biocontainers/bwa:0.7.17)`."""
CONTAINER = (
    rf"(?<![\w./-])(?:(?:in|inside|using|with|via|under|an?|the|as|from|run|running|needs?|requires?|and|for|it"
    rf"|support|runtime|container) ){{0,5}}(?P<runtimes>(?:{RUNTIMES})(?:(?:,? or |/"
    rf"|, ?)(?:{RUNTIMES}))*)(?![\w/-]|:\S)"
    rf"(?:(?:,? | ?\()(?:(?:of|in|at) )?(?:an? )?{RANGE}\)?)?(?: (?:containers?|images?|runtime|support|installed"
    rf"|available"
    rf"|or similar))*"
)
ROOTLESS = (
    r"(?<![\w-])(?P<not>not? )?(?:(?:in )?rootless(?: mode)?(?! container)|(?:usable |running )?without root(?: rights"
    r"| privileges| access)?|as (?:an )?ordinary user|unprivileged)(?![\w-])"
)
ANY_CONTAINER = (
    r"(?<![\w-])(?:an? )?(?P<rootless>rootless )?container (?:runtime|engine)(?![\w-])|"
    r"(?<![\w-])(?:in|inside|using|with|as|from) (?:an? |the )?(?:container(?:ized)?s?|oci)(?: runtime"
    r"| support)?(?![\w-])"
)


def read_platform(draft: Draft) -> None:
    """Find fabric, storage, MPI and containers."""
    refused: list[tuple[str, str]] = []
    _containers(draft, refused)
    for match in draft.line.find(LOW_LATENCY):
        if draft.negated(*match.span(), wish=True):
            continue
        if match["mpi"] and not draft.line.foreign:
            draft.fields.setdefault("mpi", MpiNeed())
        draft.fields.setdefault("network", {})["low_latency"] = True
        draft.source("networks.0.low_latency", *match.span())
    _mpi(draft, refused)
    fabrics = [*_named(draft, FABRICS, _FABRIC_TAIL)]
    wanted = [name for name, match in fabrics if not _SCORNED.search(draft.line.norm[: match.start("word")][-24:])]
    for name, match in fabrics:
        if wanted and name not in wanted:
            draft.default(f"{draft.words(*match.span())!r} is not what is wanted")
            draft.line.claim(*match.span())
            continue
        if _refuse_beside(draft, match, "networks", refused) or draft.negated(*match.span(), wish=True):
            continue
        network = draft.fields.setdefault("network", {})
        network.setdefault("fabrics", []).append(name)
        if match.groupdict().get("gbe"):
            network["min_gbit_s"] = float(match["gbe"])
        draft.source("networks.0.fabrics", *match.span())
    for match in draft.line.find(SPEED):
        if (speed := float(match["speed"] or match["speed2"])) > 0:
            draft.fields.setdefault("network", {})["min_gbit_s"] = speed
            draft.source("networks.0.min_gbit_s", *match.span())
    before = -1
    for name, match in _named(draft, STORAGE, _STORAGE_TAIL, _NO_PATH):
        if _refuse_beside(draft, match, "storage", refused) or draft.negated(*match.span(), wish=True):
            continue
        known = draft.fields.get("storage")
        if (
            known
            and known[-1].kinds
            and 0 <= before <= match.start()
            and _OR.fullmatch(draft.line.norm, before, match.start())
        ):
            known[-1] = known[-1].model_copy(update={"kinds": (*known[-1].kinds, name)})
            draft.source(f"storage.{len(known) - 1}.kinds", before, match.end())
        else:
            draft.add("storage", StorageNeed(kinds=(name,)), *match.span())
        _space_before(draft, match)
        before = _mounted(draft, match.end())
        _free_space(draft, before)
    network = draft.fields.pop("network", None)
    if network:
        draft.fields["networks"] = [
            NetworkNeed(**{**network, "fabrics": tuple(dict.fromkeys(network.get("fabrics", ())))})
        ]
    _say_what_is_refused(draft, refused)


def _named(draft: Draft, table: dict[str, str], tail: str, after: str = "") -> list[tuple[str, re.Match[str]]]:
    """Every name of a table where it stands, in the order of the text; `or` between two of them is read with them."""
    found = sorted(
        (
            (match.start(), name, match)
            for name, words in table.items()
            for match in draft.line.find(rf"{_LEAD}(?P<word>{words}){after}{tail}(?![\w-])")
        ),
        key=_place,
    )
    found = [
        one
        for place, one in enumerate(found)
        if not any(one[2].end("word") <= other[2].end() for other in found[:place])
    ]
    for (_, _, first), (_, _, second) in pairwise(found):
        if first.end() <= second.start() and _OR.fullmatch(draft.line.norm, first.end(), second.start()):
            draft.line.claim(first.end(), second.start())
    return [
        (name, match)
        for _, name, match in found
        if name != "local-scratch"
        or not _SPACE_BEFORE.search(draft.line.norm[max(0, match.start("word") - 48) : match.start("word")])
    ]


_REFUSED = re.compile(
    r"(?:,? ?\(?(?:but |and )?(?:definitely |certainly |please )?(?<![\w-])(?:not|no|never|rather than"
    r"|instead of) )$"
)


def _refuse_beside(draft: Draft, match: re.Match[str], field: str, refused: list[tuple[str, str]]) -> bool:
    """Whether one of a kind is refused (`InfiniBand, not Ethernet`); said when it is known what is wanted."""
    if field in ("networks", "storage") and was_so(draft.line.norm, *match.span()):
        refused.append((field, draft.words(*match.span())))  # `the run over plain Ethernet crawled`
        draft.line.claim(*match.span())
        return True
    said = _REFUSED.search(draft.line.open[max(0, match.start() - 32) : match.start()])
    if said is None and not match[0].startswith(("no ", "not ")):
        return False
    start = match.start() - (len(said[0]) if said else 0)
    refused.append((field, draft.words(start, match.end()).strip(" ,(")))
    draft.line.claim(start, match.end())
    return True


def _say_what_is_refused(draft: Draft, refused: list[tuple[str, str]]) -> None:
    """Where another of its kind is asked for, a refusal only rounds it off; else it is told back."""
    for field, words in refused:
        if any(_names_one(need) for need in draft.fields.get(field, ()) if field != "mpi") or (
            field == "mpi" and _names_one(draft.fields.get("mpi"))
        ):
            draft.default(f"{words!r}: what is asked for is another")
        else:
            draft.unread.append(words)


def _names_one(need: object) -> bool:
    """Whether a need names one of its kind, so that a refusal of another adds nothing."""
    return any(getattr(need, field, ()) for field in ("runtimes", "implementations", "fabrics", "kinds"))


def _place(found: tuple[int, str, re.Match[str]]) -> int:
    return found[0]


MOUNTED = (
    r",? (?:which |that )?(?:(?:must|should|shall|is|has|needs?|to|be|also|both) )*(?:mounted |available |present "
    r"|visible )?(?:at|on|under|as"
    r"|in) (?P<path>/[\w./-]*\w)(?![\w/*])"
    r"|,? with (?P<path2>/[\w./-]*\w) mounted(?![\w-])"
)


def _mounted(draft: Draft, end: int) -> int:
    """`BeeGFS mounted at /work`: where the file system that was just named is expected; the end of its words."""
    match = pattern(MOUNTED).match(draft.line.open, end)
    if match is None or re.search(r"\.[a-z]\w{0,5}$", match["path"] or match["path2"]):
        return end  # a file of it is spoken of
    known = draft.fields["storage"]
    known[-1] = known[-1].model_copy(
        update={"mount": draft.line.words(*match.span("path" if match["path"] else "path2"))}
    )
    draft.source(f"storage.{len(known) - 1}.mount", *match.span())
    return match.end()


_SPACE_BEFORE = re.compile(
    rf"(?<![\w.])(?:at least |min(?:imum)?\.?(?: of)? |>= ?|about |needs? |needing |with |~ ?)?(?P<n>{NUMBER})(?: |-)?"
    r"(?P<unit>[kmgtp]i?bs?)(?: of)?(?: free| available)?(?: space| storage| disk| quota)?(?: (?:of|on|in|at"
    r"|under))?(?: an?"
    r"| the)? ?$"
)


def _space_before(draft: Draft, match: re.Match[str]) -> None:
    """`2 TB on lustre`: space on the file system that is named behind it, not main memory."""
    first = max(0, match.start() - 48)
    found = _SPACE_BEFORE.search(draft.line.open[first : match.start()])
    sizes = bytes_of(found["n"], found["unit"]) if found else ()
    known = draft.fields.get("storage")
    link = (found[0][found.end("unit") - found.start() :] if found else "") + match[0][
        : match.start("word") - match.start()
    ]
    tied = not link.strip() or re.search(r"\b(?:of|on|in|at|under|free|space|storage|disk|quota)\b", link) is not None
    if found and tied and " and " not in f" {link}" and len(sizes) == 1 and known and known[-1].free_bytes is None:
        known[-1] = known[-1].model_copy(update={"free_bytes": sizes[0]})
        draft.source(f"storage.{len(known) - 1}.free_bytes", first + found.start(), match.start())


def _free_space(draft: Draft, end: int) -> None:
    """`Lustre with 3 TB free`: space on the file system that was just named."""
    match = pattern(FREE_THERE).match(draft.line.open, end)
    sizes = bytes_of(match["n"], match["unit"]) if match else ()
    if match and len(sizes) == 1:
        known = draft.fields["storage"]
        known[-1] = known[-1].model_copy(update={"free_bytes": sizes[0]})
        draft.source(f"storage.{len(known) - 1}.free_bytes", match.start(), match.end())
        _mounted(draft, match.end())


def _mpi(draft: Draft, refused: list[tuple[str, str]]) -> None:
    for name, match in _named(
        draft, MPI, rf"(?:(?:,? |/|@| ?(?=[<>=])|{MUST_BE}){RANGE})?(?: (?:library|installed|available|support))?"
    ):
        if re.search(r"\b(?:run|running|execute|launch) (?:an? )?$", draft.line.norm[: match.start("word")]):
            continue
        if _refuse_beside(draft, match, "mpi", refused) or draft.negated(*match.span(), wish=True):
            continue
        found: VersionRange | None = version_range(match)
        old: MpiNeed = draft.fields.get("mpi") or MpiNeed()
        names = tuple(dict.fromkeys((*old.implementations, name)))
        draft.fields["mpi"] = MpiNeed(implementations=names, version=found or old.version)
        draft.source("mpi", *match.span())


def _containers(draft: Draft, refused: list[tuple[str, str]]) -> None:
    image: str | None = None
    for rule in (IMAGE, SIF, TAGGED, BRACKETED):
        for match in draft.line.find(rule):
            if image is None:
                image = draft.line.words(*match.span("image")).rstrip(".,;:!?)")
                draft.source("containers.0.image", *match.span())
    runtimes: list[str] = []
    rootless: bool | None = None
    for match in draft.line.find(ROOTLESS):
        rootless = match["not"] is None
        draft.source("containers.0.rootless", *match.span())
    found: VersionRange | None = None
    for match in draft.line.find(CONTAINER):
        if _refuse_beside(draft, match, "containers", refused) or draft.negated(*match.span(), wish=True):
            continue
        for name in re.findall(RUNTIMES, match["runtimes"]):
            name = re.sub(r"^singularity.*", "singularity", name)
            runtimes += [name] if name not in runtimes else []
        found = version_range(match) or found
        draft.source("containers.0.runtimes", *match.span())
    plain = False
    for match in draft.line.find(ANY_CONTAINER):
        if draft.negated(*match.span(), wish=True):
            continue
        plain = True
        rootless = True if match["rootless"] else rootless
        draft.source("containers.0", *match.span())
    called = draft.fields.get("containers")
    if called:
        runtimes = [name for need in called for name in need.runtimes] or runtimes
    if runtimes or image or plain:
        try:
            draft.fields["containers"] = [
                ContainerNeed(runtimes=tuple(runtimes), version=found, image=image, rootless=rootless)
            ]
        except ValidationError:
            draft.unread.append(image or "")
