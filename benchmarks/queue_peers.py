"""Parsers of other projects, each with a long queue in the format that it asks its scheduler for.

AiiDA 2.9 reads Slurm, PBS, Torque, LSF and Grid Engine; PSI/J 0.9 reads Slurm, PBS (as JSON) and LSF.
PSI/J's LSF reader fails on any job with a reason (it looks for a key `reason`), so it is given none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from benchmarks.queue_samples import STATES, captured, moment, numbers, pbs_text, sge_xml, tag, torque_text

SHORT = {"PENDING": "PD", "RUNNING": "R", "COMPLETED": "CD"}
Parser = Callable[[], int]


def _reason(number: int) -> str:
    return "Priority" if STATES[number % 4] == "PENDING" else "None"


def _aiida(module: str, name: str, out: str) -> Parser:
    import importlib

    scheduler = getattr(importlib.import_module(f"aiida.schedulers.plugins.{module}"), name)()
    return lambda: len(scheduler._parse_joblist_output(0, out, ""))


def aiida_slurm(jobs: int) -> Parser:
    middle = "^^^".join(("node001", "user1", "4", "128", "node[001-004]", "batch", "2-00:00:00"))
    rows = (
        f"{n}^^^{SHORT[STATES[n % 4]]}^^^{_reason(n)}^^^{middle}^^^1-02:{n % 60:02d}:04^^^{moment(2, n)}^^^job {n}"
        f"^^^{moment(1, n)}"
        for n in numbers(jobs)
    )
    return _aiida("slurm", "SlurmScheduler", "\n".join(rows))


def aiida_lsf(jobs: int) -> Parser:
    rows = (
        f"{n}|RUN|-|cn{n % 900}:cn{n % 900}|user1|43|43|cn{n % 900}|batch|May {n % 27 + 2} 12:{n % 60:02d} L"
        f"|May {n % 27 + 1} 12:{n % 60:02d}|12.00% L|May {n % 27 + 1} 11:{n % 60:02d}|{tag(n)}"
        for n in numbers(jobs)
    )
    return _aiida("lsf", "LsfScheduler", "\n".join(rows))


def aiida_sge(jobs: int) -> Parser:
    text = sge_xml(jobs)
    queued = text.index("  <job_info>", text.index("</queue_info>"))
    return _aiida("sge", "SgeScheduler", f"{text[:queued]}  <job_info>\n  </job_info>\n</job_info>\n")


AIIDA: dict[str, Callable[[int], Parser]] = {
    "slurm": aiida_slurm,
    "pbs": lambda jobs: _aiida("pbspro", "PbsproScheduler", pbs_text(jobs)),
    "torque": lambda jobs: _aiida("torque", "TorqueScheduler", torque_text(jobs)),
    "lsf": aiida_lsf,
    "sge": aiida_sge,
}


def _psij(name: str, out: str) -> Parser:
    from psij import JobExecutor  # type: ignore[import-not-found]  # optional

    executor = JobExecutor.get_instance(name)
    return lambda: len(executor.parse_status_output(0, out))


def psij_slurm(jobs: int) -> Parser:
    rows = (f"{n} {SHORT[STATES[n % 4]]} {_reason(n)}" for n in numbers(jobs))
    return _psij("slurm", "JOBID ST REASON\n" + "\n".join(rows))


def psij_pbs(jobs: int) -> Parser:
    document = json.loads(captured("openpbs/qstat_json_gpu_running.stdout"))
    [record] = document["Jobs"].values()
    changed: Callable[[int], dict[str, Any]] = lambda n: {**record, "Job_Name": tag(n)}  # noqa: E731
    return _psij("pbs", json.dumps({**document, "Jobs": {f"{n}.head01": changed(n) for n in numbers(jobs)}}))


def psij_lsf(jobs: int) -> Parser:
    quiet = {"STAT": "RUN", "EXIT_REASON": "", "KILL_REASON": "", "SUSPEND_REASON": ""}
    rows = [{"JOBID": str(n), **quiet} for n in numbers(jobs)]
    return _psij("lsf", json.dumps({"COMMAND": "bjobs", "JOBS": jobs, "RECORDS": rows}, indent=2))


PSIJ: dict[str, Callable[[int], Parser]] = {
    "slurm": psij_slurm,
    "pbs": psij_pbs,
    "lsf": psij_lsf,
}
