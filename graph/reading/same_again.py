"""What refers to an earlier request that is not at hand: `the same script, but with half the nodes`. It is asked."""

from __future__ import annotations

from graph.reading.draft import Draft

__all__ = ["read_same_again"]

_WORK = (
    r"(?:script|job|command|program(?:me)?|binary|executable|run|code|simulation|calculation|workflow|notebook|task"
    r"|request|thing|input|setup|set-up|configuration|config|settings|stuff|analysis|experiment|case)"
)
_EARLIER = r"(?:as|like) (?:last (?:time|week|month|year)|before|yesterday|always|usual|previously|the other day)"
_SAME = (
    rf"(?<![\w-])(?:run |submit |start |repeat |do |use |with )?(?:the |my |our |that )?(?:very |exact(?:ly)? )?"
    rf"(?:the )?same (?:(?:[a-z]{{3,16}} )?{_WORK}s?(?: again| once more)?(?: {_EARLIER})?|{_EARLIER})(?![\w-])"
)
_FIELDS = {
    "nodes?|machines?|hosts?": ("node", "shapes.0.nodes"),
    "(?:mpi )?(?:tasks?|ranks?|processes)": ("task", "shapes.0.tasks"),
    "cores?|cpus?": ("core", "shapes.0.cpus"),
    "(?:a100s?|h100s?|v100s?|gpus?|cards?)": ("gpu", "shapes.0.gpus"),
    "(?:main )?memory|ram": ("memory", "shapes.0.memory"),
    "(?:wall ?time|run ?time|time limit|time|hours)": ("time", "walltime_s"),
}
_TIMES = (
    r"(?<![\w.-])(?:with |on |for |using |and |but )*(?:only |just |about )?(?:half|double|twice|triple|thrice"
    r"|a (?:third|quarter) of|\d{1,2} times|\d{1,2}x|(?:\d{1,3} ?%|some|more|fewer|less) of)"
    r"(?: of)?(?: the| that| as many| as much| their| its| our)+(?: (?:same|number of|amount of|previous|old|usual))*"
)
_STATED = {"memory": "memory", "time": "walltime_s"}


def read_same_again(draft: Draft) -> None:
    """Ask what was run before, where nothing else says it, and how much a part or a multiple of it is."""
    for words, (unit, field) in _FIELDS.items():
        for match in draft.line.find(rf"{_TIMES} (?:{words})(?![\w-])(?! (?:on|of) (?:each|every|a) )"):
            stated = any(amount.unit == unit for amount in draft.amounts) or _STATED.get(unit, "") in draft.fields
            if stated:
                draft.default(f"{draft.words(*match.span())!r} only compares: the number beside it counts")
                draft.line.claim(*match.span())
                continue
            draft.ask(field, *match.span(), f"{draft.words(*match.span())!r}: how much is that?", [])
    known = {"command", "script", "software", "recipe"} & set(draft.fields) or draft.asks("command") or draft.known
    for match in draft.line.find(_SAME):
        if known:
            return
        words = draft.words(*match.span())
        draft.ask("command", *match.span(), f"{words!r}: an earlier request is not at hand. What is to be run?", [])
        known = True
