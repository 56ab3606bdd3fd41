"""A secret that would be stored is refused with its field and option; what only looks like one is not."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import BadRequest
from dragoman.request import JobRequest
from dragoman.shown_secrets import refuse_shown, shown_secrets
from graph.reading.answers import apply_answer, merge_edit
from providers.script_reading import read_any_script

Read = Callable[..., Any]

FORM = "what has the form of a token or a password"
ADDRESS = "the password in an address"
SHOWN = [
    ("curl -u user:Zz9secret https://x.org", "-u"),
    ("curl -uuser:Zz9secret https://x.org", "-u"),
    ("curl --user 'user:Zz9secret' https://x.org", "--user"),
    ("curl -H 'Authorization: Bearer Zz9secret' https://x.org", "Authorization"),
    ("curl -H 'Authorization: Basic Zz9secret' https://x.org", "Authorization"),
    ("curl -H 'X-Api-Key: Zz9secret' https://x.org", "X-Api-Key"),
    ("curl -H 'PRIVATE-TOKEN: Zz9secret' https://x.org", "PRIVATE-TOKEN"),
    ("curl 'https://x.org/a?api_key=Zz9secret'", "api_key"),
    ("curl 'https://x.blob.core.windows.net/a?sv=2021&sig=Zz9secret'", "sig"),
    ("mysql -pZz9secret db", "-p"),
    ("mysqldump --password=Zz9secret db", "--password"),
    ("./x --password Zz9secret", "--password"),
    ("./x --password=Zz9secret", "--password"),
    ("./x -password Zz9secret", "-password"),
    ("./x password=Zz9secret", "password"),
    ("./x --token abc", "--token"),
    ("./x --auth-token=Zz9secret", "--auth-token"),
    ("./x --client-secret Zz9secret", "--client-secret"),
    ("./x --api_key Zz9secret", "--api_key"),
    ("./x --key=AbCd1234567890XYZ", "--key"),
    ("wget --http-user=u --http-password=Zz9secret https://x.org/a", "--http-password"),
    ("wget --password Zz9secret https://x.org/a", "--password"),
    ("sshpass -p Zz9secret scp a h:/b", "-p"),
    ("sshpass -pZz9secret scp a h:/b", "-p"),
    ("./x -pZz9secretToken db", "-p"),
    ("docker login -u me -p Zz9secret reg.org", "-p"),
    ("redis-cli -a Zz9secret ping", "-a"),
    ("openssl enc -k Zz9secret", "-k"),
    ("openssl enc -pass pass:Zz9secret", "-pass"),
    ("gpg --batch --passphrase Zz9secret -d a.gpg", "--passphrase"),
    ("psql 'host=h user=u password=Zz9secret'", "password"),
    ("psql postgresql://u:Zz9secret@h/db", ADDRESS),
    ("./x --auth user:Zz9secret", "--auth"),
    ("./x --basic-auth=user:Zz9secret", "--basic-auth"),
    ("git clone https://user:Zz9secret@git.org/a.git", ADDRESS),
    ("aws configure set aws_secret_access_key Zz9secret", "aws_secret_access_key"),
    ("huggingface-cli login --token hf_abcdefghijklmnopqrst", "--token"),
    ("wandb login 0123456789abcdef0123456789abcdef01234567", FORM),
    ("./x ghp_abcdefghijklmnopqrstuvwxyz0123456789", FORM),
    ("./x hf_abcdefghijklmnopqrst", FORM),
    ("./x AKIAIOSFODNN7EXAMPLE", FORM),
    ("./x xoxb-123456789012-abcdefghijk", FORM),
    ("./x glpat-abcdefghijklmnopqrst", FORM),
    ("./x npm_abcdefghijklmnopqrstuvwxyz0123456789", FORM),
    ("./x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abcdefghijk", FORM),
]
IN_A_SHELL = [
    ("PGPASSWORD=Zz9secret psql -h h | head", "PGPASSWORD"),
    ("aws_secret_access_key=Zz9secret ./x > log", "aws_secret_access_key"),
    ("cd /a && export MY_TOKEN=Zz9secret && ./x", "MY_TOKEN"),
    ("echo Zz9secret | docker login -u me --password-stdin", FORM),
    ("echo Zz9secret | sudo -S ./x", FORM),
    ("kinit me <<< Zz9secret", FORM),
    ("cat > ~/.netrc <<E\nmachine h.org login me password Zz9secret\nE", "password"),
    ("python -c \"import hub; hub.login(token='Zz9secret')\"", "token"),
    ('./x --password "Zz9secret$X"', "--password"),
    ("./x --password 'Zz9$secret'", "--password"),
    ("os.environ['HF_TOKEN'] = 'Zz9secret'", "HF_TOKEN"),
]
HARMLESS = [
    "./x --token-length 12",
    "./x --token 12",
    "./x --tokens 512 --max-tokens 4096 --pad-token-id 0",
    "./x tokenizer=bert-base",
    "./x --tokenizer bert-base",
    "./x --placeholder_token cat-toy --initializer_token toy",
    "./x --password-file /run/pw",
    "./x --password-file=pw.txt --passphrase-file p.txt",
    "./x --password-env PW",
    "./x --no-password",
    "./x --token-type bearer",
    "./x --secret-name my-secret",
    "./x --secret /run/secrets/x",
    "./x --credentials creds.json",
    "./x --credentials prod",
    "./x --private-key ~/.ssh/id",
    "./x --auth none",
    "./x --key chr1",
    "./x --key=chr1",
    "./x --api-key-env NAME",
    "./x --pass 2",
    "ffmpeg -pass 1 -i a.mp4 b.mp4",
    "./x --cookie yes",
    "./x -p 8080",
    "mkdir -p dir",
    "sort -u x",
    "sort --key=2 x",
    "sort -k2,2 -t : x",
    "id -u",
    "docker run -u 1000:1000 image",
    "docker run -p 8080:80 image",
    "podman run --secret mysecret image",
    "mysql -p db",
    "curl -u user https://x.org",
    "ssh -i ~/.ssh/id_rsa -p 22 host",
    "rsync -e 'ssh -p 22' a user@host:/x",
    "git clone git@github.com:a/b.git",
    "git clone https://github.com/a/b.git",
    "python -u x.py",
    "unzip -p a.zip",
    "jq .token a.json",
    "grep -c token= a.txt",
    "LICENSE_FILE=27000@lic.org ./x",
    "./x keyword=abc monkey=5 key=5",
]
HARMLESS_IN_A_SHELL = [
    'curl -u "$USER:$PASS" https://x.org',
    'curl -H "Authorization: Bearer $TOKEN" https://x.org',
    "mysql -p$PW db",
    'curl -H "Authorization: Token ${TOKEN}" https://x.org',
    'DB_PASSWORD="pre_${X}" ./x | head',
    'export DB_PASSWORD="${USER}_$X"',
    'export DATA_URL="https://me:$PASS@x.org/a"',
    "PGPASSWORD=$PW psql -h h",
    "PGPASSWORD=$(cat ~/.pw) psql -h h",
    "export TOKEN=$(cat ~/.token)",
    "export TOKEN=`cat ~/.token`",
    "./x --token=$(cat /run/token)",
    'git clone "https://oauth2:${TOKEN}@git.org/a.git"',
    "read -s PASSWORD; export PASSWORD",
    'echo "password: wrong"',
    "PWD=/tmp ./x && echo done",
    "python -c 'token = tokenizer.encode(x)'",
    "python -c \"import os; password = os.environ['PW']\"",
    "login(user=args.user, password=args.password)",
    "cat > a.pem <<E\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\nE",
    "tok.add_special_tokens({'pad_token': '[PAD]', 'eos_token': '</s>'})",
]


@pytest.mark.parametrize(("line", "name"), [*SHOWN, *IN_A_SHELL])
def test_a_shown_secret_is_named_by_what_stands_before_it(line: str, name: str) -> None:
    assert shown_secrets(line)[0].name == name


@pytest.mark.parametrize("line", [*HARMLESS, *HARMLESS_IN_A_SHELL])
def test_what_only_looks_like_a_secret_shows_none(line: str) -> None:
    assert shown_secrets(line) == []


def _refused(read: Callable[[], Any]) -> BadRequest:
    with pytest.raises(BadRequest) as caught:
        read()
    assert "Zz9secret" not in str(caught.value)
    assert "secret store" in (caught.value.cure or "")
    return caught.value


@pytest.mark.parametrize(("line", "name"), SHOWN)
def test_a_command_that_shows_a_secret_is_refused_in_words_and_forms(line: str, name: str, read: Read) -> None:
    argv = shlex.split(line)
    for given_request in (
        f"run `{line}` on 1 node for 1 hour",
        {"command": line, "nodes": 1},
        {"command": argv},
        f"command: {argv!r}\nnodes: 1\n",
    ):
        error = _refused(lambda given_request=given_request: read(given_request))  # type: ignore[misc]
        assert name in str(error)
        assert "command" in str(error.where) or "script" in str(error.where)


@pytest.mark.parametrize("line", HARMLESS)
def test_a_command_without_a_secret_is_taken_in_words_and_forms(line: str, read: Read) -> None:
    for given_request in (f"run `{line}` on 1 node for 1 hour", {"command": line}, {"command": shlex.split(line)}):
        found = read(given_request)
        assert found.request.command or found.request.script or found.questions


@pytest.mark.parametrize(("body", "name"), [*SHOWN, *IN_A_SHELL])
@pytest.mark.parametrize("reader", [None, read_any_script])
def test_a_script_that_shows_a_secret_is_refused_with_its_line(body: str, name: str, reader: Any, read: Read) -> None:
    script = f"#!/bin/bash\n#SBATCH -N 1\n\nmodule load x\n{body}\n"
    error = _refused(lambda: read(script, script_reader=reader))
    assert name in str(error)
    assert error.where in ("script, line 5", "script, line 6")  # the second where the body's own second line shows it


@pytest.mark.parametrize("line", ["#SBATCH --comment=token=Zz9secret", "#PBS -A https://u:Zz9secret@x.org"])
def test_a_directive_that_shows_a_secret_is_refused(line: str, read: Read) -> None:
    error = _refused(lambda: read(f"#!/bin/sh\n{line}\n./x\n", script_reader=read_any_script))
    assert error.where == "script, line 2"


@pytest.mark.parametrize("body", [*HARMLESS, *HARMLESS_IN_A_SHELL])
def test_a_script_without_a_secret_is_taken(body: str, read: Read) -> None:
    found = read(f"#!/bin/bash\n#SBATCH -N 1\n{body}\n", script_reader=read_any_script)
    assert found.request.script is not None
    assert found.unread == ()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_ACCESS_KEY_ID"),
        ("DATA_URL=https://me:Zz9secret@x.org/a", "DATA_URL"),
        ("export DB_PASSWORD='Zz9$secret'", "DB_PASSWORD"),
    ],
)
def test_a_variable_of_a_script_goes_to_the_store_by_its_name_or_form(line: str, name: str, read: Read) -> None:
    found = read(f"#!/bin/sh\n#SBATCH -N 1\n{line}\n./x\n", script_reader=read_any_script)
    (kept,) = found.secrets.items()
    assert kept == (name, line.partition("=")[2].strip("'"))
    assert f"export {name}\n" in str(found.request.script)


@pytest.mark.parametrize(
    ("given_request", "field"),
    [
        ({"script": "#!/bin/sh\nls\ncurl -u me:Zz9secret https://x.org\n"}, "script, line 3"),
        ({"command": "./x", "env": {"EXTRA": "--password Zz9secret"}}, "environment.0.value"),
        ("export HF_TOKEN=Zz9secret && ./x on 1 node", "script"),
        ("1 node: ./x --token Zz9secret | tee log", "script"),
        ({"command": "./x", "outputs": ["password=Zz9secret"]}, "outputs.0.pattern"),
        ({"command": ["sh", "-c", "curl -u me:Zz9secret https://x.org"]}, "command"),
    ],
)
def test_every_field_is_looked_at(given_request: Any, field: str, read: Read) -> None:
    assert _refused(lambda: read(given_request)).where == field


@pytest.mark.parametrize(("line", "name"), SHOWN[:12])
def test_neither_an_edit_nor_an_answer_brings_one_in(line: str, name: str, read: Read) -> None:
    request = JobRequest(command=("./x",))
    asked = read("/data/in.csv")
    (question,) = asked.questions
    for said in (
        lambda: merge_edit(request, {"command": line}),
        lambda: merge_edit(request, f"run `{line}`"),
        lambda: apply_answer(asked, question.id, f"`{line}`"),
        lambda: refuse_shown({"answer": line}, "answer"),
        lambda: refuse_shown({"decision": "edit", "edit": {"command": shlex.split(line)}}, "answer"),
    ):
        assert name in str(_refused(said))


def test_variables_are_kept_apart_and_named_in_the_command(read: Read) -> None:
    found = read({"command": 'curl -u "me:$SITE_PASSWORD" https://x.org', "env": {"SITE_PASSWORD": "Zz9secret"}})
    assert found.secrets == {"SITE_PASSWORD": "Zz9secret"}
    assert "Zz9secret" not in found.model_dump_json()
    words = read("run `PGPASSWORD=Zz9secret psql -h h` on 1 node for 1 hour")
    assert words.secrets == {"PGPASSWORD": "Zz9secret"}
    assert words.request.command == ("psql", "-h", "h")


@given(st.text(alphabet=st.sampled_from(list("token password=:-u\"'$|@/h.\n1")), max_size=80))
def test_any_text_can_be_looked_at(text: str) -> None:
    for shown in shown_secrets(text):
        assert 0 <= shown.start <= len(text)


@pytest.mark.parametrize(
    "given_request", [{"command": "./x", "env": {"HF TOKEN": "Zz9secret"}}, {"name": "-Zz9secret"}]
)
def test_an_error_with_its_causes_does_not_repeat_what_was_given(given_request: dict[str, Any], read: Read) -> None:
    with pytest.raises(BadRequest) as caught:
        read(given_request)
    assert "Zz9secret" not in "".join(traceback.format_exception(caught.value))
