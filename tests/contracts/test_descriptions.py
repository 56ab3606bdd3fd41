"""Every read-only tool says what it tells, when to use it and when not: a model has nothing else to choose by."""

import re
from itertools import combinations
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from dragoman.observation import Category
from dragoman.protocols import Verb
from dragoman.site import Site
from providers.registry import dialects, probes
from providers.site_runtime import open_site
from providers.verbs import category_verbs
from tools.reading import reading_tools
from tools.scripts import script_tools

USE = re.compile(r"\bUse it (?P<use>[^;.]+)[;.]")
NOT = re.compile(r"[;,.] (?:and )?[Nn]ot (?P<instead>(?:for|to|as|where|by) [^;.]+)")
EMPTY = frozenset(
    re.findall(
        "[a-z]+",
        "a all an and any anything are as at be by case cases do else for from here if in is it its like more needed"
        " not of on one only or other others out than that the there these this those to tool use used way what when"
        " where which with you your if necessary required appropriate needed something things",
    )
)


def verbs() -> dict[str, Verb]:
    """Of all registered probes, and of every category: those that the scheduler's client answers too."""
    found = {f"{probe}.{verb.name}": verb.verb for probe, make in probes.items() for verb in make().verbs}
    for category in Category:
        names = ("cpu", "memory", "nvidia", "host") if category is Category.HARDWARE else ("x",)
        found |= {
            f"{category.value}/{name}.{one.name}": one for name in names for one in category_verbs(category, name)
        }
    return found


def every_tool() -> dict[str, str]:
    """Descriptions by tool: of all tools of a site for each scheduler, and of those about scripts."""
    tools: list[BaseTool] = [*script_tools()]
    for scheduler in dialects.names():
        tools += reading_tools(open_site(Site(name="here", scheduler=scheduler)).view)
    assert all((tool.metadata or {})["acts"] is False for tool in tools)
    return {tool.name: tool.description for tool in tools}


def telling(text: str, *, but: str = "") -> set[str]:
    """The words of a text that say something: neither empty ones nor those of the tool's own name."""
    return {word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in EMPTY and word not in but.lower()}


def faults(name: str, description: str) -> list[str]:
    """What is missing in a description."""
    use, instead = USE.search(description), NOT.search(description)
    found = [] if use else ["it does not say when to use it"]
    found += [] if instead else ["it does not say when not to use it"]
    if use and instead:
        when, not_when = telling(use["use"], but=name), telling(instead["instead"], but=name)
        found += [] if len(when) >= 3 else ["its «use it» names nothing"]
        found += [] if len(not_when) >= 2 else ["its «not for» names nothing"]
        found += [] if when != not_when else ["the two are the same"]
        what = description[: use.start()]
        found += [] if len(telling(what, but=name)) >= 4 else ["it does not say what it tells"]
    return found


def test_every_read_only_tool_says_when_to_use_it_and_when_not() -> None:
    told = {name: faults(name, text) for name, text in every_tool().items()}
    assert len(told) > 60
    assert {name: found for name, found in told.items() if found} == {}


@pytest.mark.parametrize("name", sorted(verbs()))
def test_every_verb_of_the_registry_does_too(name: str) -> None:
    assert faults(name, verbs()[name].description) == []


def test_no_two_kinds_of_question_say_the_same() -> None:
    kinds: dict[str, Any] = {verb.description: verb for verb in verbs().values()}
    said = []
    for description in kinds:
        use, instead = USE.search(description), NOT.search(description)
        assert use
        assert instead
        said.append((description[:40], telling(use["use"]), telling(instead["instead"])))
    assert len(said) >= 16
    for one, other in combinations(said, 2):
        assert one[1] != other[1], (one[0], other[0])
        assert one[2] != other[2], (one[0], other[0])


@pytest.mark.parametrize(
    "trivial",
    [
        "",
        "Gives queues, nodes, cores, memory and jobs of the manager.",
        "Gives queues, nodes, cores, memory and jobs. Use it when needed; not for other things.",
        "Gives queues, nodes, cores, memory and jobs. Use it for workload resources; not for anything else.",
        "Gives queues, nodes, cores, memory and jobs. Use it for size, start, limits; not for size, start, limits.",
        "Use it for size, start and limits of jobs; not for software or balances of accounts.",
        "Queues. Use it for size, start and limits of jobs.",
    ],
)
def test_an_empty_phrase_is_not_enough(trivial: str) -> None:
    assert faults("workload_slurm_resources", trivial)
