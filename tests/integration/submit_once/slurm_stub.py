"""Stands for sbatch, squeue, sacct and scancel where a test needs their answers in a given order.

Called as `slurm_stub.py FOLDER PROGRAM ARGUMENTS...`. `FOLDER/PROGRAM.json` is a list of answers, taken one after the
other (the last one stays): `{"rc", "out", "err", "jobs", "takes"}`. `jobs` are printed in the format that was asked
for; `takes` is the id under which an sbatch takes the job, whatever it answers. `FOLDER/calls` has a line a call.
"""

import json
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
program, *arguments = sys.argv[2:]
with (root / "calls").open("a") as calls:
    calls.write(f"{program} {' '.join(arguments)}\n")
file = root / f"{program}.json"
answers = json.loads(file.read_text()) if file.exists() else [{}]
answer = answers[0]
if len(answers) > 1:
    file.write_text(json.dumps(answers[1:]))
if "takes" in answer:
    script = Path(arguments[-1]).read_text()
    found = re.search(r"dgm-[a-z0-9]{12}-[a-z0-9]+", script)
    with (root / "taken").open("a") as taken:
        taken.write(f"{answer['takes']} {found[0] if found else ''}\n")
tags = dict(line.split() for line in (root / "taken").read_text().splitlines()) if (root / "taken").exists() else {}


def fields(job: dict[str, str]) -> dict[str, str]:
    tag = tags.get(job["id"], "")
    return {
        "%i": job["id"], "%A": job["id"], "%T": job["state"], "%k": tag, "%j": tag,
        "JobID": job["id"], "JobIDRaw": job["id"], "State": job["state"], "Comment": tag, "JobName": tag,
        "ExitCode": job.get("exit", "0:0"),
    }  # fmt: skip


shape = next((word.partition("=")[2] for word in arguments if word.startswith("--format=")), "")
names = shape.split("\x1f" if program == "squeue" else ",")
for job in answer.get("jobs", []):
    values = fields(job)
    sys.stdout.write("\x1f".join(values.get(name, "") for name in names) + "\n")
sys.stdout.write(answer.get("out", ""))
sys.stderr.write(answer.get("err", ""))
sys.exit(answer.get("rc", 0))
