"""A thread keeps the fleet it was begun with; what was approved is not done at a site that is described otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest

REQUEST = "1 task for 1 minute: sh -c 'echo done > out.txt'"
LONG = "1 task for 1 minute: sh -c 'sleep 2; echo done > out.txt'"
CHEAP = {"policy": "min-cost"}


@asynccontextmanager
async def process(hub: Any, file: Path | None) -> AsyncIterator[Any]:
    """Another process, with a sites file of its own; the hub's own app rests meanwhile."""
    from dragoman.settings import read_settings
    from interfaces.app import open_app

    settings = read_settings(data_dir=hub.root / "data", sites_file=file, file_latency_s=1)
    async with open_app(settings) as app:
        mine, hub.app = hub.app, app
        try:
            yield app
        finally:
            hub.app = mine


def edit(hub: Any, change: Callable[[str], str]) -> None:
    file = hub.root / "sites.yaml"
    before = file.read_text()
    file.write_text(change(before))
    assert file.read_text() != before


def without(name: str) -> Callable[[str], str]:
    """The file without a site."""
    return lambda text: "\n  - ".join(part for part in text.split("\n  - ") if f"name: {name}" not in part)


async def lines(hub: Any, thread: str) -> str:
    return "\n".join(each.words for each in await hub.app.checkpoints.ledger.timeline(thread))


@pytest.fixture
def elsewhere(hub: Any) -> Path:
    """Another fleet: a site of the same name in another folder and at another price, and one more."""
    file: Path = hub.root / "elsewhere.yaml"
    text = (hub.root / "sites.yaml").read_text()
    file.write_text(text.replace(f"{hub.root}/local", f"{hub.root}/stranger").replace("name: other", "name: basalt"))
    return file


async def test_another_process_asks_the_sites_of_the_thread(hub: Any, elsewhere: Path) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    async with process(hub, elsewhere):
        asked = await hub.say(thread, "edit 2 minutes")
        assert [each["site"] for each in asked["proposals"]] == ["local", "other", "twin"]
        await hub.say(thread, "approve")
        assert await hub.ended(thread) == "completed"
    assert not (hub.root / "stranger").exists()
    assert list((hub.root / "local").glob("dgm-*"))


async def test_a_thread_of_this_machine_alone_goes_to_no_other(hub: Any, elsewhere: Path) -> None:
    async with process(hub, None):
        thread = await hub.ask(REQUEST)
        assert [each["site"] for each in (await hub.pending(thread))["proposals"]] == ["local"]
    async with process(hub, elsewhere):
        asked = await hub.say(thread, "edit 2 minutes")
        assert [each["site"] for each in asked["proposals"]] == ["local"]
        attempt = (await hub.say(thread, "refuse")) or {}
    assert attempt == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("name: local", "name: local\n    description: renamed in a meeting"),
        lambda text: "# moved to the new wiki\n" + text,
        lambda text: text.replace("name: other", "name: basalt"),
    ],
    ids=["words", "comment", "another site"],
)
async def test_an_edit_that_means_the_same_for_the_site_changes_nothing(hub: Any, change: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    edit(hub, change)
    async with process(hub, hub.root / "sites.yaml"):
        assert (await hub.say(thread, "approve"))["kind"] == "job"
        assert await hub.ended(thread) == "completed"
        assert (await hub.state(thread)).get("round", 0) == 0


@pytest.mark.parametrize("same_process", [True, False])
async def test_a_site_that_became_dearer_is_asked_again_and_so_is_the_person(hub: Any, same_process: bool) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    edit(hub, lambda text: text.replace("currency: none, per_core_hour: 0", "currency: USD, per_core_hour: 9", 1))
    async with nullcontext() if same_process else process(hub, hub.root / "sites.yaml"):
        asked = await hub.say(thread, "approve local")
        assert (asked["kind"], asked["problem"]) == ("approval", "")
        assert (await hub.state(thread))["round"] == 1
        assert "local is described otherwise than when it was approved" in await lines(hub, thread)
        assert await hub.app.checkpoints.ledger.attempts(thread) == []
        assert (await hub.say(thread, "approve local"))["kind"] == "job"
        assert await hub.ended(thread) == "completed"


async def test_a_site_that_left_the_fleet_cannot_be_approved(hub: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    edit(hub, without("local"))
    asked = await hub.say(thread, "approve local")
    assert "not in the sites file any more" in asked["problem"]
    assert (await hub.say(thread, "approve other"))["kind"] == "job"
    assert await hub.ended(thread) == "completed"


@pytest.mark.parametrize(
    "change",
    [
        without("local"),
        lambda text: text.replace("/local", "/moved"),
        lambda text: text.replace("currency: none, per_core_hour: 0", "currency: USD, per_core_hour: 9"),
    ],
    ids=["gone", "another folder", "dearer"],
)
async def test_a_job_is_collected_whatever_became_of_its_site(hub: Any, change: Any) -> None:
    thread = await hub.ask(LONG, **CHEAP)
    assert (await hub.say(thread, "approve"))["kind"] == "job"
    edit(hub, change)
    async with process(hub, hub.root / "sites.yaml"):
        assert await hub.ended(thread) == "completed"
        assert len(await hub.app.checkpoints.ledger.attempts(thread)) == 1
    assert (hub.root / "data" / "results" / thread / "out.txt").read_text() == "done\n"


async def test_a_job_is_collected_without_its_file_by_a_process_with_another(hub: Any, elsewhere: Path) -> None:
    thread = await hub.ask(LONG, **CHEAP)
    await hub.say(thread, "approve")
    (hub.root / "sites.yaml").unlink()
    async with process(hub, elsewhere):
        assert await hub.ended(thread) == "completed"


async def test_a_job_is_cancelled_where_it_is(hub: Any, elsewhere: Path) -> None:
    thread = await hub.ask("1 task for 1 minute: sleep 50", **CHEAP)
    await hub.say(thread, "approve")
    edit(hub, without("local"))
    async with process(hub, elsewhere):
        await hub.app.checkpoints.ledger.request_cancel(thread, "pi")
        assert await hub.ended(thread) == "cancelled"


async def test_a_moved_file_that_means_the_same_does(hub: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    moved = hub.root / "moved.yaml"
    (hub.root / "sites.yaml").rename(moved)
    async with process(hub, moved):
        assert (await hub.say(thread, "approve"))["kind"] == "job"
        assert await hub.ended(thread) == "completed"


async def test_without_its_file_it_waits_for_who_has_it(hub: Any, elsewhere: Path) -> None:
    from dragoman.errors import SiteNotHere

    thread = await hub.ask(REQUEST, **CHEAP)
    text = (hub.root / "sites.yaml").read_text()
    (hub.root / "sites.yaml").unlink()
    async with process(hub, elsewhere):
        with pytest.raises(SiteNotHere, match="--take-sites"):
            await hub.say(thread, "approve")
        assert await hub.app.checkpoints.ledger.attempts(thread) == []
    (hub.root / "sites.yaml").write_text(text)
    assert await hub.ended(thread) == "completed"


async def test_another_fleet_is_taken_when_a_person_says_so(hub: Any, elsewhere: Path) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    async with process(hub, elsewhere):
        asked = await hub.say(thread, {"decision": "approve", "sites_file": str(elsewhere)})
        assert asked["kind"] == "approval", "the site of that name is another there"
        assert {each["site"] for each in asked["proposals"]} == {"local", "basalt", "twin"}
    assert (await hub.state(thread))["options"]["sites_file"] == str(elsewhere)
    await hub.say(thread, "approve local")
    assert await hub.ended(thread) == "completed"
    assert list((hub.root / "stranger").glob("dgm-*"))


async def test_two_places_of_one_name_are_watched_each(hub: Any, elsewhere: Path) -> None:
    first = await hub.ask(LONG, **CHEAP)
    await hub.say(first, "approve local")
    async with process(hub, elsewhere):
        second = await hub.ask(LONG, **CHEAP)
        await hub.say(second, "approve local")
        with anyio.fail_after(40):
            assert {await hub.ended(second), await hub.ended(first)} == {"completed"}
    assert list((hub.root / "stranger").glob("dgm-*"))
    assert list((hub.root / "local").glob("dgm-*"))


def test_refused_with_the_sites_that_differ(tmp_path: Path) -> None:
    from dragoman.site_meaning import differences
    from providers.fleet import parse_fleet

    text = "sites:\n- {name: a, scheduler: slurm, charges: {currency: USD}}\n- {name: b, scheduler: pbs}\n"
    before = parse_fleet(text, "one")
    after = parse_fleet(text.replace("USD", "EUR").replace("name: b", "name: c"), "two")
    assert [*differences(before, after)] == ["b is missing", "c is new", "a differs in charges"]
    assert [*differences(before, parse_fleet(text.replace("slurm", "slurm, description: x"), "three"))] == []
