"""Schedulers whose scripts are read and that run nothing: every other verb refuses, and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.command import Completed
from dragoman.errors import BadRequest, DragomanError
from dragoman.job import JobRef, JobSpec
from dragoman.observation import Outcome
from dragoman.protocols import Dialect
from dragoman.shape import Shape
from providers.registry import dialects

NAMES = [name for name, make in dialects.items() if getattr(make, "only_scripts", False)]
SPEC = JobSpec(tag="dgm-0123456789ab-a0", shape=Shape(), work_dir="/w/work", control_dir="/w", body="./app\n")
REF = JobRef(job_id="1")
SINCE = datetime(2024, 3, 1, tzinfo=UTC)
VERBS: dict[str, Callable[[Dialect], object]] = {
    "render": lambda dialect: dialect.render(SPEC),
    "submit": lambda dialect: dialect.submit_command(SPEC, "/w/script"),
    "status": lambda dialect: dialect.status_commands([REF]),
    "cancel": lambda dialect: dialect.cancel_command(REF),
}

pytestmark = pytest.mark.parametrize("name", NAMES)


def test_there_are_some(name: str) -> None:
    assert isinstance(dialects.get(name)(), Dialect)
    assert {"cobalt", "moab"} <= set(NAMES)


@pytest.mark.parametrize("verb", VERBS)
def test_every_other_verb_refuses_with_a_cure(name: str, verb: str) -> None:
    with pytest.raises(BadRequest, match=name) as told:
        VERBS[verb](dialects.get(name)())
    assert told.value.cure


def test_nothing_is_asked_and_nothing_is_known(name: str) -> None:
    dialect = dialects.get(name)()
    done = Completed(("x",), 0, b"Job 1 completed", b"")
    assert dialect.workload_commands() == []
    assert dialect.find_commands(SPEC.tag, SINCE) == []
    assert dialect.parse_status(done, [REF]).trouble
    assert dialect.parse_cancel(done).outcome is Outcome.UNKNOWN
    assert dialect.parse_find(done, SPEC.tag).outcome is Outcome.UNKNOWN


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=300) | st.text(st.sampled_from("#COBALTMSUB-=\n lqntA:,'\"0123456789"), max_size=120))
def test_no_script_raises_but_with_a_cure(name: str, text: str) -> None:
    try:
        dialects.get(name)().read_script(text)
    except DragomanError as error:
        told = error
    else:
        return
    assert told.cure
