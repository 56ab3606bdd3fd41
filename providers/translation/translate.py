"""A job script of one scheduler as a script of another.

Directives become a request, and the request the directives of the other scheduler. The body stays byte for byte, but
for variables, launchers and lines that the other scheduler would take for directives. What has no equivalent is told
with its line, in the report and in comments of the new script, so that it is not lost with the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from dragoman.errors import BadRequest, UnknownName
from dragoman.protocols import Dialect, ScriptReading
from dragoman.request import JobRequest
from providers.registry import dialects
from providers.schedulers.directives import clean_script
from providers.schedulers.script_words import Fill, ScriptWords, Writing
from providers.script_reading import dialect_of_script
from providers.translation.body import BodyTranslation, translate_body
from providers.translation.changes import changes_of, unified
from providers.translation.counts import changed_counts
from providers.translation.given import Given
from providers.translation.kept import KeptReading, read_kept
from providers.translation.launchers import apply_edits
from providers.translation.lines import Lines
from providers.translation.needs import Needs, write_needs
from providers.translation.report import Remark, Translation

__all__ = ["dialect_named", "translate_script", "words_of"]

_FIELDS = {"requeue": "requeue", "image": "containers"}


def dialect_named(name: str) -> Dialect:
    """The dialect of a name, where no site is known.

    Raises:
        UnknownName: there is none.

    """
    name = name.lower()
    try:
        made = dialects.get(name)
    except UnknownName:
        called = (make for _, make in dialects.items() if (words := words_of(make)) and name in words.also_called)
        if (found := next(called, None)) is None:
            raise
        made = found
    anywhere: Callable[[], Dialect] | None = getattr(made, "anywhere", None)
    return anywhere() if anywhere is not None else made()


def words_of(dialect: object) -> ScriptWords | None:
    """What a dialect's scripts say besides needs; None: it has no scripts."""
    found = getattr(dialect, "script_words", None)
    return found if isinstance(found, ScriptWords) else None


def translate_script(text: str, target: str, *, source: str | None = None, name: str = "script") -> Translation:
    """Translate a script.

    Args:
        text: the script.
        target: the dialect to write.
        source: the dialect to read; None: that of the first directives.
        name: the script's, for messages and the diff.

    Raises:
        BadRequest: it cannot be told for which scheduler it is, or a directive is malformed.
        UnknownName: there is no such dialect.

    """
    returns = "\r" in text
    text = clean_script(text)
    reader, writer = dialect_named(source or _told(text, name)), dialect_named(target)
    reader = _mixed(reader, writer, text)
    read, written = words_of(reader), words_of(writer)
    if written is None or getattr(writer, "only_scripts", False):
        raise BadRequest(
            f"scripts of {writer.name} are read only", where="--to", cure="name the scheduler that runs now"
        )
    if read is None or read.whole is not None:
        raise BadRequest(f"{reader.name} has no job scripts", where="--from", cure="name another scheduler")
    reading = reader.read_script(text)
    if reading.problems:
        raise BadRequest("; ".join(reading.problems), where=name, cure="mend what is named; nothing is written")
    made = _Translating(text, reading, reader, writer, read, written, name)
    if returns:
        why = "the lines ended with carriage returns, which a shell would take for letters: they are dropped"
        made.report.append(Remark(kind="note", why=why))
    return made.as_it_is() if reader.name == writer.name else made.done()


def _mixed(reader: Dialect, writer: Dialect, text: str) -> Dialect:
    """The reader; for a scheduler's own script with options that only a related one knows, that one."""
    words = words_of(reader)
    if words is None or reader.name != writer.name:
        return reader
    for name, make in dialects.items():
        other = words_of(make)
        alike = other is not None and name in words.related and other.prefix == words.prefix and other.told_by
        if other is not None and alike and re.search(other.told_by, text, re.MULTILINE) is not None:
            return dialect_named(name)
    return reader


def _told(text: str, name: str) -> str:
    if not text.strip():
        raise BadRequest("the script is empty", where=name, cure="give a job script")
    found = dialect_of_script(text)
    if found is None:
        read = [known for known, make in dialects.items() if (words := words_of(make)) and words.whole is None]
        cure = f"say whose it is with --from ({', '.join(read)})"
        raise BadRequest("no scheduler's directives are in the script", where=name, cure=cure)
    return found


class _Translating:
    """One translation under way."""

    def __init__(
        self, text: str, reading: ScriptReading, reader: Dialect, writer: Dialect, read: ScriptWords,
        written: ScriptWords, name: str,
    ) -> None:  # fmt: skip
        self.text, self.reading, self.name = text, reading, name
        self.reader, self.writer, self.read, self.written = reader, writer, read, written
        self.lines = Lines.of(text, reading.body, read.prefix if read.whole_file else "")
        self.report: list[Remark] = []

    def as_it_is(self) -> Translation:
        """The script itself: in the same language every word says what it said."""
        interpreter = self._interpreter()
        self._tell_notes()
        text = self.text.lstrip()  # a first line counts only where nothing stands before it
        return Translation(
            source=self.reader.name, target=self.writer.name,
            script=text if text.startswith("#!") else f"#!{interpreter}\n{text}", report=tuple(self.report),
            request=self.reading.request,
        )  # fmt: skip

    def done(self) -> Translation:
        """Put everything together."""
        request, title = self.reading.request, self.written.title
        interpreter = self._interpreter()
        kept = read_kept(self.reading, self.read, interpreter)
        kept.kept.name_files(self.written.fills)
        natives = self.writer.name in self.read.related
        needs = write_needs(self._meant(request), self.writer, self.written, self.read, natives=natives)
        given = Given(self.read, self.written, request, kept.kept, array=needs.spec.array is not None)
        if given.shared_id and Fill.TASK in self.written.fills:
            given.kept.part_tasks(given.shared_id)
        body = translate_body(self.reading.body, given)
        if given.kept.inherits and self.written.inherits:
            given.kept.inherits = None
        if natives:
            given.kept.start = None  # stands among the options that are taken over as they are
        writing = self.written.writing(given.kept)
        self._tell_needs(needs)
        self._tell_counts(needs)
        self._tell_kept(kept, writing, needs, natives)
        self._tell_unread(kept)
        self._tell_notes()
        for remark in body.remarks:
            line = self.lines.of_body(remark.line) if remark.line is not None else None
            self.report.append(remark.model_copy(update={"line": line}))
        options = [*writing.options, *needs.options]
        self._tell_of_written(options if self.written.whole is None else needs.header, body)
        self.report.sort(key=lambda remark: remark.line or 10**9)
        script = self._script(given, needs, options, body)
        changes = changes_of(body, self.reading.body, self.lines)
        return Translation(
            source=self.reader.name, target=self.writer.name, script=script,
            report=tuple(dict.fromkeys(self.report)), changes=changes,
            diff=unified(body, self.reading.body, self.lines, self.name, f"{self.name} ({title})"), request=request,
        )  # fmt: skip

    def _tell_notes(self) -> None:
        for note in self.reading.request.notes:
            line, words = _line_of(note)
            self.report.append(Remark(kind="note", line=line, why=words))

    def _interpreter(self) -> str:
        if self.text.lstrip().startswith("#!") or self.reading.interpreter != "/bin/sh":
            return self.reading.interpreter
        why = "the first line names no program that runs the script: /bin/bash is written"
        self.report.append(Remark(kind="note", line=1, why=why))
        return "/bin/bash"

    def _script(self, given: Given, needs: Needs, options: list[str], body: BodyTranslation) -> str:
        before = "".join(f"{line}\n" for line, _ in body.before)
        changed = apply_edits(self.reading.body, body.edits)
        losses = "".join(f"# not translated: {_comment(remark)}\n" for remark in self.report if remark.kind == "lost")
        if self.written.whole is not None:
            return f"{losses}{self.written.whole(needs.spec, given.kept, before + changed)}"
        head = "".join(f"{self.written.prefix} {option}\n" for option in options)
        return f"#!{given.kept.interpreter}\n{head}{losses}{before}{changed}"

    def _tell_needs(self, needs: Needs) -> None:
        near = {source.field: source for source in self.reading.request.sources}
        for path, why in needs.lost.items():
            path = _FIELDS.get(path, path)
            why = why or f"{self.written.title} has no equivalent that is known (look for the site's own word)"
            found = [source for field, source in near.items() if _about(field, path)]
            if not found and path.startswith(("walltime_min", "shapes.0.nodes_max")):
                found = [source for field, source in near.items() if _about(field, path.removesuffix("_max"))]
            for words in dict.fromkeys(source.words for source in found) or (path,):
                self._lose(words, why)
        said = {source.field for source in self.reading.request.sources}
        if self.reading.request.containers and "image" not in needs.lost and self.written.whole is None:
            for source in self.reading.request.sources:
                if source.field.startswith("containers"):
                    self._lose(
                        source.words, f"{self.written.title} starts no containers by itself (start it in the script)"
                    )
        if "start_after" in said and needs.spec.start_after is not None and self.written.local_clock:
            why = "the moment is written in UTC (submit with TZ=UTC, or change it to the site's time)"
            self.report.append(Remark(kind="note", why=why))
        if needs.spec.licenses:
            why = f"the names of licences are each site's own ({', '.join(needs.spec.licenses)[:200]})"
            self.report.append(Remark(kind="note", why=why))

    def _meant(self, request: JobRequest) -> JobRequest:
        """With the one node that cores of the whole job lie on, where the source's scheduler has it so."""
        shape, spread = request.shape, self.read.spread(self.reading.not_carried)
        alone = shape.node_count is None and shape.task_count is None and shape.tasks_per_node is None
        if request.components or not alone or (shape.cpus or 1) < 2:
            return request
        if spread is not None and spread.one_host:
            tasks = {"tasks": shape.cpus, "cpus": None} if self.written.cores_as_tasks else {}
            return request.model_copy(update={"shapes": (shape.model_copy(update={"nodes": 1, **tasks}),)})
        if spread is not None:
            self._lose(spread.words, spread.why)
        return request

    def _tell_counts(self, needs: Needs) -> None:
        if self.written.whole is not None or "components" in needs.lost:
            return
        head = "".join(f"{self.written.prefix} {option}\n" for option in needs.options)
        script = f"#!/bin/sh\n{head}true\n"
        asked = self.reading.request
        try:
            found = self.writer.read_script(script).request
        except BadRequest:
            return
        near = {source.field: source.words for source in asked.sources}
        if asked.walltime_s is not None and found.walltime_s not in (None, asked.walltime_s):
            why = f"{asked.walltime_s} seconds become {found.walltime_s}: {self.written.title} counts longer units"
            self.report.append(Remark(kind="note", line=self.lines.find(near.get("walltime_s", "")), why=why))
        for fields, why in changed_counts(asked, found, script, self.read.title, self.written):
            if any(f"shapes.0.{field}" in needs.lost for field in fields[:1]):
                continue
            words = next((near[path] for field in fields if (path := f"shapes.0.{field}") in near), "")
            self._lose(words or next((near[key] for key in near if key.startswith("components")), fields[0]), why)
        self._tell_tasks(near)

    def _tell_tasks(self, near: Mapping[str, str]) -> None:
        """Where slots are cores, an MPI library starts a task on each if it is not told how many."""
        shape = self.reading.request.shape
        tasks, each = shape.task_count, shape.cpus_per_task or 1
        started = re.search(r"^[^#\n]*\bmpi(?:run|exec)\b(?![^\n]*\s-(?:n|np|c)\b)", self.reading.body, re.MULTILINE)
        if self.written.slots == "cores" and tasks is not None and each > 1 and started is not None:
            words = near.get("shapes.0.cpus_per_task", "")
            why = f"{self.written.title} counts cores: mpirun alone may start {tasks * each} tasks, not {tasks}"
            self._lose(words, f"{why} (write mpirun -n {tasks})")

    def _tell_kept(self, kept: KeptReading, writing: Writing, needs: Needs, natives: bool) -> None:
        for told, why in writing.lost.items():
            if told == "interpreter":
                self.report.append(Remark(kind="lost", line=1, words=f"#!{kept.kept.interpreter}", why=why))
                continue
            joined = kept.words.get("stdout", "") if told == "stderr" and kept.kept.joined else ""
            words = kept.words.get(told, "") or joined
            words = words or next((one.words for one in self.reading.request.sources if one.field == told), "")
            if words or told != "joined":
                self._lose(words or told, why)
        for words, why in kept.partly:
            self._lose(words, f"{why} is mailed about by {self.read.title} alone (look with its status command)")
        for written in kept.rest:
            native = next((line for line in needs.natives if _same_words(line, written)), None)
            if native is not None:
                self._lose(written, needs.natives[native])
            elif not natives or not any(_same_words(line, written) for line in self.reading.request.native_options):
                self._lose_option(written)

    def _lose_option(self, written: str) -> None:
        """An option of the source alone; of one that is carried in part, the rest of what it says."""
        if any(remark.kind == "lost" and _same_words(remark.words, written) for remark in self.report):
            return
        request = self.reading.request
        near = [source.field for source in request.sources if _same_words(source.words, written)]
        partly = any(getattr(request.shape, path.removeprefix("shapes.0."), None) is not False for path in near)
        what = "the rest of what this option says to" if partly else "this option of"
        why = f"{self.written.title} has no known equivalent of {what} {self.read.title}"
        self._lose(written, f"{why} (look for the site's own word)")

    def _tell_unread(self, kept: KeptReading) -> None:
        noted = [line for note in self.reading.request.notes if (line := _line_of(note)[0]) is not None]
        reading = self.reading
        said = [*(source.words for source in reading.request.sources), *reading.not_carried, *reading.replaced]
        said += self.read.quiet
        shells = [option for option, told in self.read.reads.items() if told == "interpreter"]
        said += [f"{option} {self.reading.interpreter}" for option in shells]
        for line, words in self.lines.unread(said, noted, self.read.prefix_pattern, self.read.joints):
            why = "not understood: look what it asks for, and say it by hand"
            self.report.append(Remark(kind="lost", line=line, words=words[:200], why=why))

    def _tell_of_written(self, options: Iterable[str], body: BodyTranslation) -> None:
        options = list(options)
        for pattern, why in self.written.notes:
            if any(re.search(pattern, option) for option in options):
                self.report.append(Remark(kind="note", why=why))
        inheriting = {option for option, told in self.written.reads.items() if told == "inherits"}
        if self.read.inherits and not self.written.inherits and inheriting.isdisjoint(options):
            why = (
                f"{self.read.title} hands the submitter's environment to jobs, {self.written.title} does not "
                "(load modules and set variables in the script)"
            )
            self.report.append(Remark(kind="note", why=why))
        if any("mpiexec" in edit.new for edit in body.edits):
            why = "mpiexec comes with an MPI library: load the site's one in the script"
            self.report.append(Remark(kind="note", why=why))

    def _lose(self, words: str, why: str) -> None:
        line = self.lines.find(words)
        self.report.append(Remark(kind="lost", line=line, words=words[:300], why=why[:1000]))


def _about(field: str, path: str) -> bool:
    """Whether a source's field is what a path names, or a part of it."""
    if path == "components":  # the first of them is what is asked for
        return field == path or re.match(r"components\.(?!0\.)", field) is not None
    outer = ".".join(path.split(".")[:3]) if path.startswith("shapes.") else path.split(".")[0]
    if field == outer or field.startswith(f"{outer}."):
        return True
    inside = rf"components(?:\.\d+\.{re.escape(outer[9:])})?"
    return path.startswith("shapes.0.") and re.fullmatch(inside, field) is not None


def _same_words(one: str, other: str) -> bool:
    return re.sub(r"[\s=\"']", "", one) == re.sub(r"[\s=\"']", "", other)


def _line_of(note: str) -> tuple[int | None, str]:
    match = re.match(r"line (\d+): (.*)", note, re.DOTALL)
    return (int(match[1]), match[2]) if match is not None else (None, note)


def _comment(remark: Remark) -> str:
    where = f"line {remark.line}: " if remark.line is not None else ""
    words = f"{remark.words}: " if remark.words else ""
    text = f"{where}{words}{remark.why}"
    return "".join(character if character.isprintable() else " " for character in text)[:400]
