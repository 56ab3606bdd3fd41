"""Whether an S3 endpoint answers, and whether it has a bucket: one request without credentials, by curl or Python.

An endpoint is known by the words that S3 answers with (`x-amz-request-id`, `x-amz-id-2`, an `<Error>` document): a
login page, a proxy in between or a network in front that has `x-amz-` headers of its own is none.
Sources: curl(1) ("Exit codes"), "Error responses" and HeadBucket of the S3 API reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from dragoman.command import Command
from dragoman.kleene import Truth
from providers.probes.base import Results, brief, no_answer, question

__all__ = ["Reached", "endpoint_of", "reach", "reached"]

# `-q` comes first: a .curlrc could add credentials. Neither of the two follows where it is sent.
_REACH = r"""
url=$1 method=$2
if command -v curl >/dev/null 2>&1; then
  echo dragoman-http
  [ "$method" = HEAD ] && set -- -I || set --
  exec curl -q -g -sS --proto '=http,https' --connect-timeout 5 --max-time 8 -r 0-2047 -D - "$@" -- "$url"
fi
for python in python3 python; do
  command -v "$python" >/dev/null 2>&1 || continue
  echo dragoman-http
  exec "$python" -I -c '
import sys
try:
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit
    import ssl, socket
    url = urlsplit(sys.argv[1])
    make = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = make(url.hostname, url.port, timeout=6)
    connection.request(sys.argv[2], url.path or "/")
    answer = connection.getresponse()
    head = "HTTP/1.1 %d\n%s\n" % (answer.status, "".join("%s: %s\n" % pair for pair in answer.getheaders()))
    sys.stdout.write(head + answer.read(2048).decode("utf-8", "replace"))
except ConnectionRefusedError as error:
    sys.stderr.write("%s\n" % error)
    sys.exit(7)
except Exception as error:
    sys.stderr.write("%s: %s\n" % (type(error).__name__, error))
    sys.exit(2)
' "$url" "$method"
done
echo dragoman-no-client
"""
_REFUSED: Final = 7
"""curl's exit code where nothing listens."""
_HEAD: Final = re.compile(r"HTTP/[\d.]+ (?P<status>\d{3})[^\n]*\n(?P<fields>(?:[^\n]+\n)*)\n?")


@dataclass(frozen=True, slots=True)
class Reached:
    """What one request showed."""

    reachable: Truth = Truth.UNKNOWN
    there: Truth = Truth.UNKNOWN
    """The bucket, where one was asked for."""
    reason: str = ""


def endpoint_of(address: str) -> tuple[str, str] | None:
    """Scheme, host and port of an address, and the bucket in its path, without user and password."""
    try:
        parts = urlsplit(address.strip())
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or re.fullmatch(r"[A-Za-z0-9.-]+|[0-9a-fA-F:]+", host) is None:
        return None
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{port}", parts.path.strip("/").partition("/")[0]


def reach(endpoint: str, bucket: str = "") -> Command:
    """Ask the endpoint for its root, or for the head of a bucket."""
    return question("/bin/sh", "-c", _REACH, "sh", f"{endpoint}/{bucket}", "HEAD" if bucket else "GET", timeout_s=12.0)


def reached(results: Results, name: str, *, bucket: bool) -> Reached:
    """What the answer of `reach` shows; anything that is not S3's own word leaves it unknown."""
    trouble, done = no_answer(results, name, lines=False), results.done(name)
    if trouble is not None or done is None:
        return Reached(reason=trouble.reason if trouble else "it was not asked")
    mark, _, text = done.out.replace("\r\n", "\n").partition("\n")
    if mark == "dragoman-no-client":
        return Reached(reason="there is neither curl nor Python to reach it with")
    if mark != "dragoman-http" or done.rc != 0:
        gone = mark == "dragoman-http" and done.rc == _REFUSED
        words = done.err.strip() or done.out.strip() or f"exit {done.rc}"
        return Reached(reachable=Truth.NO if gone else Truth.UNKNOWN, reason=brief(words, 200))
    status, fields, body = _last_answer(text)
    if status is None:
        return Reached(reason=f"what answers is not HTTP: {brief(text, 100)}")
    own = re.search(r"^x-amz-(?:request-id|id-2)[ \t]*:", fields, re.IGNORECASE | re.MULTILINE) is not None
    own = (
        own
        or re.match(r"\s*(?:<\?xml[^>]*>\s*)?<(?:Error|ListAllMyBucketsResult|ListBucketResult)\b", body) is not None
    )
    if not own or status == 407 or status >= 500:
        return Reached(reason=f"something answers (HTTP {status}), but not as S3 does: {brief(body, 80) or 'no words'}")
    if not bucket:
        return Reached(reachable=Truth.YES)
    there = {200: Truth.YES, 206: Truth.YES, 301: Truth.YES, 307: Truth.YES, 404: Truth.NO}.get(status, Truth.UNKNOWN)
    reason = {
        404: "the endpoint has no such bucket",
        401: "the endpoint wants credentials",
        403: "the endpoint wants credentials",
    }.get(status, "")
    return Reached(Truth.YES, there, reason)


def _last_answer(text: str) -> tuple[int | None, str, str]:
    """Status, header and body of the last answer: a proxy's and interim ones come before it."""
    found: tuple[int | None, str, str] = (None, "", text)
    while (match := _HEAD.match(found[2])) is not None:
        found = int(match["status"]), match["fields"], found[2][match.end() :]
    return found
