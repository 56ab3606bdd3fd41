"""Stands for kubectl and the cluster behind it: create, get, watch, patch, delete, version; containers are processes.

Called as `kubectl.py FOLDER kubectl ARGUMENTS...`. Faults: `down`, `lost` (created, and no answer), `forbidden-pods`,
`busy` (cannot be placed), `short-limit`; of a watch `expired` (too old a version), `expired-later` (in its middle),
`torn` (killed in the middle of a line), `lies` (says that every job is complete), `twice` (each event comes twice, and
the older ones again).
"""

import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlparse

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
        selector = arguments[arguments.index("-l") + 1]
        wanted = selector.partition(" in (")[2].rstrip(")").split(",")
        chosen = [name for name in names() if wanted == [""] or name in wanted]
        pods = (
            []
            if (hidden := folder.fault("forbidden-pods"))
            else [pod(job) for job in folder.jobs() if job["state"] != "held" and job["owner"] in chosen]
        )
        show([*map(owner, chosen), *pods])
        if hidden:
            fail('Error from server (Forbidden): pods is forbidden: User "user1" cannot list resource "pods"')
    elif what == "job":
        if arguments[2] not in names():
            missing(arguments[2])
        sys.stdout.write(json.dumps(owner(arguments[2])) + "\n")
    elif what == "--raw":
        raw({name: values[0] for name, values in parse_qs(urlparse(arguments[2]).query).items()})
    elif what == "nodes":
        has = {"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": "2", "pods": "110"}
        node = {"kind": "Node", "metadata": {"name": "node1", "labels": {"pool": "gpu"}}, "spec": {}}
        show([{**node, "status": {"allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]}}])
    elif what == "pods":
        show([pod(job) for job in folder.jobs() if job["state"] != "held"])
    else:
        show([])


def happened() -> list[dict[str, Any]]:
    """All events so far, each with its version; what changed since the last question is added."""
    file = folder.root / "events"
    now = {name: owner(name) for name in names()}
    with folder.locked():
        events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        last = {one["object"]["metadata"]["name"]: one for one in events}
        told: list[dict[str, Any]] = []
        for name, thing in now.items():
            before = last.get(name)
            if before is None or before["type"] == "DELETED":
                told.append({"type": "ADDED", "object": thing})
            elif {**before["object"], "metadata": 0} != {**thing, "metadata": 0}:
                told.append({"type": "MODIFIED", "object": thing})
        gone = [one for name, one in last.items() if name not in now and one["type"] != "DELETED"]
        told += [{"type": "DELETED", "object": dict(one["object"])} for one in gone]
        for number, event in enumerate(told, len(events) + 1):
            event["object"]["metadata"] = {**event["object"]["metadata"], "resourceVersion": str(100 + number)}
        if told:
            with file.open("a") as out:
                out.writelines(json.dumps(event) + "\n" for event in told)
    return [*events, *told]


def tell(event: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def raw(query: dict[str, str]) -> None:
    """The list of Jobs, or a watch of them from a version on."""
    (folder.root / "asked").open("a").write(f"{query.get('resourceVersion', 'list')}\n")
    version = 100 + len(happened())
    if "watch" not in query:
        sys.stdout.write(json.dumps({"kind": "JobList", "metadata": {"resourceVersion": str(version)}, "items": []}))
        return
    gone = {"kind": "Status", "message": "too old resource version: 1 (363)", "reason": "Expired", "code": 410}
    if folder.fault("expired"):
        tell({"type": "ERROR", "object": gone})
        return
    since = int(query.get("resourceVersion") or 0)
    twice = folder.fault("twice")
    end = time.monotonic() + float(query.get("timeoutSeconds", 60))
    while time.monotonic() < end:
        events = happened()
        news = [one for one in events if int(one["object"]["metadata"]["resourceVersion"]) > since]
        for event in [*news, *news, *reversed(events)] if news and twice else news:
            tell(event)
        since = 100 + len(events)
        if query.get("allowWatchBookmarks") == "true":
            tell({"type": "BOOKMARK", "object": {"kind": "Job", "metadata": {"resourceVersion": str(since)}}})
        if folder.fault("expired-later"):
            tell({"type": "ERROR", "object": gone})
            return
        if folder.fault("torn"):
            sys.stdout.write('{"type":"MODIFIED","object":{"kind":"Jo')
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        if folder.fault("lies"):
            for name in names():
                over = {"conditions": [{"type": "Complete", "status": "True"}]}
                tell({"type": "MODIFIED", "object": {"kind": "Job", "metadata": {"name": name}, "status": over}})
        time.sleep(0.05)


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
