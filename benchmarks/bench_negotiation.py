"""Negotiation: how right the verdicts are, and what they cost.

    python -m benchmarks.bench_negotiation [--set FOLDER] [--conventions FILE] [--sites 200] [--many 2000] [--only PART]

Parts: `set` (all pairs of a negotiation set, evidence stored in PostgreSQL), `own` (sites and requests of our own
against an independent oracle), `graph` (one negotiation through the graph with PostgreSQL checkpoints), `many` (peak
memory of a large fleet).
Baselines stand beside: the strict reading, the set's published auditor, and the same asking one site after the other.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio

from benchmarks.negotiation_set import Pair, Prompt, read_pairs, read_prompts, read_sites
from benchmarks.own_set import Oracle, own_requests, own_sites
from benchmarks.scores import Scores
from checkpoints.open import Checkpoints, open_checkpoints
from dragoman.ledger import SiteAnswer
from dragoman.settings import Settings, read_settings
from dragoman.site import Fleet, Site
from dragoman.thread import ThreadRow
from graph.asking import Asking, ask_sites
from graph.reading.read import read_request
from graph.secretary import ask_secretary
from graph.state import Options
from graph.verdict.conventions import STRICT, Conventions, read_conventions
from interfaces.app import open_app
from interfaces.requests import take_request
from providers.site_runtime import SiteRuntime, open_site
from simulation.archetypes import archetype_fleet

HERE = Path(__file__).parent
Answers = dict[tuple[str, str], str]
SIDE_BY_SIDE = 2
"""Requests under way at once: while one waits for the database, the other is computed."""


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def settings(place: Path) -> Settings:
    return read_settings(data_dir=place / "data", database_url=None, sites_file=None, model=None)


def seconds_used() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def table_bytes(checkpoints: Checkpoints, *tables: str) -> int:
    pool = await checkpoints.pools.get()
    async with pool.connection() as connection:
        query = "SELECT sum(pg_total_relation_size(name)) AS bytes FROM unnest(%(tables)s::text[]) AS name"
        row = await (await connection.execute(query, {"tables": list(tables)})).fetchone()
    return int((row or {}).get("bytes") or 0)


async def ask_all(
    runtimes: dict[str, SiteRuntime],
    fleet: Fleet,
    prompts: Sequence[Prompt],
    customs: Conventions,
    checkpoints: Checkpoints | None,
) -> Answers:
    """Every request at every site, two requests side by side; a request that is asked back gets no verdict."""
    verdicts: Answers = {}
    waiting = iter(prompts)

    async def work() -> None:
        for prompt in waiting:
            verdicts.update(await ask_one(runtimes, fleet, prompt, customs, checkpoints))

    async with anyio.create_task_group() as workers:
        for _ in range(SIDE_BY_SIDE):
            workers.start_soon(work)
    return verdicts


async def ask_one(
    runtimes: dict[str, SiteRuntime],
    fleet: Fleet,
    prompt: Prompt,
    customs: Conventions,
    checkpoints: Checkpoints | None,
) -> Answers:
    """One request at every site."""
    reading = read_request(prompt.text, now=datetime.now(UTC))
    if not reading.complete:
        return {(site.name, prompt.id): "NEEDS_INFORMATION" for site in fleet.sites}
    verdicts: Answers = {}
    thread = f"bench-{customs.name}-{prompt.id}"
    if checkpoints is not None:
        await checkpoints.ledger.create_thread(ThreadRow(thread_id=thread))

    async def ask(site: Site) -> SiteAnswer:
        runtime = runtimes[site.name]
        return SiteAnswer(*await ask_secretary(runtime, reading.request, round_=0, timeout_s=60, conventions=customs))

    async def keep(answers: Sequence[SiteAnswer]) -> None:
        if checkpoints is not None:
            await checkpoints.ledger.save_answers(thread, "negotiator", answers)
        verdicts.update({(each.proposal.site, prompt.id): each.proposal.verdict.value for each in answers})

    await ask_sites(fleet.sites, ask, keep, lambda _: False, Asking())
    return verdicts


def print_scores(name: str, verdicts: Answers, prompts: Sequence[Prompt], pairs: Sequence[Pair]) -> Scores:
    of = {prompt.id: prompt.specificity for prompt in prompts}
    pooled, parts = Scores(), {level: Scores() for level in sorted(set(of.values()))}
    for pair in pairs:
        verdict = verdicts[pair.site, pair.prompt]
        for scores in (pooled, parts[of[pair.prompt]]):
            scores.add(verdict, pair.satisfiable, pair.state)
    print(f"\n{name}\n{Scores.head()}\n{pooled.line('pooled')}")
    for level, scores in parts.items():
        print(scores.line(f"specificity {level}"))
    return pooled


async def bench_set(place: Path, source: Path, customs: Conventions) -> None:
    prompts, pairs = read_prompts(source), read_pairs(source)
    begun, used = time.perf_counter(), seconds_used()
    fleet = read_sites(source)
    runtimes = {site.name: open_site(site) for site in fleet.sites}
    checkpoints = open_checkpoints(settings(place))
    await checkpoints.ready()
    print(f"{len(fleet.sites)} sites, {len(prompts)} requests; loaded in {time.perf_counter() - begun:.1f} s")
    begun, used = time.perf_counter(), seconds_used()
    verdicts = await ask_all(runtimes, fleet, prompts, customs, checkpoints)
    wall, used = time.perf_counter() - begun, seconds_used() - used
    tables = [f"dragoman_ledger.{name}" for name in ("observations", "proposals")]
    stored = await table_bytes(checkpoints, *tables)
    await checkpoints.aclose()
    print(
        f"\n{len(pairs)} negotiations with evidence stored: {wall:.1f} s wall, {used:.1f} s of this process's CPU "
        f"({1000 * used / len(pairs):.2f} ms each), {stored / 2**20:.0f} MiB in the ledger"
    )
    print_scores(f"conventions {customs.name!r}", verdicts, prompts, pairs)
    strict = await ask_all(runtimes, fleet, prompts, STRICT, None)
    print_scores("strict", strict, prompts, pairs)
    auditor = {(pair.site, pair.prompt): "READY" if pair.auditor else "INCOMPATIBLE" for pair in pairs}
    print_scores("the set's published auditor, with its known faults", auditor, prompts, pairs)
    never = {(pair.site, pair.prompt): "INCOMPATIBLE" for pair in pairs}
    print_scores("always saying no", never, prompts, pairs)


async def bench_own() -> None:
    fleet = own_sites()
    wishes = own_requests(fleet)
    runtimes = {site.name: open_site(site) for site in fleet.sites}
    prompts = [Prompt(str(number), wish.text, 1) for number, wish in enumerate(wishes)]
    pairs = []
    for site in fleet.sites:
        oracle = Oracle(dict(site.simulated or {}), site.charges.per_node_hour)
        for number, wish in enumerate(wishes):
            state = oracle.state_of(wish)
            pairs.append(Pair(site.name, str(number), state != "INCOMPATIBLE", state, auditor=False))
    verdicts = await ask_all(runtimes, fleet, prompts, STRICT, None)
    asked = {prompt for (_, prompt), verdict in verdicts.items() if verdict == "NEEDS_INFORMATION"}
    pooled = print_scores("our own set, strict", verdicts, prompts, pairs)
    print(f"{len(asked)} of {len(wishes)} requests were asked back; {pooled.false_ready} false READY")


REQUEST = "2 nodes for 1 hour with python >= 3.9 and an openmpi library: python3 work.py"
CHECKPOINTS = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
EVIDENCE = tuple(f"dragoman_ledger.{name}" for name in ("observations", "proposals", "timeline", "decisions"))


async def negotiate(place: Path, fleet: Fleet, options: Options, rounds: int = 3) -> tuple[float, int, int, int]:
    """Best seconds of one negotiation through the graph, and bytes of checkpoints and ledger that one adds."""
    best = 1e9
    async with open_app(settings(place), fleet=fleet) as app:
        await app.checkpoints.ready()
        for _ in range(rounds):
            before = [await table_bytes(app.checkpoints, *names) for names in (CHECKPOINTS, EVIDENCE)]
            row, _ = await take_request(app, REQUEST, options)
            begun = time.perf_counter()
            await app.service.resumer.resume(row.thread_id)
            best = min(best, time.perf_counter() - begun)
            after = [await table_bytes(app.checkpoints, *names) for names in (CHECKPOINTS, EVIDENCE)]
        count = len(await app.checkpoints.ledger.proposals(row.thread_id, 0))
    return best, after[0] - before[0], after[1] - before[1], count


async def bench_graph(place: Path, count: int) -> None:
    fleet = archetype_fleet(count, 3)
    rows = [("at once", fleet, Options(dispatch=False))]
    rows.append(("in batches of 20", fleet, Options(dispatch=False, asking="batched", batch=20)))
    rows.append(("one by one", fleet, Options(dispatch=False, asking="serial")))
    ill = []
    for number, site in enumerate(fleet.sites):
        slow = {20: 30.0, 21: 30.0}.get(number % 40, 0.0)
        ill.append(
            site.model_copy(update={"simulated": {**(site.simulated or {}), "answer_s": slow}}) if slow else site
        )
    late = Options(dispatch=False, site_timeout_s=1.5)
    rows.append(("one site in 20 silent, 1.5 s each", Fleet(sites=tuple(ill)), late))
    print(f"\none negotiation with {count} simulated sites, PostgreSQL checkpoints and ledger (best of 3)")
    print(f"{'':<36} {'seconds':>8} {'proposals':>9} {'checkpoint bytes':>16} {'ledger bytes':>12}")
    for name, sites, options in rows:
        seconds, saved, evidence, proposals = await negotiate(place, sites, options)
        print(f"{name:<36} {seconds:>8.2f} {proposals:>9} {saved:>16} {evidence:>12}")


async def bench_many(place: Path, count: int) -> None:
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fleet = archetype_fleet(count, 3)
    loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, _, _, proposals = await negotiate(place, fleet, Options(dispatch=False), rounds=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"\n{count} simulated sites: {proposals} proposals in {seconds:.1f} s, peak memory {peak / 1024:.0f} MiB "
        f"({begun / 1024:.0f} MiB before, {loaded / 1024:.0f} MiB with the sites loaded)"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", type=Path)
    parser.add_argument("--conventions", type=Path, default=HERE / "conventions.yaml")
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--many", type=int, default=2000)
    parser.add_argument("--only", choices=("set", "own", "graph", "many"))
    given = parser.parse_args()
    parts = [given.only] if given.only else ["own", "graph", *(["set"] if given.set else [])]
    with folder() as place:
        try:
            if "set" in parts and given.set:
                customs = read_conventions(given.conventions.read_text(), where=str(given.conventions))
                anyio.run(bench_set, place, given.set, customs)
            if "own" in parts:
                anyio.run(bench_own)
            if "graph" in parts:
                anyio.run(bench_graph, place, given.sites)
            if "many" in parts:
                anyio.run(bench_many, place, given.many)
        finally:
            command = [sys.executable, "-m", "interfaces.cli.main", "db", "stop"]
            environment = {**os.environ, "DRAGOMAN_DATA_DIR": str(place / "data")}  # noqa: TID251
            subprocess.run(command, env=environment, check=False, capture_output=True)  # noqa: TID251
    if not given.only and given.many:
        # Peak memory is of a whole process: that of the other parts must not be counted.
        alone = ["-m", "benchmarks.bench_negotiation", "--only", "many", "--many", str(given.many)]
        subprocess.run([sys.executable, *alone], check=False)  # noqa: TID251


if __name__ == "__main__":
    main()
