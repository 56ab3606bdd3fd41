"""All settings, from the environment, a `.env`-free settings file and defaults. Nothing else reads the environment."""

from __future__ import annotations

import os
import pwd
from functools import cached_property
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from dragoman.errors import SettingsError
from dragoman.model import JsonObject
from dragoman.request import Policy
from dragoman.selection import ApprovalRule

__all__ = ["Settings", "command_environment", "read_settings"]

SHIPPED_RULE = ApprovalRule(name="this machine at no cost", sites=("local",), max_cost=0.0)
"""The only rule in force until somebody writes another: the machine at hand, shown to cost nothing."""


def _home() -> Path:
    """`$HOME`, as every program takes it; where it is not set or no absolute path, the home of the user's entry."""
    home = os.environ.get("HOME", "")
    return Path(home if home.startswith("/") else pwd.getpwuid(os.getuid()).pw_dir)


def _data_home() -> Path:
    """`$XDG_DATA_HOME/dragoman`; root's private home is no place for a server that runs as another user."""
    if os.geteuid() == 0:
        return Path("/var/lib/dragoman")
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else _home() / ".local/share") / "dragoman"


def _config_home() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else _home() / ".config") / "dragoman"


class _FileSource(PydanticBaseSettingsSource):
    """The YAML settings file, below the environment and above the defaults."""

    def __init__(self, settings_cls: type[BaseSettings], data: JsonObject) -> None:
        super().__init__(settings_cls)
        self.data = data

    def get_field_value(self, field: object, field_name: str) -> tuple[object, str, bool]:
        return self.data.get(field_name), field_name, False

    def __call__(self) -> dict[str, object]:
        return dict(self.data)


class Settings(BaseSettings):
    """Everything that can be set: `DRAGOMAN_<NAME>` in the environment, or `<name>` in the settings file."""

    model_config = SettingsConfigDict(env_prefix="DRAGOMAN_", extra="forbid", frozen=True, populate_by_name=True)

    data_dir: Path = Field(default_factory=_data_home)
    """Embedded database, secrets and results."""
    sites_file: Path | None = None
    """The fleet; None: this machine alone."""
    database_url: SecretStr | None = Field(default=None, validation_alias="DATABASE_URL")
    """PostgreSQL; None: an embedded one in `data_dir`."""
    database_pooler: bool = False
    """The database stands behind a transaction pooler: no prepared statements."""
    database_pool_size: PositiveInt = 8
    policy: Policy = "soonest"
    approval_rules: tuple[ApprovalRule, ...] = (SHIPPED_RULE,)
    api_url: str = "http://127.0.0.1:2024"
    """The LangGraph server that owns threads started there."""
    lease_s: PositiveFloat = 30
    """A thread's owner must renew within this time."""
    site_timeout_s: PositiveFloat = 60
    """A secretary that takes longer becomes an UNKNOWN proposal."""
    sites_at_once: PositiveInt = 32
    max_resume_tries: PositiveInt = 5
    """A thread that fails this often in a row at one place is parked with its error."""
    file_latency_s: PositiveFloat = 30
    """How long an output may stay invisible after the job's end (network file systems)."""
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    google_api_key: SecretStr | None = Field(default=None, validation_alias="GOOGLE_API_KEY")
    google_base_url: str | None = Field(default=None, validation_alias="GOOGLE_GEMINI_BASE_URL")
    model: str | None = None
    """Chat model, such as `openai:NAME` or `google:NAME`; None: the deterministic secretary alone."""
    model_calls: PositiveInt = 2
    """Calls of the model for one site and request at most, those that were not answered included."""
    model_timeout_s: PositiveFloat = 30
    """Of one call."""
    model_usd_in: NonNegativeFloat | None = None
    """Price of a million tokens that the model reads; None: not known."""
    model_usd_out: NonNegativeFloat | None = None
    """Price of a million tokens that the model writes."""
    model_most_usd: PositiveFloat | None = None
    """What one negotiation may spend on the model; where the prices are not set, this lets no call through."""
    recipe_dirs: tuple[Path, ...] = ()
    """Folders of a centre's recipes (docs/recipes.md); a person's own in the configuration folder come before them."""
    conventions_file: Path | None = None
    """What may stand for what when a request is held against a site (YAML); None: the strict reading."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    wait_poll_s: PositiveFloat = 1.0
    """How often a waiting command looks at the ledger."""

    @cached_property
    def results_dir(self) -> Path:
        """Where results are brought back to, a folder for each thread."""
        return self.data_dir / "results"

    @cached_property
    def own_recipes_dir(self) -> Path:
        """The person's own recipes: `recipes` in the user's configuration folder."""
        return _config_home() / "recipes"

    @cached_property
    def secrets_dir(self) -> Path:
        """Secret values by key, one 0600 file each."""
        return self.data_dir / "secrets"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments before the environment before the file; no dotenv."""
        return init_settings, env_settings, _FileSource(settings_cls, _read_file(settings_path()))


def settings_path() -> Path:
    """The settings file: `DRAGOMAN_SETTINGS`, or `settings.yaml` in the user's configuration folder."""
    named = os.environ.get("DRAGOMAN_SETTINGS")
    return Path(named) if named else _config_home() / "settings.yaml"


def _read_file(path: Path) -> JsonObject:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", where=str(path), cure="mend or remove the file") from error
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SettingsError(f"is not YAML: {error}", where=str(path), cure="mend the line named") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError("must hold names and values", where=str(path), cure="write `policy: soonest`, for example")
    return data


def read_settings(**overrides: object) -> Settings:
    """The settings in force; `overrides` win.

    Raises:
        SettingsError: with the field and the cure.

    """
    try:
        return Settings(**overrides)  # type: ignore[arg-type]  # validated by pydantic
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise SettingsError(first["msg"], where=field, cure=_cure(first["type"], first["loc"])) from error


def _cure(kind: str, place: tuple[int | str, ...]) -> str:
    if kind == "extra_forbidden" and len(place) == 1:
        return f"there is no such setting: remove it from {settings_path()}"
    name = str(place[0])
    return f"correct DRAGOMAN_{name.upper()}, or {name} in {settings_path()}"


def command_environment() -> dict[str, str]:
    """What commands on this host inherit from this process: its environment without our settings and secrets.

    A job inherits what its submit command had: a database address or a model's key has no business there.
    """
    own = {"DATABASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"}
    return {name: value for name, value in os.environ.items() if name not in own and not name.startswith("DRAGOMAN_")}
