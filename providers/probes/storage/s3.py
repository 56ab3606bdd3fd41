"""S3 endpoints: those that the site file describes, and those that the user's AWS configuration names.

Only section names, regions and endpoint addresses are read at the site: keys and tokens never leave it. Each is sent
one request without credentials (see `reaching`); how much is stored, and how much could be, needs them.
Source: AWS CLI user guide, "Configuration and credential file settings".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.facts import FileSystem, FileSystems, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category
from dragoman.site import Site, SiteFileSystem
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence_from, question
from providers.probes.storage.reaching import endpoint_of, reach, reached
from providers.registry import register_probe
from providers.verbs import FILE_SYSTEMS, NoArguments

__all__ = ["S3", "parse_aws_config"]

MOST_ASKED = 8
"""Endpoints and buckets that are asked."""

_READ = r"""
echo dragoman-s3
for address in "${AWS_ENDPOINT_URL_S3:-}" "${AWS_ENDPOINT_URL:-}"; do
  [ -n "$address" ] && printf '[environment]\nendpoint_url = %s\n' "$address" && break
done
file=${AWS_CONFIG_FILE:-${HOME:-/nonexistent}/.aws/config}
[ -e "$file" ] || { echo dragoman-end; exit 0; }
sed -n -e '/^\[/p' -e '/^[[:space:]]*endpoint_url[[:space:]]*=/p' -e '/^[[:space:]]*region[[:space:]]*=/p' -- "$file" ||
  exit
printf '\ndragoman-end\n'
"""


def parse_aws_config(text: str) -> dict[str, tuple[str, ...]]:
    """Sections that name each endpoint, by its address without user and password; a region alone means AWS itself."""
    endpoints: dict[str, dict[str, None]] = {}
    section = region = ""
    own = False

    def close() -> None:
        if region and not own and re.fullmatch(r"[a-z0-9-]{3,32}", region):
            endpoints.setdefault(f"https://s3.{region}.amazonaws.com", {})[section] = None

    for line in text.splitlines():
        head = re.fullmatch(r"\[([^\]]*)\]", line.strip())
        if head:
            close()
            words = head[1].strip()
            kind, *named = words.split(None, 1) or [""]
            section, region, own = named[0] if named and kind in ("profile", "services") else words, "", False
            continue
        key, _, value = (part.strip() for part in line.partition("="))
        if key == "region":
            region = value
        elif key == "endpoint_url":
            own = True
            address = endpoint_of(value)
            if address is not None:
                endpoints.setdefault(address[0], {})[section] = None
    close()
    return {address: tuple(sections) for address, sections in endpoints.items()}


def _ask(_: NoArguments, paths: Paths) -> Ask:
    return Ask(commands={"config": question("/bin/sh", "-c", _READ, timeout_s=5.0)})


def _verbs(
    described: Sequence[SiteFileSystem] = (),
) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, FileSystems]]:
    mine = [_of_file(each) for each in described if each.kind.lower() == "s3"]

    def named(_: NoArguments, results: Results) -> Answer[FileSystems] | Ask:
        done = results.whole("config")
        # The file's own last line may have no end, so the script tells where all has been read.
        ran = done is not None and done.rc == 0 and done.out.startswith("dragoman-s3\n")
        ran = ran and done is not None and done.out.endswith("\ndragoman-end\n")
        found = parse_aws_config(done.out.partition("\n")[2]) if done is not None and ran else {}
        known = {each.mount for each in mine}
        every = [*mine, *(_of_config(*each) for each in found.items() if each[0] not in known)]
        if every:
            return Answer[FileSystems].ok(FileSystems(file_systems=tuple(every)))
        if done is not None and ran:
            return Answer[FileSystems].absent("neither the site file nor the AWS configuration names an endpoint")
        trouble = no_answer(results, "config")
        return Answer[FileSystems].unknown(trouble.reason if trouble else brief(done or "it was not asked"))

    def parse(arguments: NoArguments, results: Results) -> Answer[FileSystems] | Ask:
        answer = named(arguments, results)
        if isinstance(answer, Ask) or answer.value is None:
            return answer
        places = {each.mount: _place(each, answer.value, results.paths) for each in answer.value.file_systems}
        asked = [place for place in dict.fromkeys(places.values()) if place is not None][:MOST_ASKED]
        if not all(results.asked(_name(place)) for place in asked):
            return Ask(commands={_name(place): reach(*place) for place in asked})
        return Answer[FileSystems].ok(
            FileSystems(
                file_systems=tuple(
                    _seen(each, places[each.mount], asked, results) for each in answer.value.file_systems
                )
            )
        )

    # Presence is what is named: it needs no network.
    named_only: ProbeVerb[NoArguments, FileSystems] = ProbeVerb(FILE_SYSTEMS, _ask, named)
    return presence_from(named_only, _presence), ProbeVerb(FILE_SYSTEMS, _ask, parse)


_Place = tuple[str, str]
"""An endpoint, and a bucket or nothing."""


def _name(place: _Place) -> str:
    return "reach " + "/".join(place)


def _place(told: FileSystem, every: FileSystems, paths: Paths) -> _Place | None:
    """Where it is asked for. A bucket without an address is at `paths.s3`, or at the only endpoint there is."""
    if not told.mount.startswith("s3://"):
        return endpoint_of(told.mount)
    bucket = told.mount.removeprefix("s3://").partition("/")[0]
    ends = [endpoint_of(paths["s3"])] if "s3" in paths else [endpoint_of(each.mount) for each in every.file_systems]
    known = {end[0] for end in ends if end is not None}
    return (known.pop(), bucket) if len(known) == 1 and re.fullmatch(r"[A-Za-z0-9][\w.-]{1,254}", bucket) else None


def _seen(told: FileSystem, place: _Place | None, asked: Sequence[_Place], results: Results) -> FileSystem:
    if place is None:
        reason = "at which endpoint it is, is not known (`paths.s3` of the site file can name it)"
        return told.model_copy(update={"reason": reason})
    if place not in asked:
        return told.model_copy(update={"reason": f"only {MOST_ASKED} endpoints are asked"})
    seen = reached(results, _name(place), bucket=bool(place[1]))
    return told.model_copy(update={"reachable": seen.reachable, "healthy": seen.there, "reason": seen.reason})


def _of_file(told: SiteFileSystem) -> FileSystem:
    end = endpoint_of(told.mount) if "@" in told.mount else None  # a user and password are not shown
    return FileSystem(
        mount="/".join(part for part in end if part) if end is not None else told.mount,
        kind="s3", source="the site file", size_bytes=told.capacity, purge_days=told.purge_days,
        shared=Truth.YES,
    )  # fmt: skip


def _of_config(address: str, sections: tuple[str, ...]) -> FileSystem:
    return FileSystem(mount=address, kind="s3", source=f"AWS configuration: {', '.join(sections)}", shared=Truth.YES)


def _presence(facts: FileSystems) -> Presence:
    return Presence(path=facts.file_systems[0].mount, detail=", ".join(each.mount for each in facts.file_systems))


@register_probe
class S3(Probe):
    """`storage/s3`."""

    category = Category.STORAGE
    name = "s3"
    verbs = _verbs()

    @classmethod
    def for_site(cls, site: Site) -> Probe:
        """The probe with the endpoints of the site file."""
        made: type[S3] = type(cls.__name__, (cls,), {"verbs": _verbs(site.file_systems)})
        return made()
