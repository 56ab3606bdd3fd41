"""Whether this user may make user namespaces now (user_namespaces(7)): tried by unshare(1), explained by /proc/sys."""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.command import Command, Completed
from dragoman.kleene import Truth
from providers.probes.base import Results, brief, question

__all__ = ["FILES", "TRY", "is_root", "user_namespaces"]

MOST, CLONE, APPARMOR = (
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
)
FILES = (MOST, CLONE, APPARMOR)
TRY: Mapping[str, Command] = {
    "namespaces": question("unshare", "--user", "--map-root-user", "true"),
    "user": question("id", "-u"),
}
"""Commands to ask; nothing is left behind."""


def is_root(results: Results) -> bool:
    """Whether we are root there."""
    done = results.whole("user")
    return done is not None and done.rc == 0 and done.out.strip() == "0"


def user_namespaces(results: Results) -> tuple[Truth, str]:
    """Whether they can be made, and why not."""
    done = results.commands.get("namespaces")
    if isinstance(done, Completed) and done.rc == 0:
        return Truth.YES, ""
    for path in (MOST, CLONE):
        if results.file(path).value == "0":
            return Truth.NO, f"user-namespaces: switched off here, {path} is 0"
    if not isinstance(done, Completed):
        return Truth.UNKNOWN, f"user-namespaces: {done or 'they were not tried'}"
    if results.file(APPARMOR).value not in (None, "0"):
        return Truth.UNKNOWN, "user-namespaces: AppArmor allows them to single programs only"
    refused = "unshare:" in done.err and any(
        word in done.err for word in ("not permitted", "No space left", "Invalid argument")
    )
    return (Truth.NO if refused else Truth.UNKNOWN), f"user-namespaces: {brief(done)}"
