"""Where recipes lie: the site's folder, the person's own, those of the settings, and the shipped ones."""

from __future__ import annotations

from pathlib import Path

from dragoman.settings import Settings
from dragoman.site import Site
from providers.recipes.shelf import Shelf, read_shelf

__all__ = ["RecipeFolders"]


class RecipeFolders:
    """Reads the folders anew each time: a recipe that was mended counts for the next request.

    Args:
        settings: with the folders of a centre.

    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def folders(self, site: Site | None) -> tuple[Path, ...]:
        """The folders, the one that counts first, without the shipped one."""
        own = (self.settings.own_recipes_dir, *self.settings.recipe_dirs)
        if site is None or site.recipes is None:
            return own
        return (Path(site.recipes), *own)

    async def shelf(self, site: Site | None) -> Shelf:
        """All recipes for a site, or for no site in particular; files that are wrong keep their errors."""
        return await read_shelf(self.folders(site))
