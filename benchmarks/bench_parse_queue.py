"""Reading long queues: processor time and peak memory of one answer, for every dialect.

Beside ours, the parsers of AiiDA and PSI/J where they have one, each given the output of the format that it asks for,
with an interpreter that has them:

    python -m venv /tmp/peers && /tmp/peers/bin/pip install aiida-core psij-python
    python benchmarks/bench_parse_queue.py --peer-python /tmp/peers/bin/python

Every job is wanted, which is the worst case of ours, read in answers of as many jobs as a command asks for. All
measurements of a dialect follow one another in the same run, each in a process of its own; a ratio is a peer's time by
ours, so more than 1 means that ours is faster. Peak memory is what the parser allocates at most, by tracemalloc in a
run of its own; the output itself is not counted. Then the lines of every dialect's files, and which fields each gets of
Slurm's answers.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.queue_peers import AIIDA, PSIJ  # noqa: E402  # also run as a file, by interpreters without our package
from benchmarks.queue_samples import SAMPLES, numbers  # noqa: E402

ROUNDS = 3

FIELDS = (
    ("state", "14 kinds", "no failure", "6 kinds"),
    ("reason", "words and class", "words", "words"),
    ("array", "each task's state", "no", "no"),
    ("exit code", "code and signal", "no", "no"),
    ("times", "5, with zone", "2, without", "no"),
    ("nodes", "names", "list as text", "no"),
    ("TRES", "memory used", "no", "no"),
)
"""Which fields each gets of Slurm's answers. AiiDA 2: `_parse_joblist_output` (its accounting is kept as text only);
PSI/J 0.9: `parse_status_output`."""


def ours(name: str, jobs: int) -> Callable[[], int]:
    from dragoman.command import Completed
    from dragoman.job import JobRef
    from providers.registry import dialects

    sample = SAMPLES[name]
    dialect = dialects.get(sample.dialect)()
    # Where jobs are asked for by their ids, an answer has as many as one command asks for, and is read by itself.
    each = min(jobs, getattr(dialect, "ids_per_command", jobs)) if sample.by_id else jobs
    refs = [JobRef(job_id=sample.job_id(number)) for number in numbers(each)]
    done = Completed(sample.argv, 0, sample.text(each).encode(), b"")

    def parse() -> int:
        found = []
        for _ in range(0, jobs, each):
            answers = dialect.parse_status(done, refs)
            assert not answers.trouble, answers.trouble
            found.append(answers.jobs)
        return sum(map(len, found))

    return parse


def parser_of(who: str, name: str, jobs: int) -> Callable[[], int]:
    if who == "dragoman":
        return ours(name, jobs)
    return (AIIDA if who == "aiida" else PSIJ)[name](jobs)


def measure(who: str, name: str, jobs: int) -> dict[str, float]:
    parse = parser_of(who, name, jobs)
    found = parse()
    seconds = []
    for _ in range(ROUNDS):
        gc.collect()
        begun = time.process_time()
        parse()
        seconds.append(time.process_time() - begun)
    tracemalloc.start()
    parse()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"seconds": min(seconds), "mib": peak / 2**20, "found": found}


def measured_by(python: str, who: str, name: str, jobs: int) -> dict[str, float] | str:
    """In a process of its own, so that no parser inherits another's memory."""
    argv = [python, __file__, "--measure", f"{who}:{name}", "--jobs", str(jobs)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: TID251  # no event loop here
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no words"])[-1][:120]
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def lines_of(dialect: str) -> tuple[int, int, int]:
    """Lines of the dialect's own file and of all its files, and how many these are."""
    folder = ROOT / "providers" / "schedulers"
    files = [folder / f"{dialect}.py", *folder.glob(f"{dialect}_*.py")]
    counts = [len(file.read_text().splitlines()) for file in files if file.exists()]
    return counts[0], sum(counts), len(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50_000, help="jobs in the queue")
    parser.add_argument("--only", default=",".join(SAMPLES), help="dialects")
    parser.add_argument("--peer-python", default="", help="an interpreter with aiida-core and psij-python")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        who, _, name = given.measure.partition(":")
        print(json.dumps(measure(who, name, given.jobs)))
        return
    print(f"{'dialect':<12} {'parser':<9} {'jobs':>7} {'CPU s':>7} {'us/job':>7} {'peak MiB':>9} {'time/ours':>10}")
    for name in given.only.split(","):
        base = 0.0
        for who, known in (("dragoman", SAMPLES), ("aiida", AIIDA), ("psij", PSIJ)):
            if name not in known or (who != "dragoman" and not given.peer_python):
                continue
            figures = measured_by(sys.executable if who == "dragoman" else given.peer_python, who, name, given.jobs)
            if isinstance(figures, str):
                print(f"{name:<12} {who:<9} not measured: {figures}")
                continue
            seconds = figures["seconds"]
            base = base or seconds
            each, mib = 1e6 * seconds / given.jobs, figures["mib"]
            row = f"{int(figures['found']):>7} {seconds:>7.3f} {each:>7.1f} {mib:>9.1f} {seconds / base:>9.2f}x"
            print(f"{name:<12} {who:<9} {row}", flush=True)
    print(f"\n{'dialect':<12} {'own file':>9} {'all files':>10} {'files':>6}")
    for name in dict.fromkeys(sample.dialect for sample in SAMPLES.values()):
        print(f"{name:<12} {'{:>9} {:>10} {:>6}'.format(*lines_of(name))}")
    print()
    for words in (("field", "dragoman", "aiida", "psij"), *FIELDS):
        print("".join(f"{word:<18}" for word in words).rstrip())


if __name__ == "__main__":
    main()
