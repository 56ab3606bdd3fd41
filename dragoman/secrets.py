"""Tells secrets from other values by their names and forms, and hides them in text.

Pure: nothing is stored here. Names are split into words at `_`, `-`, `.` and changes of case; a name is secret by its
words (`HF_TOKEN`, `apiKey`, `DB_PASSWORD`), never by a mere part of one (`TOKENIZERS_PARALLELISM`, `MONKEY`), and not
where the words count or switch something (`max_num_tokens`, `TOKEN_LIMIT`, `KEY_LENGTH`).
"""

from __future__ import annotations

import re

from dragoman.said_secrets import hide_said
from dragoman.secret_calls import hide_calls
from dragoman.secret_lines import hide_blocks, hide_dumped, hide_keys, hide_null_ended

__all__ = ["HIDDEN", "is_secret_name", "is_secret_value", "redact"]

HIDDEN = "***"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = _words(
    "token secret secrets password passwd passphrase pwd pass credential credentials apikey authtoken bearer "
    "privatekey secretkey accesskey sshkey sshpass cookie sas pat passwort kennwort pw passcode pgpass"
)
_KEY_BEFORE = _words(
    "api access secret private ssh auth encryption signing master account license deploy aws "
    "wandb hf huggingface openai anthropic comet neptune kaggle azure gcp google github gitlab slack stripe sendgrid "
    "twilio mapbox ngc nvidia replicate cohere mistral groq datadog sentry clearml minio s3 ncbi entrez jwt hmac "
    "service consumer subscription session bot webhook app admin cloud"
)
_HARMLESS = _words(
    "max min num number count counts limit limits length len size parallelism budget file path dir url type id name "
    "names index bits ttl expiry timeout per batch rate public pub sort primary foreign vocab pad eos bos start end "
    "mode usage level levels dropout embedding embeddings embed dim ratio loss merging pruning window classification "
    "strategy prob weights logits positions"
)
_DIRECTORIES = frozenset(("PWD", "OLDPWD"))
"""A shell's own; `pwd` in an address of a database is a password."""
_JOINED = re.compile(
    r"(?:api|access|secret|private|ssh|auth)key|(?:auth|access|api)token|.*passw(?:or)?d", re.IGNORECASE
)

_VALUE_FORMS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}"
    r"|A[KS]IA[0-9A-Z]{16}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}"
    r"|[sr]k_(?:live|test)_\w{16,}|dckr_pat_[\w-]{16,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[\w-]{16,}|ya29\.[\w-]{16,})"
)
_VALUE = re.compile(
    # A word of a shell is made of parts: "a b"'c d'\e$'f\n'g; a quote behind other text may also end a value around it.
    r"(?:\"?(?:\$\([ \t]*(?:echo|printf)\b[^)\n]*\)|`[ \t]*(?:echo|printf)\b[^`\n]*`)\"?"
    r"|(?:\$?\"(?![\s,;:}\])])(?:[^\"\\]|\\.)*\"|\$'(?:[^'\\]|\\.)*'|'(?![\s,;:}\])])[^']*'"
    r"|\\(?:\n|.)|[^\s,;}\])&|<>\"'\\])+)"
    r"|\"(?:[^\"\\]|\\.)*\"|'[^']*'|[\"'\\][^\s,;]*",
    re.DOTALL,
)
_TO_QUOTE = {"'": re.compile(r"(?:[^']|'\\'')+(?=')"), '"': re.compile(r"(?:[^\"\\]|\\.)+(?=\")")}
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_.\-]{0,127})"
_ASSIGNED = re.compile(rf"(?<![A-Za-z0-9_.]){_NAME}(?:[\"']\]?)?[ \t]{{0,3}}(?:\+?=|:(?!//))[ \t]{{0,3}}")
_OPTION = re.compile(rf"(?<![A-Za-z0-9_.\-])--?(?!keys?[ \t]){_NAME}[ \t]{{1,3}}(?!-)")
_SETENV = re.compile(
    r"\b(?:setenv|pushenv|putenv|setdefault|set[ \t]+-(?:g?x|xg))"
    rf"(?:[ \t]{{1,3}}|[ \t]{{0,3}}\([ \t]{{0,3}}[\"']?){_NAME}"
    r"(?:[\"']?[ \t]{0,3},[ \t]{0,3}|[ \t]{1,3})"
)
_SET = re.compile(
    # `read NAME <<< value`, with a here-document, `printf -v NAME %s value`
    rf"(?<![\w.\-/])(?:read(?:[ \t]{{1,3}}-[a-zA-Z]+)*[ \t]{{1,3}}{_NAME}[ \t]{{0,3}}"
    r"(?:<<<[ \t]{0,3}|<<-?[ \t]{0,3}[\"']?\w+[\"']?[ \t]*\n)"
    r"|printf[ \t]{1,3}-v[ \t]{1,3}(?P<name2>[A-Za-z_]\w{0,127})[ \t]{1,3}"
    r"(?:[\"']?%s(?:\\n)?[\"']?[ \t]{1,3})?)"
)
_LOGINS = (
    re.compile(r"(?<=://)(?P<user>[^\s/:@]{0,128}:)[^\s/]{1,256}@"),
    # CIFS: `//user%password@server/share`, `smbclient -U user%password`.
    re.compile(r"(?:(?<![:\w/])|(?<=smb:)|(?<=cifs:))(?P<user>//[^\s/%@]{1,128}%)[^\s@]{1,256}@"),
    re.compile(
        r"(?<![\w\-])(?P<user>(?:-U[ \t]{0,3}|--user(?:name)?(?:=|[ \t]{1,3}))[\"']?[^\s%\"']{1,128}%)[^\s\"']{1,256}"
    ),
    # `user:password@host:/path`; neither an image's digest nor a Lustre network's name is a host.
    re.compile(
        r"(?<![\w.\-/:@%])(?P<user>[A-Za-z_][\w.\-]{0,127}:)[^\s/@]{1,256}@"
        r"(?!(?:sha\d+|tcp\d*|o2ib\d*|gni\d*|kfi\d*):)(?=[\w.\-]{1,253}:[/~:\d])"
    ),
    re.compile(
        r"(?<![\w\-])(?P<user>--(?:(?:basic|http|proxy)-?)?(?:auth|userpwd|user-?pass)(?:=|[ \t]{1,3})[\"']?"
        r"[^\s:\"'/]{1,128}:)[^\s\"'/@]{2,256}(?!@)"
    ),
    # A signature of Azure's, and Slack's address of a channel: who has it may write.
    re.compile(r"(?P<user>[?&]sig=)[^\s&\"'@]{8,512}(?!@)"),
    re.compile(r"(?P<user>hooks\.slack\.com/services/)[\w/]{8,256}(?!@)"),
)
"""Passwords in addresses: what stands before one is `user`, and an `@` that ends it is kept."""
_HEADER = re.compile(
    r"(?i)\b(authorization[ \t]{0,3}:[ \t]{0,3}(?:bearer|basic|token)|bearer)[ \t]{1,3}(?!\*\*\*)[^\s\"',;]{6,}"
)
_LITERAL = r"(?!\*\*\*|[$`{<~/])(?=[^\s\"']*\d)(?=[^\s\"']*[A-Za-z])[^\s\"',;&|<>]{6,512}"
_OF_LOGINS = (
    # A header without a scheme, or with one of a service's own.
    re.compile(
        r"(?i)(?P<user>(?<![\w\-])(?:(?:proxy-)?authorization|x-(?:[a-z]+-){0,4}(?:auth|key|access|session))"
        r"[\"']?[ \t]{0,3}:[ \t]{0,3}[\"']?(?!(?:bearer|basic|token|digest|negotiate)\b)"
        rf"(?:[a-z][\w\-]{{1,30}}[ \t]{{1,3}})?){_LITERAL}"
    ),
    re.compile(
        r"(?i)(?P<user>(?<![\w\-])--?(?:[a-z]+[_\-]){0,3}(?:auth|authorization|authentication)(?:=|[ \t]{1,3})[\"']?)"
        rf"(?!(?:oauth|openid|sha|md5|ntlm|http|saml|x\.?509|krb|kerb|tls|ssl|scram|v\d|level|pam|ldap|spnego)){_LITERAL}"
    ),
    # `--of-some-service-key`: told from a column's or a sort's by its length.
    re.compile(
        r"(?i)(?P<user>(?<![\w\-])--(?:[a-z][a-z0-9]*[_\-]){1,4}key(?:=|[ \t]{1,3})[\"']?)"
        r"(?!\*\*\*)(?=[\w+/=\-]*\d)(?=[\w+/=\-]*[A-Za-z])[A-Za-z0-9][\w+=\-]{19,512}(?![\w./])"
    ),
)
"""Values that their place and their letters tell to be secrets."""


def is_secret_name(name: str, value: str | None = None) -> bool:
    """Whether a variable, option or key of that name holds a secret.

    Args:
        name: in any spelling.
        value: where it is known; a mere `KEY` holds a secret only if the value is long and of letters and digits.

    """
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or name in _DIRECTORIES:
        return False
    if value is not None and words == ["key"]:
        return len(value) >= 16 and bool(re.search(r"\d", value)) and bool(re.search(r"[A-Za-z]", value))
    if words[-1] in _HARMLESS or words[0] in {"max", "min", "num", "n", "public", "no"}:
        return False
    if words[-2:] in (["auth", "config"], ["amz", "signature"], ["amz", "credential"]):
        return True
    if any(_JOINED.fullmatch(word) for word in words) or _SECRET_WORDS.intersection(words):
        return True
    return words[-1] == "key" and (len(words) == 1 or bool(_KEY_BEFORE.intersection(words)) or name.isupper())


def is_secret_value(value: str) -> bool:
    """Whether a value has the form of a well-known kind of secret, whatever it is called."""
    return "-----BEGIN " in value or any(rule.search(value) is not None for rule in (_VALUE_FORMS, *_LOGINS))


def _hide(text: str, rule: re.Pattern[str], hidden: str) -> str:
    """Hide what follows each secret name that the rule finds; a value may itself be `NAME=value`."""
    pieces: list[str] = []
    position = 0
    for match in rule.finditer(text):
        if match.start() < position or not is_secret_name(name := next(each for each in match.groups() if each)):
            continue
        before = text[match.start() - 1 : match.start()]
        if before == "/" and ":" in match[0][len(name) :]:
            continue  # the file of an error: `/opt/modules/secret: Permission denied`
        # `+ export 'DB_PASSWORD=x;y z'`: the quotes around name and value tell where the value ends.
        whole = _TO_QUOTE.get(before) if match[0].endswith("=") and match[0][len(name)] == "=" else None
        quoted = whole.match(text, match.end()) if whole is not None else None
        if quoted is not None:
            pieces += (text[position : match.end()], hidden)
            position = quoted.end()
            continue
        value = _VALUE.match(text, match.end())
        if value is None:
            continue
        quote = value[0][0] if value[0][0] in "\"'" and len(value[0]) > 1 and value[0][-1] == value[0][0] else ""
        pieces += (text[position : match.end()], quote, hidden, quote)
        position = value.end()
    return "".join(pieces) + text[position:]


def redact(text: str, hidden: str = HIDDEN) -> str:
    """The text with every secret value replaced by `hidden`; harmless values stay. Twice changes nothing more."""
    if "\0" in text:
        return "\0".join(redact(each, hidden) for each in hide_null_ended(text, hidden, is_secret_name).split("\0"))
    text = hide_keys(text, hidden)
    text = hide_blocks(hide_dumped(text, hidden, is_secret_name), hidden, is_secret_name)
    text = hide_said(text, hidden, is_secret_name)
    for rule in (_ASSIGNED, _OPTION, _SETENV, _SET):
        text = _hide(text, rule, hidden)
    text = hide_calls(text, hidden, is_secret_name)
    text = _HEADER.sub(rf"\1 {hidden}", text)
    for rule in (*_LOGINS, *_OF_LOGINS):
        text = rule.sub(lambda found: f"{found['user']}{hidden}{'@' if found[0][-1] == '@' else ''}", text)
    return _VALUE_FORMS.sub(hidden, text)
