"""The base of every word that is stored or sent: frozen, strict about names, dumped to plain JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, JsonValue

__all__ = ["Json", "JsonObject", "JsonValue", "Model", "Moment", "now"]

Json = JsonValue
JsonObject = dict[str, JsonValue]


def now() -> datetime:
    """The current time, with its zone (UTC)."""
    return datetime.now(UTC)


def _to_utc(value: object) -> object:
    if not isinstance(value, datetime) or value.tzinfo in (None, UTC):
        return value
    return value.astimezone(UTC)


Moment = Annotated[AwareDatetime, BeforeValidator(_to_utc)]
"""An instant with a zone. A time without one is refused: guess nothing."""


class Model(BaseModel):
    """A value: never changed in place, never with a field nobody knows, never with a number that JSON does not have.

    Errors do not repeat what was given: it may be a secret, and logs keep errors.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_enum_values=False, validate_default=True, allow_inf_nan=False,
        hide_input_in_errors=True,
    )  # fmt: skip

    def dump(self) -> JsonObject:
        """Plain JSON data, as stored in the ledger and in graph state; empty fields are left out."""
        dumped: JsonObject = self.model_dump(mode="json", exclude_defaults=True)
        return dumped
