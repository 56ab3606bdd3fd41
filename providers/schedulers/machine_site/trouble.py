"""What the program answers when it cannot do what was asked."""

from __future__ import annotations


class Trouble(Exception):  # named for what happened
    """Told as JSON with an exit code; nothing was changed.

    Kinds: `bad-request` (2), `too-large` (2), `no-such-job` (3), `full` (28), `wrong-host` (69), `failed` (70),
    `busy` (75).
    """

    CODES = {"bad-request": 2, "too-large": 2, "no-such-job": 3, "full": 28, "wrong-host": 69, "failed": 70, "busy": 75}

    def __init__(self, kind: str, what: str, cure: str = "") -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what
        self.cure = cure

    @property
    def rc(self) -> int:
        """Exit code, of sysexits.h where one fits."""
        return self.CODES[self.kind]
