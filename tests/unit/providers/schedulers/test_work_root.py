"""Where attempts lie: absolute, or by the site's own variables, which are asked for and never empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import SiteFileError, TransportError
from providers.fleet import parse_fleet
from providers.schedulers.work_root import WORK_ROOT, find_work_root
from providers.transports.local import LocalTransport


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ("/scratch/ann/dragoman/", "/scratch/ann/dragoman"),
        ("$SCRATCH/dragoman", "/lus/my data/dragoman"),
        ("$SCRATCH", "/lus/my data"),
        ("/scratch/$WHO/$WHO/x", "/scratch/ann;id/ann;id/x"),
    ],
)
async def test_the_folder(stated: str, found: str) -> None:
    transport = LocalTransport({"PATH": "/usr/bin:/bin", "SCRATCH": "/lus/my data", "WHO": "ann;id"})
    assert WORK_ROOT.fullmatch(stated)
    assert await find_work_root(stated, transport, "here") == found


@pytest.mark.parametrize("stated", ["$NOT_SET/dragoman", "/scratch/$EMPTY/x", "$RELATIVE/x"])
async def test_what_is_not_told_is_an_error_and_no_empty_name(stated: str) -> None:
    transport = LocalTransport({"PATH": "/usr/bin:/bin", "EMPTY": "", "RELATIVE": "here"})
    with pytest.raises(TransportError, match=r"does not tell|not absolute"):
        await find_work_root(stated, transport, "here")


@pytest.mark.parametrize("stated", ["scratch/x", "~/x", "$(id)/x", "/a/${USER}/x", "$", "/a\nb"])
def test_what_is_no_folder_is_refused_with_its_line(stated: str) -> None:
    assert WORK_ROOT.fullmatch(stated) is None


def test_a_sites_file() -> None:
    def fleet(scheduler: str, root: str) -> str | None:
        text = f"sites:\n- name: a\n  scheduler: {scheduler}\n  work_root: {root}\n"
        return parse_fleet(text, "sites.yaml").sites[0].work_root

    assert fleet("slurm", "$SCRATCH/dragoman") == "$SCRATCH/dragoman"
    with pytest.raises(SiteFileError, match=r"sites\.yaml:4: sites\.0\.work_root: is not an absolute path"):
        fleet("slurm", "scratch")
    with pytest.raises(SiteFileError, match="a machine's queue wants a plain path"):
        fleet("machine", "$SCRATCH/dragoman")


def test_a_folder_of_recipes_lies_beside_the_sites_file(tmp_path: Path) -> None:
    text = "sites:\n- {name: a, scheduler: slurm, recipes: ours}\n- {name: b, scheduler: slurm, recipes: /etc/ours}\n"
    first, second = parse_fleet(text, str(tmp_path / "sites.yaml")).sites
    assert (first.recipes, second.recipes) == (str(tmp_path / "ours"), "/etc/ours")
