"""Whose rights this process has."""

from __future__ import annotations

import os
import pwd

__all__ = ["own_user"]


def own_user() -> str:
    """The name of the effective user, or its number where it has none; LOGNAME and USER may say anything."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
