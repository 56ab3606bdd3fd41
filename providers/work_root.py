"""Where jobs of ours live at a site."""

from __future__ import annotations

from dragoman.command import Command
from dragoman.errors import TransportError
from dragoman.protocols import Transport
from dragoman.site import Site

__all__ = ["work_root"]


async def work_root(site: Site, transport: Transport) -> str:
    """The site's `work_root`, or `.dragoman` in the user's home there; absolute.

    Raises:
        TransportError: when the site does not tell its home.

    """
    if site.work_root is not None:
        return site.work_root.rstrip("/") or "/"
    done = await transport.run(Command(("sh", "-c", 'printf "%s" "$HOME"'), timeout_s=30))
    home = done.out.strip()
    if done.rc != 0 or not home.startswith("/") or "\n" in home:
        raise TransportError(
            "the home folder there is not known", where=site.name, cure="set work_root in the sites file"
        )
    return f"{home.rstrip('/')}/.dragoman"
