# ruff: noqa: T201, E501  # a program's output
"""OpenPBS's and Torque's commands, as far as Dragoman asks them, over a folder (see jobs_in_a_folder).

Called as `pbs.py FOLDER openpbs|torque PROGRAM ARGUMENTS...`. Speaks the captured formats and their traps: no JSON, ids
with the server's name, number 0 first, 35 for finished without `-x`, 153 for unknown, 162 and 255 while down.
"""

import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from jobs_in_a_folder import Job, Jobs  # type: ignore[import-not-found]  # beside this program

SERVER = "fakehead"
QUEUES = {"workq": "48:00:00", "debugq": "00:30:00"}


def seconds(text: str) -> int:
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return total


def clock(at: float) -> str:
    return time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(at))


class Pbs:
    def __init__(self, root: str, flavour: str) -> None:
        self.jobs = Jobs(root)
        self.torque = flavour == "torque"

    def fail(self, words: str, rc: int) -> int:
        print(words, file=sys.stderr)
        return rc

    def name(self, job: Job, *, whole: bool = False) -> str:
        task = "" if job.get("task") is None else "[]" if whole else f"[{job['task']}]"
        return f"{job['number']}{task}.{SERVER}"

    def qsub(self, arguments: list[str]) -> int:
        script = Path(arguments[-1]).read_text() if arguments else sys.stdin.read()
        words: list[str] = []
        for line in script.split("\n"):
            if line.startswith("#PBS"):
                words += shlex.split(line[4:])
            elif line.strip() and not line.startswith("#"):
                break
        words += arguments[:-1]
        options = {letter: value for letter, value in zip(words[::2], words[1::2], strict=True) if letter != "-l"}
        resources: dict[str, str] = {}
        for letter, value in zip(words[::2], words[1::2], strict=True):
            for pair in value.split(",") if letter == "-l" else ():
                name, _, amount = pair.partition("=")
                resources[name] = amount
        if not re.fullmatch(r"[A-Za-z][\w.+-]*", options.get("-N", "STDIN")):
            return self.fail("qsub: illegal -N value", 2)
        queue = options.get("-q", "workq")
        if queue not in QUEUES:
            return self.fail("qsub: Unknown queue", 170)
        limit = resources.get("walltime") or resources.get("max_walltime") or QUEUES[queue]
        if seconds(limit) > seconds(QUEUES[queue]):
            return self.fail("qsub: Job violates queue and/or server resource limits", 188)
        fields = {
            "name": options.get("-N", "STDIN"), "queue": queue, "limit": seconds(limit), "variables": options.get("-v", ""),
            "output": options.get("-o", ""), "waits": "-h" in words,
        }  # fmt: skip
        indices = options.get("-J") or options.get("-t")
        with self.jobs.locked():
            if indices:
                first, last = map(int, indices.partition("%")[0].partition(":")[0].split("-"))
                job = self.jobs.take(script, task=first, **fields)
                for index in range(first + 1, last + 1):
                    self.jobs.take(script, task=index, number=job["number"], **fields)
            else:
                job = self.jobs.take(script, **fields)
            lost = self.jobs.fault("lost-answer", once=True)
            self.jobs.start_waiting(__file__)
        if lost:
            return self.fail("Connection timed out\nqsub: cannot connect to server fakehead (errno=15010)", 162)
        if self.jobs.fault("banner"):
            print("*** maintenance on 3 June, 12 nodes less ***")
        print(self.name(job, whole=True))
        return 0

    def attributes(self, job: Job) -> dict[str, Any]:
        state = job["state"] if not (job["state"] == "Q" and job.get("waits")) else "H"
        ended = {"F": "C" if self.torque else "X" if job.get("task") is not None and job.get("open") else "F"}
        found: dict[str, Any] = {
            "Job_Name": job["name"], "Job_Owner": f"me@{SERVER}", "job_state": ended.get(state, state),
            "queue": job["queue"], "ctime": clock(job["submitted"]), "Hold_Types": "u" if state == "H" else "n",
            "Resource_List.walltime": f"00:00:{job['limit']}",
        }  # fmt: skip
        if "started" in job:
            found["start_time" if self.torque else "stime"] = clock(job["started"])
            found["exec_host"] = "n1/0"
        if state == "F":
            rc = job.get("rc")
            code = 256 - rc if rc is not None and rc < 0 else rc
            if job.get("why") == "timeout":
                code = -11 if self.torque else -29
            if not self.torque:
                found["substate"] = 91 if job.get("why") == "cancel" else 93 if code else 92
            if code is not None or self.torque:
                found["exit_status" if self.torque else "Exit_status"] = 271 if code is None else code
            found["comp_time" if self.torque else "obittime"] = clock(job["ended"])
        found["Variable_List"] = f"PBS_O_QUEUE={job['queue']},{job['variables']}"
        return found

    def show(self, name: str, attributes: dict[str, Any]) -> None:
        print(f"Job Id: {name}")
        for key, value in attributes.items():
            # Long values are folded, Torque's in the middle of a word.
            folded = re.sub(r"(.{60})(?=.)", "\\1\n\t", str(value)) if self.torque else str(value).replace(",", ",\n\t")
            print(f"    {key} = {folded}")
        print()

    def find(self, word: str) -> list[Job]:
        match = re.fullmatch(r"(\d+)(\[\d*\])?(?:\..*)?", word)
        jobs = [job for job in self.jobs.all() if match and job["number"] == int(match[1])]
        if self.jobs.fault("forget"):
            jobs = [job for job in jobs if job["state"] != "F"]
        return jobs

    def qstat(self, arguments: list[str]) -> int:
        if self.jobs.fault("down"):
            return self.fail(f"Connection refused\nqstat: cannot connect to server {SERVER} (errno=15010)", 255)
        if "-Q" in arguments:
            for name, limit in QUEUES.items():
                jobs = [job for job in self.jobs.all() if job["queue"] == name]
                count = {state: sum(job["state"] == state for job in jobs) for state in "QR"}
                print(f"Queue: {name}\n    queue_type = Execution\n    state_count = Transit:0 Queued:{count['Q']} Held:0"
                      f" Waiting:0 Running:{count['R']} Exiting:0 Begun:0\n    resources_max.walltime = {limit}\n"
                      "    enabled = True\n    started = True\n")  # fmt: skip
            return 0
        if "-B" in arguments:
            print(f"Server: {SERVER}\n    default_queue = workq\n    pbs_version = 23.06.06\n")
            return 0
        rc = 0
        history, tasks = "-x" in arguments, "-t" in arguments
        for word in [each for each in arguments if not each.startswith("-")]:
            jobs = self.find(word)
            over = bool(jobs) and all(job["state"] == "F" for job in jobs)
            if not jobs:
                rc = self.fail(f"qstat: Unknown Job Id {'Error ' if self.torque else ''}{word}", 153)
            elif over and not history and not self.torque:
                rc = self.fail(f"qstat: {word} Job has finished, use -x or -H to obtain historical job information", 35)
            else:
                if jobs[0].get("task") is not None and not (self.torque and tasks):
                    whole = {**self.attributes(jobs[0]), "job_state": "F" if over else "B"}
                    self.show(self.name(jobs[0], whole=True), whole)
                for job in jobs if tasks or jobs[0].get("task") is None else []:
                    self.show(self.name(job), self.attributes({**job, "open": not over}))
        return rc

    def qselect(self, arguments: list[str]) -> int:
        if self.jobs.fault("down"):
            return self.fail(f"Connection refused\nqselect: cannot connect to server {SERVER} (errno=15010)", 162)
        name = arguments[arguments.index("-N") + 1]
        for job in self.jobs.all():
            shown = job["state"] != "F" or ("-x" in arguments and not self.jobs.fault("forget")) or self.torque
            if job["name"] == name and shown and job.get("task") in (None, 0, 1):
                print(self.name(job, whole=True))
        return 0

    def change(self, program: str, arguments: list[str]) -> int:
        if self.jobs.fault("down"):
            return self.fail(f"Connection refused\n{program}: cannot connect to server {SERVER} (errno=15010)", 162)
        with self.jobs.locked():
            jobs = self.find(arguments[-1])
            if not jobs:
                return self.fail(f"{program}: Unknown Job Id {arguments[-1]}", 153)
            if all(job["state"] == "F" for job in jobs):
                return self.fail(f"{program}: Job has finished {arguments[-1]}", 35)
            for job in jobs:
                if program == "qdel":
                    self.jobs.cancel(job)
                else:
                    job["waits"] = program == "qhold"
                    self.jobs.save(job)
            self.jobs.start_waiting(__file__)
        return 0

    def pbsnodes(self, arguments: list[str]) -> int:
        if self.jobs.fault("down"):
            return self.fail(f"Connection refused\npbsnodes: cannot connect to server {SERVER}, error=15010", 1)
        if self.torque:
            print(
                "n1\n     state = free\n     np = 8\n     ntype = cluster\n     status = rectime=1,physmem=16000000kb\n"
            )
            return 0
        print("n1\n     state = free\n     resources_available.host = n1\n     resources_available.mem = 16000mb\n"
              "     resources_available.ncpus = 8\n     resources_assigned.ncpus = 0\n     sharing = default_shared\n")  # fmt: skip
        return 0

    def main(self, program: str, arguments: list[str]) -> int:
        if program == "qsub":
            if self.jobs.fault("down"):
                return self.fail(f"Connection refused\nqsub: cannot connect to server {SERVER} (errno=15010)", 162)
            return self.qsub(arguments)
        if program in ("qdel", "qhold", "qrls"):
            return self.change(program, arguments)
        run = {"qstat": self.qstat, "qselect": self.qselect, "pbsnodes": self.pbsnodes}[program]
        rc: int = run(arguments)
        return rc


def supervise(root: str, key: str) -> None:
    jobs = Jobs(root)
    job = jobs.load(key)
    task = job.get("task")
    environment = dict(pair.split("=", 1) for pair in job["variables"].split(",") if "=" in pair)
    environment["PBS_JOBID"] = f"{job['number']}{'' if task is None else f'[{task}]'}.{SERVER}"
    if task is not None:
        environment |= {"PBS_ARRAY_INDEX": str(task), "PBS_ARRAYID": str(task)}
    jobs.supervise(key, environment, job["output"].replace("^array_index^", str(task)) or None)


if __name__ == "__main__":
    if sys.argv[1] == "--supervise":
        supervise(*sys.argv[2:])
    else:
        sys.exit(Pbs(*sys.argv[1:3]).main(sys.argv[3], sys.argv[4:]))
