"""What of a reading is stored, looked at for secrets that would be stored with it."""

from __future__ import annotations

from collections.abc import Collection

from dragoman.shown_secrets import refusal, refuse_shown, shown_secrets
from graph.reading.reading import Reading
from graph.reading.scripts import directive

__all__ = ["refuse_secrets", "refuse_secrets_of_script"]


def refuse_secrets(reading: Reading) -> None:
    """Let no reading pass that shows a secret in the request, in an answer that is offered, or in words about them.

    Raises:
        BadRequest: its field and the option before the secret; never the secret.

    """
    refuse_shown(reading.request.dump())
    for question in reading.questions:
        for option in question.options:
            refuse_shown(option.patch)  # by the fields that it would set
            refuse_shown(option.label, question.field)
        refuse_shown([question.text], question.field)
        refuse_shown([question.words], question.field)
    refuse_shown({"unread": list(reading.unread), "defaults": list(reading.defaults)})


def refuse_secrets_of_script(script: str, put_away: Collection[str], named: Collection[str]) -> None:
    """The same for a whole job script, its directives too, with the line.

    Args:
        script: without the values of its variables.
        put_away: secrets that its directives set, which go to the secret store.
        named: variables that the job is given otherwise.

    Raises:
        BadRequest: the line and the option before the secret.

    """
    values = tuple(value for value in put_away if value)
    for shown in shown_secrets(script):
        in_directive = directive().match(script[script.rfind("\n", 0, shown.start) + 1 :]) is not None
        kept_apart = script[shown.start :].lstrip("\"'").startswith(values)
        if not kept_apart and not (in_directive and shown.name in named):
            raise refusal(f"script, line {script.count(chr(10), 0, shown.start) + 1}", shown)
