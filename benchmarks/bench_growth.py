"""How the time of a reader grows with what it reads: twice as much should take about twice as long.

    python -m benchmarks.bench_growth

Each row reads a hostile text of one repeated unit, and four times as much of it. The ratio is 4 where the time grows
with the length, 16 where it grows with its square. The last row makes simulated sites.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from dragoman.errors import BadRequest
from graph.reading.line import MAX_WORDS
from graph.reading.read import read_request
from providers.probes.container.blame import blame
from providers.probes.hardware.cpu import parse_lscpu
from providers.probes.software.module_names import parse_listing
from providers.translation.translate import translate_script
from simulation.archetypes import archetype_fleet

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
WORDS = (
    "I ran ",
    "used it before ",
    "it took 3 hours ",
    "key: ",
    "./a ",
    "A=1 ",
    "at ",
    "walltime in ",
    "a/",
    "[",
    "'",
)
LINES = ('srun -n 2 ./a $SLURM_JOB_ID "$X"\n', "cat <<E\n$SLURM_JOB_NAME\nE\n", "echo '$SLURM_JOB_ID' $SLURM_NTASKS\n")
ANSWERS = ("a-1_", "x ", "{", "\n")


def read(text: str) -> None:
    try:
        read_request(text, now=NOW, time_zone="UTC")
    except BadRequest:
        return


def translate(body: str) -> None:
    translate_script(f"#!/bin/bash\n#SBATCH -n 2\n{body}", "pbs")


def readers() -> Iterator[tuple[str, str, Callable[[str], object], int]]:
    """Name, unit, reader, and the most characters to give it."""
    yield from (("request", unit, read, MAX_WORDS - 8) for unit in WORDS)
    yield from (("translation", unit, translate, 120_000) for unit in LINES)
    yield from (("module list", unit, parse_listing, 400_000) for unit in ANSWERS)
    yield from (("lscpu", unit, parse_lscpu, 400_000) for unit in ANSWERS)
    yield from (("container error", unit, blame, 400_000) for unit in ("operation not permitted ", "failed to create "))


def seconds(work: Callable[[Any], object], given: object) -> float:
    begun = time.process_time()
    work(given)
    return time.process_time() - begun


def main() -> None:
    print(f"{'reader':<16} {'unit':<36} {'a quarter, s':>12} {'whole, s':>9} {'ratio':>6}")
    for name, unit, reader, most in readers():
        reader(unit * 20)  # what is made once
        quarter = min(seconds(reader, unit * (most // 4 // len(unit))) for _ in range(2))
        whole = seconds(reader, unit * (most // len(unit)))
        ratio = f"{whole / quarter:.1f}" if quarter > 0.002 else "-"
        print(f"{name:<16} {unit!r:<36} {quarter:>12.3f} {whole:>9.3f} {ratio:>6}")
    few, many = (seconds(partial(archetype_fleet, seed=4), count) for count in (50, 200))
    print(f"{'simulated sites':<16} {'50, then 200':<36} {few:>12.3f} {many:>9.3f} {many / few:>6.1f}")


if __name__ == "__main__":
    main()
