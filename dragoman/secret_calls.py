"""Passwords that programs are given by a bare letter (`mysql -phunter2`), and those of a netrc file. Pure.

`-p` and `-u` mean something else to most programs (`mkdir -p x`, `ssh -p 22`, `python -u x.py`), so each letter is
tied to the programs that read a password after it, within one command of a shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["hide_calls"]

_QUOTED = r"\"(?![\s,;:}\])])(?:[^\"\\]|\\.)*\"|'(?![\s,;:}\])])[^']*'|\\."
_WORD = rf"(?:{_QUOTED}|[^\s;|&<>()\"'\\`])+"
_REST = rf"(?P<rest>(?:{_QUOTED}|[^\n;|&\"'\\`])*)"
"""What follows a program up to the end of its command."""
_GAP = r"(?:[ \t]|\\\n)+"
_FLAGS = "[#0-9BGIJLMNORSZafgijklnpqsv]*"
"""Letters of curl without a value, which may stand before another in one word."""


_MIXED = r"(?:(?=[\w.\-]{20})|(?=[^\s]*\d)(?=[^\s]*[A-Za-z])(?=[^\s/=]{6}))"


def _call(program: str, option: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(rf"(?<![\w.\-=])(?:{program})(?=[ \t\\]){_REST}", re.DOTALL),
        re.compile(rf"(?<=\s)(?P<before>{option})(?P<value>{_WORD})", re.DOTALL),
    )


def _login(program: str, option: str, between: str = ":") -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The value is a user's name and the password behind it; a quote before the name ends behind the password."""
    name = rf"[^\s{between}\"'/]{{0,128}}{between}"
    pair = rf"(?P<before>(?:{option})(?P<quote>[\"'])?{name})(?P<value>(?(quote)(?:(?!(?P=quote)).)+|{_WORD}))"
    return _call(program, option)[0], re.compile(rf"(?<=\s){pair}", re.DOTALL)


_CALLS = (
    _call(
        rf"(?:docker|podman|nerdctl|skopeo|buildah|oras|helm|apptainer|singularity|az|oc)"
        rf"(?:{_GAP}-[^\s]+(?:{_GAP}[^\s\-][^\s]*)?)*?(?:{_GAP}(?:registry|remote))?{_GAP}login",
        rf"-p(?:=|{_GAP})?",
    ),
    _call(r"mysql(?:dump|admin|import|show|check|slap|pump)?|mariadb(?:-[a-z]+)?|mycli|7z[arz]?", "-p"),
    _call(r"mongo(?:sh|dump|restore|export|import)?", rf"-p(?:=|{_GAP}(?!\d{{4,5}}(?!\S)))?"),
    _call(
        r"wandb|vault|ngrok|snyk|comet|neptune|clearml|pulumi|railway|doppler|tailscale|netlify|oc|hf|huggingface-cli",
        rf"(?:login|auth|authtoken|add-authtoken){_GAP}(?:-[^\s]+{_GAP}(?:https?://[^\s]+{_GAP})?)*{_MIXED}",
    ),
    _call(rf"gh{_GAP}secret{_GAP}set", rf"(?:-b|--body)(?:=|{_GAP})?"),
    _call(rf"poetry{_GAP}config", rf"http-basic\.[^\s]+{_GAP}[^\s\-][^\s]*{_GAP}"),
    _call(rf"rclone{_GAP}obscure", r"(?!-)"),
    _call(r"curl", rf"-b{_GAP}[\"']?[\w.\-]{{1,64}}="),
    _call(r"sqlplus|sqlldr|expdp|impdp|rman", r"[\"']?(?:userid=|target[ \t]+)?[A-Za-z][\w$#]{0,64}/(?![^\s]*\.sql\b)"),
    _call(rf"openssl{_GAP}enc", rf"-k{_GAP}"),
    _call(r"redis-cli", rf"-a{_GAP}"),
    _call(r"ldap(?:search|modify|add|delete|whoami|passwd|compare)", rf"-w(?:{_GAP})?"),
    _call(r"zip|unzip|sqlcmd|ipmitool", rf"-P(?:{_GAP})?"),
    _login(r"curl", rf"-{_FLAGS}[uU](?:{_GAP})?|--(?:proxy-)?user(?:=|{_GAP})"),
    _login(r"https?|xh", rf"-a(?:{_GAP})?|--auth(?:=|{_GAP})"),
    _login(r"lftp", rf"-u(?:{_GAP})?", ","),
)
# What follows is a command with options of its own.
_SSHPASS = re.compile(
    rf"(?<![\w.\-=])(?P<before>sshpass(?:{_GAP}-(?:[ev]+|[fdP](?:{_GAP})?{_WORD}))*{_GAP}-[ev]*p(?:{_GAP})?)(?P<value>{_WORD})",
    re.DOTALL,
)
_READS = (
    rf"sudo{_GAP}(?:-[^\s]+{_GAP})*-S|kinit|chpasswd|passwd{_GAP}--stdin"
    r"|[^\n;|&]{1,200}(?:--password-stdin|--with-token|--token-stdin)"
)
_PIPED = re.compile(
    rf"(?<![\w.\-])(?P<before>(?:echo|printf)(?:{_GAP}-[neE]+)?{_GAP})(?P<value>{_WORD})"
    rf"(?=[ \t]*\|[ \t]*(?:{_READS})\b)",
    re.DOTALL,
)
_HERE = re.compile(
    rf"(?<![\w.\-])(?P<before>(?:{_READS})(?=[ \t])[^\n;|&<]{{0,200}}<<<[ \t]*)(?P<value>{_WORD})", re.DOTALL
)
_TO_FILE = re.compile(
    rf"(?<![\w.\-])(?P<before>(?:echo|printf)(?:{_GAP}-[neE]+)?{_GAP}(?:[\"']?%s(?:\\n|\n)?[\"']?{_GAP})?)"
    rf"(?P<value>(?=[^\s]*\d)(?=[^\s]*[A-Za-z])(?=[^\s]{{6}}){_WORD})"
    rf"(?=[ \t]*(?:>{{1,2}}\|?|\|[ \t]*tee(?:{_GAP}-a)?{_GAP})[ \t]*(?P<file>{_WORD}))"
)
_INTO_FILE = re.compile(
    rf"(?<![\w.\-])(?P<before>(?:cat|tee)[ \t]*(?:>{{1,2}})?[ \t]*(?P<file>{_WORD})[ \t]*"
    r"(?:<<<[ \t]*|<<-?[ \t]*[\"']?\w+[\"']?[ \t]*\n))"
    rf"(?P<value>(?=[^\s]*\d)(?=[^\s]*[A-Za-z])(?=[^\s]{{6}}){_WORD})(?=[ \t]*(?:\n|$))"
)
"""A value that is written into a file whose name tells what it is."""
_NO_FILE_OF_SECRETS = re.compile(r"\.(?:log|out|err|done|lock|flag|py|sh|csv|tsv|md)$|^/dev/")
_HTPASSWD = re.compile(
    rf"(?<![\w.\-])(?P<before>htpasswd(?=[^\n;|&]*{_GAP}-[A-Za-z]*b){_GAP}(?:-[A-Za-z]+{_GAP}(?:\d+{_GAP})?)+"
    rf"(?:(?!-){_WORD}{_GAP}){{1,2}})(?P<value>{_WORD})(?=[ \t]*(?:[\n;|&>)\"'`,]|$))"
)
_CONFIG = re.compile(
    r"(?<![\w.\-])(?:(?:config|configure|secrets?|variables?|env|vars)[ \t]+(?:-[^\s]+[ \t]+)*"
    r"(?:set|create|update|add|put|edit|--set|--global|--local)"
    r"|git[ \t]+config|poetry[ \t]+config|remote[ \t]+modify|config:set)(?=[ \t])" + _REST,
    re.DOTALL,
)
_SETTING = re.compile(rf"(?<=[\s:.])(?P<name>[A-Za-z_][\w.\-]{{0,127}}){_GAP}(?!(?:is|was|for|to|with|in|on)\b)(?!-)")
_SET_TO = re.compile(_WORD)
_NAME_AND_VALUE = re.compile(
    rf"(?<=\s)(?P<before>(?:(?:-n|--name)(?:=|{_GAP})[\"']?)?(?P<name>[A-Za-z_][\w.\-]{{0,127}})[\"']?{_GAP}"
    rf"(?:-v|--value|-b|--body)(?:=|{_GAP}))(?P<value>{_WORD})"
)
"""`config set -n key -v VALUE`."""
_NETRC = re.compile(
    r"(?P<before>(?:\blogin[ \t\r\n]+(?!(?:with|using|by|via|and|or|without|failed|needs|no|a|the)\b)[^\s,;:]{1,128}"
    r"(?:[ \t\r\n]+account[ \t\r\n]+\S{1,128})?|^[ \t]*(?:machine[ \t]+[\w.\-]{1,253}|default))[ \t\r\n]+"
    r"passw(?:or)?d[ \t\r\n]+)(?!(?:is|was|for|not|authentication|required|needed|wrong|expired|login)\b)"
    r"(?P<value>\S+)",
    re.MULTILINE,
)


def hide_calls(text: str, hidden: str, is_secret: Callable[[str], bool]) -> str:
    """Hide the passwords in calls of programs that are known to take them so, and after `login NAME password`."""

    def value(match: re.Match[str]) -> str:
        before, found = match["before"], match["value"]
        quote = found[0] if found[0] in "\"'" and len(found) > 1 and found[-1] == found[0] else ""
        return f"{before}{quote}{hidden}{quote}"

    def named(match: re.Match[str]) -> str:
        return value(match) if is_secret(match["name"]) else match[0]

    def setting(found: re.Match[str]) -> str:
        rest, pieces, position = found["rest"], [found[0][: found.start("rest") - found.start()]], 0
        for match in _SETTING.finditer(rest):
            said = _SET_TO.match(rest, match.end())
            name = match["name"]
            if said is not None and match.start() >= position and (is_secret(name) or name.endswith("_auth")):
                quote = said[0][0] if said[0][0] in "\"'" and said[0][-1] == said[0][0] and len(said[0]) > 1 else ""
                pieces += (rest[position : match.end()], quote, hidden, quote)
                position = said.end()
        return _NAME_AND_VALUE.sub(named, "".join(pieces) + rest[position:])

    def of_file(match: re.Match[str]) -> str:
        file = match["file"].strip("\"'")
        secret = is_secret(file.rpartition("/")[2]) or file.endswith((".netrc", ".pgpass", ".git-credentials"))
        return value(match) if secret and not _NO_FILE_OF_SECRETS.search(file) else match[0]

    for program, option in _CALLS:

        def call(found: re.Match[str], option: re.Pattern[str] = option) -> str:
            return found[0][: found.start("rest") - found.start()] + option.sub(value, found["rest"])

        text = program.sub(call, text)
    for rule in (_SSHPASS, _PIPED, _HERE, _NETRC, _HTPASSWD):
        text = rule.sub(value, text)
    text = _CONFIG.sub(setting, text)
    for rule in (_TO_FILE, _INTO_FILE):
        text = rule.sub(of_file, text)
    return text
