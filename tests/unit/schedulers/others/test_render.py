"""What a job spec becomes for each scheduler, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import Dialect
from dragoman.request import ArrayRange, ArraySpec, Dependency, EnvironmentVariable
from dragoman.shape import Gpus, Memory, Shape
from dragoman.site import Site
from providers.registry import dialects
from providers.schedulers.kubernetes import KubernetesDialect
from providers.schedulers.kubernetes_job import KubernetesPlace
from providers.schedulers.lsf import LsfDialect
from providers.schedulers.oar import OarDialect
from providers.schedulers.sge import SgeDialect

MIB, GIB = 2**20, 2**30
Directives = Callable[..., list[str]]
Make = Callable[..., JobSpec]
OTHERS = ("sge", "lsf", "oar", "kubernetes")
ARRAY = ArraySpec(ranges=(ArrayRange(first=1, last=9, step=2),), at_once=2)


def test_grid_engine(directives: Directives) -> None:
    options = directives(
        SgeDialect(), name="my job", account="proj", queue="all.q", walltime_s=5400, array=ARRAY, requeue=True,
        shape=Shape(nodes=1, tasks=4, memory=Memory(bytes=8 * GIB, per="node"), gpus=Gpus(count=4, per="node")),
        dependencies=(Dependency(kind="afterany", job_id="12"),), start_after=datetime(2026, 3, 1, 8, tzinfo=UTC),
        licenses=("matlab:2",), native_options=("-binding linear:4", "-l h=n1"),
    )  # fmt: skip
    assert options == [
        "-S /bin/sh", "-N my_job.dgm-0123456789ab-a0", "-wd /work/t/work", "-o /work/t/work/stdout.log.$TASK_ID",
        "-e /work/t/work/stderr.log.$TASK_ID", "-j n", "-m n", "-r y", "-P proj", "-q all.q", "-a 202603010800.00",
        "-hold_jid 12", "-t 1-9:2", "-tc 2", "-l h_rt=01:30:00", "-pe smp 4", "-l h_vmem=2048M", "-l gpu=1",
        "-l matlab=2", "-binding linear:4", "-l h=n1",
    ]  # fmt: skip


def test_lsf(directives: Directives) -> None:
    options = directives(
        LsfDialect(), name="my job", account="proj", queues=("a", "b"), walltime_s=5401, array=ARRAY, requeue=True,
        shape=Shape(nodes=2, tasks=8, memory=Memory(bytes=8 * GIB, per="node"), exclusive=True,
                    gpus=Gpus(count=2, per="node", model="a100", memory_bytes=40 * GIB), constraint="ssd && rh8"),
        dependencies=(Dependency(kind="afterok", job_id="12"), Dependency(kind="afterany", job_id="13")),
        start_after=datetime(2026, 3, 1, 8, tzinfo=UTC), licenses=("matlab:2",), native_options=("-app chem",),
    )  # fmt: skip
    assert options == [
        '-J "my job.dgm-0123456789ab-a0[1-9:2]%2"', "-Jd dgm-0123456789ab-a0", "-cwd /work/t/work",
        "-o /work/t/scheduler.log", "-e /work/t/scheduler.log", "-r", "-P proj", '-q "a b"', "-W 1:31",
        "-b 2026:03:01:08:00", '-env "all,~TZ"', '-w "done(12) && ended(13)"', "-n 8", '-R "span[ptile=4]"',
        "-M 8192MB", '-R "rusage[mem=8192MB/host]"', '-gpu "num=2:gmodel=A100:gmem=40960M"',
        '-R "select[ssd && rh8]"', '-R "rusage[matlab=2]"', "-x", "-app chem",
    ]  # fmt: skip


def test_oar(directives: Directives, spec: Make) -> None:
    fields: dict[str, Any] = {
        "name": "my job", "account": "proj", "queue": "prod", "walltime_s": 5401, "requeue": True,
        "array": ArraySpec(ranges=(ArrayRange(first=0, last=6, step=3), ArrayRange(first=9, last=9))),
        "shape": Shape(nodes=2, cpus_per_node=8, gpus=Gpus(count=2, per="node", model="a100"), constraint="mem > 64"),
        "dependencies": (Dependency(kind="afterany", job_id="12"),), "native_options": ("-t besteffort",),
    }  # fmt: skip
    options = directives(OarDialect(), **fields)
    assert options == [
        "-n my job.dgm-0123456789ab-a0", "-d /work/t/work", "-O /work/t/scheduler.log", "-E /work/t/scheduler.log",
        "-l /nodes=2/gpu=2/core=4,walltime=01:30:01", "-p (mem > 64) AND (LOWER(gpu_model) LIKE '%a100%')", "-q prod",
        "--project proj", "-t idempotent", "-a 12", "--array 4", "-t besteffort",
    ]  # fmt: skip
    argv = OarDialect().submit_command(spec(**fields), "/work/it's here/script").argv
    assert argv[0] == "oarsub"
    assert list(argv[1:-1]) == [word for option in options for word in option.split(" ", 1)]
    assert argv[-1] == "/bin/sh '/work/it'\"'\"'s here/script'"


def manifest(dialect: KubernetesDialect, spec: JobSpec) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dialect.submit_command(spec, f"{spec.control_dir}/script").stdin)
    return found


def test_kubernetes(spec: Make) -> None:
    place = KubernetesPlace("team", "prod", "pvc:claim:/work", "registry/base:1", "1000:100")
    made = spec(
        name="my job", walltime_s=600, account="proj", native_options=("priorityClassName=low",),
        shape=Shape(tasks=4, cpus_per_task=2, memory=Memory(bytes=1536 * MIB, per="task"), constraint="pool=gpu",
                    gpus=Gpus(count=2, per="job", vendor="amd"), local_disk_bytes=10 * GIB),
    )  # fmt: skip
    dialect = KubernetesDialect(place)
    job = manifest(dialect, made)
    labels = {
        "app.kubernetes.io/managed-by": "dragoman", "dragoman/tag": made.tag, "dragoman/name": "my_job",
        "dragoman/account": "proj",
    }  # fmt: skip
    amounts = {"cpu": "8", "memory": "6Gi", "ephemeral-storage": "10Gi", "amd.com/gpu": "2"}
    assert job == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": made.tag, "labels": labels},
        "spec": {
            "ttlSecondsAfterFinished": 604800,
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "securityContext": {
                        "seccompProfile": {"type": "RuntimeDefault"},
                        "runAsUser": 1000,
                        "runAsGroup": 100,
                        "runAsNonRoot": True,
                    },
                    "containers": [
                        {
                            "name": "main",
                            "image": "registry/base:1",
                            "command": ["/bin/sh", "/work/t/script"],
                            "resources": {"requests": amounts, "limits": amounts},
                            "securityContext": {
                                "privileged": False,
                                "allowPrivilegeEscalation": False,
                                "capabilities": {"drop": ["ALL"]},
                            },
                            "volumeMounts": [{"name": "attempt", "mountPath": "/work/t", "subPath": "t"}],
                        }
                    ],
                    "volumes": [{"name": "attempt", "persistentVolumeClaim": {"claimName": "claim"}}],
                    "activeDeadlineSeconds": 600,
                    "nodeSelector": {"pool": "gpu"},
                    "priorityClassName": "low",
                },
            },
        },
    }
    argv = dialect.submit_command(made, "/work/t/script").argv
    assert argv == ("kubectl", "--context=prod", "--namespace=team", "create", "-f", "-", "-o", "name")
    shown = [line.removeprefix("#K8S ") for line in dialect.render(made).split("\n") if line.startswith("#K8S ")]
    assert json.loads("\n".join(shown)) == job


def test_kubernetes_arrays_fail_task_by_task(spec: Make) -> None:
    job = manifest(KubernetesDialect(), spec(array=ARRAY))
    assert job["metadata"]["annotations"] == {"dragoman/array": "1-9:2"}
    body = job["spec"]
    assert (body["completions"], body["parallelism"], body["completionMode"]) == (5, 2, "Indexed")
    assert body["backoffLimitPerIndex"] == 0
    assert "backoffLimit" not in body


def test_kubernetes_requeues_for_lost_nodes_only(spec: Make) -> None:
    body = manifest(KubernetesDialect(), spec(requeue=True))["spec"]
    assert body["backoffLimit"] == 3
    assert [rule["action"] for rule in body["podFailurePolicy"]["rules"]] == ["Ignore", "FailJob"]


@pytest.mark.parametrize(
    ("volume", "kind", "mount"),
    [
        ("hostPath", {"hostPath": {"path": "/work/t", "type": "Directory"}}, {}),
        ("pvc:data:/work", {"persistentVolumeClaim": {"claimName": "data"}}, {"subPath": "t"}),
        ("nfs:srv1:/export/home:/work", {"nfs": {"server": "srv1", "path": "/export/home"}}, {"subPath": "t"}),
    ],
)
def test_kubernetes_volumes(spec: Make, volume: str, kind: dict[str, Any], mount: dict[str, Any]) -> None:
    site = Site(name="k", scheduler="kubernetes", paths={"volume": volume, "image": "x"})
    pod = manifest(KubernetesDialect.for_site(site), spec())["spec"]["template"]["spec"]
    assert pod["volumes"] == [{"name": "attempt", **kind}]
    assert pod["containers"][0]["volumeMounts"] == [{"name": "attempt", "mountPath": "/work/t", **mount}]


@pytest.mark.parametrize("volume", ["pvc:data:/elsewhere", "pvc:data", "pvc::/work", "s3:bucket:/work", "nfs:/work"])
def test_kubernetes_volumes_that_do_not_lead_there(spec: Make, volume: str) -> None:
    with pytest.raises(BadRequest, match="does not lead to") as told:
        KubernetesDialect(KubernetesPlace(volume=volume)).render(spec())
    assert told.value.where == "paths.volume"


GPU = Gpus(count=1, per="node")
REFUSED: list[tuple[str, dict[str, Any]]] = [
    *[(name, {"components": (Shape(), Shape())}) for name in OTHERS],
    *[(name, {"qos": "high"}) for name in OTHERS],
    *[(name, {"file_systems": ("scratch",)}) for name in OTHERS],
    *[(name, {"dependencies": (Dependency(kind="singleton"),)}) for name in OTHERS],
    *[(name, {"dependencies": (Dependency(kind="afternotok", job_id="1"),)}) for name in ("sge", "oar", "kubernetes")],
    *[(name, {"dependencies": (Dependency(kind="afterany", job_id="1 --all"),)}) for name in ("sge", "lsf", "oar")],
    *[(name, {"shape": Shape(gpus=Gpus(count=1, per="node", model="a100"))}) for name in ("sge", "kubernetes")],
    *[(name, {"shape": Shape(local_disk_bytes=1)}) for name in ("sge", "oar")],
    ("sge", {"shape": Shape(nodes=2, tasks=8)}),
    ("sge", {"array": ArraySpec(ranges=(ArrayRange(first=0, last=3),))}),
    ("sge", {"array": ArraySpec(ranges=(ArrayRange(first=1, last=3), ArrayRange(first=7, last=8)))}),
    ("sge", {"native_options": ("-o /etc/passwd",)}),
    ("sge", {"native_options": ("-t 1-5",)}),
    ("lsf", {"native_options": ("-J other",)}),
    ("lsf", {"array": ArraySpec(ranges=(ArrayRange(first=0, last=3),))}),
    ("lsf", {"name": "x", "account": 'a"b'}),
    ("oar", {"array": ARRAY}),
    ("oar", {"start_after": datetime(2026, 3, 1, tzinfo=UTC)}),
    ("oar", {"shape": Shape(memory=Memory(bytes=1, per="node"))}),
    ("oar", {"native_options": ("-O /etc/passwd",)}),
    ("oar", {"work_dir": "/work/$(id)"}),
    ("kubernetes", {"shape": Shape(nodes=2)}),
    ("kubernetes", {"shape": Shape(exclusive=True)}),
    ("kubernetes", {"queue": "other"}),
    ("kubernetes", {"work_dir": "/home/me"}),
    ("kubernetes", {"image": "a b; c"}),
    ("kubernetes", {"shape": Shape(constraint="pool in (a)")}),
    ("kubernetes", {"native_options": ("hostNetwork=true",)}),
    ("kubernetes", {"native_options": ("serviceAccountName=admin",)}),
    ("kubernetes", {"start_after": datetime(2026, 3, 1, tzinfo=UTC)}),
]


@pytest.mark.parametrize(("name", "fields"), REFUSED, ids=[f"{name}-{'-'.join(fields)}" for name, fields in REFUSED])
def test_what_has_no_equivalent_is_refused_with_a_cure(spec: Make, name: str, fields: dict[str, Any]) -> None:
    with pytest.raises(BadRequest) as told:
        dialects.get(name)().render(JobSpec.model_construct(**{**dict(spec()), **fields}))
    assert told.value.cure
    assert told.value.where


def test_a_site_s_own_names(directives: Directives) -> None:
    site = Site(name="s", scheduler="sge", paths={"pe": "thread", "pe_mpi": "mpi-{}", "gpu": "ngpus", "memory": "mem"})
    dialect = SgeDialect.for_site(site)
    shape = Shape(nodes=2, tasks=8, memory=Memory(bytes=GIB, per="cpu"))
    assert directives(dialect, shape=shape)[-2:] == ["-pe mpi-4 8", "-l mem=1024M"]
    assert directives(dialect, shape=Shape(cpus=2, gpus=GPU))[-2:] == ["-pe thread 2", "-l ngpus=0.5"]
    plain = SgeDialect.for_site(Site(name="s", scheduler="sge"))
    with pytest.raises(BadRequest, match="parallel environment") as told:
        directives(plain, shape=Shape(cpus=2))
    assert "paths.pe" in told.value.cure
    assert directives(plain, shape=Shape(cpus=2), native_options=("-pe own 2",))[-1] == "-pe own 2"
    with pytest.raises(BadRequest, match="GPUs"):
        directives(plain, shape=Shape(gpus=GPU))
    with pytest.raises(BadRequest, match="image"):
        KubernetesDialect.for_site(Site(name="k", scheduler="kubernetes")).render(
            JobSpec(tag="dgm-0123456789ab-a0", shape=Shape(), work_dir="/w/w", control_dir="/w", body="x")
        )


@pytest.mark.parametrize("name", OTHERS)
def test_mail_is_off_and_a_job_is_not_run_again_by_itself(spec: Make, name: str) -> None:
    script = dialects.get(name)().render(spec())
    needed = {"sge": ["#$ -m n", "#$ -r n"], "lsf": ["#BSUB -rn"], "oar": [], "kubernetes": ['"backoffLimit": 0']}
    assert all(line in script for line in needed[name])
    for word in ("-M me", "#BSUB -N", "#BSUB -u", "--notify", "idempotent"):
        assert word not in script


HOSTILE = ["$(touch /tmp/x)", "a;b", "`id`", "x'y", 'x"y', "a b", "\\n", "é", "-rf", "a|b", "%J", "%jobid%"]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["work_dir", "control_dir", "stdout", "account", "queue", "constraint", "licenses"])
def test_hostile_values_stay_values(spec: Make, name: str, value: str, field: str) -> None:
    """Refused, or in the script as data: it is a script of the shell that runs nothing of them."""
    fields: dict[str, Any] = {field: f"/w/{value}" if field.endswith("dir") else value}
    if field == "constraint":
        fields = {"shape": Shape.model_construct(**{**dict(Shape()), "constraint": value})}
    if field == "licenses":
        fields = {"licenses": (value,)}
    try:
        script = dialects.get(name)().render(JobSpec.model_construct(**{**dict(spec()), **fields}))
    except BadRequest:
        return
    # Before the claim nothing but assignments and tests may run: the shell, told to run nothing, takes it as it is.
    head = script.split("# dragoman: claim")[0]
    assert subprocess.run(["/bin/sh", "-n"], input=head.encode(), check=False).returncode == 0  # noqa: TID251
    code = "\n".join(line for line in head.split("\n") if not line.startswith("#"))
    assert "touch" not in re.sub(r"'[^']*'", "", code)


@pytest.mark.parametrize("name", OTHERS)
def test_secrets_reach_neither_script_nor_command(spec: Make, name: str) -> None:
    made = spec(environment=(EnvironmentVariable(name="HF_TOKEN", secret="hf-key"),))
    dialect: Dialect = dialects.get(name)()
    command = dialect.submit_command(made, "/work/t/script")
    for text in (dialect.render(made), command.stdin.decode(), " ".join(command.argv)):
        assert "hf-key" not in text
