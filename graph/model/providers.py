"""Chat models by provider and name: `openai:NAME`, `google:NAME`, and those of third parties.

A third party registers a maker with `@register_model("name")` in a module that the entry point group `dragoman.models`
names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from dragoman.errors import ProviderImportError, SettingsError, UnknownName
from graph.model.limits import MOST_ANSWER_TOKENS

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["GROUP", "Maker", "ModelAccess", "model_providers", "open_chat_model", "register_model"]

GROUP = "dragoman.models"


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Keys and addresses, handed down from the settings."""

    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    """Of any OpenAI-compatible service, on-premises too; None: OpenAI's own."""
    google_api_key: SecretStr | None = None
    google_base_url: str | None = None
    timeout_s: float = 30.0


Maker = Callable[[str, ModelAccess], "BaseChatModel"]
_makers: dict[str, Maker] = {}
_found = False
_broken: dict[str, str] = {}


def register_model(provider: str) -> Callable[[Maker], Maker]:
    """Register the maker of a provider's chat models.

    Have them answer in `MOST_ANSWER_TOKENS` tokens at most, which their cost is reckoned by, and not repeat a call by
    themselves: a call that was not answered is counted, and made again, by `graph.model.talk.Talk`.
    """

    def keep(make: Maker) -> Maker:
        _makers[provider] = make
        return make

    return keep


def model_providers() -> tuple[str, ...]:
    """Names of providers of chat models; those of third parties are found on first use, broken ones are kept."""
    global _found
    if not _found:
        _found = True
        for point in entry_points(group=GROUP):
            try:
                point.load()
            except Exception as error:  # noqa: BLE001  # told when it is asked for
                _broken[point.name] = f"{type(error).__name__}: {error}"
    return tuple(sorted(_makers))


def open_chat_model(spec: str, access: ModelAccess) -> BaseChatModel:
    """The chat model that `provider:name` means. Nothing is asked of it yet. Imports its library: call it in a thread.

    Raises:
        SettingsError: no name, or a key is missing.
        UnknownName: no such provider.
        ProviderImportError: its module failed to import.

    """
    provider, colon, name = spec.partition(":")
    if not colon or not name:
        raise SettingsError(f"{spec!r} names no model", where="model", cure="write it like openai:NAME or google:NAME")
    there = model_providers()
    if provider in _broken and provider not in _makers:
        raise ProviderImportError(_broken[provider], where=f"{GROUP}: {provider}", cure="mend or remove that package")
    if provider not in _makers:
        raise UnknownName(f"no provider of models {provider!r}", where="model", cure=f"there are {', '.join(there)}")
    return _makers[provider](name, access)


@register_model("openai")
def _openai(name: str, access: ModelAccess) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    if access.openai_api_key is None and access.openai_base_url is None:
        raise SettingsError("no key for this model", where="model", cure="set OPENAI_API_KEY, or OPENAI_BASE_URL")
    given: dict[str, Any] = {
        "model": name,
        # A service of one's own may want no key; the client wants some.
        "api_key": access.openai_api_key or SecretStr("none"),
        "base_url": access.openai_base_url,
        "timeout": access.timeout_s,
        "max_retries": 0,
        "max_completion_tokens": MOST_ANSWER_TOKENS,
        "temperature": 0,
    }
    return ChatOpenAI(**given)


@register_model("google")
def _google(name: str, access: ModelAccess) -> BaseChatModel:
    from langchain_google_genai import ChatGoogleGenerativeAI

    if access.google_api_key is None:
        raise SettingsError("no key for this model", where="model", cure="set GOOGLE_API_KEY")
    return ChatGoogleGenerativeAI(
        model=name,
        api_key=access.google_api_key,
        base_url=access.google_base_url,
        api_version="v1beta",
        vertexai=False,
        timeout=access.timeout_s,
        max_retries=1,  # tries, the first included
        max_tokens=MOST_ANSWER_TOKENS,
        temperature=0,
    )
