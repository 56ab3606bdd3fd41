"""`dragoman`: the command line. Only names and help are loaded here; each command loads what it needs."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from interfaces.cli.detect_command import detect, providers
from interfaces.cli.recipe_commands import recipes
from interfaces.cli.script_command import translate

__all__ = ["app", "main"]

app = typer.Typer(
    name="dragoman",
    help="Negotiates computing work with every site, submits it once, sleeps, and brings the results back.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    epilog="Exit codes: 0 completed, 2 bad request or usage, 3 no site can, 4 refused or cancelled, 5 job failed, "
    "6 paused, 130 interrupted.",
)
db = typer.Typer(help="The database: schema, size, and the embedded server.", no_args_is_help=True)
app.add_typer(db, name="db")
simulate = typer.Typer(help="Sites files of simulated sites, the same for one seed everywhere.", no_args_is_help=True)
app.add_typer(simulate, name="simulate")
app.add_typer(recipes, name="recipes")


class PolicyName(StrEnum):
    """Selection policies."""

    FIRST_READY = "first-ready"
    SOONEST = "soonest"
    MIN_COST = "min-cost"
    QUEUE_DEPTH = "queue-depth"
    MIN_ENERGY = "min-energy"
    RUN_ANYTIME = "run-anytime"
    RANDOM = "random"
    AGENTIC = "agentic"


class ApproveMode(StrEnum):
    """Who approves."""

    ASK = "ask"
    AUTO = "auto"


class SchemaName(StrEnum):
    """What has a JSON Schema."""

    APPROVAL = "approval"
    REQUEST = "request"
    SITES = "sites"


Request = Annotated[
    str, typer.Argument(help="words, JSON, YAML or a job script's text; `-` reads stdin", show_default=False)
]
ThreadId = Annotated[
    str, typer.Argument(metavar="ID", help="the thread's id, or the beginning of it", show_default=False)
]
SitesFile = Annotated[
    str | None, typer.Option("--sites", metavar="FILE", help="the fleet; default: this machine alone")
]
PolicyOption = Annotated[PolicyName | None, typer.Option("--policy", help="how the proposals are ranked")]
AskingOption = Annotated[
    str | None,
    typer.Option("--asking", metavar="HOW", help="at-once, serial or batched:N; @S after it: S seconds between"),
]
Approve = Annotated[
    ApproveMode, typer.Option("--approve", help="ask a person, or let the written rules of the settings file approve")
]
WaitOption = Annotated[
    bool, typer.Option("--wait/--no-wait", help="stay until it ends, or return when it is on its way")
]
Json = Annotated[bool, typer.Option("--json", help="one JSON document on stdout (docs/json.md)")]
File = Annotated[str | None, typer.Option("--file", "-f", metavar="FILE", help="read the request from a file")]
TakeSites = Annotated[
    bool, typer.Option("--take-sites", help="from now on go by this fleet, not by the one the thread was begun with")
]
By = Annotated[str | None, typer.Option("--by", help="who decides; default: your login name")]


def _policy(policy: PolicyName | None) -> str | None:
    return policy.value if policy else None


@app.command()
def run(
    request: Annotated[str | None, typer.Argument(help="words, JSON, YAML or a job script's text; `-`: stdin")] = None,
    file: File = None,
    sites: SitesFile = None,
    policy: PolicyOption = None,
    asking: AskingOption = None,
    approve: Approve = ApproveMode.ASK,
    wait: WaitOption = True,
    json: Json = False,
) -> None:
    """Ask every site, select, have it approved, move the data, submit once, bring the results back."""
    from interfaces.cli import work

    work.run(request, file, sites, _policy(policy), approve.value, wait=wait, as_json=json, asking=asking)


@app.command()
def ask(
    request: Annotated[str | None, typer.Argument(help="words, JSON, YAML or a job script's text; `-`: stdin")] = None,
    file: File = None,
    sites: SitesFile = None,
    policy: PolicyOption = None,
    asking: AskingOption = None,
    site: Annotated[str | None, typer.Option(help="ask this site alone")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="the words of each requirement; with --site its checks and their evidence")
    ] = False,
    json: Json = False,
) -> None:
    """Ask every site and show the proposals; nothing is submitted."""
    from interfaces.cli import work

    work.run(
        request,
        file,
        sites,
        _policy(policy),
        "ask",
        wait=True,
        as_json=json,
        dispatch=False,
        site=site,
        explain=explain,
        asking=asking,
    )


@app.command()
def dispatch(
    site: Annotated[str, typer.Argument(help="the site to run at", show_default=False)],
    request: Annotated[str | None, typer.Argument(help="words, JSON, YAML or a job script's text; `-`: stdin")] = None,
    file: File = None,
    sites: SitesFile = None,
    approve: Approve = ApproveMode.ASK,
    wait: WaitOption = True,
    json: Json = False,
) -> None:
    """Run at one named site: no other is asked, every check is kept."""
    from interfaces.cli import work

    work.run(request, file, sites, None, approve.value, wait=wait, as_json=json, site=site)


@app.command()
def threads(
    sites: SitesFile = None,
    limit: Annotated[int, typer.Option(min=1, max=10000, help="how many, the newest first")] = 30,
    json: Json = False,
) -> None:
    """List threads, the newest first."""
    from interfaces.cli import threads as commands

    commands.threads(sites, limit, as_json=json)


@app.command()
def show(thread_id: ThreadId, sites: SitesFile = None, json: Json = False) -> None:
    """Show a thread: request, proposals, decisions, job, results and its story."""
    from interfaces.cli import threads as commands

    commands.show(thread_id, sites, as_json=json)


@app.command()
def approve(
    thread_id: ThreadId,
    site: Annotated[str | None, typer.Option(help="another site than the one selected")] = None,
    refuse: Annotated[bool, typer.Option("--refuse", help="say no")] = False,
    edit: Annotated[str | None, typer.Option(help="change the request in words and negotiate again")] = None,
    hold_until: Annotated[str | None, typer.Option(metavar="TIME", help="ask again at this time (ISO 8601)")] = None,
    reason: Annotated[str, typer.Option(help="kept with the decision")] = "",
    by: By = None,
    sites: SitesFile = None,
    take_sites: TakeSites = False,
    wait: WaitOption = False,
    json: Json = False,
) -> None:
    """Approve a selection, another site of it, or refuse, edit or hold it."""
    from interfaces.cli import threads as commands

    decision: dict[str, Any] = {"decision": "approve", "site": site, "reason": reason}
    if refuse:
        decision["decision"] = "refuse"
    elif edit is not None:
        decision.update(decision="edit", edit=edit)
    elif hold_until is not None:
        decision.update(decision="hold", hold_until=hold_until)
    commands.approve(thread_id, decision, by, sites, take_sites=take_sites, wait=wait, as_json=json)


@app.command()
def answer(
    thread_id: ThreadId,
    words: Annotated[str | None, typer.Argument(help="the answer: one of the options, or your own words")] = None,
    edit: Annotated[str | None, typer.Option(help="change the request, where no site can take it")] = None,
    again: Annotated[bool, typer.Option("--again", help="ask the sites again, or look again")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="give up")] = False,
    job_id: Annotated[str | None, typer.Option(help="the scheduler's id of a job to adopt")] = None,
    by: By = None,
    sites: SitesFile = None,
    take_sites: TakeSites = False,
    wait: WaitOption = False,
    json: Json = False,
) -> None:
    """Answer a question that a thread waits for."""
    from interfaces.cli import threads as commands

    given: dict[str, Any] = {"answer": words, "edit": edit, "job_id": job_id}
    given = {key: value for key, value in given.items() if value is not None}
    if again:
        given.update(again=True, answer=given.get("answer", "look-again"))
    if stop:
        given.update(stop=True, answer=given.get("answer", "stop"))
    commands.answer(thread_id, given, by, sites, take_sites=take_sites, wait=wait, as_json=json)


@app.command()
def cancel(
    thread_id: ThreadId,
    by: By = None,
    sites: SitesFile = None,
    wait: WaitOption = True,
    json: Json = False,
) -> None:
    """Cancel a thread, whatever it does: its transfers and its job at the scheduler too."""
    from interfaces.cli import threads as commands

    commands.cancel(thread_id, by, sites, wait=wait, as_json=json)


@app.command()
def logs(
    thread_id: ThreadId,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=100000, help="of each file's end")] = 50,
    sites: SitesFile = None,
    json: Json = False,
) -> None:
    """Show the ends of the job's output, from the site while it runs."""
    from interfaces.cli import results

    results.logs(thread_id, lines, sites, as_json=json)


@app.command()
def fetch(
    thread_id: ThreadId,
    to: Annotated[str, typer.Option("--to", metavar="DIR", help="folder to copy the results into")] = ".",
    sites: SitesFile = None,
    json: Json = False,
) -> None:
    """Copy a thread's results to a folder."""
    from interfaces.cli import results

    results.fetch(thread_id, to, sites, as_json=json)


app.command()(detect)
app.command()(providers)
app.command()(translate)


@app.command()
def watch(
    sites: SitesFile = None,
    once: Annotated[bool, typer.Option("--once", help="one round: look at the sites, run on what can")] = False,
) -> None:
    """Look at the sites and run threads on, until it is stopped. Any number of these share the work."""
    from interfaces.cli import upkeep

    upkeep.watch(sites, once=once)


@app.command()
def doctor(
    sites: SitesFile = None,
    retry: Annotated[str | None, typer.Option(metavar="ID", help="take a thread parked with its error back")] = None,
    json: Json = False,
) -> None:
    """Check settings, database, sites and threads, and say what to do about what is wrong."""
    from interfaces.cli import upkeep

    upkeep.doctor(sites, retry, as_json=json)


@app.command()
def schema(
    name: Annotated[
        SchemaName, typer.Argument(help="what an approval shows and takes, a request form, or a sites file")
    ],
) -> None:
    """Print the JSON Schema of something that people or programs write or read."""
    from interfaces.cli import schemas

    schemas.schema(name.value)


Volatility = Annotated[
    float, typer.Option(min=0, max=1, help="how far queues, room and GPUs move with the clock; 0: not at all")
]
Seed = Annotated[int, typer.Option(help="the same seed makes the same sites on every machine")]


@simulate.command("site")
def simulate_site(
    archetype: Annotated[str, typer.Option(help="hpc, cloud or standalone")] = "hpc",
    seed: Seed = 0,
    name: Annotated[str | None, typer.Option(help="of the site; default: archetype and seed")] = None,
    volatility: Volatility = 0.0,
    json: Json = False,
) -> None:
    """Print a sites file with one simulated site, as YAML."""
    from interfaces.cli import simulate as commands

    commands.site(archetype, seed, name, volatility, as_json=json)


@simulate.command("fleet")
def simulate_fleet(
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=10000, help="how many sites")] = 10,
    seed: Seed = 0,
    archetype: Annotated[str | None, typer.Option(help="of all sites; default: a mix of all")] = None,
    volatility: Volatility = 0.0,
    json: Json = False,
) -> None:
    """Print a sites file with many simulated sites, as YAML; the first stay the same when there are more."""
    from interfaces.cli import simulate as commands

    commands.fleet(count, seed, archetype, volatility, as_json=json)


@db.command()
def migrate(json: Json = False) -> None:
    """Bring the database's schema up to this release."""
    from interfaces.cli import upkeep

    upkeep.migrate(as_json=json)


@db.command()
def status(json: Json = False) -> None:
    """Show the database: server, schema, threads and sizes."""
    from interfaces.cli import upkeep

    upkeep.status(as_json=json)


@db.command()
def prune(
    older_than: Annotated[str, typer.Option(metavar="DURATION", help="finished threads older than this, such as 30d")],
    json: Json = False,
) -> None:
    """Remove finished threads and superseded checkpoints; what goes on is never touched."""
    from interfaces.cli import upkeep

    upkeep.prune(older_than, as_json=json)


@db.command()
def stop(json: Json = False) -> None:
    """Stop the embedded database server; the next command starts it again."""
    from interfaces.cli import upkeep

    upkeep.stop(as_json=json)


def main() -> None:
    """Run the command line."""
    if not sys.argv[0].endswith("dragoman"):
        sys.argv[0] = "dragoman"
    app()


if __name__ == "__main__":
    main()
