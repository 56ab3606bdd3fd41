"""Two fleets may have a site of one name that is not one place: each job is asked about at its own."""

from __future__ import annotations

from typing import Any

from continuation.places import Places
from dragoman.errors import SiteNotHere
from dragoman.event import Wait
from dragoman.model import JsonObject
from dragoman.site import Fleet, Site
from dragoman.site_meaning import FleetOrigin, fleet_digest, origin_of, same_place, site_digest

GRANITE: JsonObject = {"name": "granite", "scheduler": "slurm"}


def wait(thread: str, file: str | None = None, described: JsonObject | None = None) -> Wait:
    subject: JsonObject = {"tag": thread}
    if file is not None:
        subject["fleet"] = {"file": file}
    if described is not None:
        subject["described"] = described
    return Wait(
        id=f"w-{thread}", thread_id=thread, step="monitor", sequence=0, kind="job", site="granite", subject=subject
    )


def places() -> tuple[Places, dict[str, Any]]:
    opened: dict[str, Any] = {}

    def open_site(name: str, origin: FleetOrigin | None, described: JsonObject | None) -> Any:
        file = origin.file if origin is not None else None
        if file == "/lost.yaml" and described is None:
            raise SiteNotHere("it cannot be read", where=file, cure="put it back")
        return opened.setdefault(f"{name} of {file}", f"{name} of {file}")

    return Places(None, open_site), opened  # type: ignore[arg-type]  # no ledger is asked


def test_each_at_the_place_of_its_fleet() -> None:
    waits = [wait("t1", "/a.yaml", GRANITE), wait("t2", "/b.yaml"), wait("t3", "/a.yaml", GRANITE), wait("t4")]
    found, trouble = places()[0].sorted(waits, lambda each: each, "usual")  # type: ignore[arg-type]  # a word for a runtime
    told = {str(place): [each.thread_id for each in those] for place, those in found}
    assert told == {"granite of /a.yaml": ["t1", "t3"], "granite of /b.yaml": ["t2"], "usual": ["t4"]}
    assert trouble == ""


def test_one_whose_file_is_away_holds_up_no_other() -> None:
    waits = [wait("t1", "/lost.yaml"), wait("t2", "/b.yaml"), wait("t3", "/lost.yaml", GRANITE)]
    found, trouble = places()[0].sorted(waits, lambda each: each, "usual")  # type: ignore[arg-type]  # a word for a runtime
    assert [each.thread_id for _, those in found for each in those] == ["t2", "t3"]
    assert "it cannot be read" in trouble


def test_what_means_the_same() -> None:
    site = Site.model_validate(GRANITE)

    def changed(**fields: Any) -> Site:
        return Site.model_validate(GRANITE | fields)

    for same in ({"description": "x"}, {"min_poll_interval_s": 9}, {"transport": {"command_timeout_s": 9}}):
        assert site_digest(changed(**same)) == site_digest(site)
    for other in (
        {"work_root": "/x"},
        {"charges": {"per_node_hour": 1}},
        {"transport": {"host": "h"}},
        {"setup": ["x"]},
    ):
        assert site_digest(changed(**other)) != site_digest(site)
    assert same_place(site, changed(transport={"kind": "openssh", "host": "h"}))
    assert not same_place(site, changed(work_root="/x"))
    assert not same_place(site, changed(scheduler="pbs"))
    basalt = changed(name="basalt")
    assert fleet_digest(Fleet(sites=(site, basalt))) == fleet_digest(Fleet(sites=(basalt, site)))


def test_what_a_thread_records() -> None:
    assert origin_of({}) is None
    assert origin_of(None) is None
    assert origin_of({"sites_file": "/a.yaml"}) == FleetOrigin(file="/a.yaml")
    assert origin_of({"sites_file": None, "sites_digest": "d"}) == FleetOrigin(digest="d")
