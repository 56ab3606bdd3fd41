"""Starts the queue of the scheduler `machine` at a site: `python3 machine_runner.py VERB ...` (`machine_site.verbs`).

The program lies in the folder `machine_site` beside this file, so that Python keeps it compiled. For a remote site,
`providers.schedulers.machine.runner_bytes` packs both into one file, in which this one is `__main__.py`.
"""

from __future__ import annotations

import sys


def run() -> int:
    """Run the verb of the command line; the exit code."""
    # Last, so that no file beside this one can stand in for a module of the standard library.
    sys.path.append(__file__.rpartition("/")[0] or ".")
    from machine_site.verbs import main  # type: ignore[import-not-found]  # beside this file, not in a package

    code: int = main(sys.argv[1:])
    return code


if __name__ == "__main__":
    sys.exit(run())
