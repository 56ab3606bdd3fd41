"""S3 endpoints: those that the site file describes, and those that the user's AWS configuration names.

Only section names, regions and endpoint addresses are read at the site: keys and tokens never leave it. Whether an
endpoint answers, and what is in it, is not asked: that would need the keys.
Source: AWS CLI user guide, "Configuration and credential file settings".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from dragoman.facts import FileSystem, FileSystems, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category
from dragoman.site import Site, SiteFileSystem
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence_from, question
from providers.registry import register_probe
from providers.verbs import FILE_SYSTEMS, NoArguments

__all__ = ["S3", "parse_aws_config"]

_READ = r"""
echo dragoman-s3
for address in "${AWS_ENDPOINT_URL_S3:-}" "${AWS_ENDPOINT_URL:-}"; do
  [ -n "$address" ] && printf '[environment]\nendpoint_url = %s\n' "$address" && break
done
file=${AWS_CONFIG_FILE:-${HOME:-/nonexistent}/.aws/config}
[ -e "$file" ] || exit 0
exec sed -n -e '/^\[/p' -e '/^[[:space:]]*endpoint_url[[:space:]]*=/p' -e '/^[[:space:]]*region[[:space:]]*=/p' "$file"
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
        head = re.fullmatch(r"\[\s*(?:profile\s+|services\s+)?([^\]]*?)\s*\]", line.strip())
        if head:
            close()
            section, region, own = head[1], "", False
            continue
        key, _, value = (part.strip() for part in line.partition("="))
        if key == "region":
            region = value
        elif key == "endpoint_url":
            own = True
            address = _address(value)
            if address:
                endpoints.setdefault(address, {})[section] = None
    close()
    return {address: tuple(sections) for address, sections in endpoints.items()}


def _address(value: str) -> str | None:
    """The endpoint without what may be a secret."""
    try:
        parts = urlsplit(value)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.hostname}{port}" if parts.scheme in ("http", "https") and parts.hostname else None


def _ask(_: NoArguments, paths: Paths) -> Ask:
    return Ask(commands={"config": question("/bin/sh", "-c", _READ, timeout_s=5.0)})


def _verbs(
    described: Sequence[SiteFileSystem] = (),
) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, FileSystems]]:
    mine = [_of_file(each) for each in described if each.kind.lower() == "s3"]

    def parse(_: NoArguments, results: Results) -> Answer[FileSystems] | Ask:
        done = results.done("config")
        ran = done is not None and done.out.startswith("dragoman-s3\n") and done.rc == 0
        found = parse_aws_config(done.out.partition("\n")[2]) if done is not None and ran else {}
        known = {each.mount for each in mine}
        every = [*mine, *(_of_config(*each) for each in found.items() if each[0] not in known)]
        if every:
            return Answer[FileSystems].ok(FileSystems(file_systems=tuple(every)))
        if done is not None and ran:
            return Answer[FileSystems].absent("neither the site file nor the AWS configuration names an endpoint")
        trouble = no_answer(results, "config")
        return Answer[FileSystems].unknown(trouble.reason if trouble else brief(done or "it was not asked"))

    verb: ProbeVerb[NoArguments, FileSystems] = ProbeVerb(FILE_SYSTEMS, _ask, parse)
    return presence_from(verb, _presence), verb


def _of_file(told: SiteFileSystem) -> FileSystem:
    return FileSystem(
        mount=told.mount, kind="s3", source="the site file", size_bytes=told.capacity, purge_days=told.purge_days,
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
