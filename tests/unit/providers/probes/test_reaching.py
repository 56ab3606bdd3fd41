"""Headers of a network in front of something are not S3's own."""

import pytest

from dragoman.command import Completed
from dragoman.kleene import Truth
from providers.probes.base import Results
from providers.probes.storage.reaching import reached


@pytest.mark.parametrize(
    ("header", "body", "told"),
    [
        ("x-amz-cf-id: abc==", "<html>403</html>", Truth.UNKNOWN),
        ("X-Amz-Cf-Pop: FRA56-P5", "", Truth.UNKNOWN),
        ("x-amz-apigw-id: abc", '{"message": "Forbidden"}', Truth.UNKNOWN),
        ("x-amzn-requestid: abc", "", Truth.UNKNOWN),
        ("x-amz-request-id: 4442587FB7D0A2F9", "", Truth.YES),
        ("X-Amz-Id-2: abc", "", Truth.YES),
        ("x-amz-cf-id: abc==", "<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", Truth.YES),
    ],
)
def test_whose_words_an_answer_is_in(header: str, body: str, told: Truth) -> None:
    text = f"dragoman-http\nHTTP/1.1 403 Forbidden\r\nServer: x\r\n{header}\r\n\r\n{body}"
    results = Results(commands={"reach": Completed(("curl",), 0, text.encode(), b"")})
    assert reached(results, "reach", bucket=False).reachable is told
