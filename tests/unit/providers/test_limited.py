"""What is switched off is neither there nor askable; a misspelling does not leave it on."""

import pytest

from dragoman.errors import SiteFileError, UnknownName
from dragoman.observation import Category
from providers.limited import switch_off
from providers.simulated.provider import SimulatedProvider
from providers.simulated.state import SimulatedState
from providers.verbs import PackageQuery

STATE = SimulatedState(managers=("pip", "spack"))
PROVIDERS = [SimulatedProvider(Category.SOFTWARE, name, STATE) for name in ("pip", "spack")]


def test_a_provider_is_taken_away() -> None:
    assert [provider.name for provider in switch_off(PROVIDERS, ["software/pip"], site="a")] == ["spack"]


@pytest.mark.anyio
async def test_a_verb_is_taken_away() -> None:
    pip, spack = switch_off(PROVIDERS, ["software/pip.find_package"], site="a")
    assert list(pip.verbs) == ["probe"]
    assert list(spack.verbs) == ["probe", "find_package"]
    with pytest.raises(UnknownName, match="it has probe"):
        await pip.call("find_package", PackageQuery(name="ase"))


@pytest.mark.parametrize("name", ["software/pipp", "software/pip.find", "container/docker", "software"])
def test_a_name_that_switches_nothing_off_is_an_error(name: str) -> None:
    with pytest.raises(SiteFileError, match="switch off") as caught:
        switch_off(PROVIDERS, [name], site="a")
    assert "software/spack" in caught.value.cure


def test_a_provider_without_verbs_is_not_shown() -> None:
    off = ["software/pip.probe", "software/pip.find_package"]
    assert [provider.name for provider in switch_off(PROVIDERS, off, site="a")] == ["spack"]
