"""Starts the campaign's dragoman processes by forking one that has everything imported: each is a process of its own.

Importing takes a second, and a campaign starts a process for each that it kills. `--exec` starts each from nothing.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sys
from contextlib import suppress
from typing import Any, NoReturn

__all__ = ["Forge", "be_dragoman"]


class Forge:
    """The director's end: asks for processes, and hears of their ends."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            os.setsid()
            _serve(theirs)
        theirs.close()
        self.link = ours
        self._file = ours.makefile("rwb")

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        """One order, one answer."""
        self._file.write(json.dumps(order).encode() + b"\n")
        self._file.flush()
        answer: dict[str, Any] = json.loads(self._file.readline() or b"{}")
        return answer

    def start(self, **spec: Any) -> int:  # noqa: ANN401
        """Start a process; its id."""
        return int(self.ask({"do": "start", **spec})["pid"])

    def ended(self) -> dict[int, int]:
        """Processes that ended since the last question, with their exit codes (negative: by a signal)."""
        return {int(pid): code for pid, code in self.ask({"do": "ended"})["ended"].items()}

    def close(self) -> None:
        """End it; what it started is the director's to end."""
        self.link.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _serve(link: socket.socket) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_everything()
    file = link.makefile("rwb")
    for line in file:
        order = json.loads(line)
        answer: dict[str, Any]
        if order["do"] == "ended":
            ended = {}
            with suppress(ChildProcessError):
                while (found := os.waitpid(-1, os.WNOHANG))[0]:
                    ended[found[0]] = os.waitstatus_to_exitcode(found[1])
            answer = {"ended": ended}
        else:
            pid = os.fork()
            if pid == 0:
                link.close()
                _become(order)
            answer = {"pid": pid}
        file.write(json.dumps(answer).encode() + b"\n")
        file.flush()
    os._exit(0)


def _import_everything() -> None:

    import providers.movers.local
    import providers.registry

    for registry in (providers.registry.dialects, providers.registry.probes, providers.registry.transports):
        registry.names()


def _become(order: dict[str, Any]) -> NoReturn:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(order["cwd"])
    code = 1
    if order.get("exec"):
        environment = {**order["environment"], "PYTHONPATH": os.pathsep.join(sys.path)}
        os.execve(sys.executable, [sys.executable, "-m", "campaign.forge", json.dumps(order)], environment)  # noqa: S606
    try:
        os.environ.clear()
        os.environ.update(order["environment"])
        code = be_dragoman(order)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001  # this process ends here, whatever it was
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def be_dragoman(order: dict[str, Any]) -> int:
    """Run one command line over the campaign's composition; ends with `SystemExit` as the command line does."""
    import interfaces.cli.main
    import interfaces.cli.session
    from campaign.composition import compose
    from campaign.probe import Probe

    random.seed(order["seed"])
    probe = Probe(order["fault"], order["control"])
    interfaces.cli.session.open_app = compose(  # type: ignore[attr-defined]
        probe, order["queue"], order["broken"]
    )
    sys.argv = ["dragoman", *order["argv"]]
    interfaces.cli.main.app()
    return 0


if __name__ == "__main__":
    sys.exit(be_dragoman(json.loads(sys.argv[1])))
