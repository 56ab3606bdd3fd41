"""Secrets told in words or written for programs that few know: in nothing that is kept; their look-alikes stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import BadRequest
from dragoman.secrets import is_secret_name, redact
from graph.reading.answers import apply_answer
from providers.script_reading import read_any_script

Read = Callable[..., Any]
SECRET = "Zz9secret"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\nQyNTUxOQAAACBZz9\n-----END OPENSSH PRIVATE KEY-----"

TOLD = [
    "with HF_TOKEN {}",
    "using OPENAI_API_KEY {}",
    "WANDB_API_KEY is {}",
    "MY_SECRET equals {}",
    "HF_TOKEN should be {}",
    "OPENAI_API_KEY must be {}",
    "the token for wandb is {}",
    "the key for openai is {}",
    "my pwd is {}",
    "the passphrase is {}",
    "apikey {}",
    "wandb key {}",
    "use token {}",
    "login bob:{}",
    "credentials alice/{}",
    "log in as bob with {}",
    "db password bob/{}",
    "mdp {}",
    "le mot de passe est {}",
    "das Kennwort ist {}",
    "mein Token ist {}",
    "set the HF_TOKEN variable to {}",
    "with the variable HF_TOKEN set to {}",
    "export HF_TOKEN as {}",
    "password: correct horse battery {}",
    "the password is blue tulip garden {}",
    "docker login -u bob -p {} reg.io",
    "podman login -u bob -p {} reg.io",
    "aws configure set aws_secret_access_key {}",
    "yarn config set //r.org/:_authToken {}",
    "smbclient //h/s -U bob%{}",
    "smbclient //h/s --user=bob%{}",
]
NOT_TOLD = [
    "with HF_TOKEN from my environment",
    "HF_TOKEN is set in my profile",
    "the token is in ~/.token",
    "no password needed",
    "the login node is login01",
    "account csc:proj2024",
    "account csc/proj2024",
    "mpirun -x HF_TOKEN python3 a.py",
    "the key is sample_1",
    "the pin is required",
    "passwd user1234",
    "the database s3 bucket2024",
]
SHOWN = [
    "./x --auth {}",
    "./x --proxy-auth={}",
    "./x --wandb_key {}",
    "./x --openai-key={}",
    "wandb login {}",
    "wandb login --relogin {}",
    "vault login {}",
    "vault login -no-print {}",
    "ngrok config add-authtoken {}",
    'curl -H "Authorization: {}" https://x.org',
    'curl -H "Authorization: ApiKey {}" https://x.org',
    'curl -H "X-Auth: {}" https://x.org',
    'curl -H "X-Auth-Key: {}" https://x.org',
    "curl -b session={} https://x.org",
    "yarn config set //r.org/:_authToken {}",
    "npm config set _auth {}",
    "git config --global gitlab.token {}",
    "kaggle config set -n key -v {}",
    "kaggle config set --name key --value {}",
    "gh secret set X --body {}",
    "htpasswd -b f bob {}",
    "htpasswd -nb bob {}",
    "sqlplus bob/{}@db",
    "sqlldr userid=bob/{} control=x.ctl",
    "rclone config create r sftp host h pass {}",
    "rclone config update r pass {}",
    "rclone obscure {}",
    "export HF_TOKEN=${{HF_TOKEN:-{}}}",
    'export HF_TOKEN="${{HF_TOKEN:={}}}"',
    "export HF_TOKEN=$(echo {})",
    "export HF_TOKEN=`printf %s {}`",
    "read TOKEN <<< {}",
    'read -r HF_TOKEN <<< "{}"',
    "printf -v HF_TOKEN %s {}",
    "printf {} > token.txt",
    "echo -n {} >> ~/.vault-token",
    "echo {} | tee secrets/token",
    "cat > token.txt <<E\n{}\nE",
    "python -c \"os.environ['HF_TOKEN']='{}'\"",
    "python -c \"x['password']='{}'\"",
    "python -c 'login(token=\"{}\")'",
]
HARMLESS = [
    "./x --auth none",
    "./x --auth oauth2",
    "./x --obs-key cell_type2",
    "./x --group-key sample_id_2024_a",
    "./x --token-level word",
    "./x --token_dropout 0.1",
    "./x --pat '*.h5'",
    "./x --pat *.txt",
    "mongo -p 27017",
    "wandb login",
    'curl -H "Authorization: $AUTH" https://x.org',
    'curl -H "X-Auth: $(cat ~/t)" https://x.org',
    'curl -H "X-Request-Id: abc12345" https://x.org',
    "curl -b cookies.txt https://x.org",
    "git config --global user.name bob",
    "aws configure set region us-east-1",
    "conda config --set channel_priority strict",
    "rclone config create r sftp host h1",
    "htpasswd -c f bob",
    "sqlplus / as sysdba",
    "sqlplus bob@db @run1/x.sql",
    "export HF_TOKEN=${HF_TOKEN:-}",
    "export HF_TOKEN=${HF_TOKEN:-$OTHER}",
    "export HF_TOKEN=${HF_TOKEN:?missing}",
    "export HF_TOKEN=$(cat ~/.tok1en)",
    'read TOKEN <<< "$X"',
    "read TOKEN < ~/.token",
    "echo run1done > token.log",
    'printf %s "$TOKEN" > ~/.token',
    "python -c \"os.environ['HF_HOME']='/x1y2z3'\"",
    "python -c \"x['password']=os.environ['PW']\"",
    'printf "token: %s" x',
]


WORDS_ONLY = [
    ("the token for wandb is swordfish", "swordfish"),
    ("my pwd is swordfish", "swordfish"),
    ("HF_TOKEN should be swordfish", "swordfish"),
    ("password: correct horse battery staple", "battery"),
    ("the passphrase is blue tulip garden", "garden"),
    ("with HF_TOKEN ab/c.d12+x=", "d12"),
]
MESSAGES = [
    "# the token is broken",
    "echo 'the password is incorrect'",
    'echo "my token is outdated"',
    "python -c \"raise ValueError('token is malformed')\"",
]


def _outcome(reading: Callable[[], Any]) -> str:
    """All that would be kept of a reading, or the refusal."""
    try:
        return json.dumps(reading().model_dump(mode="json"))
    except BadRequest as error:
        return str(error)


@pytest.mark.parametrize("words", TOLD)
@pytest.mark.parametrize("request_", ["python train.py on 2 nodes, {}", "python train.py auf 2 Knoten; {}, 1 hour"])
def test_a_secret_told_in_words_is_in_nothing_that_is_kept(words: str, request_: str, read: Read) -> None:
    text = request_.format(words.format(SECRET))
    assert SECRET not in redact(text)
    told = _outcome(lambda: read(text))
    assert SECRET not in told
    assert re.search(r"\*\*\*|secret store|\"unread\": \[\"", told)  # and it is said


@pytest.mark.parametrize(("words", "part"), WORDS_ONLY)
@pytest.mark.parametrize("request_", ["python train.py on 2 nodes, {}", "{}. Run python train.py on 2 nodes"])
def test_a_secret_of_plain_words_or_of_signs_is_hidden_whole(words: str, part: str, request_: str, read: Read) -> None:
    text = request_.format(words)
    assert part not in redact(text)
    assert part not in _outcome(lambda: read(text))


@pytest.mark.parametrize("line", MESSAGES)
def test_a_message_about_a_secret_is_none(line: str, read: Read) -> None:
    assert line in read(f"#!/bin/bash\n#SBATCH -N 1\n{line}\n./y\n").request.script


@pytest.mark.parametrize("words", NOT_TOLD)
def test_words_about_secrets_that_tell_none_stay(words: str) -> None:
    assert redact(words) == words


@pytest.mark.parametrize("words", ["with HF_TOKEN {}", "with WANDB_API_KEY {}", "login bob:{}", "my pwd is {}"])
def test_an_answer_with_a_variable_and_its_secret_makes_no_software_of_it(words: str, read: Read) -> None:
    asked = read("/data/in.csv")
    answer = f"python train.py {words.format(SECRET)}"
    for said in (answer, words.format(SECRET)):
        assert SECRET not in _outcome(lambda said=said: apply_answer(asked, asked.questions[0].id, said))  # type: ignore[misc]


@pytest.mark.parametrize("body", [KEY, KEY.replace("OPENSSH", "RSA"), KEY.rpartition("\n")[0]])
def test_no_line_of_a_key_in_words_is_kept(body: str, read: Read) -> None:
    for text in (f"python train.py\n{body}", f"key below, run python train.py on 2 nodes\n{body}\n"):
        with pytest.raises(BadRequest) as caught:
            read(text)
        assert "b3BlbnNz" not in str(caught.value)


@pytest.mark.parametrize("words", ["docker login -u bob -p {} reg.io, 2 nodes", "export HF_TOKEN to {}; python a.py"])
def test_no_part_of_a_reading_keeps_what_its_text_hides(words: str, read: Read) -> None:
    with pytest.raises(BadRequest) as caught:
        read(words.format(SECRET))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("line", SHOWN)
def test_a_secret_of_a_command_or_a_script_is_refused(line: str, read: Read) -> None:
    line = line.format(SECRET)
    for given_request in ({"command": line}, {"script": f"#!/bin/bash\n{line}\n./y\n"}):
        with pytest.raises(BadRequest) as caught:
            read(given_request)
        assert SECRET not in str(caught.value)
    with pytest.raises(BadRequest):
        read(f"#!/bin/bash\n#SBATCH -N 1\n{line}\n./y\n", script_reader=read_any_script)


@pytest.mark.parametrize("line", HARMLESS)
def test_what_looks_like_it_is_taken(line: str, read: Read) -> None:
    read({"command": line})
    found = read(f"#!/bin/bash\n#SBATCH -N 1\n{line}\n", script_reader=read_any_script)
    assert line in found.request.script


@pytest.mark.parametrize(("name", "value"), [("PWD", "/x"), ("OLDPWD", "/a/b2"), ("KEY", "abc"), ("KEY", "chr1")])
def test_a_harmless_variable_keeps_its_value(name: str, value: str, read: Read) -> None:
    found = read(f"{name}={value} python train.py")
    assert found.secrets == {}
    assert [(each.name, each.value) for each in found.request.environment] == [(name, value)]


@pytest.mark.parametrize(("name", "value"), [("DB_PWD", "x"), ("KEY", "AbCd1234567890XYZ"), ("WANDB_KEY", "abc")])
def test_a_secret_variable_is_put_away(name: str, value: str, read: Read) -> None:
    assert is_secret_name(name, value)
    assert read(f"{name}={value} python train.py").secrets == {name: value}


@given(st.text(alphabet=st.sampled_from(list("HF_TOKEN is password:key -u\"'$|>/bz9.\n")), max_size=100))
def test_hiding_what_is_told_twice_is_hiding_it_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)
