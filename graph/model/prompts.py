"""The prompts, as they lie in `graph/prompts`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

__all__ = ["prompt"]

_FOLDER = Path(__file__).parent.parent / "prompts"


@lru_cache
def prompt(name: str) -> str:
    """The text of one prompt; read once."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
