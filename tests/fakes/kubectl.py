"""Stands for kubectl and the cluster behind it: create, get, watch, patch, delete, version; containers are processes.

Called as `kubectl.py FOLDER kubectl ARGUMENTS...`. Faults: `down`, `lost` (created, and no answer), `forbidden-pods`,
`expired` (of a watch), `busy` (cannot be placed), `short-limit`.
"""

import json
import sys
import time
from datetime import UTC, datetime
from typing import Any

from queue_folder import Folder, Job  # type: ignore[import-not-found]  # beside this program

folder = Folder(sys.argv[1])
arguments = [word for word in sys.argv[3:] if not word.startswith(("--namespace=", "--context="))]
namespace = next((word.partition("=")[2] for word in sys.argv if word.startswith("--namespace=")), "default")
verb = arguments[0]


def at(seconds: float | None) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else None


def fail(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.exit(1)


def create() -> None:
    thing = json.load(sys.stdin)
    name, spec = thing["metadata"]["name"], thing["spec"]
    container = spec["template"]["spec"]["containers"][0]
    path = container["volumeMounts"][0]["mountPath"]
    if container["resources"]["requests"].get("cpu") == "9999":
        fail('Error from server (Forbidden): error when creating "STDIN": jobs.batch is forbidden: exceeded quota: q')
    if "--dry-run=server" in arguments:
        sys.stdout.write(f"job.batch/{name}\n")
        return
    if any(job["owner"] == name for job in folder.jobs()):
        fail(f'Error from server (AlreadyExists): error when creating "STDIN": jobs.batch "{name}" already exists')
    for index in range(spec["completions"]):
        job: Job = {
            "owner": name, "name": name, "thing": thing, "index": index, "command": container["command"], "cwd": path,
            "limit": spec["template"]["spec"].get("activeDeadlineSeconds"), "hold": spec.get("suspend", False),
            "environment": {"JOB_COMPLETION_INDEX": str(index)},
        }  # fmt: skip
        folder.take(job, f"{name}-{index}")
    if folder.fault("lost"):
        fail("Unable to connect to the server: net/http: TLS handshake timeout")
    sys.stdout.write(f"job.batch/{name}\n")


def pod(job: Job) -> dict[str, Any]:
    rc, why, state = job.get("rc", 0), job.get("why"), job["state"]
    status: dict[str, Any] = {
        "phase": "Running",
        "containerStatuses": [{"state": {"running": {"startedAt": at(job.get("started"))}}}],
    }
    if state == "pending":
        words = "0/2 nodes are available: 2 Insufficient cpu."
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}
        status = {"phase": "Pending", "conditions": [condition]}
    if state == "ended":
        code = rc if rc >= 0 else 128 - rc
        ended = {"exitCode": code, "startedAt": at(job.get("started")), "finishedAt": at(job["ended"])}
        ended["reason"] = "Error" if code else "Completed"
        status = {
            "phase": "Failed" if code or why else "Succeeded",
            "containerStatuses": [{"state": {"terminated": ended}}],
        }
        if why == "limit":
            status["reason"] = "DeadlineExceeded"
    annotations = {"batch.kubernetes.io/job-completion-index": str(job["index"])}
    labels = {**job["thing"]["spec"]["template"]["metadata"]["labels"], "job-name": job["owner"]}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": job["id"], "labels": labels, "annotations": annotations},
        "spec": {**job["thing"]["spec"]["template"]["spec"], **({"nodeName": "node1"} if job.get("started") else {})},
        "status": status,
    }  # fmt: skip


def owner(name: str) -> dict[str, Any]:
    jobs = [job for job in folder.jobs() if job["owner"] == name]
    thing = dict(jobs[0]["thing"])
    thing["metadata"] = {**thing["metadata"], "namespace": namespace, "creationTimestamp": at(jobs[0]["submitted"])}
    thing["metadata"]["resourceVersion"] = str(int(time.time()))
    if jobs[0].get("deleted"):
        thing["metadata"]["deletionTimestamp"] = at(jobs[0]["deleted"])
    status: dict[str, Any] = {"active": sum(job["state"] in ("running", "pending") for job in jobs)}
    if any(job["state"] == "held" for job in jobs):
        status["conditions"] = [{"type": "Suspended", "status": "True"}]
    if all(job["state"] == "ended" for job in jobs):
        good = all(job.get("rc") == 0 and not job.get("why") for job in jobs)
        kind = {"type": "Complete"} if good else {"type": "Failed", "reason": "BackoffLimitExceeded"}
        status = {"conditions": [{**kind, "status": "True", "lastTransitionTime": at(jobs[-1]["ended"])}]}
    return {**thing, "status": status}


def names() -> list[str]:
    for job in folder.jobs():  # a deleted Job is gone when its pods have ended
        if job.get("deleted") and job["state"] == "ended":
            (folder.root / "jobs" / f"{job['id']}.json").unlink(missing_ok=True)
    return list(dict.fromkeys(job["owner"] for job in folder.jobs()))


def show(items: list[dict[str, Any]]) -> None:
    sys.stdout.write(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}) + "\n")


def missing(name: str) -> None:
    fail(f'Error from server (NotFound): jobs.batch "{name}" not found')


def get() -> None:
    what = arguments[1]
    if what == "jobs,pods":
        pods = (
            []
            if (hidden := folder.fault("forbidden-pods"))
            else [pod(job) for job in folder.jobs() if job["state"] != "held"]
        )
        show([*map(owner, names()), *pods])
        if hidden:
            fail('Error from server (Forbidden): pods is forbidden: User "user1" cannot list resource "pods"')
    elif what == "job":
        if arguments[2] not in names():
            missing(arguments[2])
        sys.stdout.write(json.dumps(owner(arguments[2])) + "\n")
    elif what == "--raw":
        if folder.fault("expired"):
            gone = {"kind": "Status", "message": "too old resource version: 1 (363)", "reason": "Expired", "code": 410}
            sys.stdout.write(json.dumps({"type": "ERROR", "object": gone}) + "\n")
            return
        for name in names():
            sys.stdout.write(json.dumps({"type": "ADDED", "object": owner(name)}) + "\n")
    elif what == "nodes":
        has = {"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": "2", "pods": "110"}
        node = {"kind": "Node", "metadata": {"name": "node1", "labels": {"pool": "gpu"}}, "spec": {}}
        show([{**node, "status": {"allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]}}])
    elif what == "pods":
        show([pod(job) for job in folder.jobs() if job["state"] != "held"])
    else:
        show([])


def act() -> None:
    name = arguments[2]
    if name not in names():
        missing(name)
    for job in [one for one in folder.jobs() if one["owner"] == name]:
        if verb == "delete":
            folder.change(job["id"], lambda one: {**one, "deleted": time.time()})
            folder.cancel(job["id"])
        else:
            hold = json.loads(arguments[arguments.index("--patch") + 1])["spec"]["suspend"]
            (folder.hold if hold else folder.release)(job["id"])
    sys.stdout.write(f"job.batch/{name}\n")


if folder.fault("down"):
    fail("Unable to connect to the server: dial tcp 192.0.2.1:6443: i/o timeout")
elif verb == "version":
    sys.stdout.write(json.dumps({"serverVersion": {"gitVersion": "v1.30.1"}}) + "\n")
else:
    {"create": create, "get": get}.get(verb, act)()
