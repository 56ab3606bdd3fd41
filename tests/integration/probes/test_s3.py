"""S3 endpoints over real HTTP: by curl and by Python, with servers that answer, refuse, hang and are something else."""

import shutil
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dragoman.kleene import Truth
from dragoman.site import Site
from providers.probed import Question, ask_many
from providers.probes.storage.s3 import S3
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio

DENIED = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'
)


class Store(BaseHTTPRequestHandler):
    """Answers as an object store does: `/open` is a public bucket, `/closed` is not, and there is no other one."""

    asked: ClassVar[list[tuple[str, str, str | None]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.command, self.path, self.headers.get("Authorization")))
        status = {"/": 403, "/open": 200, "/closed": 403}.get(self.path, 404)
        self.send_response(status)
        self.send_header("x-amz-request-id", "4442587FB7D0A2F9")
        self.send_header("Content-Type", "application/xml")
        body = DENIED if self.command == "GET" else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  # the name is the server's

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class Page(BaseHTTPRequestHandler):
    """A web page, such as a login that stands before everything."""

    def do_GET(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/login")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815  # the name is the server's

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def store() -> Iterator[str]:
    Store.asked.clear()
    yield from serving(Store)


@pytest.fixture
def page() -> Iterator[str]:
    yield from serving(Page)


@pytest.fixture(params=["curl", "python3"])
def transport(request: pytest.FixtureRequest, tmp_path: Path) -> LocalTransport:
    """A host that has one of the two programs."""
    for name in ("sh", "sed", request.param):
        found = shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")
        if found is None:
            pytest.skip(f"there is no {name} here")
        (tmp_path / name).symlink_to(found)
    (tmp_path / ".curlrc").write_text('user = "me:secret"\n')
    (tmp_path / ".netrc").write_text("default login me password secret\n")
    return LocalTransport({"PATH": str(tmp_path), "HOME": str(tmp_path)})


async def seen(transport: LocalTransport, *mounts: str, **paths: str) -> dict[str, tuple[Truth, Truth, str]]:
    described: Any = [{"mount": mount, "kind": "s3"} for mount in mounts]
    probe = S3.for_site(Site(name="x", scheduler="machine", file_systems=described))
    answer = (await ask_many(transport, [Question(probe, "file_systems")], paths=paths))[0]
    assert answer.value is not None, answer.reason
    assert all(each.size_bytes is None and each.free_bytes is None for each in answer.value.file_systems)
    return {each.mount: (each.reachable, each.healthy, each.reason) for each in answer.value.file_systems}


async def test_an_endpoint_and_its_buckets(transport: LocalTransport, store: str) -> None:
    told = await seen(transport, store, "s3://open", "s3://closed/run1", f"{store}/nowhere", s3=store)
    assert told == {
        store: (Truth.YES, Truth.UNKNOWN, ""),
        "s3://open": (Truth.YES, Truth.YES, ""),
        "s3://closed/run1": (Truth.YES, Truth.UNKNOWN, "the endpoint wants credentials"),
        f"{store}/nowhere": (Truth.YES, Truth.NO, "the endpoint has no such bucket"),
    }
    assert sorted(Store.asked) == [
        ("GET", "/", None), ("HEAD", "/closed", None), ("HEAD", "/nowhere", None), ("HEAD", "/open", None),
    ]  # fmt: skip


async def test_what_is_something_else_is_unknown(transport: LocalTransport, page: str) -> None:
    reachable, healthy, reason = (await seen(transport, page))[page]
    assert (reachable, healthy) == (Truth.UNKNOWN, Truth.UNKNOWN)
    assert "HTTP 302" in reason


async def test_nobody_listens(transport: LocalTransport) -> None:
    with socket.socket() as taken:  # bound, and not listening
        taken.bind(("127.0.0.1", 0))
        mount = f"http://127.0.0.1:{taken.getsockname()[1]}"
        reachable, _, reason = (await seen(transport, mount))[mount]
    assert reachable is Truth.NO
    assert "refused" in reason.lower() or "connect" in reason.lower()


async def test_one_that_never_answers_is_unknown(transport: LocalTransport) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mount = f"http://127.0.0.1:{silent.getsockname()[1]}"
        reachable, _, reason = (await seen(transport, mount))[mount]
    assert reachable is Truth.UNKNOWN
    assert "timed out" in reason.lower()


async def test_a_bucket_whose_endpoint_is_not_known_is_not_asked(transport: LocalTransport, store: str) -> None:
    told = await seen(transport, "s3://open")
    assert told["s3://open"][0] is Truth.UNKNOWN
    assert "paths.s3" in told["s3://open"][2]
    assert Store.asked == []
