"""Kubernetes Jobs through kubectl(1), 1.20 and later.

kubectl rather than a client library: so it works over every transport, where the site's people already have it
configured, with their plugins and short-lived credentials. The object's name is the tag: creating it again is answered
with AlreadyExists, which means that it is there, and adopted. The API server is consistent: a Job that it does not show
is not there. What this needs of a site, and what it cannot do, stands in `kubernetes_job`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import ClassVar, Self

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest
from dragoman.facts import Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.proposal import StartEstimate
from dragoman.protocols import EndsTold, JobAnswers, SubmitAnswer
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.base import BaseDialect, Rules, chunks, one_line
from providers.schedulers.following import turn_argv
from providers.schedulers.kubernetes_job import MANAGED, TAG, KubernetesPlace, job_manifest, render_kubernetes_script
from providers.schedulers.kubernetes_status import Thing, job_status, part, read_objects, sort_objects
from providers.schedulers.kubernetes_tables import ERRORS, REASONS, STATES
from providers.schedulers.kubernetes_watch import ENDING, WATCH_S, jobs_path, read_turn, watch_path
from providers.schedulers.kubernetes_words import KUBERNETES_WORDS
from providers.schedulers.kubernetes_workload import group_nodes, largest_of, namespace_queue, read_nodes
from providers.schedulers.script_words import ScriptWords

__all__ = ["KubernetesDialect"]

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_OURS = f"{MANAGED}=dragoman"


@register_dialect("kubernetes")
class KubernetesDialect(BaseDialect):
    """The dialect of Kubernetes.

    Args:
        place: what the site file says.

    """

    name = "kubernetes"
    path_keys = ("namespace", "context", "volume", "image", "user", "gpu")
    script_words: ClassVar[ScriptWords | None] = KUBERNETES_WORDS
    states: ClassVar[Mapping[str, JobState]] = STATES
    reasons: ClassVar[Rules] = REASONS
    errors: ClassVar[Rules] = ERRORS
    ids_per_command: ClassVar[int] = 200
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"^job(?:\.batch)?/(?P<id>[a-z0-9][-a-z0-9.]*)(?: created)?\s*$")

    def __init__(self, place: KubernetesPlace | None = None) -> None:
        self.place = place or KubernetesPlace()
        self.largest: dict[str, Fraction] = {}
        """The most of each resource on one node when the nodes were last seen: only to tell never from wait."""

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """From the site's paths: `namespace`, `context`, `volume`, `image`, `user` and `gpu`."""
        told = site.paths
        return cls(
            KubernetesPlace(
                namespace=told.get("namespace"),
                context=told.get("context"),
                volume=told.get("volume", "hostPath"),
                image=told.get("image"),
                user=told.get("user"),
                gpu=told.get("gpu", "nvidia.com/gpu"),
            )
        )

    def _kubectl(self, *words: str, ref: JobRef | None = None) -> tuple[str, ...]:
        namespace = ref.cluster if ref is not None and ref.cluster is not None else self.place.namespace
        for name in (namespace, self.place.context):
            if name is not None and re.fullmatch(r"[A-Za-z0-9][\w.:@/-]{0,252}", name, re.ASCII) is None:
                raise BadRequest(f"{name[:80]!r} is no name", where="paths.namespace", cure="write it like team-a")
        place = () if self.place.context is None else (f"--context={self.place.context}",)
        return ("kubectl", *place, *(() if namespace is None else (f"--namespace={namespace}",)), *words)

    # Submit

    def render(self, spec: JobSpec) -> str:
        """The script that the pod runs; see `kubernetes_job`."""
        return render_kubernetes_script(spec, self.place)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`kubectl create -f -`; the pod reads the script from the attempt's folder, `script_path`."""
        manifest = json.dumps(job_manifest(spec, self.place, script_path)).encode()
        return Command(self._kubectl("create", "-f", "-", "-o", "name"), stdin=manifest, timeout_s=120)

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """`AlreadyExists` of a name of ours: an earlier submit of this very attempt was taken."""
        match = re.search(r"AlreadyExists.*jobs\.batch \"(dgm-[a-z0-9-]+)\" already exists", done.err)
        if match is not None and re.fullmatch(TAG_PATTERN, match[1]):
            return SubmitAnswer(job=JobRef(job_id=match[1], cluster=_namespace(done)), warnings=(one_line(done.err),))
        return super().parse_submit(done)

    def submitted(self, done: Completed) -> JobRef | None:
        """The object's name."""
        ref = super().submitted(done)
        if ref is None and done.out.lstrip().startswith("{"):  # -o json
            names = list(sort_objects(read_objects(done.out)[0]).jobs)
            ref = JobRef(job_id=names[0]) if len(names) == 1 and _NAME.fullmatch(names[0]) else None
        return ref.model_copy(update={"cluster": _namespace(done)}) if ref is not None else None

    def in_doubt(self, words: str) -> bool:
        """Also where the server broke down over it."""
        trouble = r"deadline exceeded|etcdserver|Internal ?[Ee]rror|unable to return a response|\bEOF\b|ServerTimeout"
        return re.search(trouble, words) is not None or super().in_doubt(words)

    def estimate_command(self, spec: JobSpec, script_path: str) -> Command | None:
        """A dry run at the server: it validates, asks admission and quota, and knows nothing of when."""
        manifest = json.dumps(job_manifest(spec, self.place)).encode()
        return Command(self._kubectl("create", "-f", "-", "--dry-run=server", "-o", "name"), stdin=manifest)

    def parse_estimate(self, done: Completed, at: datetime) -> Answer[StartEstimate]:
        """Taken, with no word about when; absent where it would be refused for ever."""
        told = one_line(f"{done.err} {done.out}")
        if done.rc == 0 and self.submitted(done) is not None:
            return Answer[StartEstimate].ok(StartEstimate(method="scheduler", made_at=at))
        if done.rc and not self.in_doubt(told) and self.error_class(told) is ReasonClass.NEVER:
            return Answer[StartEstimate].absent(told)
        return Answer[StartEstimate].unknown(told or f"exit code {done.rc}")

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """The Jobs and their pods by the tags on both: those that ended long ago are not sent again each time."""
        commands = []
        for ref in refs:
            _checked_id(ref.job_id)
        for namespace in dict.fromkeys(ref.cluster for ref in refs):
            names = dict.fromkeys(ref.job_id for ref in refs if ref.cluster == namespace)
            tags = [name for name in names if re.fullmatch(TAG_PATTERN, name)]
            place = JobRef(job_id="all", cluster=namespace)
            if len(tags) < len(names):
                commands.append(self._list(place))
                continue
            commands += [
                self._list(place, f"{_OURS},{TAG} in ({','.join(some)})") for some in chunks(tags, self.ids_per_command)
            ]
        return commands

    def _list(self, ref: JobRef, selector: str = _OURS) -> Command:
        return self.ask(*self._kubectl("get", "jobs,pods", "-l", selector, "-o", "json", ref=ref))

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs of the asked namespace that are there; the others are not."""
        things, trouble = self._things(done)
        namespace = _namespace(done)
        # What another command asked for is not here; whether it is there, that command tells.
        mine = [ref for ref in refs if ref.cluster in (None, namespace) or namespace is None]
        return self._answers(things, mine, trouble, pods=not trouble)

    def _things(self, done: Completed) -> tuple[list[Thing], str]:
        trouble = self.trouble(done)
        if done.truncated or (trouble and not done.out.lstrip().startswith("{")):
            return [], trouble
        things, wrong = read_objects(done.out)
        return things, trouble or wrong or self.doubted(done)

    def _answers(self, things: Sequence[Thing], refs: Sequence[JobRef], trouble: str, *, pods: bool) -> JobAnswers:
        objects = sort_objects(things)
        found = {
            ref.job_id: job_status(
                ref, objects.jobs[ref.job_id], objects.pods.get(ref.job_id, [] if pods else None), self.largest
            )
            for ref in refs
            if ref.job_id in objects.jobs
        }
        absent = frozenset() if trouble else frozenset(ref.job_id for ref in refs if ref.job_id not in found)
        return JobAnswers(jobs=found, absent=absent, trouble=trouble)

    # Events

    def follow_command(self, refs: Sequence[JobRef], mark: str | None) -> Command | None:
        """Watch our Jobs since `mark`; without one, ask where the events are now. None without a namespace."""
        if self.place.namespace is None:
            return None
        if mark is None:
            return self.ask(*self._kubectl("get", "--raw", jobs_path(self.place.namespace, _OURS, limit="1")))
        path = watch_path(self.place.namespace, _OURS, mark)
        return self.ask(*turn_argv(self._kubectl("get", "--raw", path), signs=ENDING), timeout_s=WATCH_S + 30.0)

    def parse_follow(self, done: Completed, refs: Sequence[JobRef], mark: str | None) -> EndsTold:
        """See `kubernetes_watch`."""
        return read_turn(done.out, refs, mark, self.trouble(done) or one_line(done.err))

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """By name."""
        return [self.ask(*self._kubectl("get", "job", _checked_id(tag), "-o", "json"))]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """There, or NotFound: the server does not lag behind itself."""
        if done.rc == 1 and re.search(rf"\(NotFound\): jobs\.batch \"{re.escape(tag)}\" not found", done.err):
            return Answer[JobRef].absent(one_line(done.err))
        things, trouble = self._things(done)
        known = tag if re.fullmatch(TAG_PATTERN, tag) else None
        for thing in things:
            if thing.get("kind") == "Job" and part(thing, "metadata", "name") == tag:
                return Answer[JobRef].ok(JobRef(job_id=tag, cluster=_namespace(done), tag=known))
        return Answer[JobRef].unknown(trouble or "kubectl shows another object")

    def list_tags_commands(self) -> list[Command]:
        """All our Jobs."""
        return [self._list(JobRef(job_id="all", cluster=self.place.namespace))]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Jobs whose name is a tag of ours and that have not ended."""
        things, trouble = self._things(done)
        names = [name for name in sort_objects(things).jobs if re.fullmatch(TAG_PATTERN, name)]
        refs = [JobRef(job_id=name, cluster=_namespace(done), tag=name) for name in names]
        jobs = self._answers(things, refs, trouble, pods=not trouble).jobs
        return JobAnswers({name: one for name, one in jobs.items() if not one.state.final}, trouble=trouble)

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`kubectl delete job`; with foreground propagation, for a Job deleted alone leaves its pods running."""
        words = ("delete", "job", _checked_id(ref.job_id), "--cascade=foreground", "--wait=false", "-o", "name")
        return self.act(*self._kubectl(*words, ref=ref))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """Ok, NotFound, or unknown."""
        told = one_line(f"{done.err} {done.out}") or f"exit code {done.rc}"
        ref = self.submitted(done)
        if done.rc == 0 and ref is not None:
            return Answer[JobRef].ok(ref)
        if done.rc == 1 and re.search(r"\(NotFound\): jobs\.batch \S+ not found", done.err):
            return Answer[JobRef].absent(told)
        return Answer[JobRef].unknown(told)

    def hold_command(self, ref: JobRef) -> Command | None:
        """Suspend (1.21 and later). Of a Job that runs already the pods are ended: hold pending ones only."""
        return self._suspend(ref, hold=True)

    def release_command(self, ref: JobRef) -> Command | None:
        """Resume."""
        return self._suspend(ref, hold=False)

    def _suspend(self, ref: JobRef, *, hold: bool) -> Command:
        patch = json.dumps({"spec": {"suspend": hold}})
        words = ("patch", "job", _checked_id(ref.job_id), "--type=merge", "--patch", patch, "-o", "name")
        return self.act(*self._kubectl(*words, ref=ref))

    # Site

    def workload_commands(self) -> list[Command]:
        """Nodes, pods of all namespaces (often forbidden: then nothing is known to be free), quota, version."""
        return [
            self.ask(*self._kubectl("get", "nodes", "-o", "json")),
            self.ask(*self._kubectl("get", "pods", "--all-namespaces", "-o", "json")),
            self.ask(*self._kubectl("get", "resourcequotas", "-o", "json")),
            self.ask(*self._kubectl("version", "-o", "json")),
        ]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Unknown where the nodes were not shown."""
        texts, troubles = self.told(done, 4)
        read = [read_objects(text) if text is not None else ([], "not told") for text in texts[:3]]
        if not any(one.get("kind") == "Node" for one in read[0][0]):
            return Answer[Workload].unknown("; ".join(troubles) or read[0][1] or "no node in the answer")
        pods = read[1][0] if not read[1][1] else None
        nodes = read_nodes(read[0][0], pods)
        self.largest = largest_of(nodes)
        queue = namespace_queue(self.place.namespace or "default", nodes, read[2][0] if not read[2][1] else None)
        waiting = [one for one in pods or () if part(one, "status", "phase") == "Pending"]
        return Answer[Workload].ok(
            Workload(
                scheduler=self.name,
                version=_version(texts[3]),
                queues=(queue,),
                groups=group_nodes(nodes, queue.name),
                jobs_pending=len(waiting) if pods is not None else None,
                jobs_running=sum(part(one, "status", "phase") == "Running" for one in pods)
                if pods is not None
                else None,
                whole_nodes_only=Truth.NO,
            )
        )


def _version(text: str | None) -> str | None:
    try:
        found = part(json.loads(text or ""), "serverVersion", "gitVersion")
    except (ValueError, RecursionError):
        return None
    return str(found).removeprefix("v") if found else None


def _namespace(done: Completed) -> str | None:
    prefix = "--namespace="
    return next((word.removeprefix(prefix) for word in done.argv if word.startswith(prefix)), None)


def _checked_id(job_id: str) -> str:
    if _NAME.fullmatch(job_id) is None or job_id == "0":
        raise BadRequest(f"{job_id[:80]!r} is no name of a Job", where="job_id", cure="give the Job's name")
    return job_id
