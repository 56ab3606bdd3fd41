"""Job arrays (`array 1-100%10`, `100 runs of`) and jobs to wait for (`after job 1234 succeeds`)."""

from __future__ import annotations

import re
from itertools import pairwise

from dragoman.request import ArrayRange, ArraySpec, Dependency
from graph.reading.draft import Amount, Draft
from graph.reading.numbers import NUMBER, count_of
from graph.reading.reading import Option

__all__ = ["parse_array", "read_arrays"]

_PART = r"\d{1,7}(?:-\d{1,7}(?::\d{1,5})?)?"
_SPANNED = r"(?:from )?\d{1,7}(?:(?: to | until | till | through | up to | ?[-\u2013] ?)\d{1,7}(?::\d{1,5})?)?"
_LIST = (
    rf"{_PART}(?:(?:,|,? and |, ){_PART}(?![\w.:])(?! ?(?:nodes?|cores?|cpus?|gpus?|tasks?|hours?|h|min|[kmgt]i?b"
    rf"|at once|at a time|at the same|concurrently|running|in parallel|simultaneously|together)\b)){{0,200}}"
)
ARRAY = (
    rf"(?<![\w-])(?:(?:as |an? |with |the |job ){{0,6}}(?:job )?array(?: job| jobs)?(?: (?:of|with|from|indices|index"
    rf"|range|tasks|over|is))*:? ?=? ?\[?)(?P<list>{_LIST})\]?(?:%(?P<limit>\d{{1,6}}))?(?![\w%-])(?! (?:nodes?"
    rf"|cores?|gpus?|hours?|ranks?))(?:,? (?:in |with )?(?:an? )?(?:steps?|increments?|stride)(?: of| size)?"
    rf" ?(?P<step>\d{{1,5}})|,? every (?P<every>\d{{1,5}})(?:st|nd|rd|th)?)?(?P<unit> (?:tasks?|jobs?|elements?"
    rf"|members?|runs?|entries|copies))?"
)
COPIES = (
    rf"(?<![\w.-])(?:an? |as )?(?:(?:job )?array (?:job )?(?:of|with) )?(?P<n>{NUMBER})(?: |-"
    rf"|(?=times))(?P<one>(?:single|one|1)[ -]core )?(?:(?:independent"
    rf"|short|long|quick|tiny|little|separate|identical|single|similar|small|serial|array|different"
    rf"|parallel)[ ,]{{1,2}})*(?:runs|copies"
    rf"|replicas|jobs|repetitions|realizations|instances|times|array tasks|(?:(?<=separate )|(?<=independent ))tasks"
    rf"|(?:elements|calculations|calculs)(?= (?:of )?\x00)|tasks(?= of the same)|(?<!runs )tasks(?= of \x00)"
    rf"|simulations|members"
    rf"|samples)(?! per)(?: of(?: the)?(?: (?:same|following))?)?(?:,? as (?:an? "
    rf"|one )?(?:job )?array(?: job)?)?(?![\w-])"
)
TIMES_COMMAND = rf"(?<![\w.-])(?:run )?(?P<n>{NUMBER}) ?[x×*] ?(?=\x00)"  # noqa: RUF001  # as typed
"""`500x ./step`: before a command."""
TASK_ARRAY = (
    rf"(?<![\w.-])(?:an? )?(?P<n>{NUMBER})(?:[ -](?:tasks?|elements?|jobs?)[ -]?(?:job )?array|"
    r" [a-z]{3,16} as (?:an? |one )?(?:job )?array)(?![\w-])"
)
TASK_FOR_EACH = (
    r"(?<![\w-])(?:one|a|1) (?:array )?(?:task|job|element|index|member|run) (?:per|for (?:each|every)) "
    r"(?!(?:node|core|cpu|gpu|task|rank|socket|card|host|machine)s?(?!\w))[a-z][\w-]*(?= ?(?:[,.;:)]|$))"
)
"""`one task per chromosome`: what the indices stand for."""
INDEPENDENT = (
    rf"(?<![\w.-])(?P<n>{NUMBER}) (?:independent|separate|individual|identical) (?=[a-z])"
    r"(?!(?:[\w+-]+ ){0,2}(?:nodes?|cores?|cpus?|gpus?|ranks?|process\w*|threads?|hosts?|machines?|servers?)\b)"
)
AT_ONCE = (
    rf"(?<![\w.-])(?:,? ?(?:and |but |with |running |run ){{0,6}}(?:at most |max(?:imum)?\.? |no more than "
    rf"|not more than |never more (?:than|as) |not more as "
    rf"|up to |only |at more |of which )*(?P<n>{NUMBER}) (?:(?:at most|max(?:imum)?|of them|jobs|tasks|runs|elements"
    rf"|members|array"
    rf"|running|may|can|should|run"
    rf"|be) ){{0,6}}(?:at (?:a time|once"
    rf"|the same time)|à the fois|en (?:même|even) temps|gleichzeitig|concurrent(?:ly)?|conc\.?(?= ?[,;:)])"
    rf"|simultaneously|together(?! with)"
    rf"|(?:in )?parallel))(?![\w-])"
)
ONCE_AT_MOST = (
    r"(?<![\w-])(?:(?:at|in) (?:the |a )?same time|same time|simultaneously|at once|concurrently|in parallel),?"
    r" (?:there )?(?:(?:may|should|shall|can|must|run|running|be|are|only) ){0,3}(?:not more than|no more than|not over"
    r"|at most|max(?:imum|imal)?\.?(?: of)?|up to|only) "
    rf"(?P<n>{NUMBER})(?: (?:of them|jobs|tasks|runs|elements|members|array|may|can|should|shall|run|running|be"
    rf"|are)){{0,5}}"
    r"(?= ?(?:[,.;:)\x00]|$))"
)
"""`at the same time maximum 25 should be running`."""
_AFTER = (
    r"(?<![\w-])(?:(?:but |and |only |run |start |starts |starting |to |begin |it |should |must "
    r"|wait ){0,6}(?:after|once|when|as soon as|depends? on|dependent on|depending on|wait(?:s|ing)? for"
    r"|following|if|provided(?: that)?|in case|assuming(?: that)?|given that) )"
    r"(?:(?:the )?(?:successful )?(?:completion of |success of |end of |failure of |start of ))?(?:both |all |of |my "
    r"|the |slurm |pbs |previous ){0,6}"
)
_JOB = r"\d{1,12}(?:\[\])?(?:\.[\w.-]+)?(?:_\d+)?"
_HOW = (
    r"(?: (?:both |all )?(?:has |have |is |was |had |are |were )?(?:both |all )?(?P<how>success(?:ful"
    r"|fully) (?:finished|completed|ended|done|terminated|through)(?: (?:is|has))?|succe\w+|finish\w* success\w*"
    r"|(?:finish|complet|end|terminat)\w* with success|complet\w* success\w*"
    r"|ended? success\w*|end\w* ok|finish\w* ok|is ok|ok|finish\w*|complet\w*|end\w*|done|over"
    r"|fail\w*|start\w*|begins?|begun|terminat\w*|runs? through|went (?:through )?(?:fine|ok|well)|(?:is "
    r"|are )?through))"
)
_ANYHOW = (
    r"(?:,? (?:[-\u2013\u2014] )?\(?(?:successfully|ok|even (?:(?:if|s') ?(?:it |they |il )?(?:has |have "
    r"|should )?fail\w*|(?:in"
    r"|en) (?:the )?cas(?:e)? (?:of|d'|de) ?(?:its |a )?(?:failure|échec|errors?)"
    r"|(?:on|after|upon|with) (?:a )?failures?)|or fails|either way|in any case|regardless(?: of (?:its|their|the"
    r"|how)[\w ]{0,24})?"
    r"|without (?:any )?errors?|cleanly|whatever (?:(?:its|their|the|be|is|may be|was) ){0,3}(?:outcome|result"
    r"|exit(?: status| code)?"
    r"|status|state|happens|happened|success|ending)s?(?: (?:is|was|may be|of either|of both))?"
    r"|independently? of (?:its|their|the) (?:outcome|result|success|exit status)s?|in either case"
    r"|for better or worse"
    r"|success(?:ful)? or not|good or bad|with or without errors?"
    r"|(?:no matter|whether)(?: (?:how|wie|er|es|sie|endet|enden|ausgeht|ob|erfolgreich|oder|nicht|what|whether"
    r"|if|or not|it|they|has|have|is|was|did|ended|ends|worked|works"
    r"|succeeded|succeeds|failed|fails|happens|happened|or|not|finished|went|goes|well)){1,8}"
    r"|(?:but )?(?:only )?(?:if|when) (?:it |they )?(?:is |was |were |are |has |have )?(?:been )?"
    r"(?:success\w*|succe\w+|ok))\)?)?"
)
DEPEND = (
    rf"{_AFTER}(?:job|jobs|jobid)(?: (?:id|number|no\.?))?s? ?#?:?=? ?(?P<id>{_JOB})"
    rf"(?P<more>(?:(?:,? and |, ?)(?:job )?{_JOB}(?![\w:-])(?! ?(?:nodes?|cores?|cpus?|gpus?|tasks?|ranks?"
    rf"|processes|procs?"
    rf"|hours?|hrs?|h|min|mins|minutes?|days?|weeks?|seconds?|[kmgt]i?b|threads?|mpi|euros?|[ahv]\d{{2,3}})\b)){{0,16}})"
    rf"{_HOW}?{_ANYHOW}"
)
EITHER_WAY = (
    rf"(?<![\w-])(?:(?:regardless of|no matter|independent(?:ly)? of) (?:how|whether) (?:job"
    rf"|jobid) #?(?P<id2>{_JOB}) (?:ends"
    rf"|ended|finishes|finished|goes|went|ran|exits)"
    rf"|(?:whether|no matter (?:if|whether)|if) (?:job"
    rf"|jobid) #?(?P<id>{_JOB})(?P<more>)(?P<how>) (?:succeeds?|fails?"
    r"|works?|is ok)(?: or (?:succeeds?|fails?|not|works?)){1,2})(?![\w-])"
)
DEPEND_IDS = (
    rf"{_AFTER}(?:(?P<id>\d{{3,12}})(?P<more>(?:(?:,? and |, ?)\d{{3,12}}){{0,16}})"
    rf"|(?<=both )(?P<id2>\d{{1,12}})(?:,? and |, ?)(?P<second>\d{{1,12}})){_HOW}{_ANYHOW}"
)
AFTEROK = (
    r"(?<![\w-])(?:--dependency[ =])?(?P<kind>afterok|afterany|afternotok|after)"
    r"(?P<ids>(?:(?::|(?<=any) |(?<=ok) )\d{1,12}(?:[._]\w+)*){1,16})(?![\w])"
)
ARRAY_OF = (
    rf"(?<![\w-])(?:as |an? |with |the |job )*(?:job )?array(?: job)? (?:of"
    rf"|with) (?P<n>{NUMBER}) (?:[a-z-]{{3,16}} )?"
    r"(?:tasks|jobs|elements|members|runs|entries|copies|samples|subjects|cases|points)(?![\w-])"
)
MEMBERS = (
    r"(?<![\w-])(?:only |just )?(?:for |with |over |on )?(?:the |all )?(?:ensemble |array )?(?:members|elements"
    r"|seeds|replicas|realizations|subjects"
    r"|folds)"
    r" (?:from )?(?P<n>)(?P<first>\d{1,7})(?: (?:to|through|up to) | ?(?:-|\.\.) ?)(?P<last>\d{1,7})(?![\w.-]|,\d)"
)
DOTS = r"(?<![\w-])(?<!\d )(?:tasks|jobs|runs|array) (?P<n>)(?P<first>\d{1,7}) ?\.\. ?(?P<last>\d{1,7})(?![\w.-]|,\d)"
"""`tasks 0..31`."""
FOR_EACH = (
    r"(?<![\w-])(?:once )?(?:for|per|over|on) (?:each|every|all(?: the)?"
    r"|each one of the) (?:of the )?(?:input )?(?:files?|samples?"
    r"|images?|folders?|director(?:y|ies)|lines?) (?:in|of|from|matching|under|listed in) [^\s,;\x00]+"
)
"""`for each file in data/*.csv`: a number that only the files tell."""
COUNTED_FROM = (
    rf"(?<![\w.-])(?:an? )?(?:job )?(?:array of )?(?P<n>{NUMBER}) (?:[a-z-]{{3,16}} )?(?:jobs|runs|tasks|members"
    rf"|elements|cases)"
    r",? \(?(?P<first>\d{1,7})(?: (?:to|through|up to) | ?- ?)(?P<last>\d{1,7})\)?(?![\w.-]|,\d)"
)
NUMBERED = (
    rf"(?<![\w.-])(?:(?P<n>{NUMBER}) (?:[a-z-]{{3,16}} )?)?(?:jobs|runs|tasks|members|elements|cases|samples|copies"
    rf"|array"
    r"|simulations|folders|files|frames),? (?:that are |which are |are )?(?:numbered|indexed|counted|with (?:the )?"
    r"(?:indices|numbers|ids))(?: from)? (?P<first>\d{1,7})(?: (?:to|through|up to) "
    r"| ?- ?)(?P<last>\d{1,7})(?![\w.-]|,\d)"
    r"(?!,? (?:in |with |every )(?:an? )?(?:steps?|increments?|stride|\d))"
)


INDICES = (
    r"(?<![\w-])(?:on |for |with |over )?(?:the |every |each |all )?(?:job )?(?:array )?(?:ind(?:ex|ices|exes)|ids?"
    r"|(?<=array: )numbers"
    r"|array(?: of (?:tasks?|jobs?|runs?))?)"
    r" (?:from |of )?(?P<first>\d{1,7})(?: (?:to|until|till|through|up to) | ?- ?)(?P<last>\d{1,7})"
    r"(?:,? (?:in |with )?(?:an? )?(?:steps?|increments?|stride)(?: size)? (?:of )?(?P<step>\d{1,5})"
    r"|,? every (?P<every>\d{1,5}|2nd|second|3rd|third|4th|fourth|5th|fifth|10th|tenth)(?:st|nd|rd"
    r"|th)?(?: one)?)?(?![\w%:-]|,\d)"
)
AS_ARRAY = (
    r"(?<![\w.-])(?P<first>\d{1,7})(?: (?:to|through|up to) | ?- ?)(?P<last>\d{1,7})(?:,? (?:in )?steps? (?:of )?"
    r"(?P<step>\d{1,5})|,? every (?P<every>\d{1,5})(?:st|nd|rd|th))?,? as (?:an? |one )?(?:job )?array(?![\w-])"
)
LISTED = rf"(?<![\w.-])(?P<list>{_LIST}) as (?:the |an? )?(?:job )?array(?: ind(?:ices|ex)| ids?)(?![\w-])"
_ORDINALS = {
    "2nd": 2,
    "second": 2,
    "3rd": 3,
    "third": 3,
    "4th": 4,
    "fourth": 4,
    "5th": 5,
    "fifth": 5,
    "10th": 10,
    "tenth": 10,
}
_EITHER = (
    r"even |either way|(?:any|either) case|regardless|or fails|whatever|no matter|whether|independent|or not"
    r"|good or bad"
    r"|or worse|or without"
)
WITHOUT_ID = (
    r"(?<![\w-])(?:after|once|when|as soon as) (?:my|the|our) (?:other |previous |last |first |earlier "
    r"|running ){0,2}"
    r"(?:job|run|one)(?: from (?:last|this|the last) [a-z]{3,10})? (?:(?:has|is|was) )?(?:finish\w*|complet\w*"
    r"|succe\w*|done|through|end\w*)"
    r"(?: successfully| ok| cleanly)?(?![\w-])"
)
RETRIES = (
    rf"(?<![\w-])(?:retr(?:y|ies|ied|ying)|re-?submit\w*|re-?start\w*|re-?run|requeue\w*"
    rf"|try|tries|attempt\w*|repeat\w*)"
    rf"(?: (?:it|this|the job|up to|at most|max\.?|maximum|no more than|on failure|if it fails"
    rf"|again))*[ :=,]+{NUMBER}"
    rf"(?: times?)?(?: (?:on failure|on errors?|if it fails|when it fails|in case of failure))?(?![\w-])"
)


RANGES = (
    r"(?<![\w-])(?:as |an? |with |the |for |over |on |job |array )*(?:(?:job )?array(?: job)?(?: of| with"
    r"| over)?(?: the)? )?"
    r"(?:(?:array )?(?:ind(?:ex|ices)|ids|members|seeds|elements|tasks|numbers)|(?<=array )(?:from )?)(?: from"
    r"| of| are|:)? ?"
    rf"(?P<list>{_SPANNED}(?:(?:,|,? and |,? plus |, | & ){_SPANNED}){{1,60}})(?![\w%-]|[.:]\d)"
    r"(?= ?(?:[,.;:)\x00]|$| (?:is|are|as|of|in|on|with|each|for|to|takes?|runs?|will|using|needs?|must|should)\b))"
    r"(?:,? as (?:an? |one )?(?:job )?array(?![\w-]))?"
)
"""Several ranges, with words between their ends: `indices 5, 7 and 20 to 40`."""

PROGRESSION = (
    r"(?<![\w-])(?:as |an? |with |the |for |over |on |job |array )*(?:job )?(?:array|ind(?:ex|ices)|ids|seeds|members"
    r"|elements)(?: (?:of|with|over|from|indices|index|ids|are))*:? ?=? ?"
    r"(?P<list>\d{1,7}(?:, ?\d{1,7}){1,20}),? ?(?:and so on |etc\.? |\.{2,}|…)?,? ?(?:(?:,? ?(?:up )?to"
    r"(?: and including)?"
    r"|through|until|till|and so on|\.{2,}|…),? ?)(?P<last>\d{1,7})(?![\w%-]|[.,:]\d)"
)
"""`indices 10, 20, 30 up to 100`, `array 0, 5, ..., 50`: every so many of them."""


def parse_array(text: str, limit: str | None = None) -> ArraySpec | None:
    """`1-10:2,15` as ranges; None where a range is empty."""
    ranges = []
    for part in re.split(r",? (?:and|plus|&) |, ?", text):
        match = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or match[3] == "0":
            return None
        ranges.append(ArrayRange(first=first, last=last, step=int(match[3] or 1)))
    return ArraySpec(ranges=tuple(ranges), at_once=int(limit) if limit and int(limit) else None)


def read_arrays(draft: Draft) -> None:
    """Find an array with its limit, and dependencies."""
    for match in draft.line.find(AFTEROK):
        for job in re.split("[: ]", match["ids"][1:]):
            draft.add("dependencies", Dependency(kind=match["kind"], job_id=job), *match.span())  # type: ignore[arg-type]  # the pattern allows no other
    for match in (found for rule in (EITHER_WAY, DEPEND, DEPEND_IDS) for found in draft.line.find(rule)):
        _dependency(draft, match)
    for match in draft.line.find(PROGRESSION):
        _progression(draft, match)
    for match in draft.line.find(RANGES):
        joined = re.sub(r"(?<=\d) ?(?:to|through|up to|[-\u2013]) ?(?=\d)", "-", match["list"].replace("from ", ""))
        spec = parse_array(joined)
        if spec is not None and re.search(r"\d-\d", joined):
            draft.put("array", spec, *match.span())
    for match in (found for rule in (COUNTED_FROM, NUMBERED, MEMBERS, DOTS) for found in draft.line.find(rule)):
        spec, count = parse_array(f"{match['first']}-{match['last']}"), count_of(match["n"]) if match["n"] else None
        if spec is not None and count in (None, spec.size):
            draft.put("array", spec, *match.span())
    for match in (found for rule in (INDICES, AS_ARRAY) for found in draft.line.find(rule)):
        step = match["step"] or (str(_ORDINALS.get(match["every"], match["every"])) if match["every"] else None)
        spec = parse_array(f"{match['first']}-{match['last']}" + (f":{step}" if step else ""))
        if spec is not None:
            draft.put("array", spec, *match.span())
    for match in draft.line.find(LISTED):
        spec = parse_array(match["list"])
        if spec is not None:
            draft.put("array", spec, *match.span())
    for match in draft.line.find(FOR_EACH):
        draft.ask(
            "array", *match.span(), f"{draft.words(*match.span())!r}: how many tasks are these, and by which index?", []
        )
    limits = [
        match for match in draft.line.find(AT_ONCE) if re.search(r"\b(?:runs|jobs|tasks|elements|members)\b", match[0])
    ]
    for match in limits:
        draft.line.claim(*match.span())
    for match in draft.line.find(ARRAY_OF):
        _copies(draft, match["n"], match.start(), match.end(), None)
    for match in draft.line.find(ARRAY):
        indices = re.search(r"\bind(?:ices|ex)\b", match[0])
        if match["list"].isdigit() and not indices:
            _copies(draft, match["list"], match.start(), match.end(), match["limit"])
            continue
        step = match["step"] or match["every"]
        spec = parse_array(match["list"] + (f":{step}" if step else ""), match["limit"])
        if spec is not None:
            draft.put("array", spec, *match.span())
    for match in draft.line.find(WITHOUT_ID):
        draft.ask("dependencies", *match.span(), f"{draft.words(*match.span())!r}: which job is that (its id)?", [])
    for match in draft.line.find(RETRIES):
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
    for match in draft.line.find(COPIES):
        if re.search(r"nodes? (?:runs?|has|have|gets?|with) $", draft.line.norm[: match.start()][-24:]):
            continue  # `each of the 4 nodes runs 28 tasks of ./snow`
        if re.match(rf":? ?\(?{match['n']} (?:mpi )?(?:ranks|tasks|processes)", draft.line.norm[match.end() :]):
            continue  # `REMD, 96 replicas: 96 ranks`
        if match["one"]:
            draft.amounts.append(Amount("core", 1, None, *match.span("one")))
        _copies(draft, match["n"], match.start(), match.end(), None)
    if "array" not in draft.fields:
        for match in (found for rule in (TASK_ARRAY, INDEPENDENT) for found in draft.line.find(rule)):
            _copies(draft, match["n"], match.start(), match.end(), None)
        for match in draft.line.find(TIMES_COMMAND):
            if (count_of(match["n"]) or 0) > 1 and draft.begins_at("command", match.end()):
                _copies(draft, match["n"], match.start(), match.end(), None)
    _claim_their_number(draft)
    if "array" in draft.fields:
        for match in draft.line.find(TASK_FOR_EACH):
            draft.aside(*match.span())
    for match in (*limits, *draft.line.find(AT_ONCE), *draft.line.find(ONCE_AT_MOST)):
        limit, spec = count_of(match["n"]), draft.fields.get("array", draft.known and draft.known.array)
        if limit and isinstance(spec, ArraySpec):
            draft.fields["array"] = spec.model_copy(update={"at_once": limit})
            draft.source("array.at_once", *match.span())
        elif match in limits:
            draft.unread.append(draft.words(*match.span()).strip(" ,"))


def _progression(draft: Draft, match: re.Match[str]) -> None:
    """`10, 20, 30 up to 100`: the numbers before show the step; where they show none, it is asked."""
    if match["list"].count(",") == 1 and re.search(r"(?<!up )(?:to|through) ?\d+$", match[0]):
        return  # `5, 7 to 20`: a list with a range in it
    shown, last = [int(number) for number in re.findall(r"\d+", match["list"])], int(match["last"])
    steps = {second - first for first, second in pairwise(shown)}
    step = steps.pop() if len(steps) == 1 else 0
    if step > 0 and last > shown[-1] and (last - shown[0]) % step == 0:
        draft.put("array", parse_array(f"{shown[0]}-{last}:{step}"), *match.span())
    else:
        draft.ask("array", *match.span(), f"{draft.words(*match.span())!r}: which indices are these?", [])


def _claim_their_number(draft: Draft) -> None:
    """`for the 22 samples as a job array 1-22`: the number of elements, said once more beside the array."""
    spec = draft.fields.get("array")
    if isinstance(spec, ArraySpec):
        rule = (
            rf"(?<![\w.-])(?:(?:for|over|of|on|all|the|our|these) ){{0,3}}{spec.size} [a-z]{{3,20}}s,?"
            r"(?= ?(?:(?:as|in|with|using|by) )?(?:an? |the |one )?\x00)"
        )
        for match in draft.line.find(rule):
            if not re.search(r" (?:nodes|cores|cpus|gpus|tasks|hours|minutes|days|ranks|threads|cards)\b", match[0]):
                draft.line.claim(*match.span())


def _copies(draft: Draft, number: str, start: int, end: int, limit: str | None) -> None:
    count = count_of(number)
    if not count or count < 2:
        return
    spec = ArraySpec(ranges=(ArrayRange(first=1, last=count),), at_once=int(limit) if limit and int(limit) else None)
    draft.default(f"{draft.words(start, end)!r} is an array of {count} with the indices 1 to {count}")
    draft.put("array", spec, start, end)


def _dependency(draft: Draft, match: re.Match[str]) -> None:
    text = match[0]
    named = "id" if match["id"] else "id2"
    groups = match.groupdict()
    more = f"{groups.get('more') or ''} {groups.get('second') or ''}"
    jobs = [draft.line.words(*match.span(named)).rstrip("."), *re.findall(r"\d[\w.\[\]]*", more)]
    how = groups.get("how") or ""
    kind = None
    if re.search(_EITHER, text):
        kind = "afterany"
    elif re.search(r"succe|\bok\b|\bfine\b|\bwell\b|cleanly|without (?:any )?error|runs? through", text):
        kind = "afterok"
    elif how.startswith("fail") or "failure of" in text:
        kind = "afternotok"
    elif how.startswith(("start", "beg")) or "start of" in text:
        kind = "after"
    if kind:
        for job in jobs:
            draft.add("dependencies", Dependency(kind=kind, job_id=job), *match.span())  # type: ignore[arg-type]  # set above
        return
    words, named = draft.words(*match.span()), " and ".join(jobs)
    options = [
        Option(label=label, patch={"dependencies": [{"kind": kind, "job_id": job} for job in jobs]})
        for label, kind in (("only if it succeeded", "afterok"), ("whatever its outcome", "afterany"))
    ]
    draft.ask("dependencies", *match.span(), f"{words!r}: must job {named} have succeeded?", options)
