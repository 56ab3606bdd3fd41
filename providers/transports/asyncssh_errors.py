"""What asyncssh raises, as our errors. Pure."""

from __future__ import annotations

import re

import asyncssh

from dragoman.errors import HostKeyChanged, LoginNeeded, TransportError

__all__ = ["classify"]

_NO_KEY_IN_COMMON = re.compile(r"[Hh]ost key algorithm")


def classify(error: BaseException, *, host: str, known: bool) -> TransportError:
    """The error that a failed connection means.

    Args:
        error: what was raised.
        host: for the message.
        known: whether a key of this host is known.

    """
    words = " ".join(str(error).split())[:300] or type(error).__name__
    # A key of another kind than the known one ends the key exchange, before a key is shown.
    if isinstance(error, asyncssh.HostKeyNotVerifiable) or (
        known and isinstance(error, asyncssh.KeyExchangeFailed) and _NO_KEY_IN_COMMON.search(words)
    ):
        if known:
            return HostKeyChanged(
                "the host's key is not the known one: somebody may be in between, or the host was set up anew",
                where=host,
                cure="ask the site for its key, then put it into the site's known_hosts",
            )
        return HostKeyChanged(
            "the host's key is not known", where=host, cure="ask the site for its key and put it into its known_hosts"
        )
    if isinstance(error, asyncssh.PermissionDenied | asyncssh.KeyImportError | asyncssh.KeyEncryptionError):
        return LoginNeeded(f"the login was refused: {words}", where=host, cure="renew or allow the key")
    if isinstance(error, FileNotFoundError | PermissionError) and error.filename:
        return LoginNeeded(f"{error.filename} cannot be read: {error.strerror}", where=host, cure="put the key there")
    if isinstance(error, TimeoutError):
        return TransportError("no connection within its time", where=host, cure="try again later")
    return TransportError(words, where=host, cure="try again later")
