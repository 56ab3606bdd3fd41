"""Apptainer and Singularity: flavour and version in their own words, usable by user namespaces or a setuid starter.

Sources: the administrators' guides of Apptainer and SingularityCE ("User namespaces", "Configuration files").
"""

from __future__ import annotations

from dragoman.facts import ContainerRuntime
from dragoman.kleene import Truth
from dragoman.observation import Answer
from providers.probes.base import Ask, Paths, Results, brief, no_answer, question, where_is
from providers.probes.container.flavours import parse_flavour
from providers.probes.container.runtime import Verbs, container_verbs, folder_images
from providers.probes.container.user_namespaces import FILES, TRY, is_root, user_namespaces

__all__ = ["starter_verbs"]

# The starter's owner must be root, and the configuration must not switch it off.
_STARTER = r"""
where=$(command -v -- "$1" 2>/dev/null) && where=$(readlink -f -- "$where") || exit 0
prefix=${where%/*}; prefix=${prefix%/*}
for kind in apptainer singularity; do
  for starter in "$prefix/libexec/$kind/bin/starter-suid" "$prefix/lib/$kind/bin/starter-suid"; do
    [ -u "$starter" ] || continue
    for conf in "$prefix/etc/$kind/$kind.conf" "/etc/$kind/$kind.conf"; do
      [ -r "$conf" ] && grep -Eqi '^[[:space:]]*allow setuid[[:space:]]*=[[:space:]]*no' "$conf" && exit 0
    done
    echo dragoman-setuid; exit 0
  done
done
"""


def starter_verbs(program: str, others: str) -> Verbs:
    """The verbs of `program`; `others` are the flavours that its command may really be, beginning with this text."""

    def ask(paths: Paths) -> Ask:
        call = where_is(program, paths)
        folder = paths.get("images")
        return Ask(
            commands={
                "version": question(call, "--version"),
                "starter": question("/bin/sh", "-c", _STARTER, "sh", call),
                **TRY,
            },
            files=(*FILES, *((folder,) if folder else ())),
        )

    def parse(results: Results) -> Answer[ContainerRuntime] | Ask:
        trouble = no_answer(results, "version")
        done = results.done("version")
        if trouble is not None or done is None:
            return trouble or Answer[ContainerRuntime].unknown(f"{program} was not asked")
        flavour, version = parse_flavour(done.out)
        if done.rc != 0 or version is None:
            return Answer[ContainerRuntime].unknown(brief(done))
        if flavour is None:
            return Answer[ContainerRuntime].unknown(f"`{program} --version` says {version} and not of which flavour")
        if flavour.startswith(others):
            return Answer[ContainerRuntime].absent(f"`{program}` here is {flavour} {version} (container/{others})")
        usable, reason = _usable(results)
        return Answer[ContainerRuntime].ok(
            ContainerRuntime(
                runtime=flavour, version=version, usable=usable, reason=reason, rootless=Truth.YES,
                images=folder_images(results, results.paths),
            )
        )  # fmt: skip

    return container_verbs(program, ask, parse)


def _usable(results: Results) -> tuple[Truth, str]:
    starter = results.done("starter")
    if is_root(results) or (starter is not None and "dragoman-setuid" in starter.out.splitlines()):
        return Truth.YES, ""
    usable, reason = user_namespaces(results)
    return usable, reason if not reason else f"{reason}; and there is no setuid starter"
