"""How a package is built and who keeps it (`the Spack package hypre with +cuda`), and what of a name is its own."""

from __future__ import annotations

import re

from dragoman.request import SoftwareNeed
from graph.reading.draft import Draft

__all__ = ["give_managers", "is_a_manager", "own_name", "with_build"]

_MANAGERS = {
    "spack": r"spack", "conda": r"(?:mini|ana|bio)?conda(?:-forge)?|mamba|micromamba", "pip": r"pip|pypi",
    "easybuild": r"easybuild", "modules": r"(?:environment )?modules?|lmod", "system": r"apt|dnf|yum",
}  # fmt: skip
_ANY = "|".join(f"(?P<{name}>{words})" for name, words in _MANAGERS.items())
_MANAGED = re.compile(
    rf" \((?P<in_spack>spack)\)| \((?P<in_pip>pip|pypi)\)| \((?P<in_conda>(?:mini|bio)?conda(?:-forge)?|mamba)\)"
    r"|(?: please)? ?[,(]? ?(?:both |all )?(?:(?:(?:must|should|has to|have to|is to) be |is |are )?(?:taken "
    r"|loaded |installed "
    r"|built |available "
    r"|provided |there |present )?(?:from|via|through|by|with|using|in|as|über|par|per)"
    rf"(?: the| an?)? )(?:{_ANY})(?: (?:package|environment|env|modules?|channel|tree|stack))?(?![\w-]|\.\w)\)?"
)
_MANAGER_AHEAD = re.compile(rf"(?<![\w.-])(?:the )?(?:{_ANY}) (?:package|module|library) $")
_MANAGER_FIRST = (
    rf"(?<![\w-])(?:(?:via|through|from|with|using|by) (?:the )?(?:{_ANY})(?: packages?)?[,:]? ?"
    rf"|(?:(?<=[;,] )|^)(?:{_ANY.replace('(?P<', '(?P<l_')})(?: packages?)?: ?)(?=\x00)"
)
_VARIANTS = re.compile(
    r" ?(?:,? (?:with |built with |and )?(?:the )?(?:variants? )?)?(?<= )[+~][a-z][\w-]*(?:(?:,? and "
    r"|[ ,]{1,2})[+~][a-z][\w-]*)*"
)
_RUN_OF = re.compile(
    r"(?<=\w)-(?:rechnung(?:en)?|simulation(?:s|en)?|l[aä]uf\w*|jobs?|berechnung(?:en)?|runs?|calculations?|calculs?"
    r"|analys[ei]s?|workflows?)$",
    re.IGNORECASE,
)


def own_name(written: str) -> str:
    """`ECHAM-Rechnung` is a run of ECHAM."""
    return _RUN_OF.sub("", written)


def is_a_manager(draft: Draft, start: int, end: int) -> bool:
    """Whether a name says who installed something (`installed with Spack`), and is no software that is asked for."""
    said = re.search(
        r"(?<!\w)(?:via|through) $|(?:installed|built|provided|available|packaged) (?:with|via|through|by|from|using"
        r"|in) $",
        draft.line.norm[max(0, start - 24) : start],
    )
    return said is not None and re.fullmatch(_ANY, draft.line.norm[start:end]) is not None


_LANGUAGES = ("python", "r", "julia", "perl")
"""What packages are for, and what is seldom kept where they are."""


def _side_by_side(draft: Draft, index: int) -> bool:
    """Whether two needs are named in one breath: `CDO 2.4 and NCO from the modules`."""
    starts = [source.start for source in draft.sources if source.field == f"software.{index + 1}"]
    if draft.fields["software"][index].name.lower() in _LANGUAGES:
        return False
    before = draft.line.norm[: draft.line.place(starts[0])][-5:] if starts and starts[0] is not None else ""
    return before.endswith((" and ", " & ", " + "))


def give_managers(draft: Draft) -> None:
    """`via spack, hdf5@1.14.3 and fftw@3.3.10`: who keeps all that is listed behind it."""
    known = draft.fields.get("software", [])
    for index in range(len(known) - 2, -1, -1):
        if known[index].manager is None and known[index + 1].manager and _side_by_side(draft, index):
            known[index] = known[index].model_copy(update={"manager": known[index + 1].manager})
    places = {
        int(item.field.split(".")[1]): draft.line.place(item.start)
        for item in draft.sources
        if re.fullmatch(r"software\.\d+", item.field) and item.start is not None
    }
    for match in draft.line.find(_MANAGER_FIRST):
        manager = next(name for name in _MANAGERS if match[name] or match[f"l_{name}"])
        stop = re.compile(r"[;\n]|\. ").search(draft.line.norm, match.end())
        last = stop.start() if stop else len(draft.line.norm)
        listed = [index for index, at in places.items() if match.end() <= at < last and index < len(known)]
        if not listed or any(known[index].manager not in (None, manager) for index in listed):
            continue
        for index in listed:
            known[index] = known[index].model_copy(update={"manager": manager})
        draft.line.claim(*match.span())


def with_build(draft: Draft, need: SoftwareNeed, start: int, end: int) -> tuple[SoftwareNeed, int, int]:
    """The need with variants and manager that stand beside it, and the stretch that all of it takes."""
    built = _VARIANTS.match(draft.line.open, end)
    if built is not None:
        need = need.model_copy(update={"variants": tuple(re.findall(r"[+~][\w-]+", draft.line.words(*built.span())))})
        end = built.end()
    ahead = _MANAGER_AHEAD.search(draft.line.open[max(0, start - 40) : start])
    if ahead is not None:
        need = need.model_copy(update={"manager": next(name for name in _MANAGERS if ahead[name])})
        start -= len(ahead[0])
    managed = _MANAGED.match(draft.line.open, end)
    if managed is not None:
        bracketed = next((name for name in ("spack", "pip", "conda") if managed[f"in_{name}"]), None)
        kept_by = bracketed or next(name for name in _MANAGERS if managed[name])
        need = need.model_copy(update={"manager": kept_by})
        end = managed.end()
    return need, start, end
