"""Sites files: YAML or JSON read with line numbers, so that every error names its line, its field and the cure."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dragoman.errors import BadRequest, SiteFileError
from dragoman.model import JsonObject
from dragoman.site import Charges, Fleet, Site
from providers.misspelt import Misspelt, described_twice, misspelt_path, near
from providers.registry import dialects
from providers.schedulers.machine_limits import limits_told
from providers.schedulers.work_root import WORK_ROOT, is_plain
from providers.simulated.names import misspelt_name
from providers.simulated.state import SimulatedState
from providers.site_source import SiteSource

__all__ = ["default_fleet", "fleet_schema", "load_fleet", "parse_fleet"]

MAX_FILE_BYTES = 8 * 2**20


def load_fleet(path: str | Path, *, schedulers: Sequence[str] | None = None) -> Fleet:
    """Read and check a sites file. Blocks: on the event loop it is called in a thread.

    Args:
        path: YAML, or JSON by its suffix.
        schedulers: registered names; None: those of the registry.

    Raises:
        SiteFileError: with `file:line: field` and the cure.

    """
    file = Path(path)
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a device may never end, and a pipe never begin
            raise SiteFileError("is not a regular file", where=str(path), cure="name a sites file that is one")
        with file.open("rb") as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise SiteFileError(f"is larger than {MAX_FILE_BYTES} bytes", where=str(path), cure="split the fleet")
        text = data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SiteFileError(
            "there is no such file", where=str(path), cure="name a sites file, or leave --sites out"
        ) from error
    except (OSError, ValueError) as error:  # a path with a NUL; text that is not UTF-8
        raise SiteFileError(
            f"cannot be read: {error}", where=str(path), cure="name a readable UTF-8 file, or mend this one"
        ) from error
    return parse_fleet(text, str(path), schedulers=schedulers)


def parse_fleet(text: str, name: str, *, schedulers: Sequence[str] | None = None) -> Fleet:
    """The fleet that a sites file's text describes; `name` is the file's, for messages. Errors as `load_fleet`."""
    source = SiteSource(name, text)
    if isinstance(source.data, dict) and "schema_version" not in source.data:
        source.data["schema_version"] = 1
    try:
        fleet = Fleet.model_validate(source.data)
    except ValidationError as error:
        raise source.error_of(error) from error
    fleet = fleet.model_copy(update={"sites": tuple(_with_folder(site, name) for site in fleet.sites)})
    known = tuple(schedulers) if schedulers is not None else dialects.names()
    seen: dict[str, int] = {}
    for index, site in enumerate(fleet.sites):
        _check_site(source, index, site, seen, known)
    return fleet


def _with_folder(site: Site, name: str) -> Site:
    """The site with its folder of recipes as an absolute path: a relative one lies beside the sites file."""
    if site.recipes is None:
        return site
    folder = (Path(name).parent / Path(site.recipes).expanduser()).absolute()
    return site.model_copy(update={"recipes": str(folder)})


def _check_site(source: SiteSource, index: int, site: Site, seen: dict[str, int], known: tuple[str, ...]) -> None:
    folded = site.name.lower()
    if folded in seen:
        first = source.line(("sites", seen[folded], "name"))
        raise source.error(
            ("sites", index, "name"), f"site {site.name!r} is already described in line {first}", "rename one of them"
        )
    seen[folded] = index
    if (again := _described_twice(site)) is not None:
        raise source.error(("sites", index, *again.loc), again.what, again.cure)
    if site.simulated is not None:
        try:
            state = SimulatedState.model_validate(site.simulated)
        except ValidationError as error:
            raise source.error_of(error, ("sites", index, "simulated")) from error
        if (name := misspelt_name(state, site.scheduler)) is not None:
            raise source.error(("sites", index, *name.loc), name.what, name.cure)
    elif site.scheduler not in known:
        what, cure = f"there is no scheduler {site.scheduler!r}", near(site.scheduler, known)
        raise source.error(("sites", index, "scheduler"), what, cure)
    try:
        limits_told(site.machine)
    except BadRequest as error:
        raise source.error(("sites", index, "machine", error.where), error.what, error.cure) from error
    if (key := misspelt_path(site)) is not None:
        raise source.error(("sites", index, *key.loc), key.what, key.cure)
    if site.simulated is None and site.transport.kind in ("openssh", "asyncssh") and not site.transport.host:
        raise source.error(("sites", index, "transport"), f"{site.transport.kind} needs a host", "add host: NAME")
    if site.transport.host and site.transport.host.startswith("-"):
        raise source.error(("sites", index, "transport", "host"), "begins with a dash", "name a host or ssh alias")
    if site.work_root is not None and WORK_ROOT.fullmatch(site.work_root) is None:
        cure = "begin it with / or a variable of the site's, such as $SCRATCH/dragoman"
        raise source.error(("sites", index, "work_root"), "is not an absolute path", cure)
    if site.work_root is not None and site.scheduler == "machine" and not is_plain(site.work_root):
        raise source.error(("sites", index, "work_root"), "a machine's queue wants a plain path", "write it out")


def _described_twice(site: Site) -> Misspelt | None:
    parts = (
        ("accounts", "name", [each.name for each in site.accounts]),
        ("queues", "name", [each.name for each in site.queues]),
        ("file_systems", "mount", [each.mount for each in site.file_systems]),
    )
    found = (described_twice((part,), field, names) for part, field, names in parts)
    return next((each for each in found if each is not None), None)


def fleet_schema() -> JsonObject:
    """JSON Schema of sites files, with that of simulated states, for editors."""
    schema: dict[str, Any] = Fleet.model_json_schema()
    state = SimulatedState.model_json_schema()
    definitions = schema.setdefault("$defs", {})
    for key, value in state.pop("$defs", {}).items():
        definitions.setdefault(key, value)
    definitions["SimulatedState"] = state
    definitions["Site"]["properties"]["simulated"] = {"anyOf": [{"$ref": "#/$defs/SimulatedState"}, {"type": "null"}]}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema


def default_fleet() -> Fleet:
    """The fleet of this machine alone, as site `local`, at no cost."""
    charges = Charges(currency="none", per_core_hour=0.0, per_gpu_hour=0.0)
    return Fleet(
        sites=(
            Site(
                name="local", description="this machine", scheduler="machine", charges=charges, min_poll_interval_s=0.2
            ),
        )
    )
