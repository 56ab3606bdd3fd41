# ruff: noqa: T201, TID251, E501  # a program's output
"""Flux's command, as far as Dragoman asks it, over a folder (see jobs_in_a_folder).

Called as `flux.py FOLDER ARGUMENTS...`. Speaks the captured formats and their traps: a bare object for one id and a
list for several, unknown ids on stderr with exit code 0, ids in f58, keys that are absent until known, a script that is
refused for a directive that comes late.
"""

import json
import os
import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from jobs_in_a_folder import Job, Jobs  # type: ignore[import-not-found]  # beside this program

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
FIRST = 474543554560


def f58(number: int) -> str:
    text = ""
    while number:
        number, rest = divmod(number, 58)
        text = BASE58[rest] + text
    return "f" + (text or "1")


def decimal(word: str) -> int:
    if word.isdigit():
        return int(word)
    number = 0
    for character in word[1:]:
        number = number * 58 + BASE58.index(character)
    return number


class Flux:
    def __init__(self, root: str) -> None:
        self.jobs = Jobs(root)

    def fail(self, words: str, rc: int = 1) -> int:
        print(words, file=sys.stderr)
        return rc

    def batch(self, arguments: list[str]) -> int:
        script = Path(arguments[0]).read_text()
        options: dict[str, str] = {}
        closed = begun = False
        for number, line in enumerate(script.split("\n"), 1):
            match = re.match(r"([^\w]*)(?:flux|FLUX):(.*)$", line)
            if match and closed:
                return self.fail(f"flux-batch: ERROR: {arguments[0]}: line {number}: orphan 'flux:' detected")
            if match:
                begun = True
                for word in shlex.split(match[2], comments=True):
                    name, _, value = word.partition("=")
                    options[name] = value
            elif begun and line.strip() and not line.startswith("#"):
                closed = True
        if "--nslots" not in options and "--nodes" not in options:
            return self.fail("flux-batch: ERROR: Number of slots to allocate must be specified")
        if int(options.get("--nodes", 1)) > 4:
            return self.fail("[Errno 75] unsatisfiable request: need 40 exclusive node(s), only 4 eligible")
        limit = options.get("--time-limit", "300s")
        with self.jobs.locked():
            job = self.jobs.take(script, name=options.get("--job-name", arguments[0]), limit=float(limit.removesuffix("s")),
                                 output=options.get("--output", ""), waits=False, cwd=str(Path.cwd()))  # fmt: skip
            lost = self.jobs.fault("lost-answer", once=True)
            self.jobs.start_waiting(__file__)
        if lost:
            return self.fail("flux-batch: ERROR: job-ingest.submit: Connection timed out")
        if self.jobs.fault("banner"):
            print("fine weather today")
        print(f58(FIRST + job["number"]))
        return 0

    def record(self, job: Job) -> dict[str, Any]:
        states = {"Q": "SCHED", "R": "RUN", "F": "INACTIVE"}
        found: dict[str, Any] = {
            "id": FIRST + job["number"], "name": job["name"], "state": states[job["state"]], "t_submit": job["submitted"],
            "urgency": 0 if job["waits"] else 16, "annotations": {}, "dependencies": [], "exception": {"occurred": False},
        }  # fmt: skip
        if "started" in job:
            found |= {"t_run": job["started"], "nodelist": "node01", "nnodes": 1}
        if job["state"] == "F":
            rc, why = job.get("rc"), str(job.get("why", ""))
            found["t_cleanup"] = found["t_inactive"] = job["ended"]
            found["success"] = rc == 0 and not why
            found["result"] = {"cancel": "CANCELED", "timeout": "TIMEOUT"}.get(
                why, "COMPLETED" if rc == 0 else "FAILED"
            )
            found["returncode"] = -128 if rc is None else 128 - rc if rc < 0 else rc
            if rc is not None:
                found["waitstatus"] = (128 - rc if rc < 0 else rc) << 8
            if why:
                found["exception"] = {"occurred": True, "severity": 0, "type": why, "note": ""}
        return found

    def shown(self) -> list[Job]:
        forget = self.jobs.fault("forget")
        return [job for job in self.jobs.all() if not (forget and job["state"] == "F")]

    def list_jobs(self, arguments: list[str]) -> int:
        form = arguments[arguments.index("-o") + 1] if "-o" in arguments else ""
        wanted = [decimal(word) for word in arguments if re.fullmatch(r"\d+|f[1-9A-Za-z]+", word)]
        jobs = self.shown()
        if wanted:
            known = {FIRST + job["number"]: job for job in jobs}
            for number in wanted:
                if number not in known:
                    print(f"JobID {f58(number)} unknown", file=sys.stderr)
            jobs = [known[number] for number in wanted if number in known]
        elif "-a" not in arguments:
            jobs = [job for job in jobs if job["state"] != "F"]
        records = [self.record(job) for job in jobs]
        if "--json" in arguments:
            print(json.dumps(records[0] if len(wanted) == 1 and records else {"jobs": records}))
        else:
            for each in records:
                print(form.replace("{id.dec}", str(each["id"])).replace("{name}", each["name"])
                      .replace("{queue}", "").replace("{state}", each["state"]))  # fmt: skip
        return 0

    def change(self, word: str, action: str) -> int:
        with self.jobs.locked():
            job = next((each for each in self.shown() if FIRST + each["number"] == decimal(word)), None)
            if job is None:
                return self.fail(f"flux-cancel: ERROR: {word}: unknown job id")
            if job["state"] == "F":
                return self.fail(f"flux-cancel: ERROR: {word}: job is inactive")
            if action == "cancel":
                self.jobs.cancel(job)
            else:
                job["waits"] = action == "hold"
                self.jobs.save(job)
            self.jobs.start_waiting(__file__)
        return 0

    def wait_event(self, arguments: list[str]) -> int:
        """Until the job is over, or the time is (`--timeout=20s`). Faults: `wait-torn`, `wait-lies`."""
        wanted, _event = [word for word in arguments if not word.startswith("-")]
        limit = next(word for word in arguments if word.startswith("--timeout=")).partition("=")[2]
        end = time.monotonic() + float(limit.removesuffix("s"))
        with (self.jobs.root / "waits").open("a") as file:
            print(wanted, file=file)
        while time.monotonic() < end:
            if self.jobs.fault("wait-torn", once=True):
                return self.fail("flux-job: flux_job_event_watch_get: Broken pipe")
            job = next((each for each in self.shown() if FIRST + each["number"] == decimal(wanted)), None)
            if job is None:
                return self.fail(f"flux-job: job {wanted} id unknown")
            if job["state"] == "F" or self.jobs.fault("wait-lies"):
                return 0
            time.sleep(0.05)
        return self.fail("flux-job: wait-event timeout on event 'clean'")

    def resources(self, state: str) -> int:
        busy = any(job["state"] == "R" for job in self.jobs.all())
        ranks = {"all": "0-3", "free": "1-3" if busy else "0-3", "down": ""}[state]
        hosts = {"0-3": ["node[01-04]"], "1-3": ["node[02-04]"], "": []}[ranks]
        sets = [{"rank": ranks, "children": {"core": "0-7"}}] if ranks else []
        print(json.dumps({"version": 1, "execution": {"R_lite": sets, "nodelist": hosts}}))
        return 0

    def main(self, arguments: list[str]) -> int:
        if arguments[:2] == ["getattr", "jobid"]:
            print(f58(int(os.environ["FAKE_FLUX_JOBID"])))
            return 0
        if arguments[:2] == ["job", "id"]:
            print(decimal(arguments[-1]))
            return 0
        if self.jobs.fault("down"):
            return self.fail(
                f"flux-{arguments[0]}: ERROR: Unable to connect to Flux: broker socket /run/flux was not found"
            )
        match arguments:
            case ["batch", *rest]:
                return self.batch(rest)
            case ["jobs", *rest]:
                return self.list_jobs(rest)
            case ["cancel", word]:
                return self.change(word, "cancel")
            case ["job", "wait-event", *rest]:
                return self.wait_event(rest)
            case ["job", "urgency", word, action]:
                return self.change(word, action)
            case ["resource", "R", "-s", state]:
                return self.resources(state)
            case ["queue", "list", *_]:
                print("||y|y|5m|2h|0-4|0-inf|0-inf")
            case ["config", "get"]:
                print("{}")
            case ["version"]:
                print("commands:    \t\t0.88.0-59")
            case _:
                return self.fail(f"flux: `{arguments[0]}' is not a flux command")
        return 0


def supervise(root: str, key: str) -> None:
    jobs = Jobs(root)
    job = jobs.load(key)
    jobs.supervise(key, {"FAKE_FLUX_JOBID": str(FIRST + job["number"])}, job["output"] or None)


if __name__ == "__main__":
    if sys.argv[1] == "--supervise":
        supervise(*sys.argv[2:])
    else:
        sys.exit(Flux(sys.argv[1]).main(sys.argv[2:]))
