"""A script's body for another scheduler: variables, launchers, look-alikes of directives, and lines put before it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from providers.schedulers.slots import index_lines
from providers.translation.given import C_SHELLS, Given, shell_of
from providers.translation.launchers import apply_edits, launcher_edits
from providers.translation.report import Edit, Remark
from providers.translation.shell import Scan, scan_shell
from providers.translation.stretches import Stretches
from providers.translation.variables import line_at, mentions, variable_edits

__all__ = ["BodyTranslation", "translate_body"]


@dataclass(slots=True)
class BodyTranslation:
    """The body as it will be; lines and places are counted in the body."""

    edits: list[Edit] = field(default_factory=list)
    before: list[tuple[str, str]] = field(default_factory=list)
    """Lines that are put before it, with their reasons."""
    remarks: list[Remark] = field(default_factory=list)


def translate_body(body: str, given: Given) -> BodyTranslation:
    """What changes in a body.

    Args:
        body: the script without its first line and directives.
        given: the job; `definitions` are filled in.

    """
    found = BodyTranslation()
    shell = shell_of(given.kept.interpreter)
    scan = scan_shell(body) if shell else None
    if scan is not None and not scan.complete:
        found.remarks.append(
            Remark(kind="lost", why="the body is nested too deep to be read: nothing in it is changed")
        )
        scan = None
    seen: set[int] = set()
    if scan is not None:
        variables, told, seen = variable_edits(body, scan, given)
        launched, refused, places = launcher_edits(body, scan, given, variables)
        inside = Stretches((edit.start, edit.end) for edit in launched)
        outside = [edit for edit in variables if edit.start not in inside]
        found.edits += [*outside, *launched]
        # What a changed line does not say any more needs no equivalent.
        found.remarks += [
            remark for at, remark in told if all(remark.words in launched[number].new for number in inside.holding(at))
        ]
        found.remarks += [*refused, *_launchers_elsewhere(body, scan, given, places)]
    found.remarks += mentions(body, scan, given, seen)
    _shield(body, scan, given, found)
    found.edits.sort(key=lambda edit: edit.start)
    _before(given, shell, found, apply_edits(body, found.edits))
    return found


def _launchers_elsewhere(body: str, scan: Scan, given: Given, seen: set[int]) -> list[Remark]:
    """Launchers of the source in texts and variables, which only another shell would start."""
    if given.source.title == given.target.title:
        return []
    names = {launcher.words[0] for launcher in given.source.launchers if launcher.words != ("mpiexec",)}
    names -= {launcher.words[0] for launcher in given.target.launchers}
    found: list[Remark] = []
    told: set[int] = set()
    comments = Stretches(scan.comments)
    for match in re.finditer(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, names)) or '(?!)'})(?![\w./-])", body):
        line = line_at(body, match.start())
        if match.start() in comments or line in told or match.start() in seen:
            continue
        told.add(line)
        why = f"{match[0]} does not stand where the shell starts it: left as it is (change it by hand)"
        found.append(Remark(kind="lost", line=line, words=match[0], why=why))
    return found


def _shield(body: str, scan: Scan | None, given: Given, found: BodyTranslation) -> None:
    """Hide lines that the target would read as directives: those of the source's comments and of other schedulers."""
    if given.source.title == given.target.title or given.target.whole is not None or not given.shield:
        return
    pattern = rf"^{given.target.prefix_pattern}"
    first = re.search(r"^(?!\s*(?:#|$))", body, re.MULTILINE)
    literal = Stretches((start, end) for start, end, _ in scan.literal) if scan is not None else Stretches(())
    for match in re.finditer(pattern, body, re.MULTILINE):
        if not given.target.whole_file and first is not None and match.start() > first.start():
            break
        line = line_at(body, match.start())
        words = body[match.start() : match.start() + 2000].partition("\n")[0]
        if match.start() in literal:
            why = f"{given.target.title} reads this line as a directive, here-document or not (indent it by hand)"
            found.remarks.append(Remark(kind="lost", line=line, words=words[:200], why=why))
            continue
        reason = f"{given.target.title} would read this line as a directive"
        why = f"{reason}: it is switched off (read the script with --from to have it counted)"
        found.edits.append(Edit(start=match.start(), end=match.start(), new="#off ", reason=reason))
        found.remarks.append(Remark(kind="lost", line=line, words=words[:200], why=why))


def _before(given: Given, shell: str, found: BodyTranslation, body: str) -> None:
    c_shell = shell in C_SHELLS
    lines: list[tuple[str, str]] = []
    if given.positions and given.request.array is not None:
        first = given.target.first_index or 0
        position = f"${{{given.target.variables['task'][0]}:-{first}}}" + (f" - {first}" if first else "")
        if c_shell:
            why = f"{given.target.title} only counts an array's tasks, and csh cannot compute the index (use sh)"
            found.remarks.append(Remark(kind="lost", words="array", why=why))
        else:
            reason = f"{given.target.title} only counts the tasks of an array: their index is computed"
            lines += [(line, reason) for line in index_lines(given.request.array, position)]
    for name, value in given.definitions.items():
        text = f"setenv {name} {value}" if c_shell else f"export {name}={value}"
        lines.append((text, f"{given.target.title} has no variable for it"))
    threads = _threads(given)
    if len(threads) == 1:
        text = f"setenv OMP_NUM_THREADS {threads[0]}" if c_shell else f"export OMP_NUM_THREADS={threads[0]}"
        lines.append((text, f"{given.source.title} sets it"))
    elif threads:
        what = f"{given.source.title} sets OMP_NUM_THREADS to {' or '.join(threads)} by the chunk"
        why = f"{what} (export it in the script)"
        found.remarks.append(Remark(kind="lost", words="ompthreads", why=why))
    for variable in given.request.environment:
        value = shlex.quote(variable.value or "")
        text = f"setenv {variable.name} {value}" if c_shell else f"export {variable.name}={value}"
        lines.append((text, f"set by a directive of {given.source.title}"))
    lines += _enter(given, found, body)
    if lines and not shell:
        told = "; ".join(text for text, _ in lines)
        why = f"the script is not a shell's, and these lines cannot be put before it: {told}"
        found.remarks.append(Remark(kind="lost", why=why[:2000]))
        return
    found.before = lines


def _threads(given: Given) -> list[str]:
    """What the source sets OMP_NUM_THREADS to, where the target does not by the same words."""
    if not given.source.threads or given.source.threads == given.target.threads:
        return []
    said = {words for source in given.request.sources for words in re.findall(given.source.threads, source.words)}
    return sorted(said)


def _enter(given: Given, found: BodyTranslation, body: str) -> list[tuple[str, str]]:
    """A line that goes where the source's job would start, where the target's starts elsewhere."""
    source, target, work_dir = given.source, given.target, given.kept.work_dir
    home = source.starts_in == "home" and work_dir is None
    variable = target.variables.get("submit_dir", ("",))[0]
    entered = re.search(rf"^[ \t]*cd\s+[\"']?\$\{{?{variable or 'DRAGOMAN_SUBMIT_DIR'}\b", body, re.MULTILINE)
    if home:
        if target.starts_in == "submit" and entered is None and source.title != target.title:
            why = (
                f"{source.title} starts a job in the home directory, {target.title} where it was submitted "
                "(add a cd if the script counts on it)"
            )
            found.remarks.append(Remark(kind="note", why=why))
        return []
    if target.starts_in != "home" or (target.enters and work_dir not in (None, ".")):
        return []
    if work_dir is None and target.enters and "cwd" in target.reads.values():
        given.kept.work_dir = "."
        return []
    reason = f"{source.title} starts a job where it was submitted, {target.title} in the home directory"
    if work_dir not in (None, "."):
        reason = f"{target.title} has no directive for where a job starts"
        path = work_dir if work_dir.startswith("/") else f"./{work_dir}"
        first = "" if work_dir.startswith("/") else f'cd "${variable}" && '
        return [(f"{first}cd {shlex.quote(path)} || exit 1", reason)]
    return [(f'cd "${variable}" || exit 1', reason)] if entered is None else []
