"""What the ssh client says when there is no answer, as an error: a person is needed, or later. Pure.

Only text outside of an answer's frame is read here: a command's own "Permission denied" is its own affair. Words are
those of OpenSSH (sshconnect.c, sshconnect2.c, mux.c, clientloop.c, packet.c) and hold for 7.6 to 10.
"""

from __future__ import annotations

import re

from dragoman.errors import HostKeyChanged, LoginNeeded, TransportError

__all__ = ["classify", "never_began", "session_refused"]

_CHANGED = re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key .* has changed|REVOKED HOST KEY|DNS SPOOFING")
_UNKNOWN_KEY = re.compile(
    r"No \S+ host key is known for|Host key verification failed|authenticity of host .* can't be established"
    r"|Host certificate .*(?:invalid|expired)|Certificate invalid: "
)
_LOGIN = re.compile(
    r"Permission denied \([a-z0-9@.,-]*\)|^\S*: Permission denied,? please try again|Too many authentication failures"
    r"|No more authentication methods|no supported authentication methods|signing failed|agent refused operation"
    r"|[Pp]assword (?:has )?expired|[Pp]assword change required|[Aa]ccount (?:has )?expired|No such identity"
    r"|Load key .*: (?!No such file)|UNPROTECTED PRIVATE KEY|certificate .*expired|Certificate has expired",
    re.MULTILINE,
)
_NO_PROGRAM = re.compile(
    r"Bad configuration option|no argument after keyword|Bad owner or permissions on|terminating, \d"
)
_REFUSED = re.compile(
    r"[Ss]ession open refused|session request failed|open failed: (?:administratively prohibited|resource shortage)"
)
# A client that finds nobody at the shared connection's socket tries one of its own, through a proxy that ends at once;
# that has no address to tell.
_OWN_ATTEMPT = re.compile(r"^Connection (?:to|closed by|reset by) UNKNOWN port (?:65535|-1)\b", re.MULTILINE)
# It does so too where the shared connection ended after it had taken the command, and before it said so.
_TAKEN = re.compile(r"mux_client_request_session|read from master failed|send fds failed|mux_client_read_packet")
# What ssh says besides its last word: of no use in a message.
_CHATTER = re.compile(
    r"^(?:\s*$|Warning: Permanently added|Connection to \S+ closed\.?$|@+$|@.*@$|\*\* WARNING: |\*\* )", re.MULTILINE
)
_TELLING = re.compile(
    r"ssh|[Cc]onnect|kex|mux|[Hh]ost key|[Pp]ermission|[Aa]uthent|[Bb]anner|[Rr]esolve|[Tt]imed? ?out|reset|refused"
    r"|[Kk]ey|expired|pipe|unreachable|closed"
)


def session_refused(said: str) -> bool:
    """Whether the server opened no further session on this connection: nothing was run, and a free one will come."""
    return bool(_REFUSED.search(said))


def never_began(said: str) -> bool:
    """Whether the shared connection was gone before it was given the command: nothing of it can have run."""
    return bool(_OWN_ATTEMPT.search(said)) and not _TAKEN.search(said)


def classify(said: str, *, host: str, rc: int, begun: bool = False) -> TransportError:
    """The error that the client's words mean.

    Args:
        said: what it wrote, outside of an answer's frame.
        host: as the person wrote it, for the cure.
        rc: its exit code.
        begun: the command had begun to answer: then the login was fine, and the connection broke after it.

    """
    words = _telling(said) or f"ssh ended with exit code {rc}"
    if begun:
        return TransportError(f"the connection broke in mid-command: {words}", where=host, cure="look again")
    if _CHANGED.search(said):
        return HostKeyChanged(
            "the host's key is not the known one: somebody may be in between, or the host was set up anew",
            where=host,
            cure=f"ask the site for its key, then `ssh-keygen -R {host}` and connect once by hand",
        )
    if _UNKNOWN_KEY.search(said):
        return HostKeyChanged(
            f"the host's key cannot be verified: {words}",
            where=host,
            cure=f"ask the site for its key, then connect once by hand: ssh {host}",
        )
    if _LOGIN.search(said):
        return LoginNeeded(f"the login was refused: {words}", where=host, cure=f"log in once by hand: ssh {host}")
    if _NO_PROGRAM.search(said):
        return TransportError(f"ssh cannot use its configuration: {words}", where=host, cure="mend that file")
    if never_began(said):
        return TransportError("the shared connection was gone before the command began", where=host, cure="try again")
    if rc == 0:
        return TransportError(
            "the login shell ran no command there" + (f": {_last_line(said)}" if said.strip() else ""),
            where=host,
            cure="see what `ssh HOST true` prints; start-up files must not end or replace the shell",
        )
    return TransportError(words, where=host, cure="try again later")


def _telling(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if not _CHATTER.match(line)]
    telling = [line for line in lines if _TELLING.search(line)]
    return "; ".join(dict.fromkeys((telling or lines)[-3:]))[:400]


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1].strip()[:200] if lines else ""
