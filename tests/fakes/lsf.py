"""Stands for LSF: bsub, bjobs, bhist, bkill, bstop, bresume, bqueues, bhosts, lshosts, bmgroup, lsid.

Called as `lsf.py FOLDER PROGRAM ARGUMENTS...`. Faults: `down`, `lost` (taken, and no answer), `forget` (bjobs shows no
ended jobs), `no-history`, `busy`, `short-limit`.
"""

import fnmatch
import json
import re
import shlex
import sys
import time

from queue_folder import Folder, Job  # type: ignore[import-not-found]  # beside this program

folder, program, arguments = Folder(sys.argv[1]), sys.argv[2], sys.argv[3:]


def clock(seconds: float | None, form: str = "%b %d %H:%M:%S") -> str:
    return time.strftime(form, time.gmtime(seconds)) if seconds else "-"


def fail(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.exit(255)


def bsub() -> None:
    text = sys.stdin.read()
    options: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("#BSUB "):
            words = shlex.split(line[6:])
            options[words[0]] = words[1] if len(words) > 1 else ""
    if options.get("-q") == "nosuch":
        fail("nosuch: No such queue. Job not submitted.")
    name, index = options.get("-J", ""), re.search(r"\[(\d+)-(\d+)\]", options.get("-J", ""))
    hours, _, minutes = options.get("-W", "0").rpartition(":")
    base = str(len({one["id"].partition("[")[0] for one in folder.jobs()}) + 101)
    for task in range(int(index[1]), int(index[2]) + 1) if index else [0]:
        job: Job = {
            "name": re.sub(r"\[.*", f"[{task}]" if task else "", name), "description": options.get("-Jd", ""),
            "queue": options.get("-q", "normal"), "command": ["/bin/sh", str(folder.script(text))],
            "cwd": options.get("-cwd"), "stdout": options.get("-o"), "stderr": options.get("-e"),
            "limit": (int(hours or 0) * 60 + int(minutes)) * 60 or None,
            "environment": {"LSB_JOBID": base, "LSB_JOBINDEX": str(task)},
        }  # fmt: skip
        folder.take(job, f"{base}[{task}]" if task else base)
    if folder.fault("lost"):
        fail("Cannot connect to LSF. Please wait ...")
    sys.stdout.write(f"Job <{base}> is submitted to {'' if '-q' in options else 'default '}queue <normal>.\n")


def state(job: Job) -> tuple[str, str, str]:
    word = {"pending": "PEND", "held": "PSUSP", "running": "RUN"}.get(job["state"])
    if word is not None:
        return word, "", ""
    if job.get("rc") == 0:
        return "DONE", "", ""
    if job.get("why") == "limit":
        return "EXIT", "140", "TERM_RUNLIMIT: job killed after reaching LSF run time limit"
    if job.get("why") == "cancelled":
        return "EXIT", "130", "TERM_OWNER: job killed by owner"
    rc = job["rc"]
    return "EXIT", str(rc if rc > 0 else 128 - rc), ""


def bjobs() -> None:
    names = arguments[arguments.index("-o") + 1].split()
    shown = [job for job in folder.jobs() if "-a" in arguments or job["state"] != "ended"]
    if folder.fault("forget"):
        shown = [job for job in shown if job["state"] != "ended"]
    records = []
    for job in shown:
        word, code, reason = state(job)
        base, _, index = job["id"].partition("[")
        values = {
            "jobid": base, "jobindex": index.rstrip("]") or "0", "stat": word, "queue": job["queue"],
            "job_name": job["name"], "job_description": job["description"], "exit_code": code, "exit_reason": reason,
            "submit_time": clock(job["submitted"]), "start_time": clock(job.get("started")),
            "finish_time": clock(job.get("ended")), "exec_host": "host1" if job.get("started") else "",
            "run_time": f"{int((job.get('ended') or time.time()) - (job.get('started') or time.time()))} second(s)",
            "pend_reason": "New job is waiting for scheduling;" if word == "PEND" else "",
        }  # fmt: skip
        records.append({name.upper(): values.get(name, "") for name in names})
    if not records:
        sys.stderr.write("No job found\n" if "-a" in arguments else "No unfinished job found\n")
    sys.stdout.write(json.dumps({"COMMAND": "bjobs", "JOBS": len(records), "RECORDS": records}) + "\n")


def bhist() -> None:
    if folder.fault("no-history"):
        fail("Failed in an LSF library call: Cannot open file")
    pattern = arguments[arguments.index("-J") + 1] if "-J" in arguments else None
    found = False
    for job in folder.jobs():
        wanted = fnmatch.fnmatch(job["name"], pattern) if pattern else job["id"].partition("[")[0] in arguments
        if not wanted:
            continue
        found = True
        word, code, reason = state(job)
        lines = [
            f"Job <{job['id']}>, Job Name <{job['name']}>, User <user1>, Project <default>, Command <#!/bin/sh;set +x>"
        ]
        at = clock(job["submitted"], "%a %b %d %H:%M:%S")
        lines.append(f"{at}: Submitted from host <login1>, to Queue <{job['queue']}>, CWD </home/user1/a/long/folder>;")
        if job.get("started"):
            at = clock(job["started"], "%a %b %d %H:%M:%S")
            lines.append(f"{at}: Dispatched 1 Task(s) on Host(s) <host1>, Allocated 1 Slot(s) on Host(s) <host1>;")
        at = clock(job.get("ended"), "%a %b %d %H:%M:%S")
        if word == "DONE":
            lines.append(f"{at}: Done successfully. The CPU time used is 0.1 seconds;")
        elif word == "EXIT":
            lines.append(f"{at}: Exited with exit code {code}. The CPU time used is 0.1 seconds;")
            lines.append(f"{at}: Completed <exit>; {reason};" if reason else f"{at}: Completed <exit>;")
        for line in lines:  # broken at 80 columns, in the middle of words
            parts = [line[:80], *[line[at : at + 59] for at in range(80, len(line), 59)]]
            sys.stdout.write(("\n" + " " * 21).join(parts) + "\n")
    if not found:
        fail("No matching job found")


def named() -> str:
    job_id = arguments[-1]
    if not any(job["id"].partition("[")[0] == job_id for job in folder.jobs()):
        fail(f"Job <{job_id}>: No matching job found")
    return job_id


def act() -> None:
    job_id = named()
    mine = [job for job in folder.jobs() if job["id"].partition("[")[0] == job_id]
    if program == "bkill":
        ended = [folder.cancel(job["id"]) for job in mine]
        if not any(ended):
            fail(f"Job <{job_id}>: Job has already finished")
        sys.stdout.write(f"Job <{job_id}> is being terminated\n")
    else:
        for job in mine:
            (folder.hold if program == "bstop" else folder.release)(job["id"])
        sys.stdout.write(f"Job <{job_id}> is being {'stopped' if program == 'bstop' else 'resumed'}\n")


TABLES = {
    "bqueues": (
        "QUEUE: normal\n  -- For normal jobs.  This is the default queue.\n\nPARAMETERS/STATISTICS\n"
        "PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS\n"
        " 30    0  Open:Active       -    -    -    -     0     0     0     0     0    0     0\n\n"
        "DEFAULT LIMITS:\n RUNLIMIT\n 60.0 min\n\nMAXIMUM LIMITS:\n RUNLIMIT\n 1440.0 min\n\nUSERS: all\nHOSTS:  all\n"
    ),
    "bhosts": (
        "HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV\n"
        "host1              ok              -         8      2      2      0      0      0\n"
        "host2              closed_Adm      -         8      0      0      0      0      0\n"
    ),
    "lshosts": (
        "HOST_NAME      type    model  cpuf ncpus maxmem maxswp server RESOURCES\n"
        "host1        X86_64   Intel_E  60.0    8  31.9G   4G    Yes (mg)\n"
        "host2        X86_64   Intel_E  60.0    8  31.9G   4G    Yes ()\n"
    ),
    "bmgroup": "No host group found\n",
    "lsid": "IBM Spectrum LSF Standard 10.1.0.12, Jun 10 2021\n\nMy cluster name is fake\nMy master name is host1\n",
}

if folder.fault("down"):
    fail("LSF is down. Please wait ...")
elif program == "bhosts" and "-gpu" in arguments:
    fail("No hosts with GPU resources found")
elif program in TABLES:
    sys.stdout.write(TABLES[program])
else:
    {"bsub": bsub, "bjobs": bjobs, "bhist": bhist}.get(program, act)()
