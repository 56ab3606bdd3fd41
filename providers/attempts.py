"""An attempt's folder at the site: claim, submit and record in one round trip; look; abandon.

`<control_dir>/` (mode 0700) holds

- `submit/claim.<n>`: who submits, for the first time (1) or after a doubt was settled (2, ...). A symbolic link, made
  atomically: whoever fails to make it never submits, but reads what is recorded there.
- `submit/answer.<n>/`: `out` and `err` of the submit command, and `rc`, written last: `ended 0` (the command's own exit
  code), `killed 124` (ended by the time limit: perhaps submitted), `given-up 0` (claimed, and not submitted after all).
- `submit/absent.<n>`: since when queue and history say cleanly that there is no such job.
- `script`, `secrets/<VARIABLE>` (mode 0600), and what the job itself leaves (see `providers.schedulers.job_script`).

What is found after a crash, by the window in which it came:

==================================  =====================================  ========================================
crash                               the folder shows                       what follows
==================================  =====================================  ========================================
before the claim                    no claim                               submit: nobody has
after the claim, before the submit  a claim, its process gone, no answer   queue and history by tag: adopt, or absent
during the submit                   the same, or `killed`                  for a whole settle window: claim 2, submit
after the submit, before the record the same                               the same; or the job's own claim names it
after the record, before our ledger a claim and an answer                  the answer: adopt or refuse
connection lost, step still alive   a claim, its process alive             wait: the step goes on by itself
==================================  =====================================  ========================================

A step that was frozen between its claim and its submit gives up when it wakes later than `fence_s` after the claim, or
finds a later claim. Should it be frozen between that check and the submit itself, its job starts as a duplicate and
ends without running the body: the job script's own claim is the last guard.
"""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from dragoman.command import Command
from dragoman.errors import BadRequest, CommandMissing, TransportError
from dragoman.job import JobSpec
from dragoman.protocols import Transport
from providers.attempt_look import AttemptLook, read_looks

__all__ = ["Attempts"]

_SOURCE = Path(__file__).with_name("attempt_step.sh").read_text(encoding="utf-8")
_STEP = "\n".join(line for line in _SOURCE.splitlines() if not line.lstrip().startswith("#"))
_LOOKS_AT_ONCE = 200
_SLACK_S = 15
"""The step ends the submit command by itself before the transport ends the step."""


class Attempts:
    """The folders of attempts at one site, under one identity."""

    def __init__(self, transport: Transport, *, fence_s: int = 20) -> None:
        self._transport = transport
        self.fence_s = fence_s
        """A step that is this late after its claim does not submit; shorter than any settle window."""

    async def prepare(self, control_dir: str, work_dir: str) -> None:
        """Make the attempt's folder and its work directory; again is fine.

        Raises:
            TransportError: the site gave no answer, or the folders cannot be made.

        """
        made = await self._run("prepare", control_dir, work_dir)
        if made.trouble or made.empty or made.stopped:
            raise TransportError(
                made.trouble or "the folder cannot be made", where=control_dir, cure="check the site's work_root"
            )

    async def write_secrets(self, spec: JobSpec, secrets: Mapping[str, str]) -> None:
        """Put the secrets that the job refers to beside it, each in a file that only its owner can read.

        Args:
            spec: the job.
            secrets: the value of each key that `spec.environment` refers to.

        Raises:
            BadRequest: a secret that the job needs is not given.

        """
        for variable in spec.environment:
            if variable.secret is None:
                continue
            if variable.secret not in secrets:
                raise BadRequest(
                    f"there is no secret {variable.secret!r}",
                    where=f"environment.{variable.name}",
                    cure="store it, or take the variable out of the request",
                )
            path = f"{spec.control_dir}/secrets/{variable.name}"
            await self._transport.write_file(path, secrets[variable.secret].encode(), mode=0o600)

    async def submit(
        self, spec: JobSpec, script: str, command: Command, *, generation: int = 1
    ) -> tuple[AttemptLook, bool]:
        """Claim, submit and record, unless the claim is taken; one round trip.

        Args:
            spec: the job.
            script: what the dialect rendered.
            command: the dialect's submit command for `<control_dir>/script`.
            generation: 1, or one more than the latest claim whose submission was settled as not taken.

        Returns:
            What the folder shows afterwards, and whether it was this call that claimed.

        Raises:
            CommandMissing: the site has no such submit command; nothing was claimed.
            TransportError: no answer. Perhaps submitted: look before anything else.

        """
        payload = script.encode()
        if not command.stdin:
            stdin = "none"
        elif command.stdin == payload:
            stdin = "script"
        else:
            stdin = str(len(command.stdin))
        nonce = uuid.uuid4().hex
        limit = max(1, round(command.timeout_s))
        look = await self._run(
            "submit", spec.control_dir, str(generation), str(self.fence_s), str(limit), nonce, str(len(payload)), stdin,
            command.cwd or "-", *command.argv,
            given=payload if stdin in {"none", "script"} else payload + command.stdin,
            like=command, timeout_s=limit + self.fence_s + _SLACK_S,
        )  # fmt: skip
        reason, _, words = look.stopped.partition(": ")
        if reason == "missing":
            raise CommandMissing(
                f"the site has no command {shlex.quote(command.argv[0])}",
                where=spec.control_dir,
                cure="set the site's scheduler, or its login shell's PATH",
            )
        if reason in {"folder", "input"}:
            raise TransportError(f"the attempt's {reason} {words.removeprefix('it ')}", where=spec.control_dir)
        return look, any(claim.nonce == nonce for claim in look.claims)

    async def look(self, control_dirs: Sequence[str]) -> dict[str, AttemptLook]:
        """What these folders show; all in one round trip (200 a command).

        Raises:
            TransportError: no answer, or an incomplete one. A folder that cannot be read is a look with `trouble`.

        """
        looks: dict[str, AttemptLook] = {}
        for start in range(0, len(control_dirs), _LOOKS_AT_ONCE):
            part = control_dirs[start : start + _LOOKS_AT_ONCE]
            done = await self._transport.run(Command(_argv("look", *part), timeout_s=60))
            for look in read_looks(done):
                looks[look.control_dir] = look
        if any(path not in looks for path in control_dirs):
            raise TransportError("the site's answer about attempts came incomplete", cure="look again")
        return looks

    async def abandon(self, control_dir: str, by: str) -> AttemptLook:
        """Take the claim without submitting, so that nobody ever will; see `claims` whether it was free."""
        return await self._run("abandon", control_dir, by)

    async def bar(self, control_dir: str, by: str) -> AttemptLook:
        """Take the job's own claim, so that no job runs this attempt; see `barred_by` and `owner` whether it was free.

        For an attempt whose submission stays in doubt and is not wanted any more: should its job turn up, it ends
        without running the body.
        """
        return await self._run("bar", control_dir, by)

    async def note_absent(self, control_dir: str, generation: int) -> AttemptLook:
        """Keep when queue and history first said cleanly that there is no such job; the first time stays."""
        return await self._run("absent", control_dir, str(generation))

    async def forget_secrets(self, control_dir: str) -> None:
        """Remove the secrets' files once the job has ended."""
        await self._run("forget", control_dir)

    async def _run(
        self, *arguments: str, given: bytes = b"", like: Command | None = None, timeout_s: float = 60
    ) -> AttemptLook:
        done = await self._transport.run(
            Command(
                _argv(*arguments),
                stdin=given,
                environment=like.environment if like else {},
                unset=like.unset if like else (),
                timeout_s=timeout_s,
            )
        )
        return read_looks(done)[-1]


def _argv(*arguments: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", _STEP, "dragoman", *arguments)
