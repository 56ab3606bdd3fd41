"""A job spec as a Job of Kubernetes (batch/v1) that runs the script from the attempt's own folder.

One pod on one node; the object's name is the tag, so that creating it twice is creating it once. The pod sees one
folder of the site, the attempt's, under the path that it has on the host where kubectl runs: the script, the run claim,
the inputs and the results lie there (see `Volume` for how it gets there). The pod is given the script's path as an
argument; nothing of the request is put into a shell line.

The time limit is the pod's, not the Job's: the Job's would count the time that it waits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.model import JsonObject, JsonValue
from providers.schedulers.directives import checked
from providers.schedulers.job_output import output_lines
from providers.schedulers.job_script import job_lines
from providers.schedulers.kubernetes_units import cpu_quantity, label_value, memory_quantity
from providers.schedulers.slots import (
    array_text,
    gpus_per_node,
    index_lines,
    left_out,
    memory_per_node,
    refuse,
    slots_of,
)

__all__ = ["ARRAY", "MANAGED", "TAG", "KubernetesPlace", "job_manifest", "render_kubernetes_script"]

MANAGED = "app.kubernetes.io/managed-by"
TAG = "dragoman/tag"
ARRAY = "dragoman/array"
_KEPT_S = 7 * 86400
"""An ended Job stays this long: nobody has to look in time to learn how it ended."""
_VENDORS = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "intel": "gpu.intel.com/i915"}
_LABEL = re.compile(r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?", re.ASCII)
_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?", re.ASCII)

_REFUSED: Mapping[str, str] = {
    "components": "ask for one shape",
    "dependencies": "let one thread of Dragoman follow the other",
    "start_after": "hand it in later",
    "reservation": "take it out",
    "licenses": "take it out",
    "file_systems": "take it out",
    "qos": "take it out, or give priorityClassName=NAME as a native option",
    "priority": "give priorityClassName=NAME as a native option",
    "shape.exclusive": "ask for all cores of a node instead",
}


@dataclass(frozen=True, slots=True)
class KubernetesPlace:
    """Where a site's jobs run, from its site file.

    `volume` says how a pod gets to see the attempt's folder: `hostPath` (default) where the nodes have it under the
    same path, as on a cluster with a shared file system; `pvc:CLAIM:/root` where the claim is what the host sees at
    /root; `nfs:SERVER:/export:/root` alike.
    """

    namespace: str | None = None
    context: str | None = None
    volume: str = "hostPath"
    image: str | None = "docker.io/library/debian:stable-slim"
    """For requests that name none; None: those are refused."""
    user: str | None = None
    """`UID:GID` of the owner of the work root; None: the image's own user."""
    gpu: str = "nvidia.com/gpu"


def render_kubernetes_script(spec: JobSpec, place: KubernetesPlace) -> str:
    """The script that the pod runs, with the Job as comments in front, so that a person sees both.

    Raises:
        BadRequest: see `job_manifest`.

    """
    shown = json.dumps(job_manifest(spec, place), indent=1, ensure_ascii=True).splitlines()
    lines = ["#!/bin/sh", *[f"#K8S {line}" for line in shown], *left_out(spec)]
    task = ""
    if spec.array is not None:
        lines += index_lines(spec.array, "${JOB_COMPLETION_INDEX:-0}")
        task = "$DRAGOMAN_TASK"
    lines += output_lines(spec, task=task)
    return "\n".join([*lines, *job_lines(spec, job_id=spec.tag, restart="0", task=task)]) + "\n"


def job_manifest(spec: JobSpec, place: KubernetesPlace, script_path: str | None = None) -> JsonObject:
    """The Job.

    Args:
        spec: the job.
        place: what the site file says.
        script_path: the script, inside the attempt's folder; None: `script` there.

    Raises:
        BadRequest: a need that Kubernetes or this site has no word for, or a value that cannot stand in an object.

    """
    refuse(spec, "Kubernetes", _REFUSED)
    if (spec.shape.node_count or 1) > 1:
        cure = "ask for one node: programs over several nodes need an operator of the cluster's own"
        raise BadRequest("a Job of Kubernetes runs on one node", where="shape.nodes", cure=cure)
    queue = spec.queue or (spec.queues[0] if spec.queues else None)
    if queue not in (None, place.namespace, "default"):
        cure = f"leave it out, or name {place.namespace or 'default'}"
        raise BadRequest(f"{queue!r} is not the namespace that this site's jobs run in", where="queue", cure=cure)
    labels: JsonObject = {MANAGED: "dragoman", TAG: spec.tag}
    for key, text in (("name", spec.name), ("account", spec.account or "")):
        if value := label_value(checked(text, where=key)):
            labels[f"dragoman/{key}"] = value
    job: JsonObject = {"ttlSecondsAfterFinished": _KEPT_S, "backoffLimit": 0, "completions": 1, "parallelism": 1}
    annotations: JsonObject = {}
    if spec.array is not None:
        # With a limit for the whole Job the first task that fails would take the others with it.
        del job["backoffLimit"]
        at_once = min(spec.array.at_once or spec.array.size, spec.array.size)
        job |= {"completionMode": "Indexed", "completions": spec.array.size, "parallelism": at_once}
        job["backoffLimitPerIndex"] = 0
        annotations[ARRAY] = array_text(spec.array)
    elif spec.requeue:
        # Again after a lost node, never after the program's own failure.
        rules: list[JsonValue] = [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}},
        ]
        job |= {"backoffLimit": 3, "podFailurePolicy": {"rules": rules}}
    template: JsonObject = {
        "metadata": {"labels": labels},
        "spec": _pod(spec, place, script_path or f"{spec.control_dir}/script"),
    }
    metadata: JsonObject = {"name": spec.tag, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {**job, "template": template}}


_DOCKER = re.compile(
    r"(?:docker|docker-daemon|podman):(?://(?P<far>.+)|(?P<near>[^\d/][^\s]*[/:].*|[a-z]{3,}))", re.ASCII
)
_ELSEWHERE = re.compile(
    r"(?:library|shub|oras|oci|oci-archive|docker-archive|file|dir|id|custom|https?)://?.+|id:.+|.*\.sif"
)


def _bare_image(image: str) -> str:
    """The name in a registry, without the word of Shifter or Apptainer for where it comes from.

    Raises:
        BadRequest: it is no image of a registry.

    """
    if _ELSEWHERE.fullmatch(image) is not None:
        cure = "name an image in a registry, like registry/name:tag"
        raise BadRequest(f"{image[:80]!r} is nothing that a pod can pull", where="image", cure=cure)
    found = _DOCKER.fullmatch(image)
    bare = (found["far"] or found["near"]) if found is not None else image
    return bare.replace("#", "/", 1)  # Enroot's mark between registry and name


def _pod(spec: JobSpec, place: KubernetesPlace, script_path: str) -> JsonObject:
    image = spec.image or place.image
    if image is None:
        cure = "name one in the request, or set paths.image of the site"
        raise BadRequest("a job on Kubernetes needs a container image", where="image", cure=cure)
    image = _bare_image(image)
    if re.fullmatch(r"[A-Za-z0-9][\w./:@-]{0,1000}", checked(image, where="image"), re.ASCII) is None:
        raise BadRequest(
            f"{image[:80]!r} is no name of an image", where="image", cure="write it like registry/name:tag"
        )
    amounts = _amounts(spec, place)
    volume, mount = _volume(spec, place.volume, script_path)
    security: JsonObject = {"privileged": False, "allowPrivilegeEscalation": False}
    pod_security: JsonObject = {"seccompProfile": {"type": "RuntimeDefault"}}
    if place.user is not None:
        uid, gid = _user(place.user)
        # The image's root could not read a folder of ours without its capabilities, so they are dropped only here.
        security["capabilities"] = {"drop": ["ALL"]}
        pod_security |= {"runAsUser": uid, "runAsGroup": gid, "runAsNonRoot": uid != 0}
    container: JsonObject = {
        "name": "main",
        "image": image,
        "command": ["/bin/sh", checked(script_path, where="script_path")],
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": security,
        "volumeMounts": [mount],
    }
    pod: JsonObject = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": pod_security,
        "containers": [container],
        "volumes": [volume],
    }
    if spec.walltime_s is not None:
        pod["activeDeadlineSeconds"] = spec.walltime_s
    if spec.shape.constraint is not None:
        pod["nodeSelector"] = _selector(spec.shape.constraint)
    for line in spec.native_options:
        _native(pod, checked(line, where="native_options"))
    return pod


def _amounts(spec: JobSpec, place: KubernetesPlace) -> JsonObject:
    shape = spec.shape
    amounts: JsonObject = {"cpu": cpu_quantity(slots_of(shape).total)}
    memory = memory_per_node(shape)
    if memory is not None:
        amounts["memory"] = memory_quantity(memory)
    if shape.local_disk_bytes is not None:
        amounts["ephemeral-storage"] = memory_quantity(shape.local_disk_bytes)
    if shape.gpus is not None:
        if (shape.gpus.model or shape.gpus.memory_bytes) and shape.constraint is None:
            cure = "give the nodes' label as the constraint, such as nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB"
            raise BadRequest("Kubernetes has no word of its own for a model of GPU", where="gpus.model", cure=cure)
        kind = _VENDORS[shape.gpus.vendor] if shape.gpus.vendor is not None else place.gpu
        amounts[kind] = str(gpus_per_node(shape))
    return amounts


def _volume(spec: JobSpec, how: str, script_path: str) -> tuple[JsonObject, JsonObject]:
    folder = checked(spec.control_dir, where="control_dir").rstrip("/")
    outside = [path for path in (spec.work_dir, script_path) if not f"{path}/".startswith(f"{folder}/")]
    if outside or "/../" in f"{folder}/":
        cure = "keep work directory and script inside it"
        raise BadRequest("a pod sees the attempt's own folder only", where="work_dir", cure=cure)
    kind, _, rest = how.partition(":")
    if kind == "hostPath":
        return {"name": "attempt", "hostPath": {"path": folder, "type": "Directory"}}, {
            "name": "attempt",
            "mountPath": folder,
        }
    name, _, root = rest.rpartition(":")
    root = root.rstrip("/")
    below = folder.removeprefix(f"{root}/")
    if kind not in ("pvc", "nfs") or not name or not root.startswith("/") or below == folder:
        cure = "write pvc:CLAIM:/root, nfs:SERVER:/export:/root or hostPath; the work root lies below /root"
        raise BadRequest(f"{how[:100]!r} does not lead to {folder}", where="paths.volume", cure=cure)
    mount: JsonObject = {"name": "attempt", "mountPath": folder, "subPath": below}
    if kind == "pvc":
        return {"name": "attempt", "persistentVolumeClaim": {"claimName": name}}, mount
    server, _, export = name.partition(":")
    return {"name": "attempt", "nfs": {"server": server, "path": export}}, mount


def _user(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?", text, re.ASCII)
    if match is None:
        raise BadRequest(f"{text[:40]!r} is no user", where="paths.user", cure="write it like 1000:1000")
    return int(match[1]), int(match[2] or match[1])


def _selector(text: str) -> JsonObject:
    found: JsonObject = {}
    for part in text.split(","):
        key, equals, value = part.strip().partition("=")
        if not equals or _LABEL.fullmatch(key) is None or _VALUE.fullmatch(value) is None:
            cure = "write labels of nodes, like pool=gpu,zone=a"
            raise BadRequest(f"{text[:80]!r} is no list of labels", where="constraint", cure=cure)
        found[key] = value
    return found


def _native(pod: JsonObject, line: str) -> None:
    key, _, value = line.partition("=")
    if key not in ("priorityClassName", "runtimeClassName", "schedulerName") or _LABEL.fullmatch(value) is None:
        cure = "known: priorityClassName=, runtimeClassName=, schedulerName="
        raise BadRequest(f"{line[:80]!r} is not taken from a request", where="native_options", cure=cure)
    pod[key] = value
