"""What one process was told, the next does not ask: two runtimes on one database, and two commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from checkpoints.ledger.ledger import PostgresLedger
from checkpoints.ledger.site_facts import SiteFactTables
from checkpoints.pool import LoopPools
from dragoman.command import Command, Completed, Told
from dragoman.kept_fact import FactPlace, KeptFact, SiteFacts
from dragoman.model import now
from dragoman.observation import Observation, Outcome
from dragoman.site import Site
from providers.evidence import Ask
from providers.kept_facts import BestEffort
from providers.site_runtime import open_site
from providers.transports.local import LocalTransport
from providers.verbs import PackageQuery

ASKED = [
    ("hardware/cpu", "describe"), ("hardware/host", "policy"), ("network/ethernet", "interfaces"),
    ("container/podman", "probe"), ("container/podman", "status"), ("software/spack", "probe"),
]  # fmt: skip
SITE = Site(name="here", scheduler="machine")


class Counted(LocalTransport):
    """This host, and every question that reached it."""

    def __init__(self, environment: dict[str, str], *, user: str = "") -> None:
        super().__init__(environment)
        self.asked: list[str] = []
        if user:
            self._identity = f"{user}@host"

    async def run(self, command: Command) -> Completed:
        self.asked.append(" ".join(command.argv))
        return await super().run(command)

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        self.asked += [" ".join(command.argv) for command in commands]
        return await super().run_many(commands, told)

    async def read_file(self, path: str, *, max_bytes: int = 16 * 2**20, tail: bool = False) -> bytes:
        self.asked.append(path)
        return await super().read_file(path, max_bytes=max_bytes, tail=tail)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "podman").write_text('#!/bin/sh\ncase "$*" in *version*) echo podman version 5.2.0;; *) exit 1;; esac\n')
    (folder / "podman").chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path)}


async def ask(
    kept: SiteFacts | None,
    environment: dict[str, str],
    *,
    site: Site = SITE,
    user: str = "",
    later: float = 0,
    fresh: bool = False,
    asked: Sequence[tuple[str, str]] = ASKED,
) -> tuple[list[Observation], list[str]]:
    """As a process of its own would: what it saw, and what it asked the site for."""
    transport = Counted(environment, user=user)

    def clock() -> datetime:
        return now() + timedelta(seconds=later)

    runtime = open_site(site, transport=transport, kept=kept, fresh=fresh, clock=clock)
    there = {f"{each.category.value}/{each.name}": each for each in runtime.providers}
    seen = await runtime.observe_many([Ask(there[name], verb) for name, verb in asked if name in there])
    await runtime.aclose()
    return seen, transport.asked


async def test_the_second_process_asks_nothing_of_the_site(ledger: PostgresLedger, environment: dict[str, str]) -> None:
    first, asked = await ask(ledger, environment, asked=[each for each in ASKED if each[1] != "status"])
    assert asked
    assert all(each.outcome is not Outcome.UNKNOWN for each in first), first
    second, again = await ask(ledger, environment, asked=[each for each in ASKED if each[1] != "status"])
    assert again == []
    assert second == first


async def test_unknown_answers_and_quick_facts_are_asked_again(
    ledger: PostgresLedger, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "bin" / "podman").write_text("#!/bin/sh\nexit 1\n")
    asked = [("container/podman", "probe"), ("workload/machine", "resources"), ("hardware/host", "tenancy")]
    first, _ = await ask(ledger, environment, asked=asked)
    assert (first[0].outcome, first[0].reason != "") == (Outcome.UNKNOWN, True)
    second, again = await ask(ledger, environment, asked=asked)
    assert again
    assert not {each.id for each in first} & {each.id for each in second}


async def test_each_fact_has_its_own_age(ledger: PostgresLedger, environment: dict[str, str]) -> None:
    first, _ = await ask(ledger, environment)
    ids = {each.id for each in first}
    later, _ = await ask(ledger, environment, later=3500)
    kept = {each.provider for each in later if each.id in ids}
    assert kept == {"hardware/cpu", "hardware/host", "network/ethernet", "container/podman", "software/spack"}
    # By the site's clock an hour has gone by: only the processor's description, which stands for a day, is still good.
    much_later, asked = await ask(ledger, environment, later=3700)
    assert {each.provider for each in much_later if each.id in ids} == {"hardware/cpu"}
    assert asked


@pytest.mark.parametrize(
    "change",
    [
        {"site": SITE.model_copy(update={"paths": {"spack": "/opt/spack"}})},
        {"site": SITE.model_copy(update={"providers_off": ("container/docker",)})},
        {"site": Site.model_validate({"name": "here", "scheduler": "machine", "transport": {"connect_timeout_s": 7}})},
        {"site": SITE.model_copy(update={"name": "there"})},
        {"user": "somebody-else"},
        {"fresh": True},
    ],
)
async def test_another_definition_identity_or_wish_is_asked_anew(
    ledger: PostgresLedger, environment: dict[str, str], change: dict[str, Any]
) -> None:
    first, _ = await ask(ledger, environment)
    other, asked = await ask(ledger, environment, **change)
    assert asked
    assert not {each.id for each in first} & {each.id for each in other}
    back, _ = await ask(ledger, environment, asked=ASKED[:1])
    newest = other if "fresh" in change else first
    assert back[0].id == newest[0].id, "what was asked anew is what is kept, for whom it is"


async def test_programs_found_elsewhere_make_other_answers(ledger: PostgresLedger, environment: dict[str, str]) -> None:
    first, _ = await ask(ledger, environment, asked=[("container/podman", "probe")])
    assert first[0].outcome is Outcome.OK
    unloaded = {**environment, "PATH": "/nowhere"}
    second, _ = await ask(ledger, unloaded, asked=[("container/podman", "probe")])
    assert second[0].outcome is not Outcome.OK
    login = {**environment, "SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}
    third, asked = await ask(ledger, login, asked=[("container/podman", "probe")])
    assert (third[0].id, asked) == (first[0].id, []), "another login makes no other answers"


async def test_a_description_is_no_change(ledger: PostgresLedger, environment: dict[str, str]) -> None:
    await ask(ledger, environment, asked=ASKED[:1])
    site = SITE.model_copy(update={"description": "the machine at hand"})
    _, asked = await ask(ledger, environment, asked=ASKED[:1], site=site)
    assert asked == []


async def test_asking_anew_forgets_what_was_not_asked_again_too(
    ledger: PostgresLedger, environment: dict[str, str], tmp_path: Path
) -> None:
    def find() -> Any:
        runtime = open_site(SITE, transport=Counted(environment), kept=ledger)
        return runtime.observe("software/spack", "find_package", PackageQuery(name="gromacs"))

    await ask(ledger, environment)
    first, second = await find(), await find()
    assert (first.outcome, first.id) == (Outcome.ABSENT, second.id), "there is no Spack here"
    await ask(ledger, environment, fresh=True, asked=ASKED[:1])
    assert (await find()).id != first.id


class Broken:
    """A database that never answers, or whose rows another program wrote."""

    def __init__(self, rows: list[KeptFact] | None) -> None:
        self.rows = rows
        self.calls = 0

    async def kept_facts(self, place: FactPlace) -> list[KeptFact]:
        self.calls += 1
        if self.rows is None:
            await anyio.sleep_forever()
        return self.rows or []

    async def keep_facts(self, place: FactPlace, facts: Sequence[KeptFact]) -> None:
        self.calls += 1
        if self.rows is None:
            await anyio.sleep_forever()

    async def forget_facts(self, place: FactPlace) -> None:
        self.calls += 1


async def test_a_database_that_does_not_answer_costs_its_patience_once(environment: dict[str, str]) -> None:
    silent = Broken(None)
    kept = BestEffort(silent, patience_s=0.2)
    with anyio.fail_after(20):
        for _ in range(3):
            seen, _ = await ask(kept, environment, asked=ASKED[:2])
            assert all(each.outcome is Outcome.OK for each in seen)
    assert silent.calls == 1


async def test_a_database_that_is_away_fails_nothing(environment: dict[str, str], tmp_path: Path) -> None:
    pools = LoopPools(f"postgresql://dragoman@/postgres?host={tmp_path}", max_size=1, connect_s=2)
    seen, _ = await ask(BestEffort(SiteFactTables(pools)), environment, asked=ASKED[:2])
    assert all(each.outcome is Outcome.OK for each in seen)
    await pools.aclose()


async def test_a_value_that_is_not_understood_is_asked_for(environment: dict[str, str]) -> None:
    first, _ = await ask(None, environment, asked=ASKED[:1])
    strange = first[0].model_copy(update={"value": {"chips": 3}})
    seen, asked = await ask(Broken([KeptFact("{}", strange)]), environment, asked=ASKED[:1])
    assert asked
    assert seen[0].value == first[0].value


async def test_what_looks_like_a_secret_is_neither_told_nor_kept(
    ledger: PostgresLedger, environment: dict[str, str], tmp_path: Path
) -> None:
    secret = "ghp_" + "a1B2" * 9
    environment["PATH"] = f"{tmp_path / secret}:/usr/bin:/bin"
    (tmp_path / "bin").rename(tmp_path / secret)
    first, _ = await ask(ledger, environment, asked=[("container/podman", "probe"), ("hardware/cpu", "describe")])
    assert secret not in first[0].model_dump_json()
    assert "***" in first[0].model_dump_json()
    second, _ = await ask(ledger, environment, asked=[("container/podman", "probe"), ("hardware/cpu", "describe")])
    assert secret not in second[0].model_dump_json()
    assert second == first


async def test_a_simulated_site_keeps_nothing(ledger: PostgresLedger) -> None:
    site = Site.model_validate(
        {"name": "toy", "scheduler": "slurm", "transport": {"kind": "none"}, "simulated": {"containers": []}}
    )
    runtime = open_site(site, kept=ledger)
    await runtime.presence()
    assert runtime.observer.kept is None


def detect(database: str, folder: Path, environment: dict[str, str], *options: str, table: bool = False) -> Any:
    command = [sys.executable, "-m", "interfaces.cli.main", "detect", "container", "--site", "here"]
    command += ["--sites", str(folder / "sites.yaml"), *options, *([] if table else ["--json"])]
    own = {"DATABASE_URL": database, "DRAGOMAN_DATA_DIR": str(folder / "data"), "DRAGOMAN_SETTINGS": str(folder / "s")}
    done = subprocess.run(  # noqa: TID251  # no event loop here
        command, env=environment | own | {"COLUMNS": "160"}, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    return (
        done.stdout + done.stderr
        if table
        else {each["provider"]: each for each in json.loads(done.stdout)["sites"][0]["providers"]}
    )


async def test_a_second_command_does_not_run_the_programs_again(
    ledger: PostgresLedger, database: str, environment: dict[str, str], tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "bin" / "podman").write_text(f"#!/bin/sh\necho x >>{ran}\necho podman version 5.2.0\n")
    off = "[" + ", ".join(f"container/{name}" for name in ("docker", "podman.status")) + "]"
    (tmp_path / "sites.yaml").write_text(
        f"schema_version: 1\nsites:\n  - name: here\n    scheduler: machine\n    providers_off: {off}\n"
    )
    await ledger.kept_facts(FactPlace("none", "none", ""))  # the tables are there
    first = detect(database, tmp_path, environment)["container/podman"]["facts"]["probe"]
    assert ran.read_text() == "x\n"
    second = detect(database, tmp_path, environment)["container/podman"]["facts"]["probe"]
    assert ran.read_text() == "x\n"
    assert second["observed_at"] == first["observed_at"]
    assert second["age_s"] > first["age_s"]
    await anyio.sleep(max(0.0, 5.1 - second["age_s"]))
    words = detect(database, tmp_path, environment, table=True)
    assert "ago)" in words
    assert "--fresh asks anew" in words
    third = detect(database, tmp_path, environment, "--fresh")["container/podman"]["facts"]["probe"]
    assert ran.read_text() == "x\nx\n"
    assert third["observed_at"] > first["observed_at"]
    away = detect("postgresql://nobody@127.0.0.1:9/none", tmp_path, environment)
    assert away["container/podman"]["present"] == "yes"
    assert not (tmp_path / "data").exists()
