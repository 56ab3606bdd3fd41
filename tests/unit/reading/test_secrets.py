"""Secrets: told from other values, hidden in text, and never in the request."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import BadRequest
from dragoman.secrets import is_secret_name, redact
from graph.reading.reading import Reading
from interfaces.requests import _title  # what a thread is called is stored
from providers.script_reading import read_any_script

Read = Callable[..., Any]


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "SSH_KEY",
        "apiKey",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "password",
        "GITHUB_PAT",
        "OPENAI_API_KEY",
        "db.password",
    ],
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_num_tokens",
        "TOKENIZERS_PARALLELISM",
        "MONKEY",
        "TOKEN_LIMIT",
        "sort_key",
        "PATH",
        "KEYBOARD",
        "PASSWORD_FILE",
        "OMP_NUM_THREADS",
    ],
)
def test_harmless_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('SSH_KEY="-----BEGIN KEY-----\nabc\n-----END KEY-----"\nX=1', "abc"),
        ("+ export HF_TOKEN=hf_x", "hf_x"),
        ("+ export 'DB_PASSWORD=x1;y2' NEXT=1", "y2"),
        ("+ export 'API_TOKEN=a1 b2'\\''c3'", "c3"),
        ("+ export 'SSH_KEY=first\nsecond' NEXT=1", "second"),
        ('declare -x "API_TOKEN=a1 b2"', "b2"),
        (
            "SSH_KEY=-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\nbnNz\n-----END OPENSSH PRIVATE KEY-----\nHOME=/root",
            "bnNz",
        ),
        ('{"HF_TOKEN": "hf_SECRET123"}', "hf_SECRET123"),
        ("curl -H 'Authorization: Bearer abcdef123456' x", "abcdef123456"),
        ("postgres://user:pa55@host/db", "pa55"),
        ("redis://:pa55@cache:6379/0", "pa55"),
        ("tcp://bob:Hunter2@pw@db:1 gave no answer", "Hunter2"),
        ("mount error: //bob%Hunter2pw@nas/share", "Hunter2pw"),
        ("cannot read smb://bob%Hunter2pw@nas/share", "Hunter2pw"),
        ("smbclient -U bob%Hunter2pw //nas/share", "Hunter2pw"),
        ("bob:Hunter2pw@nas:/export/home is stale", "Hunter2pw"),
        ("proxy=bob:Hunter2pw@proxy:3128", "Hunter2pw"),
        ("app --api-key=k123 run", "k123"),
        ("+ HF_TOKEN+=hf_y", "hf_y"),
        ("SSHPASS=pw1x", "pw1x"),
        ("the password is hunter2x", "hunter2x"),
        ("use password hunter2x for it", "hunter2x"),
        ("my token is abc12345", "abc12345"),
        ("with the API key abc12345.", "abc12345"),
        ("das Passwort lautet hunter2x", "hunter2x"),
        ("https://b.example.org/a.dat?X-Amz-Signature=abcdef012345", "abcdef012345"),
        ("app --token k123 run", "k123"),
        ("clone with ghp_abcdefghijklmnopqrstuvwxyz0123", "ghp_abc"),
    ],
)
def test_redaction_hides(text: str, hidden: str) -> None:
    assert hidden not in redact(text)
    assert "***" in redact(text)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        # what `env` prints: nothing marks a value's further lines
        ("HOME=/root\nDB_PASSWORD=first\nsecond line\nX=1\n", ["first", "second"]),
        ("A=1\nAPI_KEY=first second third\n\nfourth\nB=2", ["first", "third", "fourth"]),
        ("HOME=/root\nPATH=/bin\nZ_TOKEN=first\nsecond\n", ["first", "second"]),
        # `env | sort` tears a key's lines from each other
        ("abcDEF\n-----END KEY-----\nHOME=/root\nSSH_KEY=-----BEGIN KEY-----\nX=1", ["abcDEF", "KEY-----"]),
        ("-----END RSA PRIVATE KEY-----\nA=1\nb3BlbnNzaA==\nc2Vj+/Jl\n", ["b3Bl", "c2Vj"]),
        # a shell's word is made of parts
        ("+ DB_PASSWORD=$'first\\nsecond'\n+ run", ["first", "second"]),
        ("+ export DB_PASSWORD=$'first\nsecond'", ["first", "second"]),
        ('TOKEN=abc"def ghi"jkl next', ["abc", "def", "jkl"]),
        ("TOKEN=abc\\\ndef\nX=1", ["abc", "def"]),
        ("export PGPASSWORD='it'\\''s two\nlines'; x", ["two", "lines"]),
        # csh, fish, module files
        ('setenv DB_PASSWORD "a1 b2"', ["a1", "b2"]),
        ("set -gx HF_TOKEN abc123", ["abc123"]),
        ('setenv("HF_TOKEN", "abc123")', ["abc123"]),
        # a block of YAML
        ("env:\n  password: |\n    line1\n\n    line2\n  user: bob", ["line1", "line2"]),
        ("- token: >-\n    line1\n    line2\n", ["line1", "line2"]),
    ],
)
def test_values_of_several_lines_and_parts_are_hidden_whole(text: str, hidden: list[str]) -> None:
    shown = redact(text)
    assert [each for each in hidden if each in shown] == []
    assert redact(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A=1\nTOKEN=x\nstarted\nended", "A=1\nTOKEN=***\nstarted\nended"),
        ("#!/bin/sh\nA=1\nTOKEN=x\n./app --fast\nB=2", "#!/bin/sh\nA=1\nTOKEN=***\n./app --fast\nB=2"),
        ("A=1\nTOKEN=x\nB=2\nfree text", "A=1\nTOKEN=***\nB=2\nfree text"),
        ('{"cmd": "run TOKEN=abc", "x": "y z"}', '{"cmd": "run TOKEN=***", "x": "y z"}'),
        ("notes: |\n  a word\n  KEYBOARD\n", "notes: |\n  a word\n  KEYBOARD\n"),
        ("setenv OMP_NUM_THREADS 4", "setenv OMP_NUM_THREADS 4"),
    ],
)
def test_what_stands_beside_a_secret_stays(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "max_num_tokens=512",
        "TOKENIZERS_PARALLELISM=true",
        "sort --key 2",
        "a token of thanks",
        "password protected pages",
        "the password generator of x/y1",
        "passwd user1234",
        "./password input1234",
        "secret key rotation",
        "token is missing",
        "keys: 4",
        "ubuntu:22.04@sha256:0123456789abcdef",
        "10.0.0.1@tcp:10.0.0.2@tcp:/scratch",
        "mgs1:mgs2@o2ib1:/scratch",
        "ann@host:/data",
        "https://host:8080/a%20b@c",
        "//nas/share%20one",
        "psql -U bob -h db",
        "cannot open '/opt/modules/secret': Permission denied",
        "/home/ann/token: No such file or directory",
    ],
)
def test_redaction_leaves(text: str) -> None:
    assert redact(text) == text


KEY_LINE = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"
BEGIN, END = "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # `env | sort` in the C locale, in another, with its end cut off, and a key that a log's prefix stands before
        (
            f"{END}\nAAAAB3x\nHOME=/root\nSSH_KEY={BEGIN}\nTOKENIZERS_PARALLELISM=true\n{KEY_LINE}\nmax_num_tokens=512\n",
            "***\n***\nHOME=/root\nSSH_KEY=***\nTOKENIZERS_PARALLELISM=true\n***\nmax_num_tokens=512\n",
        ),
        (
            f"A_KEY={BEGIN}\n{KEY_LINE}\nCUDA_VISIBLE_DEVICES=0\n{END}\nmax_num_tokens=512\n",
            "A_KEY=***\nCUDA_VISIBLE_DEVICES=0\n***\nmax_num_tokens=512\n",
        ),
        (
            "SSH_KEY=-----BEGIN KEY-----\nabc\nmax_num_tokens=512\nTOKENIZERS_PARALLELISM=true",
            "SSH_KEY=***\nmax_num_tokens=512\nTOKENIZERS_PARALLELISM=true",
        ),
        (
            'SSH_KEY="-----BEGIN KEY-----\nabc\n-----END KEY-----"\n+ export HF_TOKEN=hf_x\nmax_num_tokens=512\n'
            "TOKENIZERS_PARALLELISM=true",
            'SSH_KEY="***"\n+ export HF_TOKEN=***\nmax_num_tokens=512\nTOKENIZERS_PARALLELISM=true',
        ),
        (f"n1: {BEGIN}\nn1: {KEY_LINE}\nn1: A=/opt/apps/gcc/12/lib64/Aa",
         "n1: ***\nn1: ***\nn1: A=/opt/apps/gcc/12/lib64/Aa"),
        (f"SSH_KEY={BEGIN}\\n{KEY_LINE}\\nabc max_num_tokens=512", "SSH_KEY=*** max_num_tokens=512"),
        # `env -0`
        (
            f"SSH_KEY={BEGIN}\nabc\n{END}\0max_num_tokens=512\0API_TOKEN=first\nsecond, third\0HOME=/x\0",
            "SSH_KEY=***\0max_num_tokens=512\0API_TOKEN=***\0HOME=/x\0",
        ),
        ("HF_TOKEN=abc\0TOKENIZERS_PARALLELISM=true\0", "HF_TOKEN=***\0TOKENIZERS_PARALLELISM=true\0"),
        ("$ env -0\nTOKEN=a\nb\0X=1\0Y_TOKEN=", "$ env -0\nTOKEN=***\0X=1\0Y_TOKEN="),
    ],
)  # fmt: skip
def test_lines_of_keys_are_hidden_and_harmless_variables_between_them_stay(text: str, shown: str) -> None:  # SE02
    assert redact(text) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("os.environ['HF_TOKEN'] = 'hf_abc'", "os.environ['HF_TOKEN'] = '***'"),
        ('os.environ["HF_TOKEN"]="hf abc"; x', 'os.environ["HF_TOKEN"]="***"; x'),
        ("os.environ.setdefault('HF_TOKEN', 'hf_abc')", "os.environ.setdefault('HF_TOKEN', '***')"),
        ("login me password hunter2", "login me password ***"),
        ("machine h.org login me password hunter2", "machine h.org login me password ***"),
        ("machine a\n  login b\n  password c1\nmachine d\n  password e1",
         "machine a\n  login b\n  password ***\nmachine d\n  password ***"),
        ("docker login -u me -p hunter2", "docker login -u me -p ***"),
        ("podman --log-level debug login reg -p='hun ter2' -u x", "podman --log-level debug login reg -p='***' -u x"),
        ("docker login -phunter2 reg.io && mkdir -p x", "docker login -p*** reg.io && mkdir -p x"),
        ("mysql -phunter2", "mysql -p***"),
        ("mysqldump -u root -phunt,er2 db > out; ssh -p 22 h", "mysqldump -u root -p*** db > out; ssh -p 22 h"),
        ("bash -c 'mysql -phunter2' && mkdir -p 'x'", "bash -c 'mysql -p***' && mkdir -p 'x'"),
        ("curl -u bob:pw", "curl -u bob:***"),
        ("curl \\\n  -sSLu 'bob:p w' https://x -o a:b", "curl \\\n  -sSLu 'bob:***' https://x -o a:b"),
        ("curl --user=bob:pw x --proxy-user c:pw2", "curl --user=bob:*** x --proxy-user c:***"),
        ("sshpass -p pw", "sshpass -p ***"),
        ("sshpass -v -p 'p w' ssh -p 22 h", "sshpass -v -p '***' ssh -p 22 h"),
        ("redis-cli -a hunter2 ping", "redis-cli -a *** ping"),
        ("unzip -P hunter2 a.zip", "unzip -P *** a.zip"),
        ("7z x -phunter2 a.7z", "7z x -p*** a.7z"),
    ],
)  # fmt: skip
def test_passwords_that_are_given_without_a_name_are_hidden(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "mkdir -p x",
        "ssh -p 22 h",
        "python -u x.py",
        "python -u a:b",
        "patch -p1",
        "srun -u -p gpu ./mysql",
        "cp -p /data/mysql x -p y",
        "docker run -u 1000:1000 -p 80:80 image login",
        "mysql -p db -P 3306",
        "curl -u bob http://h:80/x -o a:b",
        "curl -XPUT http://h:80 -H 'User: a'",
        "curl x | docker run -u 1:1 -p 80:80 y",
        "sshpass -e ssh -p 22 h",
        "sshpass -f file scp -p a b",
        "rsync -e 'ssh -p 22' a b:c",
        "login with password authentication",
        "os.environ['HF_HOME'] = '/x'",
    ],
)
def test_letters_of_other_programs_stay(text: str) -> None:
    assert redact(text) == text


@given(st.text(alphabet=st.sampled_from(list("TOKEN_KEY=:\"'\\$|> -+abc\n/@*x1")), max_size=120))
def test_redaction_twice_is_redaction_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "given_request",
    [
        {"command": "./a", "env": {"HF_TOKEN": "hf_SECRET123"}},
        {"command": "./a", "environment": [{"name": "HF_TOKEN", "value": "hf_SECRET123"}]},
        {"command": "HF_TOKEN=hf_SECRET123 ./a"},
        '{"command": "./a", "env": {"HF_TOKEN": "hf_SECRET123"}}',
        "command: ./a\nenv:\n  HF_TOKEN: hf_SECRET123\n",
        "run ./a with HF_TOKEN=hf_SECRET123 on 1 node",
        "HF_TOKEN=hf_SECRET123 python3 a.py",
        "1 task with HF_TOKEN=hf_SECRET123: ./a",
        "mpirun -np 2 -x HF_TOKEN=hf_SECRET123 ./a",
        "#!/bin/bash\nexport HF_TOKEN=hf_SECRET123\n./a\n",
    ],
)
def test_a_secret_is_kept_apart(given_request: Any, read: Read) -> None:
    reading: Reading = read(given_request)
    assert reading.secrets == {"HF_TOKEN": "hf_SECRET123"}
    assert "hf_SECRET123" not in reading.model_dump_json() + repr(reading) + str(reading.dump())
    (variable,) = [item for item in reading.request.environment if item.name == "HF_TOKEN"]
    assert (variable.value, variable.secret) == (None, "HF_TOKEN")


def test_harmless_variables_keep_their_values(read: Read) -> None:
    reading = read({"command": "./a", "env": {"TOKENIZERS_PARALLELISM": "true", "max_num_tokens": 512}})
    assert reading.secrets == {}
    assert {item.name: item.value for item in reading.request.environment} == {
        "TOKENIZERS_PARALLELISM": "true",
        "max_num_tokens": "512",
    }


@pytest.mark.parametrize(
    "text",
    [
        "--nodes=2 --time=1:00:00 --export=API_KEY=hunter2secretX, program ./x",
        "./x on 2 nodes for 1 hour, needs https://bob:hunter2secretX@x.org/a.dat",
        "./x on 2 nodes, needs https://b.example.org/a.dat?X-Amz-Signature=hunter2secretX",
        "sbatch --nodes=2 --export=API_KEY=hunter2secretX job.sh",
        "./x on 2 nodes, the password is hunter2secretX",
        "./x on 2 nodes, log in with password hunter2secretX",
        "./x on 2 nodes; my access token hunter2secretX lies in the wiki",
        "#!/bin/sh\n#SBATCH --export=API_KEY=hunter2secretX\n#SBATCH -N 2\n./x\n",
        "#!/bin/sh\n#PBS -v API_KEY=hunter2secretX\n#PBS -l nodes=2\n./x\n",
        "./x in apptainer, image docker://bob:hunter2secretX@reg.example.org/a:1",
    ],
)
def test_a_secret_is_in_nothing_that_is_kept(text: str, read: Read) -> None:
    found = read(text, script_reader=read_any_script)
    assert "hunter2secretX" not in json.dumps(found.model_dump(mode="json"))
    assert found.unread or found.questions or found.secrets


@pytest.mark.parametrize(
    "line", ["#SBATCH --export=HF_TOKEN=abc9x", "#PBS -v HF_TOKEN=abc9x", "#BSUB -env HF_TOKEN=abc9x"]
)
def test_every_value_of_a_variable_that_is_set_twice_is_known(read: Read, line: str) -> None:
    reading = read(
        f"#!/bin/bash\n{line}\nexport HF_TOKEN=hf_SECRETrrr2bbbbbbbbbbbb\n./app\n", script_reader=read_any_script
    )
    assert {"hf_SECRETrrr2bbbbbbbbbbbb"} <= set(reading.secrets.values())
    kept = reading.request.environment
    assert [reading.secrets[item.secret] for item in kept if item.name == "HF_TOKEN"] == ["hf_SECRETrrr2bbbbbbbbbbbb"]
    assert "SECRETrrr2" not in json.dumps(reading.dump())
    assert "abc9x" not in json.dumps(reading.dump())
    title = _title(f"{line}\nexport HF_TOKEN=hf_SECRETrrr2bbbbbbbbbbbb", reading)
    assert "SECRET" not in title
    assert "abc9x" not in title


def test_a_variable_with_two_values_in_the_body_is_refused(read: Read) -> None:
    script = "#!/bin/bash\n#SBATCH -n 1\nexport HF_TOKEN=one1x\n./a\nexport HF_TOKEN=two2x\n./b\n"
    with pytest.raises(BadRequest, match="HF_TOKEN to two secret values"):
        read(script, script_reader=read_any_script)
