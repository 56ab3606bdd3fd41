"""Secrets that stand openly in a command, a script or another word of a request: found, named, never repeated. Pure.

What `redact` hides is more than that, for hiding too much costs a word of a log: a variable that is only named
(`--token "$TOKEN"`), the file that holds a password, a number of tokens. What is refused has to be a secret.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dragoman.errors import BadRequest
from dragoman.secrets import HIDDEN, is_secret_name, is_secret_value, redact

__all__ = ["Shown", "refusal", "refuse_shown", "shown_in", "shown_secrets"]

_MARK = "\ue000"
_NEAR = 2000
"""Characters before a value that tell what it is."""
_NAMES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BEFORE = re.compile(
    r"(?P<name>--?[A-Za-z][\w.\-]*|[A-Za-z_][\w.\-]*)[\"']?\]?[ \t]*(?P<sign>\+?=|:|,)?[ \t\\\n]*(?:\$?[\"'])?"
    r"(?:(?i:bearer|basic|token)[ \t]+)?$"
)
"""The option, variable or header whose value comes next."""
_BEFORE_LOGIN = re.compile(r"(?P<name>--?[A-Za-z][\w\-]*)(?P<sign>=)?[ \t]*(?:\$?[\"'])?[^\s:,%@/=]{0,128}[:,%]$")
"""The option whose value is a user's name and the password."""
_ELSEWHERE = re.compile(
    r"(?:\$|`|\\\$|%\w*[%(]|%[\-\d.]*[sdqrb](?!\w)|\$?\{|<|\[|@|~|\.{0,2}/|file:|env:|id=|source=|src=|\*\*\*|\.\.\.|x{3,}$|your[_-])"
    r"|[\w.+\-]+\.(?:txt|json|ya?ml|pem|key|crt|env|cfg|conf|ini|toml|netrc|dat|py|sh|csv|tsv|pub|log|h5|gpg|cookies?)$"
    r"|(?:none|null|nil|true|false|yes|no|on|off|auto|stdin|prompt|ask|anonymous|required|optional|missing|and|or)$"
    r"|-+$|$",
    re.IGNORECASE,
)
"""No secret but where to find one, a placeholder, or a switch."""
_EXPANDED = re.compile(r"\$\{[^}]*\}?|\$\w+|\$\([^)]*\)?|`[^`]*`?")
"""What a shell puts in the place of a variable or a command."""
_LITERAL = re.compile(
    r"\"?(?:\$\{\w+:?[-=+][\"']?"
    r"|(?:\$\(|`)[ \t]*(?:echo|printf)(?:[ \t]+-[neE]+)?[ \t]+(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?)"
    r"(?P<value>[^\s\"'}`)|;&]+)"
)
"""A value that a shell is told to take, or to make of itself."""
_ABOUT = frozenset(
    ("env", "var", "variable", "stdin", "prompt", "cmd", "command", "helper", "store", "manager", "provider", "through",
     "format", "policy", "hash", "ids", "idx", "fd")
)  # fmt: skip
"""Last words of names that tell something about a secret: `--password-env PW`."""
_OF_TEXT = frozenset(
    ("pad", "eos", "bos", "sep", "cls", "mask", "unk", "special", "trigger", "placeholder", "initializer", "image",
     "video", "stop", "instance", "next", "prefix", "class", "decoder", "oov", "control")
)  # fmt: skip
"""A token of these is a word of a language model's text, not of a login."""
_PUBLIC = re.compile(r"-----BEGIN (?:CERTIFICATE|PUBLIC|RSA PUBLIC|PGP (?:PUBLIC|SIGN|MESSAGE)|SSH2 PUBLIC|X509)")
_SAYS = re.compile(r"(?:\b(?:echo|print|printf|puts|log|logger|grep|egrep|rg|sed|awk|raise|assert|test)\b|#|//)[^\n]*$")
"""Words for people or patterns come next."""
_PODS = re.compile(r"\b(?:docker|podman|buildah|nerdctl|kubectl|helm)\b[^\n;|&]*$")
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


class Shown(NamedTuple):
    """A secret that a text shows."""

    name: str
    """The option, variable or header before it, as written; never the value."""
    start: int
    """Where the value begins."""
    end: int = 0
    """Where it ends."""


def shown_secrets(text: str) -> list[Shown]:
    """Secrets that stand in a command line, a script or another text, in order."""
    if _MARK in text or text.isspace():
        return []
    marked = redact(text, _MARK)
    if marked == text:
        return []
    found: list[Shown] = []
    pieces = marked.split(_MARK)
    end, before = 0, ""
    for place, piece in enumerate(pieces):
        last = place + 1 == len(pieces)
        start = len(text) - len(piece) if last and text.endswith(piece) else text.find(piece, end)
        if start < end:
            return found
        if place and not _harmless(before, text[end:start]):
            found.append(Shown(_name(before, text[end:start]), end, start))
        end = start + len(piece)
        before = f"{before}{HIDDEN if place else ''}{piece}"[-_NEAR:]
    return found


def _harmless(before: str, raw: str) -> bool:
    bare = re.sub(r"^[frbuFRBU]{1,2}(?=[\"'])", "", raw).strip()
    quoted = bare[:1] in ("'", '"') or before[-1:] in ("'", '"')
    value = bare.lstrip("$").strip("\"'") if bare[:2] in ("$'", '$"') else bare.strip("\"'")
    if _PUBLIC.match(value):
        return True
    if is_secret_value(value) and not _ELSEWHERE.match(value):
        return False
    literal = None if bare[:1] == "'" or before[-1:] == "'" else _LITERAL.match(bare)
    if literal is not None and not _ELSEWHERE.match(literal["value"]):
        return False  # `${TOKEN:-value}`, `$(echo value)`
    if _ELSEWHERE.match(value) or not re.search(r"\w", value):
        return True
    if bare[:1] != "'" and before[-1:] != "'" and _EXPANDED.search(value):
        rest = _EXPANDED.sub("", value)  # `Bearer $TOKEN`: what is written is no secret
        if len(rest) < 6 or not (re.search(r"\d", rest) and re.search(r"[A-Za-z]", rest)):
            return True
    if value.isalpha() and re.search(r"\b(?:is|ist|est|be)[ \t]+$", before) and _SAYS.search(before):
        return True  # a message about a password
    match = _before(before)
    if match is None or re.search(r"://[^\s/:@]*:$", before):
        return False
    name, sign = match["name"], match["sign"]
    if not is_secret_name(name):
        return False  # a letter of a program that reads a password, or a header
    words = [word.lower() for word in _NAMES.findall(name)]
    if words[-1] in _ABOUT or value.lower() == name.lstrip("-").lower():
        return True
    if words[-1] == "pat" and re.search(r"[*?\[\]^$|()+{}\\]", value):
        return True  # a pattern
    if name == "--secret" and _PODS.search(before):
        return True
    if sign and not name.startswith("-") and not name.isupper() and _is_code(before, value, quoted=quoted):
        return True
    if sign == ":" and value.isalpha() and _SAYS.search(before):
        return True
    return _weak(words, value)


def _before(before: str) -> re.Match[str] | None:
    near = before[-400:]
    return _BEFORE_LOGIN.search(near) or _BEFORE.search(near)


def _is_code(before: str, value: str, *, quoted: bool) -> bool:
    """`token = tokenizer.encode(x)`, `password=args.password`: what is assigned is no literal."""
    if quoted:
        return False
    return bool(re.search(r"[(\[]", value)) or ("(" in before[-400:] and _CODE.fullmatch(value) is not None)


def _weak(words: Sequence[str], value: str) -> bool:
    """Names that mean a secret only where the value looks like one: `--key chr1`, `--pass 2`, `--token 12`."""
    last = words[-1]
    mixed = bool(re.search(r"\d", value)) and bool(re.search(r"[A-Za-z]", value))
    if last == "key" and len(words) == 1:
        return len(value) < 16 or not mixed or bool(re.search(r"[^\w+/=\-]", value))
    if last in ("token", "key", "bearer", "pw") and re.fullmatch(r"[\d.,:e+\-]{1,8}", value):
        return True
    if last == "token" and len(words) > 1 and words[-2] in _OF_TEXT:
        return True
    if last in ("pass", "pat", "sas", "bearer", "cookie", "pwd") or last.startswith("credential"):
        return not mixed and re.search(r"[^\w.,:\-]", value) is None
    return False


def _name(before: str, raw: str) -> str:
    if re.search(r"://[^\s/@]*:?$", before):
        return "the password in an address"
    match = _before(before)
    if match is not None and (is_secret_name(match["name"]) or match["sign"] or match["name"].startswith("-")):
        name = match["name"]
        if name.startswith("--") or not name.startswith("-"):
            return name[:80]
        # Behind a single letter there may be the value itself, or a part of it.
        return name if is_secret_name(name) and name.islower() and name.isascii() else name[:2]
    return "a private key" if "-----BEGIN" in raw else "what has the form of a token or a password"


def _in(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Texts of a document, each with its place; the arguments of a command as one line."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        name, said = value.get("name"), value.get("value")
        if isinstance(name, str) and isinstance(said, str | int) and is_secret_name(name):
            yield f"{where}.value", f"{name}={shlex.quote(str(said))}"  # a variable, as a form has it
        for key, each in value.items():
            inner = f"{where}.{key}" if where else str(key)
            if isinstance(each, str | int) and key != "secret" and is_secret_name(str(key)):
                yield inner, f"{key}={shlex.quote(str(each))}"
            yield from _in(each, inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        if len(value) > 1 and all(isinstance(each, str) for each in value):
            yield where, " ".join(map(_word, value))
            # A script in an argument, without the quotes that a shell would need around its own.
            yield from ((where, each) for each in value if re.search(r"[\s'\"]", each))
        else:
            for index, each in enumerate(value):
                yield from _in(each, f"{where}.{index}")


def _word(word: str) -> str:
    option = re.match(r"--?[A-Za-z][\w.\-]*=?", word)
    head = option[0] if option is not None else ""
    return head + (shlex.quote(word[len(head) :]) if len(word) > len(head) or not head else "")


def shown_in(document: object, where: str = "") -> tuple[str, Shown] | None:
    """The first secret that texts of a JSON document show, with the place of its field; None: there is none."""
    for field, text in _in(document, where):
        for shown in shown_secrets(text)[:1]:
            line = text.count("\n", 0, shown.start) + 1
            return f"{field}, line {line}" if "\n" in text.strip() else field, shown
    return None


def refuse_shown(document: object, where: str = "", *, cure: str = "") -> None:
    """Let nothing pass that would be stored with a secret in it.

    Args:
        document: JSON, or what becomes JSON.
        where: it stands; empty: its fields are told as they are.
        cure: where a variable of the request is none, for what is stored as it comes.

    Raises:
        BadRequest: its field and the option, variable or header before the secret; never the secret.

    """
    found = shown_in(document, where)
    if found is None:
        return
    raise refusal(*found, cure=cure)


def refusal(field: str, shown: Shown, *, cure: str = "") -> BadRequest:
    """The error for a secret that a field shows."""
    words = "_".join(_NAMES.findall(shown.name)).upper()
    name = words if is_secret_name(words) and " " not in shown.name else "MY_PASSWORD"
    return BadRequest(
        f"a secret stands openly here: {shown.name}; nothing of this was stored",
        where=field or "request",
        cure=cure
        or f"give the value as a variable of the job ({name}={HIDDEN} in the request or its `environment`), which is"
        f" kept in the secret store and in no script, and write ${name} in its place",
    )
