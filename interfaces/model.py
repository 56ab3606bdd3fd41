"""The chat model and the conventions that the settings name."""

from __future__ import annotations

from dragoman.errors import SettingsError
from dragoman.settings import Settings
from graph.model.desk import ModelDesk, ModelLimits
from graph.model.providers import ModelAccess, open_chat_model
from graph.verdict.conventions import STRICT, Conventions, read_conventions

__all__ = ["conventions_of", "model_desk"]


def model_desk(settings: Settings) -> ModelDesk | None:
    """Where the model is to be had; None: none is configured. Nothing is imported or opened yet."""
    spec = settings.model
    if spec is None:
        return None
    access = ModelAccess(
        openai_api_key=settings.openai_api_key,
        openai_base_url=settings.openai_base_url,
        google_api_key=settings.google_api_key,
        google_base_url=settings.google_base_url,
        timeout_s=settings.model_timeout_s,
    )
    limits = ModelLimits(
        calls=settings.model_calls,
        seconds=settings.model_timeout_s,
        usd_in=settings.model_usd_in,
        usd_out=settings.model_usd_out,
        most_usd=settings.model_most_usd,
    )
    return ModelDesk(spec, lambda: open_chat_model(spec, access), limits)


def conventions_of(settings: Settings) -> Conventions:
    """What may stand for what.

    Raises:
        SettingsError: the file cannot be read.
        BadRequest: it is wrong, with the field.

    """
    path = settings.conventions_file
    if path is None:
        return STRICT
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", where=str(path), cure="mend or remove the setting") from error
    return read_conventions(text, where=str(path))
