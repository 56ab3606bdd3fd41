"""What answers of this host depend on besides site and user: a change of any of it has the host asked anew.

Everything a command inherits is counted, but for what is known to differ from login to login without changing what a
program finds. So a variable that nobody here has heard of counts: a fact asked twice costs less than a false one.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
from collections.abc import Mapping
from pathlib import Path

import psutil

__all__ = ["surroundings"]

BOOT = Path("/proc/sys/kernel/random/boot_id")
_SESSION = re.compile(
    r"(?:_|PWD|OLDPWD|SHLVL|TERM|TERMCAP|COLUMNS|LINES|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|\w+_COLORS|WINDOWID|STY"
    r"|WINDOW|PS[0-4]|PROMPT\w*|RPROMPT|HIST\w+|EDITOR|VISUAL|PAGER|MANPAGER|LESS\w*|BROWSER|MAIL|DISPLAY|XAUTHORITY"
    r"|WAYLAND_DISPLAY|DESKTOP_\w+|SESSION_MANAGER|SSH_(?:CLIENT|CONNECTION|TTY|AUTH_SOCK|AGENT_PID)|GPG_\w+"
    r"|DBUS_SESSION_\w+|XDG_(?:SESSION|VTNR|SEAT|CURRENT_DESKTOP|MENU)\w*|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_EXEC_PID"
    r"|MANAGERPID\w*|NOTIFY_SOCKET|WATCHDOG_\w+|TERM_\w+|TMUX\w*|ITERM_\w+|KITTY_\w+|WEZTERM_\w+|VTE_\w+|KONSOLE_\w+"
    r"|VSCODE_\w+|PYTEST_\w+)"
)
"""Variables of a terminal, a desktop or one login."""
_STATUS = re.compile(r"(?m)^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp|Mems_allowed):.*$")
"""Of proc_pid_status(5): what the process may do and which memory it may use."""
_LOGIN_GROUP = re.compile(r"session-c?\d+\.scope|[\w.@\\-]+-[0-9a-f-]{36}\.scope")
"""Control groups that are new with each login or terminal, and limit nothing by themselves."""
_LIMITS = tuple(sorted(name for name in dir(resource) if name.startswith("RLIMIT_")))


def surroundings(environment: Mapping[str, str]) -> str:
    """Digest of this boot, the limits, processors, control group, namespaces and rights of this process, and variables.

    Args:
        environment: what commands inherit.

    """
    variables = sorted(each for each in environment.items() if not _SESSION.fullmatch(each[0]))
    words = repr((_boot(), _limits(), _processors(), _group(), _namespaces(), _rights(), variables))
    return hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()


def _boot() -> str:
    return _text(BOOT).strip() or str(int(psutil.boot_time()) // 60)


def _limits() -> list[tuple[str, tuple[int, int]]]:
    return [(name, resource.getrlimit(getattr(resource, name))) for name in _LIMITS]


def _processors() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _group() -> str:
    return _LOGIN_GROUP.sub("login.scope", _text(Path("/proc/self/cgroup")))


def _namespaces() -> list[str]:
    root = os.stat("/")  # noqa: PTH116  # a changed root is no namespace
    found = [f"root {root.st_dev} {root.st_ino}"]
    for name in ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"):
        try:
            found.append(os.readlink(f"/proc/self/ns/{name}"))  # noqa: PTH115  # no path of a file
        except OSError:
            found.append("")
    return found


def _rights() -> list[str]:
    return _STATUS.findall(_text(Path("/proc/self/status")))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
