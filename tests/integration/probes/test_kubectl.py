"""A real kubectl, with no cluster and before a small API server: what `workload/kubernetes` makes of both."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dragoman.facts import Workload
from dragoman.observation import Answer, Outcome
from providers.schedulers.kubernetes import KubernetesDialect
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio

NODE = {
    "kind": "Node", "apiVersion": "v1",
    "metadata": {"name": "n1", "labels": {
        "kubernetes.io/arch": "amd64", "feature.node.kubernetes.io/cpu-hardware_multithreading": "true"}},
    "status": {"allocatable": {"cpu": "64", "memory": "256Gi"}, "conditions": [{"type": "Ready", "status": "True"}]},
}  # fmt: skip
POD = {
    "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "a"},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]},
    "status": {"phase": "Running"},
}  # fmt: skip
KINDS = {"nodes": ("Node", False), "pods": ("Pod", True), "resourcequotas": ("ResourceQuota", True)}


def listed(kind: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {}, "items": list(items)}


FORBIDDEN = {
    "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
    "message": 'pods is forbidden: User "alice" cannot list resource "pods" at the cluster scope',
}  # fmt: skip
RESOURCES = [
    {"name": name, "singularName": "", "kind": kind, "namespaced": namespaced, "verbs": ["get", "list"]}
    for name, (kind, namespaced) in KINDS.items()
]
ANSWERS: dict[str, dict[str, Any]] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": RESOURCES},
    "/version": {"major": "1", "minor": "30", "gitVersion": "v1.30.1"},
    "/api/v1/nodes": listed("Node", NODE),
    "/api/v1/pods": listed("Pod", POD),
    "/api/v1/namespaces/default/resourcequotas": listed("ResourceQuota"),
}


@pytest.fixture(scope="module")
def kubectl() -> str:
    script = Path(__file__).with_name("install-kubectl.sh")
    done = subprocess.run(["sh", str(script)], capture_output=True, text=True, check=False)  # noqa: TID251
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    found = shutil.which("kubectl")
    assert done.returncode == 0, done.stderr
    assert found is not None
    return found


@pytest.fixture
def answers() -> dict[str, dict[str, Any]]:
    return dict(ANSWERS)


@pytest.fixture
def server(answers: dict[str, dict[str, Any]]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # its name
            answer = answers.get(self.path.partition("?")[0])
            body = json.dumps(answer or {"kind": "Status", "status": "Failure", "code": 404}).encode()
            self.send_response(answer.get("code", 200) if answer else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Keep the tests' output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join(10)


async def asked(kubectl: str, home: Path, url: str) -> Answer[Workload]:
    config = home / "config"
    cluster = {"name": "c", "cluster": {"server": url}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context], "current-context": "c",
        "users": [{"name": "u", "user": {"token": "t"}}],
    }))  # fmt: skip
    environment = {"PATH": f"{Path(kubectl).parent}:{os.defpath}", "HOME": str(home), "KUBECONFIG": str(config)}
    dialect = KubernetesDialect()
    return dialect.parse_workload(await LocalTransport(environment).run_many(dialect.workload_commands()))


async def test_a_cluster_s_nodes_and_pods(kubectl: str, server: str, tmp_path: Path) -> None:
    answer = await asked(kubectl, tmp_path, server)
    assert answer.value is not None, answer.reason
    workload = answer.value
    assert workload.groups is not None
    (group,) = workload.groups
    assert (group.cpus_per_node, group.cores_per_node, group.cpus_free, group.nodes_up) == (64, 32, 60, 1)
    assert (workload.version, workload.jobs_running, workload.jobs_pending) == ("1.30.1", 1, 0)


async def test_what_may_not_be_seen_is_not_free(
    kubectl: str, server: str, answers: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    answers["/api/v1/pods"] = FORBIDDEN
    answer = await asked(kubectl, tmp_path, server)
    assert answer.value is not None, answer.reason
    assert answer.value.groups is not None
    assert (answer.value.groups[0].cpus_free, answer.value.jobs_running) == (None, None)


async def test_a_cluster_that_does_not_answer_is_unknown(kubectl: str, tmp_path: Path) -> None:
    answer = await asked(kubectl, tmp_path, "http://127.0.0.1:1")
    assert (answer.outcome, "127.0.0.1" in answer.reason) == (Outcome.UNKNOWN, True)
