"""What a site has: time to detect it, here and over ssh, and time and memory of simulated sites.

    python -m venv /tmp/peer && /tmp/peer/bin/pip install resource-secretary pyyaml jinja2
    python benchmarks/bench_detect.py --peer-python /tmp/peer/bin/python [--loopback] [--ssh HOST_FROM_SSH_CONFIG]

- `same facts`: every provider's presence, and what the peer's metadata tells (processors, memory, Ethernet, MPI, the
  workload manager); `everything`: every question without arguments of every provider, which also asks runtimes whether
  they work for this user now. The peer: `discover_providers()`, then `metadata()` of each that it found.
- Rounds alternate between us and the peer; each is a new process; the median counts. Imports are told apart.
- Both lists of facts are printed; a fact of the peer that we do not have makes the exit code 1.
- Over ssh: `everything` again, over a connection that is open as it is in a service, with the user's OpenSSH and with
  the library; `--loopback` starts a private sshd. Add the line's round-trip time twice: of the round trips that
  are counted no more than two wait for each other.
- Without the peer, or without ssh, its lines are left out and that is said. The load of the machine is printed: compare
  figures of one run with each other.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.bench_transports import start_sshd

ROOT = Path(__file__).parents[1]

PEER = r"""
import json, resource, time
def cpu():
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, -1)))
begun = time.perf_counter()
import resource_secretary.providers as peer
imported, spent = time.perf_counter(), cpu()
found = peer.discover_providers()
present = time.perf_counter()
facts = {}
for category, providers in found.items():
    for one in providers:
        told = one.metadata
        facts[f"{category}/{one.name}"] = told() if callable(told) else told
ended = time.perf_counter()
print(json.dumps({"import": imported - begun, "presence": present - imported, "all": ended - imported,
                  "cpu": cpu() - spent,
                  "facts": {name: sorted(told) if isinstance(told, dict) else [] for name, told in facts.items()}}))
"""

OURS = r"""
import json, resource, sys, time
begun = time.perf_counter()
def cpu():
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, -1)))
import anyio
from dragoman.observation import Category, Outcome
from dragoman.site import Site, TransportConfig
from providers.evidence import Ask, provider_id
from providers.registry import dialects, probes
from providers.site_runtime import open_site
from providers.verbs import NoArguments
probes.load(); dialects.load()
imported = time.perf_counter()
kind, scheduler, reached = sys.argv[1:4]
reach = TransportConfig.model_validate_json(reached) if reached else TransportConfig()
CHEAP = (Category.HARDWARE, Category.NETWORK, Category.PARALLEL, Category.WORKLOAD)

def wanted(provider, verb):
    if verb == "probe" or kind == "everything":
        return True
    return kind == "same" and provider.category in CHEAP and verb not in ("accounts", "partitions", "nodes", "queue")

async def main():
    runtime = open_site(Site(name="here", scheduler=scheduler, transport=reach))
    trips = 0
    if reached:
        many, single = runtime.transport.run_many, runtime.transport.run
        async def counted(ask, *what):
            nonlocal trips
            trips += 1
            return await ask(*what)
        # The connection is open, as in a service, and the queue's program is there; nothing that was told is kept.
        await runtime.observe_many([Ask(one, "probe") for one in runtime.of(Category.WORKLOAD)])
        runtime.observer.facts.forget()
        await anyio.sleep(1.1)
        runtime.transport.run_many = lambda *what: counted(many, *what)
        runtime.transport.run = lambda command: counted(single, command)
    there = (*runtime.providers, *runtime.managers)
    asks = [Ask(provider, verb) for provider in there for verb, words in provider.verbs.items()
            if words.arguments is NoArguments and wanted(provider, verb)]
    start, spent = time.perf_counter(), cpu()
    seen = await runtime.observe_many(asks)
    took, spent = time.perf_counter() - start, cpu() - spent
    facts = {}
    for ask, one in zip(asks, seen, strict=True):
        if one.outcome is Outcome.OK:
            facts.setdefault(provider_id(ask.provider), []).extend(flat(one.value))
    unknown = sorted({provider_id(ask.provider) for ask, one in zip(asks, seen, strict=True)
                      if one.outcome is Outcome.UNKNOWN})
    await runtime.aclose()
    print(json.dumps({"import": imported - begun, "all": took, "cpu": spent, "questions": len(asks), "trips": trips,
                      "unknown": unknown, "facts": {name: sorted(set(told)) for name, told in facts.items()}}))

def flat(value, above=""):
    if isinstance(value, list):
        value = value[0] if value else {}
    if not isinstance(value, dict):
        return [above] if above else []
    return [name for key, item in value.items() for name in flat(item, f"{above}.{key}" if above else key)]

anyio.run(main)
"""

SIMULATED = r"""
import gc, json, time
import psutil
from providers.registry import dialects, probes
from providers.site_runtime import open_site
from simulation.archetypes import archetype_fleet, archetype_site
probes.load(); dialects.load()
times = {}
for kind in ("hpc", "cloud", "standalone"):
    archetype_site(kind, "warm"); took = []
    for seed in range(50):
        begun = time.perf_counter()
        open_site(archetype_site(kind, seed))
        took.append(time.perf_counter() - begun)
    times[kind] = sorted(took)[len(took) // 2]
gc.collect()
before = psutil.Process().memory_info().rss
begun = time.perf_counter()
kept = [open_site(site) for site in archetype_fleet(2000, 1).sites]
took = time.perf_counter() - begun
gc.collect()
print(json.dumps({"site": times, "2000": took, "rss": psutil.Process().memory_info().rss, "grown":
                  psutil.Process().memory_info().rss - before}))
"""

SAME: dict[str, tuple[str, ...]] = {
    "interface_count": ("interfaces.name",), "interfaces": ("interfaces.name",), "is_local_only": ("interfaces.name",),
    "launcher": ("libraries.launcher",), "version": ("version", "libraries.version"), "path": ("path",),
    "bin": ("path",), "python_interpreter": ("path",), "arch": ("architecture",), "model": ("model", "architecture"),
    "physical_cores": ("cores",), "logical_cores": ("threads",), "flags": ("features",), "total_gb": ("total_bytes",),
    "system_type": ("scheduler",), "partitions": ("queues.name", "scheduler"), "has_srun": ("scheduler", "path"),
    "status": ("scheduler",), "available": ("path",),
}  # fmt: skip
"""The peer's words, and ours of which one has to be there."""


def run(python: str, program: str, *arguments: str) -> dict[str, object] | None:
    done = subprocess.run(  # noqa: TID251  # nothing else runs here meanwhile
        [python, "-c", program, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )
    if done.returncode != 0:
        print(f"left out: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
        return None
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def median(rounds: list[dict[str, object]], key: str) -> float:
    return statistics.median(float(str(each[key])) for each in rounds) * 1000


def missing(ours: dict[str, list[str]], theirs: dict[str, list[str]]) -> list[str]:
    lacking = []
    for provider, words in theirs.items():
        mine = ours.get({"software/software": "software/pip"}.get(provider, provider), [])
        if not mine:
            lacking.append(f"{provider}: we do not see it")
            continue
        lacking += [
            f"{provider}.{word}" for word in words if not set(SAME.get(word, (word,))) & set(mine)
        ]  # fmt: skip
    return lacking


def over_ssh(words: str, reached: dict[str, object], given: argparse.Namespace) -> None:
    """Everything over one transport, a new process each time."""
    over = [
        answer
        for _ in range(given.rounds)
        if (answer := run(sys.executable, OURS, "everything", given.scheduler, json.dumps(reached)))
    ]
    if over:
        took = [float(str(each["all"])) * 1000 for each in over]
        print(
            f"everything over ssh ({words}): {statistics.median(took):.0f} ms (best {min(took):.0f}),"
            f" {over[0]['trips']} round trips"
        )


class Loopback:
    """A private sshd on this host."""

    def __enter__(self) -> Callable[[str], dict[str, object]]:
        self.folder = Path(tempfile.mkdtemp(prefix="dgm-", dir="/tmp"))
        started = start_sshd(self.folder)
        if started is None:
            raise SystemExit("no sshd on this host: install openssh-server")
        self.server, port = started
        (self.folder / "ssh_config").touch()
        common: dict[str, object] = {
            "host": "127.0.0.1", "user": getpass.getuser(), "port": port, "identity_file": str(self.folder / "key"),
            "known_hosts": str(self.folder / "known_hosts"),
        }  # fmt: skip
        return lambda kind: {
            **common,
            **({"config_file": str(self.folder / "ssh_config")} if kind == "openssh" else {}),
        }

    def __exit__(self, *_: object) -> None:
        self.server.terminate()
        self.server.wait(5)
        shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has resource-secretary")
    parser.add_argument("--ssh", metavar="HOST", help="a host of your ssh configuration, such as one on loopback")
    parser.add_argument("--loopback", action="store_true", help="start a private sshd and go over it")
    parser.add_argument("--ssh-config", metavar="FILE", default="", help="another configuration than your own")
    parser.add_argument("--scheduler", default="machine", help="of this machine")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    load = os.getloadavg()[0]
    rounds: dict[str, list[dict[str, object]]] = {}
    for _ in range(given.rounds):
        for kind in ("presence", "same", "everything"):
            answer = run(sys.executable, OURS, kind, given.scheduler, "")
            rounds.setdefault(kind, []).extend([answer] if answer else [])
        peer = run(given.peer_python, PEER) if given.peer_python else None
        rounds.setdefault("peer", []).extend([peer] if peer else [])
    print(f"import: ours {median(rounds['same'], 'import'):.0f} ms")
    for kind, words in (("presence", "presence"), ("same", "same facts"), ("everything", "everything")):
        print(
            f"{words}: {median(rounds[kind], 'all'):.0f} ms ({median(rounds[kind], 'cpu'):.0f} ms of processor time),"
            f" {rounds[kind][0]['questions']} questions"
        )
    code = 0
    if rounds["peer"]:
        theirs = median(rounds["peer"], "all")
        same, whole = (theirs / median(rounds[kind], "all") for kind in ("same", "everything"))
        begun, seen = median(rounds["peer"], "import"), median(rounds["peer"], "presence")
        spent = median(rounds["peer"], "cpu")
        print(
            f"peer: import {begun:.0f} ms, presence {seen:.0f} ms, with metadata {theirs:.0f} ms"
            f" ({spent:.0f} ms of processor time)"
        )
        print(f"the peer takes {same:.1f} x ours for the same facts, {whole:.1f} x for everything")
        same, whole = (spent / median(rounds[kind], "cpu") for kind in ("same", "everything"))
        print(f"of processor time, which other work on the machine changes little: {same:.1f} x and {whole:.1f} x")
        told, mine = rounds["peer"][0]["facts"], rounds["same"][0]["facts"]
        assert isinstance(told, dict)
        assert isinstance(mine, dict)
        for name in sorted({*told, *mine}):
            print(f"  {name}")
            print(f"    peer: {', '.join(told.get(name, [])) or '-'}")
            print(f"    ours: {', '.join(mine.get(name, [])) or '-'}")
        silent = rounds["same"][0]["unknown"]
        assert isinstance(silent, list)
        told = {name: words for name, words in told.items() if name not in silent}
        print(f"told by the peer or not, and unknown to us with its reason: {', '.join(silent) or 'none'}")
        lacking = missing(mine, told)
        print(f"facts of the peer that we do not have: {', '.join(lacking) or 'none'}")
        code = 1 if lacking else 0
    else:
        print("peer: left out (name an interpreter that has it: --peer-python)")
    if given.ssh:
        reached = {"kind": "openssh", "host": given.ssh, "config_file": given.ssh_config or None}
        over_ssh("openssh", reached, given)
    if given.loopback:
        with Loopback() as common:
            for kind in ("openssh", "asyncssh"):
                for login in (False, True):
                    words = f"{kind} on loopback, {'login shell' if login else 'no login shell'}"
                    over_ssh(words, {**common(kind), "kind": kind, "login_shell": login}, given)
    if not given.ssh and not given.loopback:
        print("over ssh: left out (--loopback, or name a host: --ssh)")
    print(f"load of the machine in the last minute: {load:.1f} before, {os.getloadavg()[0]:.1f} now")
    simulated = run(sys.executable, SIMULATED)
    if simulated is not None:
        sites = simulated["site"]
        assert isinstance(sites, dict)
        each = ", ".join(f"{kind} {seconds * 1000:.1f} ms" for kind, seconds in sites.items())
        grown, rss = float(str(simulated["grown"])), float(str(simulated["rss"]))
        print(
            f"a simulated site made and opened: {each}\n2,000 in one process: {float(str(simulated['2000'])):.1f} s,"
            f" {grown / 2**20:.0f} MiB more ({grown / 2000 / 1024:.0f} KiB each), {rss / 2**20:.0f} MiB in all"
        )
    return code


if __name__ == "__main__":
    sys.exit(main())
