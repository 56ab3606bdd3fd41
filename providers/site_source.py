"""The text of a sites file with the place of every part of it, so that an error can name its line and field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml
from pydantic import ValidationError

from dragoman.errors import SiteFileError
from providers.site_json import read_json
from providers.site_nodes import Loc, Refused, check

__all__ = ["SiteSource"]


class _Loader(yaml.SafeLoader):
    """Few scalars: `no` and `1:30` stay text, which YAML 1.1 turns into false and 90, and so do decimal fractions.

    A version 2.10 would become 2.1; where a number is wanted, the model reads it from the text.
    """


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("merge", r"^<<$", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class SiteSource:
    """A file's data with the place of every part of it."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.root: yaml.Node | None = None
        try:
            self.root, self.data = self._read(text)
        except Refused as error:
            place = f"{name}:{error.node.start_mark.line + 1}: {dotted(error.loc)}"
            raise SiteFileError(error.what, where=place, cure=error.cure) from error
        except json.JSONDecodeError as error:
            place = f"{name}:{error.lineno}"
            raise SiteFileError(f"is not JSON: {error.msg}", where=place, cure="mend that line") from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            raise SiteFileError(
                f"is not YAML: {error.problem or error}", where=f"{name}:{line}", cure="mend that line"
            ) from error
        except yaml.reader.ReaderError as error:
            place = f"{name}:{text.count(chr(10), 0, error.position) + 1}"
            code = error.character if isinstance(error.character, int) else ord(error.character[:1])
            what = f"is not YAML: the character U+{code:04X} cannot stand there"
            raise SiteFileError(what, where=place, cure="leave it out") from error
        except RecursionError as error:
            raise SiteFileError("is nested too deeply", where=name, cure="mend the file") from error
        except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
            # YAML's constructors raise what they please.
            kind = "JSON" if name.endswith(".json") else "YAML"
            raise SiteFileError(f"is not {kind}: {error}", where=name, cure="mend the file") from error
        if not isinstance(self.data, dict):
            raise SiteFileError("holds no sites", where=f"{name}:1", cure="begin it with `sites:` and a list")

    def _read(self, text: str) -> tuple[yaml.Node | None, Any]:
        if self.name.endswith(".json") or text.lstrip().startswith("{"):
            try:
                found, data = read_json(self.name, text)
            except ValueError:
                if self.name.endswith(".json"):
                    raise
            else:
                check(found)
                return found, data
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None, None
            check(root)
            return root, loader.construct_document(root)
        finally:
            loader.dispose()

    def _node(self, loc: Loc) -> tuple[yaml.Node | None, yaml.Node | None]:
        """The deepest key and node on the way to a place."""
        key: yaml.Node | None = None
        node = self.root
        for part in loc:
            if isinstance(node, yaml.MappingNode):
                # What a merge brought stands before the mapping's own keys, which count.
                pair = next(((k, v) for k, v in reversed(node.value) if k.value == str(part)), None)
                if pair is None:
                    break
                key, node = pair
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                key = node
            else:
                break
        return key, node

    def line(self, loc: Loc) -> int:
        """The line of a field, from 1."""
        key, node = self._node(loc)
        place = key or node
        return place.start_mark.line + 1 if place is not None else 1

    def error(self, loc: Loc, what: str, cure: str) -> SiteFileError:
        """The error at a place."""
        return SiteFileError(what, where=f"{self.name}:{self.line(loc)}: {dotted(loc)}", cure=cure)

    def error_of(self, error: ValidationError, above: Loc = ()) -> SiteFileError:
        """The first of a model's errors, as one that names line, field and cure."""
        first = error.errors()[0]
        loc = (*above, *first["loc"])
        _, node = self._node(loc)
        written = node.value if isinstance(node, yaml.ScalarNode) else ""
        cure_of = _CURES.get(first["type"])
        cure = cure_of(first.get("ctx", {}), written, loc) if cure_of else "write what the schema of sites files says"
        return self.error(loc, first["msg"].removeprefix("Value error, "), cure)


def dotted(loc: Sequence[int | str]) -> str:
    return ".".join(str(part)[:100] for part in loc) or "file"


_CURES: Mapping[str, Callable[[Mapping[str, Any], str, Loc], str]] = {
    "missing": lambda context, written, loc: f"add {loc[-1]}",
    "extra_forbidden": lambda context, written, loc: "no such field: look at its spelling, or delete it",
    "string_type": lambda context, written, loc: f'write it in quotes: "{written}"' if written else "write text here",
    "literal_error": lambda context, written, loc: f"one of {context.get('expected', 'the known words')}",
    "enum": lambda context, written, loc: f"one of {context.get('expected', 'the known words')}",
    "too_short": lambda context, written, loc: "describe at least one",
    "string_pattern_mismatch": lambda context, written, loc: f"it must match {context.get('pattern', 'its pattern')}",
    "int_parsing": lambda context, written, loc: "write a whole number; bytes also like 64GiB, seconds like 2h",
    "one_line": lambda context, written, loc: "write it in one line",
    "finite_number": lambda context, written, loc: "write a number",
    "less_than_equal": lambda context, written, loc: f"write at most {context.get('le')}",
    "greater_than_equal": lambda context, written, loc: f"write at least {context.get('ge')}",
    "greater_than": lambda context, written, loc: f"write more than {context.get('gt')}",
    "value_error": lambda context, written, loc: "write an amount like 64GiB or a time like 02:00:00",
}
