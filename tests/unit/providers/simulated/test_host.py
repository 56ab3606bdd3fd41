"""The simulated host answers the questions of the real one."""

from __future__ import annotations

import pytest

from dragoman.facts import SecurityPolicy, Tenancy
from dragoman.observation import Category, Outcome
from providers.simulated.provider import SimulatedProvider, named_in
from providers.simulated.state import SimulatedState
from providers.verbs import NoArguments

pytestmark = pytest.mark.anyio

STATE = SimulatedState.read(
    {
        "tenancy": {"users_logged_in": 12, "others_running": True, "load_1m": 3.5},
        "policy": {"selinux": "enforcing", "fips": False, "limits": [{"name": "open files", "soft": 1024}]},
    },
    where="test",
)


async def test_what_the_state_names_is_told() -> None:
    assert named_in(STATE) == [(Category.HARDWARE, "host")]
    host = SimulatedProvider(Category.HARDWARE, "host", STATE)
    assert set(host.verbs) == {"probe", "tenancy", "policy"}
    tenancy = await host.call("tenancy", NoArguments())
    assert isinstance(tenancy.value, Tenancy)
    assert tenancy.value.dump() == {"users_logged_in": 12, "others_running": "yes", "load_1m": 3.5}
    policy = await host.call("policy", NoArguments())
    assert isinstance(policy.value, SecurityPolicy)
    assert (policy.value.selinux, policy.value.limits[0].soft) == ("enforcing", 1024)
    assert (await host.call("probe", NoArguments())).outcome is Outcome.OK


async def test_what_it_does_not_name_is_absent() -> None:
    only = SimulatedProvider(Category.HARDWARE, "host", STATE.model_copy(update={"policy": None}))
    assert (await only.call("policy", NoArguments())).outcome is Outcome.ABSENT
    none = SimulatedProvider(Category.HARDWARE, "host", SimulatedState())
    assert [(await none.call(verb, NoArguments())).outcome for verb in none.verbs] == [Outcome.ABSENT] * 3
