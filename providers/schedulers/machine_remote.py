"""The queue `machine` at another host: its program is carried there once, named by its content, and run by that host.

The file lies in the site's work root as `<sha256>.pyz`, so that versions lie beside each other and a job that an older
one started is never run on by a newer one.
"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.command import Command, Completed, FileStat, Told
from dragoman.errors import TransportError
from dragoman.protocols import Transport
from dragoman.site import Site
from providers.probes.base import where_is
from providers.schedulers.machine import PYTHON_OPTIONS, runner_bytes, runner_digest

__all__ = ["CarriesRunner", "remote_program"]

_WHERE = 'printf "dragoman-home %s\\n" "$HOME"'


def remote_program(site: Site) -> tuple[str, ...]:
    """The command line that runs the program there; without a work root in the site file, in the home there."""
    python, name = where_is("python3", site.paths), f"{runner_digest()}.pyz"
    if site.work_root:
        return (python, *PYTHON_OPTIONS, f"{site.work_root.rstrip('/')}/{name}")
    options = " ".join(PYTHON_OPTIONS)
    script = f'python=$1; shift; exec "$python" {options} "$HOME/.dragoman/$0" "$@"'
    return ("/bin/sh", "-c", script, name, python)


class CarriesRunner:
    """A transport that sees to it that the program is there before the first command that runs it.

    Args:
        inner: how commands reach the site.
        site: whose work root holds the program.

    """

    def __init__(self, inner: Transport, site: Site) -> None:
        self.inner = inner
        self.site = site
        self._name = f"{runner_digest()}.pyz"
        self._there = False

    @property
    def identity(self) -> str:
        """Who we are there."""
        return self.inner.identity

    @property
    def local(self) -> bool:
        """Whether paths of the site are paths of this host."""
        return self.inner.local

    async def run(self, command: Command) -> Completed:
        """As the transport itself, with the program there where it is needed."""
        await self._carry([command])
        done = await self.inner.run(command)
        self._missed(done)
        return done

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        """As the transport itself, with the program there where it is needed."""
        await self._carry(commands)
        answers = await self.inner.run_many(commands, told)
        for answer in answers:
            self._missed(answer)
        return answers

    async def read_file(self, path: str, *, max_bytes: int = 16 * 2**20, tail: bool = False) -> bytes:
        """As the transport itself."""
        return await self.inner.read_file(path, max_bytes=max_bytes, tail=tail)

    async def write_file(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """As the transport itself."""
        await self.inner.write_file(path, data, mode=mode)

    async def stat(self, path: str) -> FileStat | None:
        """As the transport itself."""
        return await self.inner.stat(path)

    async def aclose(self) -> None:
        """Close connections."""
        await self.inner.aclose()

    def _missed(self, answer: Completed | Exception) -> None:
        """Somebody may have deleted the program: then it is carried again before the next command."""
        if isinstance(answer, Completed) and answer.rc != 0 and self._name in answer.err:
            self._there = False

    async def _carry(self, commands: Sequence[Command]) -> None:
        if self._there or not any(self._name in word for command in commands for word in command.argv):
            return
        path = f"{await self._folder()}/{self._name}"
        data = runner_bytes()
        seen = await self.inner.stat(path)
        if seen is None or seen.bytes != len(data):
            await self.inner.write_file(path, data, mode=0o600)
        self._there = True

    async def _folder(self) -> str:
        if self.site.work_root:
            return self.site.work_root.rstrip("/")
        done = await self.inner.run(Command(("/bin/sh", "-c", _WHERE)))
        lines = [line for line in done.out.splitlines() if line.startswith("dragoman-home /")]
        if done.rc != 0 or not lines:
            raise TransportError(
                "the site does not tell the home folder there", where=self.site.name, cure="set the site's work_root"
            )
        return f"{lines[-1].removeprefix('dragoman-home ').rstrip('/')}/.dragoman"
