"""Whose home settings and recipes lie in: `HOME` counts first, the user's entry where it says nothing."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from dragoman.settings import read_settings, settings_path

ENTRY = Path(pwd.getpwuid(os.getuid()).pw_dir)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "DRAGOMAN_SETTINGS", "DRAGOMAN_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def test_home_counts_before_the_users_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".config/dragoman").mkdir(parents=True)
    (tmp_path / ".config/dragoman/settings.yaml").write_text("policy: min-cost\n")
    settings = read_settings()
    assert settings.policy == "min-cost"
    assert settings.own_recipes_dir == tmp_path / ".config/dragoman/recipes"
    assert settings.data_dir == tmp_path / ".local/share/dragoman"


@pytest.mark.parametrize("home", [None, "", "relative/home"])
def test_without_one_the_users_entry_counts(home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if home is None:
        monkeypatch.delenv("HOME", raising=False)
    else:
        monkeypatch.setenv("HOME", home)
    assert settings_path() == ENTRY / ".config/dragoman/settings.yaml"


def test_the_standard_folders_count_before_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert settings_path() == tmp_path / "config/dragoman/settings.yaml"
    assert read_settings().data_dir == tmp_path / "data/dragoman"


def test_roots_data_lie_outside_its_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_settings().data_dir == Path("/var/lib/dragoman")
