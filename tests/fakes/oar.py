"""Stands for OAR: oarsub, oarstat, oardel, oarhold, oarresume, oarnodes.

Called as `oar.py FOLDER PROGRAM ARGUMENTS...`. Faults: `down`, `lost` (taken, and no answer), `busy`, `short-limit`.
"""

import fnmatch
import json
import re
import shlex
import sys

from queue_folder import Folder, Job  # type: ignore[import-not-found]  # beside this program

folder, program, arguments = Folder(sys.argv[1]), sys.argv[2], sys.argv[3:]
WORDS = {"pending": "Waiting", "held": "Hold", "running": "Running"}


def fail(words: str, rc: int = 1) -> None:
    sys.stderr.write(f"{words}\n")
    sys.exit(rc)


def oarsub() -> None:
    if arguments == ["--version"]:
        sys.stdout.write("OAR version : 2.5.9 (Canicule)\n")
        return
    sys.stdout.write("[ADMISSION RULE] Modify resource description with type constraints\n")
    options = dict(zip(arguments[:-1:2], arguments[1::2], strict=False))
    if options.get("-q") == "nosuch":
        fail("ERROR : The queue nosuch does not exist", 248)
    if "nosuchprop" in options.get("-p", ""):
        sys.stdout.write("OAR_JOB_ID=-5\n")
        fail('Bad resource request (ERROR:  column "nosuchprop" does not exist)', 8)
    limit = re.search(r"walltime=(\d+):(\d+):(\d+)", options["-l"])
    hours, minutes, seconds = (int(part) for part in limit.groups()) if limit else (2, 0, 0)
    first = len(folder.jobs()) + 1
    count = int(options.get("--array", "1"))
    for index in range(1, count + 1):
        job_id = str(first + index - 1)
        job: Job = {
            "name": options["-n"], "array": first, "index": index, "command": shlex.split(arguments[-1]),
            "cwd": options["-d"], "stdout": options["-O"], "stderr": options["-E"],
            "limit": hours * 3600 + minutes * 60 + seconds,
            "environment": {"OAR_JOB_ID": job_id, "OAR_ARRAY_ID": str(first), "OAR_ARRAY_INDEX": str(index)},
        }  # fmt: skip
        folder.take(job, job_id)
        sys.stdout.write(f"OAR_JOB_ID={job_id}\n")
    if folder.fault("lost"):
        sys.stdout.flush()
        fail("[ERROR] Cannot connect to executor localhost:6666. Is OAR started?", 3)
    if count > 1:
        sys.stdout.write(f"OAR_ARRAY_ID={first}\n")


def chosen(where: str) -> list[Job]:
    """Jobs that a condition of the few forms that are asked names."""
    jobs = folder.jobs()
    where, _, oldest = where.partition(" OR job_id IN (SELECT")
    if oldest:
        found = chosen(where)
        return found if not jobs or any(job["id"] == jobs[0]["id"] for job in found) else [*found, jobs[0]]
    listed = re.fullmatch(r"job_id IN \(([\d,]+)\) OR array_id IN \(\1\)", where)
    like = re.match(r"job_name LIKE '([^']*)'", where)
    if listed:
        ids = listed[1].split(",")
        return [job for job in jobs if job["id"] in ids or str(job["array"]) in ids]
    if like:
        jobs = [job for job in jobs if fnmatch.fnmatch(job["name"], like[1].replace("%", "*"))]
    return jobs if "NOT IN" not in where else [job for job in jobs if job["state"] != "ended"]


def oarstat() -> None:
    shown = {}
    for job in chosen(arguments[arguments.index("--sql") + 1]):
        rc, why = job.get("rc", 0), job.get("why")
        events = []
        if why:
            events.append(
                {"type": "FRAG_JOB_REQUEST", "description": f"User user1 requested to frag the job {job['id']}"}
            )
        if why == "limit":
            events.append({"type": "WALLTIME", "description": f"[sarko] Job [{job['id']}] (Elapsed)"})
        if job["state"] == "held":
            events.append({"type": "HOLD_WAITING_JOB", "description": "User user1 launched oarhold"})
        shown[job["id"]] = {
            "Job_Id": int(job["id"]), "name": job["name"], "array_id": job["array"], "array_index": job["index"],
            "state": WORDS.get(job["state"]) or ("Error" if why else "Terminated"), "queue": "default",
            "exit_code": None if why or job["state"] != "ended" else (rc << 8 if rc >= 0 else -rc),
            "submissionTime": int(job["submitted"]), "startTime": int(job.get("started") or 0),
            "stopTime": int(job.get("ended") or 0), "assigned_network_address": ["cn01"] if job.get("started") else [],
            "events": events, "message": f"R=1,W=1:0:0,J=B,N={job['name']} (Karma=0.000,quota_ok)",
            "initial_request": "oarsub", "scheduledStart": None,
        }  # fmt: skip
    sys.stdout.write(json.dumps(shown) if shown else "")


def act() -> None:
    for job in chosen(arguments[arguments.index("--sql") + 1]):
        if program == "oardel":
            done = folder.cancel(job["id"])
            sys.stdout.write(f"Deleting the job = {job['id']} ...{'REGISTERED' if done else 'ERROR'}.\n")
            if not done:
                fail(f"Cannot frag {job['id']} ; This job was already killed.", 6)
        else:
            (folder.hold if program == "oarhold" else folder.release)(job["id"])
            sys.stdout.write(f"[{job['id']}] request was sent to the OAR server.\n")


NODE = {"type": "default", "state": "Alive", "network_address": "cn01", "drain": "NO", "gpu": 0}

if folder.fault("down"):
    fail("DBI connect failed: could not connect to server: Connection refused")
elif program == "oarnodes":
    sys.stdout.write(json.dumps({str(core): {**NODE, "core": core, "resource_id": core} for core in range(1, 5)}))
else:
    {"oarsub": oarsub, "oarstat": oarstat}.get(program, act)()
