"""All recipes that count for a site: the site's own before a person's before a centre's before those shipped.

A file that is wrong spoils its own recipe alone: the error is kept, and raised when that recipe is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath

import anyio
import anyio.to_thread

from dragoman.errors import RecipeError, UnknownName
from providers.recipes.model import Recipe
from providers.recipes.read import MOST_BYTES, parse_recipe

__all__ = ["SHIPPED", "Kept", "Shelf", "read_shelf", "shipped_shelf"]

SHIPPED = Path(__file__).parent / "shipped"
"""The folder of the recipes that come with Dragoman."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A recipe and where it lies; or why it cannot be used."""

    name: str
    where: str
    recipe: Recipe | None = None
    error: RecipeError | None = None
    shipped: bool = False

    def use(self) -> Recipe:
        """The recipe.

        Raises:
            RecipeError: its file is wrong.

        """
        if self.error is not None:
            raise self.error
        assert self.recipe is not None  # noqa: S101  # one of the two is there
        return self.recipe


@dataclass(frozen=True, slots=True)
class Shelf:
    """Recipes, the ones that count first."""

    kept: tuple[Kept, ...] = field(default=())

    def at(self, site: str | None) -> Shelf:
        """Those that are for a site, the site's special ones before the general ones; None: for no site in particular.

        Of each name the first counts.
        """
        fitting = [one for one in self.kept if _is_for(one.recipe, site)]
        if site is None:
            fitting.sort(key=lambda one: bool(one.recipe is not None and one.recipe.sites))
        else:
            fitting = [one for one in fitting if one.recipe and one.recipe.sites] + [
                one for one in fitting if not (one.recipe and one.recipe.sites)
            ]
        first: dict[str, Kept] = {}
        for one in fitting:
            first.setdefault(one.name, one)
        return Shelf(tuple(first.values()))

    def get(self, name: str) -> Kept:
        """The recipe of a name.

        Raises:
            UnknownName: there is none.

        """
        for one in self.kept:
            if one.name == name.lower():
                return one
        there = ", ".join(sorted({one.name for one in self.kept}))
        raise UnknownName(f"there is no recipe {name!r}", where="recipe", cure=f"there are {there}")

    def for_program(self, word: str) -> Kept | None:
        """The recipe that a command's program is of, by its name without folders."""
        program = PurePosixPath(word).name
        return next((one for one in self.kept if one.recipe is not None and program in one.recipe.programs), None)

    def for_software(self, names: Iterable[str]) -> Kept | None:
        """The recipe of the first of these packages that has one."""
        for name in names:
            for one in self.kept:
                if one.recipe is not None and name.lower() in {each.lower() for each in one.recipe.software}:
                    return one
        return None


def _is_for(recipe: Recipe | None, site: str | None) -> bool:
    return recipe is None or site is None or not recipe.sites or any(fnmatchcase(site, each) for each in recipe.sites)


def _kept(text: str, path: Path, *, shipped: bool = False) -> Kept:
    try:
        recipe = parse_recipe(text, str(path))
    except RecipeError as error:
        return Kept(path.stem.lower(), str(path), error=error)
    return Kept(recipe.name, str(path), recipe, shipped=shipped)


@cache
def shipped_shelf() -> Shelf:
    """The recipes that come with Dragoman; read once."""
    files = sorted(SHIPPED.glob("*.yaml"))
    return Shelf(tuple(_kept(path.read_text("utf-8"), path, shipped=True) for path in files))


async def read_shelf(folders: Sequence[Path]) -> Shelf:
    """The recipes of these folders, the first folder's first, and then the shipped ones.

    A folder that is not there holds none. A file that cannot be read keeps its error, as one that is wrong does.
    """
    found: list[Kept] = []
    for folder in folders:
        there = anyio.Path(folder)
        if not await there.is_dir():
            continue
        files = [path async for path in there.iterdir() if path.suffix in (".yaml", ".yml")]
        for path in sorted(files, key=str):
            found.append(await _read(path))
    shipped = await anyio.to_thread.run_sync(shipped_shelf)
    return Shelf((*found, *shipped.kept))


async def _read(path: anyio.Path) -> Kept:
    plain = Path(path)
    try:
        if (await path.stat()).st_size > MOST_BYTES:
            raise RecipeError(f"is larger than {MOST_BYTES} bytes", where=str(path), cure="a recipe is a few lines")
        return _kept((await path.read_bytes()).decode("utf-8-sig"), plain)
    except (OSError, UnicodeDecodeError) as error:
        wrong = RecipeError(f"cannot be read: {error}", where=str(path), cure="make it a readable UTF-8 file")
        return Kept(plain.stem.lower(), str(path), error=wrong)
    except RecipeError as error:
        return Kept(plain.stem.lower(), str(path), error=error)
