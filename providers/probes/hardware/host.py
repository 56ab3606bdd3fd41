"""The host itself: who else is on it, and what its policy lets a user do.

Sources: who(1), loginctl(1), ps(1), proc(5) ("hidepid", "NoNewPrivs", "uid_map", "limits"), selinux(8), apparmor(7),
pam_slurm_adopt, login.defs(5). Each fact stands by itself: what one source does not tell is unknown for it alone.
"""

from __future__ import annotations

import re
from typing import Literal

from dragoman.facts import Presence, ResourceLimit, SecurityPolicy, Tenancy
from dragoman.kleene import Truth, truth
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, presence_from, question
from providers.probes.container.user_namespaces import FILES as NAMESPACE_FILES
from providers.probes.container.user_namespaces import TRY, user_namespaces
from providers.registry import register_probe
from providers.verbs import POLICY, TENANCY, NoArguments

__all__ = ["Host"]

_MOUNTS, _LOAD, _DEFS = "/proc/self/mounts", "/proc/loadavg", "/etc/login.defs"
_SECOND = "/proc/2/comm"
"""The kernel's own second process: a namespace of processes has none, and shows no one else's (pid_namespaces(7))."""
_NO_LOGIN = frozenset({"background", "background-light", "greeter", "lock-screen", "manager", "manager-early", "none"})
"""Classes of sessions that nobody logged in for (sd-login(3))."""
_UTMP = ("/run/utmp", "/var/run/utmp")
_UID = re.compile(r"[0-9]{1,10}")
_FIRST_USER, _NOBODY = 1000, 65534
_STATUS, _UID_MAP, _LIMITS = "/proc/self/status", "/proc/self/uid_map", "/proc/self/limits"
_SELINUX, _SELINUX_FS, _APPARMOR = (
    "/sys/fs/selinux/enforce",
    "/sys/fs/selinux",
    "/sys/module/apparmor/parameters/enabled",
)
_FIPS, _LOCKDOWN = "/proc/sys/crypto/fips_enabled", "/sys/kernel/security/lockdown"
_SYSTEM = "/sys/kernel"
_SESSION = re.compile(r"\S+\s+(?:[+?-]\s+)?\S+\s+(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [ \d]\d) \d\d:\d\d(?:\s|$)")
"""A line of `who`: name, terminal, moment. What a login prints has none."""
_PAM = ("/etc/pam.d/sshd", "/etc/pam.d/password-auth", "/etc/pam.d/slurm", "/etc/pam.d/system-auth")
_ADOPTS = re.compile(r"^[ \t]*-?account[ \t].*\bpam_(?:slurm(?:_adopt)?|pbssimpleauth|lsf|sge\w*)\.so", re.MULTILINE)


def _ask_tenancy(_: NoArguments, paths: Paths) -> Ask:
    return Ask(
        commands={
            "who": question("who"),
            "sessions": question("loginctl", "list-sessions", "--no-legend", "--no-pager"),
            "processes": question("ps", "-e", "-o", "uid="),
            "user": TRY["user"],
        },
        files=(_MOUNTS, _LOAD, _DEFS, _SECOND, *_UTMP),
    )


def _parse_tenancy(_nothing: NoArguments, results: Results) -> Answer[Tenancy]:
    sessions = _sessions(results)
    hidden = _hidden(results)
    me = results.whole("user")
    own = int(me.out) if me is not None and me.rc == 0 and _UID.fullmatch(me.out.strip()) else None
    whole = hidden is not Truth.YES and results.file(_SECOND).value == "kthreadd"
    running = _running(results, own) if whole else None
    others = None if running is None or own is None else bool(running - {own})
    load = (results.file(_LOAD).value or "").split()
    told = Tenancy(
        users_logged_in=len(set(sessions)) if sessions is not None else None,
        sessions=len(sessions) if sessions is not None else None,
        users_running=len(running) if running is not None else None,
        others_running=truth(others),
        processes_hidden=hidden,
        load_1m=float(load[0]) if load and re.fullmatch(r"\d{1,9}\.\d+", load[0]) else None,
    )
    if told == Tenancy():
        return Answer[Tenancy].unknown("neither sessions nor processes nor load are told here")
    return Answer[Tenancy].ok(told)


def _sessions(results: Results) -> list[str] | None:
    """The user of each session: of the login manager, and of utmp where that is kept and the other lists nobody."""
    listed: list[str] | None = None
    told = results.whole("sessions")
    if told is not None and told.rc == 0:
        rows = [line.split() for line in told.out.splitlines() if line.strip()]
        silent = not rows and told.err.strip()
        if not silent and all(len(row) > 2 and row[1].isdigit() for row in rows):
            listed = [row[2] for row in rows if not _NO_LOGIN & set(row[3:])]
            if listed:
                return listed
    who = results.whole("who")
    # `who` prints nothing and ends with 0 where there is no utmp to read.
    if who is None or who.rc != 0 or not any(results.file(path).outcome is Outcome.OK for path in _UTMP):
        return listed
    lines = [line for line in who.out.splitlines() if line.strip()]
    if not all(map(_SESSION.match, lines)) or (not lines and who.err.strip()):
        return listed
    return [line.split()[0] for line in lines]


def _hidden(results: Results) -> Truth:
    """Whether the kernel hides other users' processes (`hidepid`)."""
    mounts = results.file(_MOUNTS).value
    rows = [row.split() for row in (mounts or "").splitlines()]
    line = next((row for row in reversed(rows) if row[1:3] == ["/proc", "proc"]), None)  # the last one lies on top
    if line is None or len(line) < 4:
        return Truth.UNKNOWN
    return truth(re.search(r"(?:^|,)hidepid=(?:[124]|noaccess|invisible|ptraceable)(?:,|$)", line[3]) is not None)


def _running(results: Results, own: int | None) -> set[int] | None:
    """Ids of people with processes; those of services and of nobody are left out."""
    done = results.whole("processes")
    if done is None or done.rc != 0:
        return None
    words = done.out.split()
    # Whoever asks has a process: a list without it is not whole.
    if not words or not all(map(_UID.fullmatch, words)) or str(own) not in words:
        return None
    first = re.search(r"^UID_MIN\s+(\d{1,9})\s*$", results.file(_DEFS).text, re.MULTILINE)
    least = int(first[1]) if first is not None else _FIRST_USER
    return {uid for word in words if (uid := int(word)) >= least and uid != _NOBODY}


def _ask_policy(_: NoArguments, paths: Paths) -> Ask:
    files = (_STATUS, _UID_MAP, _LIMITS, _SELINUX, _SELINUX_FS, _APPARMOR, _FIPS, _LOCKDOWN, _SYSTEM, *_PAM)
    return Ask(commands=TRY, files=(*files, *NAMESPACE_FILES))


def _parse_policy(_nothing: NoArguments, results: Results) -> Answer[SecurityPolicy]:
    namespaces, why = user_namespaces(results)
    pam = [read for path in _PAM if (read := results.file(path)).outcome is not Outcome.ABSENT]
    adopts = any(_ADOPTS.search(read.text) for read in pam if read.outcome is Outcome.OK)
    read_all = bool(pam) and all(read.outcome is Outcome.OK for read in pam)
    lockdown = re.search(r"\[(\w+)\]", results.file(_LOCKDOWN).text)
    mapped = results.file(_UID_MAP).value
    told = SecurityPolicy(
        selinux=_selinux(results),
        apparmor=_switch(results, _APPARMOR, yes="Y", no="N"),
        fips=_switch(results, _FIPS, yes="1", no="0"),
        lockdown=lockdown[1] if lockdown is not None else None,
        user_namespaces=namespaces,
        user_namespaces_reason=why,
        in_user_namespace=truth(mapped.split() != ["0", "0", "4294967295"] if mapped else None),
        no_new_privileges=_status(results, "NoNewPrivs"),
        system_calls_filtered=_status(results, "Seccomp"),
        login_needs_job=Truth.YES if adopts else Truth.NO if read_all else Truth.UNKNOWN,
        limits=_limits(results.file(_LIMITS).text),
    )
    if told == SecurityPolicy(user_namespaces=namespaces, user_namespaces_reason=why) and namespaces is Truth.UNKNOWN:
        return Answer[SecurityPolicy].unknown("the kernel's files about its policy cannot be read here")
    return Answer[SecurityPolicy].ok(told)


def _selinux(results: Results) -> Literal["enforcing", "permissive", "disabled"] | None:
    enforce = results.file(_SELINUX)
    if enforce.value in ("0", "1"):
        return "enforcing" if enforce.value == "1" else "permissive"
    # No file system of SELinux in a /sys that is there: the kernel runs without it.
    gone = enforce.outcome is Outcome.ABSENT and results.file(_SYSTEM).outcome is Outcome.OK
    return "disabled" if gone and not results.file(_SELINUX_FS).names else None


def _switch(results: Results, path: str, *, yes: str, no: str) -> Truth:
    read = results.file(path)
    if read.outcome is Outcome.ABSENT and results.file(_SYSTEM).outcome is Outcome.OK:
        return Truth.NO
    return truth({yes: True, no: False}.get(read.value or ""))


def _status(results: Results, name: str) -> Truth:
    found = re.search(rf"^{name}:\s*(\d)\s*$", results.file(_STATUS).text, re.MULTILINE)
    return truth(found[1] != "0" if found is not None else None)


def _limits(text: str) -> tuple[ResourceLimit, ...]:
    """Rows of `/proc/self/limits`; the size of files is left out, for our own questions are limited in it."""
    rows = re.findall(
        r"^Max ([a-z]+(?: [a-z]+)*) {2,}(unlimited|\d+)\s+(unlimited|\d+)(?:\s+(\w+))?\s*$", text, re.MULTILINE
    )
    return tuple(
        ResourceLimit(name=name, soft=_amount(soft), hard=_amount(hard), unit=unit)
        for name, soft, hard, unit in rows
        if name != "file size"
    )


def _amount(word: str) -> int | None:
    return None if word == "unlimited" else int(word)


_TENANCY = ProbeVerb(TENANCY, _ask_tenancy, _parse_tenancy)
_POLICY = ProbeVerb(POLICY, _ask_policy, _parse_policy)


@register_probe
class Host(Probe):
    """`hardware/host`."""

    category = Category.HARDWARE
    name = "host"
    path_keys = ()
    verbs = (presence_from(_TENANCY, lambda told: Presence(detail=_words(told))), _TENANCY, _POLICY)


def _words(told: Tenancy) -> str:
    if told.users_logged_in is not None:
        return f"{told.users_logged_in} users logged in"
    return f"{told.users_running} users with processes" if told.users_running is not None else ""
