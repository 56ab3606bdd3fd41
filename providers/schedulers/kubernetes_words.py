"""A Job of Kubernetes that carries a script with it: what a person hands to `kubectl apply -f` by themselves."""

from __future__ import annotations

import re
from typing import Any, Final, cast

import yaml

from dragoman.job import JobSpec
from providers.schedulers.kubernetes_job import MANAGED, TAG, KubernetesPlace, job_manifest
from providers.schedulers.script_words import Kept, ScriptWords, Writing

__all__ = ["KUBERNETES_WORDS"]


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are, and nothing once for several places."""

    def ignore_aliases(self, data: object) -> bool:
        """Always: people read it."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _whole(spec: JobSpec, kept: Kept, script: str) -> str:
    """The Job as YAML; the script is an argument of its interpreter, so that no volume is needed."""
    job = cast("dict[str, Any]", job_manifest(spec, KubernetesPlace()))
    name = re.sub(r"[^a-z0-9]+", "-", (kept.name or "job").lower()).strip("-")[:52].strip("-") or "job"
    template = job["spec"]["template"]
    for metadata in (job["metadata"], template["metadata"]):
        for label in (MANAGED, TAG, "dragoman/name"):
            metadata["labels"].pop(label, None)
    job["metadata"] = {**job["metadata"], "name": name}
    job["metadata"].pop("annotations", None)
    pod = template["spec"]
    pod.pop("volumes")
    container = pod["containers"][0]
    container.pop("volumeMounts")
    words = (kept.interpreter or "/bin/sh").split()
    container["command"] = [*words, "-e" if words[-1].rpartition("/")[2] in ("perl", "ruby", "node") else "-c"]
    container["args"] = [script]
    if kept.work_dir is not None and kept.work_dir.startswith("/"):
        container["workingDir"] = kept.work_dir
    return yaml.dump(job, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6)


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.lose("a pod's output is kept by the cluster (look with kubectl logs)", stdout=kept.stdout,
                 stderr=kept.stderr, joined=kept.joined)  # fmt: skip
    writing.lose("no mail is sent (look with kubectl get job)", mail_to=kept.mail_to, mail_on=kept.mail_on)
    writing.lose("a pod gets no environment of yours (set the variables in the script)", inherits=kept.inherits)
    if kept.work_dir is not None and not kept.work_dir.startswith("/"):
        writing.lose("a pod sees no folder of yours (mount a volume, and name its path)", work_dir=kept.work_dir)
    return writing


KUBERNETES_WORDS: Final = ScriptWords(
    title="Kubernetes",
    also_called=("k8s",),
    prefix="#K8S",
    family=r"JOB_COMPLETION_INDEX",
    starts_in="image",
    inherits=False,
    write=_write,
    whole=_whole,
    variables={"task": ("JOB_COMPLETION_INDEX",)},
    expressions={"job_id": "$HOSTNAME"},
    commands=frozenset({"kubectl"}),
    first_index=0,
    notes=((r'"image"', "the container image is a guess: name one that holds your programs, and mount your data"),),
)
