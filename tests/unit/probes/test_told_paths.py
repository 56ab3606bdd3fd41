"""What the site file says is there and is not found is unknown, not absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.observation import Outcome
from providers.probed import Question, ask_many
from providers.registry import probes
from providers.transports.local import LocalTransport


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["software/spack", "software/modules", "container/podman", "container/apptainer"])
async def test_a_wrong_path_is_no_absence(name: str, tmp_path: Path) -> None:
    probe: Any = probes.get(name)()
    key = (probe.path_keys or (probe.name,))[0]
    answers = await ask_many(LocalTransport(), [Question(probe, "probe")], paths={key: str(tmp_path / "mistyped")})
    assert answers[0].outcome is Outcome.UNKNOWN
    assert f"paths.{key}" in answers[0].reason
