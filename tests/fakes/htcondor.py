"""Stands for HTCondor: condor_submit, condor_q, condor_history, condor_rm, condor_hold, condor_release, condor_status.

Called as `htcondor.py FOLDER PROGRAM ARGUMENTS...`. Faults: `down`, `lost` (taken, and no answer), `busy` (nothing
starts), `no-history`, `short-limit`, `memory` (held, for it used more than it asked for).
"""

import json
import re
import sys
from typing import Any

from queue_folder import Folder, Job  # type: ignore[import-not-found]  # beside this program

folder = Folder(sys.argv[1])
program, arguments = sys.argv[2], sys.argv[3:]


def fail(words: str, rc: int = 1) -> None:
    sys.stderr.write(f"{words}\n")
    sys.exit(rc)


def submit() -> None:
    said: dict[str, str] = {}
    count = None
    for line in sys.stdin.read().splitlines():
        queue = re.fullmatch(r"\s*queue(?:\s+(\d+))?\s*", line)
        if queue is not None:
            count = int(queue[1] or 1)
        elif line.strip() and not line.lstrip().startswith("#"):
            key, _, value = line.partition("=")
            said[key.strip().lower()] = value.strip()
    if count is None:
        fail("ERROR: Failed to parse command file: no 'queue' commands found")
    if said.get("requirements", "").count("(") != said.get("requirements", "").count(")"):
        fail(f"ERROR: Parse error in expression: Requirements = {said['requirements']}\nERROR on Line 9 of submit file")
    cluster = max((int(job["cluster"]) for job in folder.jobs()), default=0) + 1
    limit = said.get("+dragomanwalltime")
    for proc in range(count or 0):
        fill = {"$(ClusterId)": str(cluster), "$(ProcId)": str(proc)}
        variables = said["environment"].strip('"')
        for mark, value in fill.items():
            variables = variables.replace(mark, value)
        script = said["arguments"].strip("\"'")
        job: Job = {
            "cluster": cluster, "proc": proc, "said": said, "command": [said["executable"], script],
            "cwd": said["initialdir"],
            "environment": dict(word.split("=", 1) for word in variables.split()),
            "limit": float(limit) if limit else None,
        }  # fmt: skip
        folder.take(job, f"{cluster}.{proc}")
    if folder.fault("lost"):
        fail("ERROR: Failed to commit job submission into the queue.\nERROR: timed out")
    sys.stdout.write(f"{cluster}.0 - {cluster}.{(count or 1) - 1}\n")


def ad(job: Job) -> dict[str, Any]:
    said, state = job["said"], job["state"]
    number = {"pending": 1, "held": 5, "running": 2}.get(state, 4)
    found: dict[str, Any] = {
        "ClusterId": job["cluster"], "ProcId": job["proc"], "DragomanTag": said["+dragomantag"].strip('"'),
        "JobBatchName": said.get("batch_name"), "QDate": int(job["submitted"]), "ExitBySignal": False,
        "EnteredCurrentStatus": int(job.get("ended") or job.get("started") or job["submitted"]), "CompletionDate": 0,
        "NumJobStarts": 1 if job.get("started") else 0,
    }  # fmt: skip
    if said.get("+dragomanarray"):
        found["DragomanArray"] = said["+dragomanarray"].strip('"')
    if said.get("+dragomanwalltime"):
        found["DragomanWalltime"] = int(said["+dragomanwalltime"])
    if job.get("started"):
        found |= {"JobStartDate": int(job["started"]), "JobCurrentStartDate": int(job["started"])}
        found["RemoteHost" if state == "running" else "LastRemoteHost"] = "slot1_1@node1"
    if state == "held":
        found |= {"HoldReasonCode": 1, "HoldReason": "via condor_hold (by user user1)"}
    if state == "running" and folder.fault("memory"):
        number = 5
        words = "Error from slot1_1@node1: Docker job has gone over memory limit of 128 Mb"
        found |= {"HoldReasonCode": 34, "HoldReasonSubCode": 0, "HoldReason": words}
    if state == "ended":
        found["RemoteWallClockTime"] = job["ended"] - (job.get("started") or job["ended"])
        if job.get("why"):
            number = 3
            found["RemoveReason"] = "via condor_rm (by user user1)"
            if job["why"] == "limit":
                found["RemoveReason"] = (
                    "The job attribute PeriodicRemove expression '(JobStatus == 2 ...' evaluated to TRUE"
                )
                found["RemoteWallClockTime"] = float(said["+dragomanwalltime"]) + 1
        elif job["rc"] < 0:
            found |= {"ExitBySignal": True, "ExitSignal": -job["rc"]}
        else:
            found |= {"ExitCode": job["rc"], "CompletionDate": int(job["ended"])}
    return {**found, "JobStatus": number}


def show(jobs: list[Job]) -> None:
    wanted = arguments[arguments.index("-attributes") + 1].split(",")
    if "-constraint" in arguments:
        text = arguments[arguments.index("-constraint") + 1]
        tag = re.fullmatch(r'DragomanTag == "(.*)"', text)
        jobs = [job for job in jobs if tag is None or job["said"]["+dragomantag"].strip('"') == tag[1]]
    else:
        ids = [word for word in arguments if word.isdigit()]
        jobs = [job for job in jobs if str(job["cluster"]) in ids]
    if jobs:  # nothing is printed for nothing
        ads = [{key: value for key, value in ad(job).items() if key in wanted} for job in jobs]
        sys.stdout.write(json.dumps(ads, indent=0) + "\n")


def act() -> None:
    words = {"condor_rm": "marked for removal", "condor_hold": "held", "condor_release": "released"}[program]
    verb = {"condor_rm": "remove", "condor_hold": "hold", "condor_release": "release"}[program]
    mine = [job for job in folder.jobs() if str(job["cluster"]) == arguments[-1] and job["state"] != "ended"]
    if not mine:
        fail(f"Couldn't find/{verb} all jobs in cluster {arguments[-1]}")
    for job in mine:
        {"condor_rm": folder.cancel, "condor_hold": folder.hold, "condor_release": folder.release}[program](job["id"])
    sys.stdout.write(f"All jobs in cluster {arguments[-1]} have been {words}\n")


if folder.fault("down") and program != "condor_version":
    fail(
        "-- Failed to fetch ads from: <192.0.2.1:9618?addrs=192.0.2.1-9618> : head\n"
        "CEDAR:6001:Failed to connect to <192.0.2.1:9618?addrs=192.0.2.1-9618>"
    )
if program == "condor_submit":
    submit()
elif program == "condor_q":
    show([job for job in folder.jobs() if job["state"] != "ended"])
elif program == "condor_history":
    if folder.fault("no-history"):
        fail("Error: can't open history file /var/lib/condor/spool/history")
    show([job for job in reversed(folder.jobs()) if job["state"] == "ended"])
elif program == "condor_status" and "-schedd" in arguments:
    states = [job["state"] for job in folder.jobs()]
    point = {"Name": "ap1", "TotalIdleJobs": states.count("pending"), "TotalRunningJobs": states.count("running")}
    sys.stdout.write(json.dumps([point]) + "\n")
elif program == "condor_status":
    busy = sum(job["state"] == "running" for job in folder.jobs())
    whole = {"Machine": "node1", "State": "Unclaimed", "TotalCpus": 8.0, "TotalMemory": 16000, "TotalGPUs": 0}
    slot = {**whole, "SlotType": "Partitionable", "Cpus": 8 - busy, "Memory": 16000, "GPUs": 0}
    sys.stdout.write(json.dumps([slot]) + "\n")
elif program == "condor_version":
    sys.stdout.write("$CondorVersion: 23.4.0 2024-02-08 BuildID: 712251 $\n$CondorPlatform: x86_64_Debian12 $\n")
else:
    act()
