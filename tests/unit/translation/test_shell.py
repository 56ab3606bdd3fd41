"""What of a script its shell expands and runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.translation.shell import scan_shell


def names(text: str) -> list[str]:
    return [reference.name for reference in scan_shell(text).references]


def commands(text: str) -> list[list[str]]:
    return [[text[word.start : word.end] for word in command.words] for command in scan_shell(text).commands]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("echo $A ${B} ${C:-4} ${D%%.*} ${#E} ${!F}", ["A", "B", "C", "D", "E", "F"]),
        ('echo "$A ${B:-"$C"}" $AB1', ["A", "B", "C", "AB1"]),
        ("echo '$A' \\$B \"\\$C\" $'$D\\'$E'", []),
        ("# $A\necho a#$B #$C", ["B"]),
        ("x=$((A * 2 + $B)); ((C > 1)) && echo", ["A", "B", "C"]),
        ("x=$(echo $A `echo $B`)", ["A", "B"]),
        ("x=${A:-${B:-'$C'}}", ["A", "B"]),
        ("x=\"${A:-'$B'}\"", ["A", "B"]),  # within double quotes a single quote is a letter
        ("cat <<E\n$A \\$B\nE\necho $C", ["A", "C"]),
        ("cat <<'E'\n$A\nE\necho $B", ["B"]),
        ('cat <<"E"\n$A\nE\necho $B', ["B"]),
        ("cat <<\\E\n$A\nE\necho $B", ["B"]),
        ("cat <<-E <<'F'\n\t$A\n\tE\n$B\nF\necho $C", ["A", "C"]),
        ("cat <<<$A; echo $B", ["A", "B"]),
        ("cat <<'E' | grep $A > $B\n$C\nE\n", ["A", "B"]),
        ("echo $1 $? $$ ${10} $", []),
        ("cat <<'E'\n$A", []),  # never closed
    ],
)
def test_references(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("srun -n 4 ./app | tee log && b; c & d", [["srun", "-n", "4", "./app"], ["tee", "log"], ["b"], ["c"], ["d"]]),
        ("srun -n 4 \\\n  ./app 'a b' \"$X y\"", [["srun", "-n", "4", "./app", "'a b'", '"$X y"']]),
        ("srun a > out 2>&1\nb", [["srun", "a"], ["b"]]),
        ("x=$(srun a) # srun b", [["srun", "a"], ["x=$(srun a)"]]),
        ("(cd d; srun a)", [["cd", "d"], ["srun", "a"]]),
        ("diff <(srun a) b &>c\nd", [["srun", "a"], ["diff", "<(srun a)", "b"], ["d"]]),
        ("cat <<'E'\nsrun a\nE\nb", [["cat"], ["b"]]),
        ("echo 'srun a' \"srun b\"", [["echo", "'srun a'", '"srun b"']]),
    ],
)
def test_commands(text: str, found: list[list[str]]) -> None:
    assert commands(text) == found


@pytest.mark.parametrize("text", ["$(" * 500, "${A:-" * 500, "$((" * 500, "`$(" * 500])
def test_what_is_nested_too_deep_is_told(text: str) -> None:
    assert not scan_shell(text).complete


pieces = st.lists(
    st.sampled_from(
        ["$A", "'", '"', "`", "$(", ")", "${", "}", "\\", "\n", "<<E", "E", "#", " ", "((", "srun", ";", "a"]
    ),
    max_size=40,
).map("".join)


@given(pieces | st.text(max_size=80))
def test_any_text_is_looked_through(text: str) -> None:
    scan = scan_shell(text)
    for reference in scan.references:
        assert text[reference.start : reference.end] == reference.name
    for command in scan.commands:
        assert all(0 <= word.start < word.end <= len(text) for word in command.words)


def test_a_large_script_takes_no_long_time() -> None:
    text = "srun -n 4 ./app $SLURM_JOB_ID 'x' # y\n" * 20_000
    assert len(scan_shell(text).commands) == 20_000
