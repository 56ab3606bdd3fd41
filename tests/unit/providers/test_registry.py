"""The registry: names, broken modules, third parties."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from dragoman.errors import ProviderImportError, UnknownName
from providers import registry
from providers.registry import Shelf, transports

Build = Callable[[dict[str, str]], Shelf[object]]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Build]:
    """A shelf over a package made of these modules; they register on it under the decorator's usual name."""
    name = f"shelf_{tmp_path.name.replace('-', '_')}"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    shelf: Shelf[object] = Shelf("dialect", name, group="dragoman.test-none")
    monkeypatch.setattr(registry, "register_dialect", shelf.register)

    def fill(modules: dict[str, str]) -> Shelf[object]:
        for path, text in modules.items():
            target = package / path
            target.parent.mkdir(exist_ok=True)
            (target.parent / "__init__.py").touch()
            target.write_text("from providers.registry import register_dialect\n" + textwrap.dedent(text))
        return shelf

    yield fill
    for module in [one for one in sys.modules if one.split(".")[0] == name]:
        del sys.modules[module]


GOOD = """
@register_dialect("good")
class Good:
    name = "good"
"""


def test_built_ins_are_found_on_first_look_up_also_in_folders(build: Build) -> None:
    shelf = build({"good.py": GOOD, "far/away.py": GOOD.replace("good", "far-one")})
    assert shelf.names() == ("far-one", "good")
    assert shelf.get("good")().name == "good"  # type: ignore[attr-defined]
    assert [name for name, _ in shelf.items()] == ["far-one", "good"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("import no_such_module_anywhere", ModuleNotFoundError),
        ("raise RuntimeError('half installed')", RuntimeError),
        ("x = = 1", SyntaxError),
    ],
)
def test_a_broken_module_is_told_when_its_name_is_looked_up_and_hides_nobody(
    build: Build, fault: str, kind: type[Exception]
) -> None:
    broken = '@register_dialect("odd-name")\nclass Odd:\n    pass\n' + fault + "\n"
    shelf = build({"good.py": GOOD, "broken.py": broken})
    assert shelf.names() == ("good",)
    for name in ("broken", "odd-name"):
        with pytest.raises(ProviderImportError, match="failed to import") as caught:
            shelf.get(name)
        assert isinstance(caught.value.__cause__, kind)
        assert caught.value.where.endswith(".broken")
    assert [type(error) for error in shelf.failures().values()] == [kind]


def test_an_unknown_name_lists_what_exists_and_what_is_broken(build: Build) -> None:
    shelf = build({"good.py": GOOD, "broken.py": "import no_such_module_anywhere"})
    with pytest.raises(UnknownName, match=r"there is no dialect 'slrum' \(there are good; failed to import: .*broken"):
        shelf.get("slrum")


def test_a_name_is_registered_by_one_class_only(build: Build) -> None:
    shelf = build({"a.py": GOOD, "b.py": GOOD})
    assert shelf.names() == ("good",)
    [error] = shelf.failures().values()
    assert isinstance(error, ProviderImportError)
    assert "already registered" in str(error)
    assert shelf.get("good").__module__.endswith(".a")


def test_bare_decorator_takes_category_and_name(build: Build) -> None:
    shelf = build(
        {
            "one.py": '@register_dialect\nclass One:\n    category = "software"\n    name = "spack"\n',
            "two.py": '@register_dialect\nclass Two:\n    name = "two"\n',
            "none.py": "@register_dialect\nclass Nameless:\n    pass\n",
        }
    )
    assert shelf.names() == ("software/spack", "two")
    assert [type(error) for error in shelf.failures().values()] == [TypeError]


def test_third_parties_come_through_entry_points(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = build({"good.py": GOOD, "other/extra.py": GOOD.replace("good", "extra")})
    points = (
        EntryPoint("mine", f"{shelf.package}.other.extra", shelf.group),
        EntryPoint("gone", "no_such_package.module", shelf.group),
    )
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == shelf.group else ())
    assert shelf.names() == ("extra", "good")
    with pytest.raises(ProviderImportError, match="no_such_package"):
        shelf.get("gone")


def test_what_is_shipped_imports() -> None:
    for shelf in (registry.dialects, registry.probes, registry.movers, registry.transports):
        assert dict(shelf.failures()) == {}
    assert "local" in transports.names()
