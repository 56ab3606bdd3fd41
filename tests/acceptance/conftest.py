"""The command line as people use it: real processes, a real database, a real job on this host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.acceptance.forked import run_forked

SITES = """
schema_version: 1
sites:
  - name: local
    scheduler: machine
    work_root: {root}
    min_poll_interval_s: 0.1
    max_poll_interval_s: 1
    settle_window_s: 2
    charges: {{currency: none, per_core_hour: 0, per_gpu_hour: 0}}
  - name: twin
    scheduler: slurm
    transport: {{kind: none}}
    charges: {{currency: USD, per_node_hour: 2}}
    simulated:
      workload:
        scheduler: slurm
        queues: [{{name: batch, usable: yes, max_walltime_s: 24h}}]
        groups: [{{queues: [batch], nodes: 100, nodes_idle: 50, cpus_per_node: 64, memory_bytes_per_node: 256GiB}}]
      packages: [{{name: lammps, version: 20230802, manager: spack}}]
"""


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass
class Dragoman:
    """Runs `dragoman` in a folder of its own."""

    folder: Path
    environment: dict[str, str]
    sites: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def __call__(self, *arguments: str, stdin: str | None = None, timeout: float = 90) -> Done:
        with tempfile.TemporaryDirectory() as folder:
            said = [Path(folder) / name for name in ("in", "out", "err")]
            for file, text in zip(said, (stdin or "", "", ""), strict=True):
                file.write_text(text)
            code = run_forked(arguments, self.folder, self.environment, said, timeout)
            return Done(code, *(file.read_text() for file in said[1:]))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "interfaces.cli.main", *arguments],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.started.append(process)
        return process

    def run(self, request: str, *options: str, timeout: float = 90) -> Done:
        return self("run", request, "--sites", str(self.sites), "--json", *options, timeout=timeout)

    def result(self, document: dict[str, Any], name: str) -> str:
        return (Path(document["results"]["dir"]) / name).read_text()


@pytest.fixture
def dragoman(tmp_path: Path, database: str) -> Any:
    folder = tmp_path / "person"
    folder.mkdir()
    sites = tmp_path / "sites.yaml"
    sites.write_text(SITES.format(root=tmp_path / "site"))
    environment = {
        "PATH": os.environ["PATH"],  # noqa: TID251
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "DATABASE_URL": database,
        "DRAGOMAN_DATA_DIR": str(tmp_path / "data"),
        "DRAGOMAN_WAIT_POLL_S": "0.1",
        "DRAGOMAN_FILE_LATENCY_S": "1",
        "DRAGOMAN_LEASE_S": "3",
        "LANGSMITH_TRACING": "false",
    }
    dragoman = Dragoman(folder, environment, sites)
    yield dragoman
    for process in dragoman.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    import time

    def wait(condition: Callable[[], bool], seconds: float = 30) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "it did not come true in time"
            time.sleep(0.1)

    return wait


@pytest.fixture
def not_in_database(database: str) -> Callable[[str], None]:
    """Looks for a secret in every table, bytes included, which are shown as hexadecimal figures."""

    def look(secret: str) -> None:
        with psycopg.connect(database) as connection:
            tables = connection.execute(
                "SELECT schemaname, tablename FROM pg_tables"
                " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            ).fetchall()
            assert len(tables) > 5
            for names in tables:
                query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(*names))
                rows = "\n".join(str(row[0]) for row in connection.execute(query).fetchall())
                assert secret not in rows, names
                assert secret.encode().hex() not in rows, names

    return look
