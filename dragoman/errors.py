"""Every error that Dragoman raises on purpose, as one tree.

::

    DragomanError                 what was wrong, where, and the cure
    ├── BadRequest                the request cannot be used as it stands                (exit 2)
    ├── SettingsError             a settings file or variable is wrong                   (exit 2)
    ├── SiteFileError             a sites file is wrong, with its line and field         (exit 2)
    ├── RecipeError               a recipe's file is wrong, with its line and field      (exit 2)
    ├── UnknownName               a site, provider, policy or thread that does not exist (exit 2)
    ├── SiteNotHere               no fleet that this process can read has the site: others go on  (transient)
    ├── ProviderImportError       a registered provider failed to import
    ├── RefusedByPerson           the person who was asked said no                       (exit 4)
    ├── NoSiteCan                 no proposal can take the work                          (exit 3)
    ├── DatabaseError             PostgreSQL cannot be reached or used                   (transient)
    │   └── LeaseLost             another process owns the thread now
    ├── TransportError            the site gave no answer: connection, time-out, banner  (transient)
    │   ├── CommandTimeout        the command did not answer within its time
    │   ├── NotSettled            whether the job was taken is being settled: ask again later
    │   ├── LoginNeeded           credentials expired: a person renews them, then work goes on
    │   └── HostKeyChanged        the site's identity changed: a person decides
    ├── CommandMissing            the site answered: there is no such command
    ├── FileMissing               the site answered: there is no such file
    ├── SchedulerError            the scheduler answered, and the answer is no or unreadable
    │   ├── SubmitRefused         nothing was submitted, and why (wait, never, person)
    │   └── SubmitInDoubt         it is not known whether the job was taken: reconcile, never repeat
    ├── TransferError             data could not be moved or verified
    │   ├── StorageFull           needed and free bytes; pauses, is not retried in a loop
    │   └── SourceChanging        the source was written while it was copied
    └── Cancelled                 the work was cancelled by its owner
"""

from __future__ import annotations

from typing import ClassVar


class DragomanError(Exception):
    """Root of the tree.

    Args:
        what: what was wrong, in one sentence.
        where: the field, file and line, site or command it was found at.
        cure: what the reader can do about it.

    """

    transient: ClassVar[bool] = False
    """Whether the same call may succeed later without anybody changing anything."""
    exit_code: ClassVar[int] = 1
    """What the command line exits with when nothing else is known."""

    def __init__(self, what: str, *, where: str = "", cure: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.cure = cure

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        cure = f" ({self.cure})" if self.cure else ""
        return f"{place}{self.what}{cure}"


class BadRequest(DragomanError):
    """The request cannot be used as it stands; ``where`` names the field."""

    exit_code = 2


class SettingsError(DragomanError):
    """A settings file or environment variable is wrong."""

    exit_code = 2


class SiteFileError(DragomanError):
    """A sites file is wrong; ``where`` is ``file:line: field``."""

    exit_code = 2


class RecipeError(DragomanError):
    """A recipe's file is wrong; ``where`` is ``file:line: field``."""

    exit_code = 2


class UnknownName(DragomanError):
    """A site, provider, policy or thread that does not exist; ``cure`` lists those that do."""

    exit_code = 2


class SiteNotHere(DragomanError):
    """No fleet that this process can read has the site; a process that knows it goes on with the thread."""

    transient = True


class ProviderImportError(DragomanError):
    """A registered provider failed to import; raised when it is looked up, not before."""


class RefusedByPerson(DragomanError):
    """The person who was asked said no."""

    exit_code = 4


class NoSiteCan(DragomanError):
    """No proposal can take the work."""

    exit_code = 3


class DatabaseError(DragomanError):
    """PostgreSQL cannot be reached or used."""

    transient = True


class LeaseLost(DatabaseError):
    """Another process owns the thread now: everything this one holds about it is stale."""

    transient = False


class TransportError(DragomanError):
    """The site gave no answer. Never a statement about a job, a file or a package."""

    transient = True


class CommandTimeout(TransportError):
    """The command did not answer within its time; it may still have had its effect."""


class NotSettled(TransportError):
    """Whether a job was taken is being settled: a step still runs, or a settle window has not passed. Ask again."""


class LoginNeeded(TransportError):
    """Credentials expired or are missing: a person renews them and the work goes on."""

    transient = False


class HostKeyChanged(TransportError):
    """The site's host key is not the known one: never accepted automatically."""

    transient = False


class CommandMissing(DragomanError):
    """The site answered that there is no such command."""


class FileMissing(DragomanError):
    """The site answered that there is no such file."""


class SchedulerError(DragomanError):
    """The scheduler answered, and the answer is no or cannot be read."""


class SubmitRefused(SchedulerError):
    """Nothing was submitted. ``reason_class`` says whether waiting helps (see ``dragoman.job.ReasonClass``)."""

    def __init__(self, what: str, *, where: str = "", cure: str = "", reason_class: str = "unknown") -> None:
        super().__init__(what, where=where, cure=cure)
        self.reason_class = reason_class


class SubmitInDoubt(SchedulerError):
    """It is not known whether the job was taken: reconcile by tag, never repeat blindly."""


class TransferError(DragomanError):
    """Data could not be moved or verified."""


class StorageFull(TransferError):
    """A file system or quota is full; the transfer pauses until a person makes room."""

    def __init__(
        self, what: str, *, where: str = "", cure: str = "", needed: int | None = None, free: int | None = None
    ) -> None:
        super().__init__(what, where=where, cure=cure)
        self.needed = needed
        self.free = free


class SourceChanging(TransferError):
    """The source was written while it was copied."""

    transient = True


class Cancelled(DragomanError):
    """The work was cancelled by its owner."""

    exit_code = 4
