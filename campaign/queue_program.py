"""A queue that takes every submit as a new job, as batch schedulers do, over the program of the scheduler `machine`.

`machine` gives the same tag the same job, which would hide a second submit: here each submit gets a tag of its own, and
a list tells which attempt's tag it was for. The line is written before the job is taken, so that whatever is in the
queue can be found by its attempt's tag.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys


def main(argv: list[str]) -> int:
    """`RUNNER STATE submit TAG SCRIPT`, `RUNNER STATE find TAG`."""
    runner, state, verb, tag, *rest = argv
    names = os.path.join(state, "names")
    program = [sys.executable, "-S", "-E", "-I", runner]
    os.makedirs(state, exist_ok=True)
    if verb == "submit":
        own = f"{tag}x{os.urandom(3).hex()}"
        with open(rest[0], encoding="utf-8") as file:
            text = file.read()
        path = os.path.join(state, f"{own}.script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(f"--tag={tag}", f"--tag={own}", 1))
        with open(names, "a", encoding="utf-8") as file:
            file.write(f"{tag} {own}\n")
        done = subprocess.run(
            [*program, "submit", "--state", state, "--tag", own, "--", path],
            capture_output=True,
            text=True,
            check=False,
        )
        sys.stdout.write(done.stdout.replace(own, tag))
        sys.stderr.write(done.stderr)
        return done.returncode
    answer = {"schema": 1, "outcome": "absent"}
    if os.path.exists(names):
        with open(names, encoding="utf-8") as file:
            known = [line.split() for line in file]
        for own in [each[1] for each in known if len(each) == 2 and each[0] == tag]:
            done = subprocess.run(
                [*program, "find", "--state", state, "--", own], capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                sys.stdout.write(done.stdout)
                return done.returncode
            found = json.loads(done.stdout)
            if found.get("outcome") != "absent":
                sys.stdout.write(done.stdout.replace(own, tag))
                return 0
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
