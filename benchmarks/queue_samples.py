"""Long queues as each scheduler prints them, made from captured records: a new id, name and times for every job."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

CAPTURES = Path(__file__).parents[1] / "tests" / "captures"
FIRST = 100_000


class Sample(NamedTuple):
    """The answer of one dialect's question about its queue."""

    dialect: str
    argv: tuple[str, ...]
    text: Callable[[int], str]
    """For so many jobs."""
    job_id: Callable[[int], str] = str
    by_id: bool = False
    """Jobs are asked for by their ids, some in each command."""


def moment(day: int, number: int) -> str:
    return f"2026-11-{day:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"


def tag(number: int) -> str:
    return f"dgm-{number:012d}-a0"


def numbers(jobs: int) -> Iterator[int]:
    return iter(range(FIRST, FIRST + jobs))


def captured(path: str) -> str:
    return (CAPTURES / path).read_text()


STATES = ("PENDING", "RUNNING", "RUNNING", "COMPLETED")


def slurm_text(jobs: int) -> str:
    return "\n".join(
        f"{number}\x1f{number}\x1f{(state := STATES[number % 4])}\x1fbatch"
        f"\x1f{moment(1, number)}\x1f{moment(2, number)}\x1f{moment(3, number)}\x1f1-02:{number % 60:02d}:04"
        f"\x1fnode[{number % 900:03d}-{number % 900 + 3:03d}]"
        f"\x1f{'Priority' if state == 'PENDING' else 'None'}\x1f\x1f{tag(number)}\x1fjob {number}.{tag(number)}"
        for number in numbers(jobs)
    )


def slurm_json(jobs: int) -> str:
    document = json.loads(captured("slurm/2405_squeue_json_v0041.stdout"))
    record = document["jobs"][0]
    changed: Callable[[int], dict[str, Any]] = lambda number: {  # noqa: E731
        **record, "job_id": number, "name": f"job {number}.{tag(number)}",
        "submit_time": {"set": True, "infinite": False, "number": 1_790_000_000 + number},
    }  # fmt: skip
    return json.dumps({**document, "jobs": [changed(number) for number in numbers(jobs)]})


def pbs_text(jobs: int, path: str = "openpbs/qstat_f_text.stdout") -> str:
    record = captured(path).split("\n\n")[0].strip("\n")
    record = record[record.index("Job Id: ") :]
    head, _, rest = record.partition("\n")
    server = head.partition(".")[2]
    first, _, last = re.sub(r"Job_Name = .*", "Job_Name = @", rest).partition("@")
    return "\n\n".join(
        f"Job Id: {number}.{server}\n{first}{tag(number)}"
        f"{last.replace('Nov 30 07:', f'Nov {number % 20 + 10} {number % 24:02d}:').replace('n11', f'n{number % 900}')}"
        for number in numbers(jobs)
    ) + "\n\n"  # fmt: skip


def torque_text(jobs: int) -> str:
    return pbs_text(jobs, "torque/qstat_f.stdout")


def flux_json(jobs: int) -> str:
    record = json.loads(captured("flux/jobs_json_running.stdout"))
    changed = ({**record, "id": n, "name": tag(n), "t_submit": record["t_submit"] + n} for n in numbers(jobs))
    return json.dumps({"jobs": [*changed]})


def lsf_json(jobs: int) -> str:
    document = json.loads(captured("lsf/lsf_bjobs_json.stdout"))
    record = document["RECORDS"][0]
    changed = (
        {
            **record,
            "JOBID": str(n),
            "JOB_NAME": tag(n),
            "EXEC_HOST": f"cn{n % 900}:cn{n % 900}",
            "SUBMIT_TIME": f"May {n % 28 + 1} {n % 24:02d}:{n % 60:02d}",
        }
        for n in numbers(jobs)
    )
    return json.dumps({**document, "JOBS": jobs, "RECORDS": [*changed]}, indent=2)


def sge_xml(jobs: int) -> str:
    text = captured("gridengine/own_qstat_r_xml.stdout")
    begin, end = text.index("    <job_list"), text.index("</job_list>") + len("</job_list>\n")
    record = text[begin:end].replace(">aa<", ">@NAME<").replace(">20<", ">@ID<")
    record = re.sub(r">2026-\S+?<", ">@TIME<", record)
    rows = (
        record.replace("@NAME", tag(n)).replace("@ID", str(n)).replace("@TIME", moment(2, n)) for n in numbers(jobs)
    )
    return text[:begin] + "".join(rows) + text[end:]


def oar_json(jobs: int) -> str:
    record = json.loads(captured("oar/oarstat_full_json.stdout"))["2"]
    return json.dumps(
        {str(n): {**record, "Job_Id": n, "name": tag(n), "submissionTime": 1_790_000_000 + n} for n in numbers(jobs)}
    )


def kubernetes_json(jobs: int) -> str:
    job = json.loads(captured("kubernetes/job_json_run.stdout"))
    pod = json.loads(captured("kubernetes/pod_json_run.stdout"))["items"][0]
    items: list[dict[str, Any]] = []
    for n in numbers(jobs):
        labels = {**pod["metadata"].get("labels", {}), "job-name": tag(n)}
        items.append({**job, "metadata": {**job["metadata"], "name": tag(n)}})
        items.append({**pod, "metadata": {**pod["metadata"], "name": f"{tag(n)}-x", "labels": labels}})
    # Encoded one by one: the encoder would hold every word of the whole list.
    return '{"apiVersion": "v1", "kind": "List", "items": [' + ",\n".join(json.dumps(one) for one in items) + "]}"


def htcondor_json(jobs: int) -> str:
    ad = {
        "ProcId": 0, "JobStatus": 2, "JobBatchName": "x", "QDate": 1_790_000_000, "JobCurrentStartDate": 1_790_000_100,
        "NumJobStarts": 1, "RemoteHost": "slot1_1@node1", "DragomanWalltime": 3600,
        "EnteredCurrentStatus": 1_790_000_100,
    }  # fmt: skip
    return json.dumps([{**ad, "ClusterId": n, "DragomanTag": tag(n)} for n in numbers(jobs)])


SAMPLES = {
    "slurm": Sample("slurm", ("squeue",), slurm_text),
    "slurm-json": Sample("slurm", ("squeue", "--json"), slurm_json),
    "pbs": Sample("pbs", ("qstat", "-f"), pbs_text, lambda number: f"{number}.head01", by_id=True),
    "torque": Sample("torque", ("qstat", "-f"), torque_text, lambda number: f"{number}.head.example", by_id=True),
    "flux": Sample("flux", ("flux", "jobs", "--json"), flux_json, by_id=True),
    "lsf": Sample("lsf", ("bjobs", "-a", "-json"), lsf_json),
    "sge": Sample("sge", ("qstat", "-r", "-xml"), sge_xml),
    "oar": Sample("oar", ("oarstat", "-f", "-J"), oar_json, by_id=True),
    "htcondor": Sample("htcondor", ("condor_q", "-json"), htcondor_json, by_id=True),
    "kubernetes": Sample("kubernetes", ("kubectl", "get", "jobs,pods", "-o", "json"), kubernetes_json, tag, by_id=True),
    "kubernetes-all": Sample("kubernetes", ("kubectl", "get", "jobs,pods", "-o", "json"), kubernetes_json, tag),
}
