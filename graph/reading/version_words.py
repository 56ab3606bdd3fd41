"""Versions as people state them: `>= 3.1`, `at least 2Aug2023`, `between 2.1 and 2.4`, `5.0 or newer, but not 5.2`."""

from __future__ import annotations

import re

from dragoman.versions import VersionBound, VersionRange

__all__ = ["COUNTED", "MEASURED", "MORE", "MUST_BE", "RANGE", "VERSION", "VERSION_WORD", "version_range"]

_DATE = r"\d{1,2}[-_ ]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[-_ ]?\d{4}(?:[_-]?\w{1,20})?"
VERSION = rf"(?:{_DATE}|v?\d+(?:[._][a-z0-9]+)*(?:-?[a-z]+\d*)?(?:[-+][a-z0-9]+(?:\.\d+)*)?)(?<![.])"
_DOTTED = (
    rf"(?:{_DATE}|v?\d+(?:\.(?:[\dx*]\w*|[a-z]{{1,5}}\d+))+(?:[-+_]\w+(?:\.\d+)*)?|r?20[012]\d(?: ?r\d(?!\w)"
    rf"|[ab])?(?:[-.]\d+)?|v\d+\w*"
    r"|r\d{1,6}(?:\.\d+){0,3}|\d{1,2}[pr]\d{1,2}(?:[pr]\d{1,2})?)"
)
_OPERATORS = {
    ">=": r">=|=>|≥|at least|(?:superior|greater|higher|newer|bigger)(?: than)? or equal (?:to|than|as)"
    r"|(?<!apart )(?<!aside )(?<!different )from versions?|starting (?:with|at|from)(?: versions?)?"
    r"|not (?:to )?be (?:older|earlier|lower) than|not? (?:older|earlier) than|not before"
    r"|min(?:imum)?\.?(?: of)?|ab|mindestens|wenigstens|au moins|(?:any(?:thing| version| release)|something"
    r"|everything) (?:from|since)"
    r"|(?:up)?from(?= v?\d[\w.]{0,12} (?:on|and (?:up|on|above))(?= ?(?:[,.;)]|$|but|and|yet)))",
    "<=": r"<=|=<|≤|at most|(?:inferior|less|lower|older|smaller)(?: than)? or equal (?:to|than|as)"
    r"|not (?:to )?be (?:newer|later|higher) than|not? (?:later|newer) than|maximum"
          r"|up to(?: and including)?|höchstens|au plus",
    "!=": r"!=|any (?:version|release) (?:except|but)|(?:but )?not|other than|except",
    ">": r">|(?:bigger|greater|higher) than|newer (?:than|as)|later (?:than|as)|after|above",
    "<": r"<|older (?:than|as)|earlier (?:than|as)|before|below",
    "==": r"==|=|exactly|any",
}  # fmt: skip
_OPERATOR = f"(?P<op>{'|'.join(_OPERATORS.values())})"
COUNTED = (
    r"(?:%|x|nodes?|nds|hosts?|machines?|tasks?|ranks?|process(?:es)?|procs?|cores?|cpus?|threads?|gpus?|cards?|hours?"
    r"|hrs?|h"
    r"|days?|minutes?|mins?|seconds?|weeks?|months?|years?|[kmgt]i?b|frames?|runs|jobs|times?|euros?|dollars?|usd|eur"
    r"|people|students?|members?|å|nm|µm|mm|cm|km|ev|kev|mev|gev|tev|khz|mhz|ghz|sigma|degrees?)(?![\w=])"
)
MEASURED = (
    r"(?:%|hours?|hrs?|h|days?|minutes?|mins?|seconds?|weeks?|months?|years?|[kmgt]i?b|euros?|dollars?|usd"
    r"|eur|å|nm|µm|mm|cm|km|ev|kev|mev|gev|tev|khz|mhz|ghz|sigma|degrees?)(?!\w)"
)
"""Words behind a number that tell it is a count, no version: of whole numbers, and of any."""
_AFTER = (
    r"(?P<after>(?:\+| \+(?! ?\w)| (?:at (?:the )?(?:latest|newest|highest|earliest|oldest|lowest|most|least)"
    r"|max(?:imum)?|min(?:imum)?)(?! ?\d)| onwards?| upwards?"
    r"| on(?= ?(?:[,.;)]|$|but (?:below|not|still|older)|yet ))| and (?:up|on)(?![\w-])"
    r"| (?:in|ex)clusive| exactly|(?:,? \(?)(?:or|and) (?:something |anything |any |an? )?(?:newer|later"
    r"|above"
    r"|higher|greater|up|more recent"
    r"|older|earlier"
    r"|below|lower|before)(?! than\b| as v?\d)"
    rf"(?! ?v?(?>\d[\d.]*)(?! ?{COUNTED}))(?: (?:release|version|one)s?)?\)?))?"
)
MUST_BE = (
    r" (?:must|should|has to|have to|needs? to|shall|ought to|may|is to|are to)(?: be)?"
    r"(?: (?:used|installed|present|available|there|loaded|provided))?(?: (?:in|of|with|at))?(?: (?:an?|the))? "
)
"""`ROCm must be at least 5.7`: between a name and what its version is held to."""
_ANY = r"(?:(?:any(?:thing| versions?| releases?)|something|everything|all (?:versions|releases)) )"
VERSION_WORD = r"(?:versions?|release|ver\.?|v\.?)"
RANGE = (
    rf"(?:(?P<low4>{VERSION}) ?(?P<from4><=?|≤) ?(?:{VERSION_WORD}|x) ?(?P<to4><=?|≤) ?(?P<high4>{VERSION})"
    rf"|{_ANY}?(?:(?:in )?{VERSION_WORD} )?between (?:{VERSION_WORD} )?(?P<low>{VERSION}) (?:and"
    rf"|to) (?P<high>{VERSION})"
    rf"|{_ANY}?(?:from )?(?:{VERSION_WORD} )?(?:from )?(?P<low2>{_DOTTED}) ?(?:-|\u2013|(?:up )?to(?: and including)?"
    rf"|through) ?(?P<high2>(?!r\d{{1,2}}(?!\w)){_DOTTED})"
    rf"|(?:versions|releases) (?P<low5>{VERSION}) (?:through|to|till|until|up to) (?P<high5>{VERSION})"
    rf"|{_ANY}?(?:{VERSION_WORD} )?(?:from )?(?P<low3>{VERSION}),? (?:up )?to,? (?:but,? )?"
    rf"(?:not including|not|excluding|exclud(?:ing|es)|below|before|under),? (?P<high3>{VERSION})"
    rf"|(?:{VERSION_WORD}[ :=]{{0,2}}(?:(?:that|which) (?:is|are"
    rf"|must be) )?)?{_OPERATOR} ?(?:{VERSION_WORD} )?(?P<version>{VERSION}|r20\d\d[ab]){_AFTER}"
    rf"|{VERSION_WORD}[ :=]{{0,2}}(?P<version2>{VERSION}|[a-z]*\d[\w.]*){_AFTER.replace('after', 'after2')}"
    rf"|(?P<version3>{_DOTTED}){_AFTER.replace('after', 'after3')}"
    rf"|(?P<low6>\d{{1,4}}) ?[-\u2013] ?(?P<high6>\d{{1,4}})(?!\w|[.:-]\w)(?! ?(?:mpi |openmp |physical |{COUNTED}))"
    rf"|(?P<version4>(?:\d{{1,4}}|\d{{6}}|\d{{8}})(?!\w|[.:]\w)(?! ?(?:mpi |openmp |physical "
    rf"|a100|h100|v100"
    rf"|{COUNTED})))(?P<after4> ?\+| or (?:something newer|anything newer|any newer|newer|later|above|higher))?"
    r")(?![\w/@]|:\S|\.\d)"
)
_BELOW = r"(?:still )?(?:below|under|less than|lower than|older than)"
_FURTHER = "|".join((*(_OPERATORS[name] for name in (">=", "<=", "!=", ">", "<")), _BELOW))
MORE = (
    rf"(?P<more>(?:,? ?\(?(?:and |but |yet )?(?:{_FURTHER}) ?(?:{VERSION_WORD} )?{VERSION}(?![\w/@]|:\S|\.\d)"
    rf"(?! ?(?:{COUNTED}))){{0,3}})"
)


def version_range(match: re.Match[str]) -> VersionRange | None:
    """The range that a match of RANGE states; None where it says none."""
    groups = match.groupdict()
    more = [
        _bound(_operator(extra["op"], ""), extra["v"])
        for extra in re.finditer(rf"(?P<op>{_FURTHER}) ?(?:{VERSION_WORD} )?(?P<v>{VERSION})", groups.get("more") or "")
    ]
    first = _two_ends(groups)
    if first:
        return VersionRange(bounds=(*first, *more))
    for suffix in ("", "2", "3", "4"):
        version = groups.get(f"version{suffix}")
        if not version:
            continue
        after = (groups.get(f"after{suffix}") or "").strip(" ,()")
        operator = _operator(groups.get("op") if suffix == "" else None, after)
        bounds = list(_family(version[:-2]).bounds) if re.search(r"\.[x*]$", version) else [_bound(operator, version)]
        return VersionRange(bounds=(*bounds, *more))
    return None


def _two_ends(groups: dict[str, str | None]) -> tuple[VersionBound, ...]:
    """Both bounds of a form that has two; none: it has not."""
    low = groups.get("low") or groups.get("low2") or groups.get("low5") or groups.get("low6")
    high = groups.get("high") or groups.get("high2") or groups.get("high5") or groups.get("high6")
    if low and high:
        return _bound(">=", low), _bound("<=", high)
    low, high = groups.get("low3"), groups.get("high3")
    if low and high:
        return _bound(">=", low), _bound("<", high)
    low, high = groups.get("low4"), groups.get("high4")
    if low and high:
        signs = ">" if groups["from4"] == "<" else ">=", "<" if groups["to4"] == "<" else "<="
        return _bound(signs[0], low), _bound(signs[1], high)
    return ()


def _family(prefix: str) -> VersionRange:
    head, _, last = prefix.lstrip("v").rpartition(".")
    upper = f"{head}.{int(last) + 1}" if head else str(int(last) + 1)
    return VersionRange(bounds=(_bound(">=", prefix), _bound("<", upper)))


def _bound(operator: str, version: str) -> VersionBound:
    cleaned = re.sub(r"^v(?=\d)", "", version).replace(" ", "")
    return VersionBound(operator=operator, version=cleaned)  # type: ignore[arg-type]  # from the table


def _operator(word: str | None, after: str) -> str:
    if after:
        if re.search(r"most|max|at (?:the )?(?:latest|newest|highest)", after):
            return "<="
        if re.search(r"clusive|exactly", after):
            return "==" if "exactly" in after else _operator(word, "")
        if re.search(r"at (?:the )?(?:earliest|oldest|lowest)", after):
            return ">="
        return "<=" if re.search(r"older|earlier|below|lower|before", after) else ">="
    if re.fullmatch(_BELOW, word or ""):
        return "<"
    return next((op for op, words in _OPERATORS.items() if re.fullmatch(words, word or "")), "==")
