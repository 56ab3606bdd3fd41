"""Tools about job scripts: read one as a request, write one for another scheduler. No site is asked, nothing runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, TypeVar

import anyio.to_thread
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from dragoman.errors import BadRequest, DragomanError
from dragoman.model import JsonObject, Model
from dragoman.request import JobRequest
from providers.registry import dialects
from providers.script_reading import dialect_of_script, read_any_script
from providers.translation.source import LARGEST, script_text
from providers.translation.translate import dialect_named, translate_script, words_of
from tools.answers import of_error, of_invalid, of_model

__all__ = ["ReadScript", "ScriptRead", "TranslateScript", "read_names", "script_tools", "written_names"]


Asked = TypeVar("Asked", bound=BaseModel)


@cache
def read_names() -> tuple[str, ...]:
    """Schedulers whose scripts are read."""
    return tuple(name for name, make in dialects.items() if (words := words_of(make)) and words.whole is None)


@cache
def written_names() -> tuple[str, ...]:
    """Schedulers for which scripts are written."""
    known = [name for name, make in dialects.items() if words_of(make) and not getattr(make, "only_scripts", False)]
    return tuple(known)


def _one_of(names: Callable[[], tuple[str, ...]]) -> Callable[[str], str]:
    def check(name: str) -> str:
        try:
            found = dialect_named(name).name
        except DragomanError:
            found = name
        if found not in names():
            raise ValueError(f"{name[:60]!r} is none of {', '.join(names())}")
        return found

    return check


Read = Annotated[
    str, AfterValidator(_one_of(read_names)), WithJsonSchema({"type": "string", "enum": list(read_names())})
]
Written = Annotated[
    str, AfterValidator(_one_of(written_names)), WithJsonSchema({"type": "string", "enum": list(written_names())})
]


class ReadScript(Model):
    """A job script."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    text: str = Field(min_length=1, max_length=LARGEST)
    """The whole script, with its first line and directives."""
    source: Read | None = None
    """The scheduler that it is written for; None: the one whose directives come first."""


class TranslateScript(ReadScript):
    """A job script and the scheduler that it is wanted for."""

    target: Written
    """The scheduler to write it for."""


class ScriptRead(Model):
    """What a job script asks for."""

    source: str
    """The scheduler whose directives were read."""
    request: JobRequest
    """Its needs; `script` is the body, `native_options` are options of this scheduler alone."""
    not_carried: tuple[str, ...] = ()
    """Directives that no field of a request says, as written."""


_READ = (
    "Read a job script: what its directives ask for as a request, its body byte for byte, and the directives that no"
    " field says. A malformed directive is an error with its line and cure. Nothing is run. Use it for a script that"
    " somebody already has, before asking sites about it; not for words of a person, and not to check its body."
)
_TRANSLATE = (
    "Write a job script for another scheduler. The answer has the new script, a unified diff of the body, each change"
    " with its reason, and a report: `lost` has no equivalent there and is to be told to the person. Nothing is run."
    " Use it where a script is wanted as a file for another machine; not to submit it: that writes its own script."
)


def script_tools() -> list[BaseTool]:
    """`read_script` and `translate_script`: pure, for any agent."""

    def read(asked: ReadScript) -> Model:
        script_text(asked.text.encode(), "text")
        reading = dialect_named(asked.source).read_script(asked.text) if asked.source else read_any_script(asked.text)
        if reading.problems:
            raise BadRequest("; ".join(reading.problems), where="text", cure="mend the lines that are named")
        source = asked.source or dialect_of_script(asked.text) or ""
        return ScriptRead(source=source, request=reading.request, not_carried=reading.not_carried)

    def translate(asked: TranslateScript) -> Model:
        script_text(asked.text.encode(), "text")
        return translate_script(asked.text, asked.target, source=asked.source)

    return [
        _tool("read_script", _READ, ReadScript, read),
        _tool("translate_script", _TRANSLATE, TranslateScript, translate),
    ]


def _tool(name: str, description: str, arguments: type[Asked], act: Callable[[Asked], Model]) -> BaseTool:
    async def call(**given: object) -> JsonObject:
        try:
            asked = arguments.model_validate(given)
            return of_model(await anyio.to_thread.run_sync(act, asked))
        except DragomanError as error:
            return of_error(error)

    return StructuredTool(
        name=name,
        description=description,
        args_schema=arguments,
        coroutine=call,
        handle_validation_error=of_invalid,  # type: ignore[arg-type]  # data is taken as it is, not only text
        metadata={"acts": False, "provider": "scripts", "verb": name},
    )
