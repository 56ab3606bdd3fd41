"""The shell lines around a job's body, the same for every scheduler that runs a script.

They claim the attempt's folder for this scheduler job, set the environment, run the body with its own interpreter and
record how it ended. POSIX sh only (tried with dash, bash, busybox sh, ksh and mksh); programs used: cat, date, ls, ln,
mkdir, mv, readlink (or ls), sed, sleep, tail, uname.

What a job leaves in `<control_dir>`:

- `run/owner`, a symbolic link to `job:<id>`: the one scheduler job that may run this attempt. Making a link is atomic
  on local disks, NFS and the parallel file systems, and unlike a directory it is never there without saying whose it
  is. A second job with the same tag finds the link, appends to `duplicates` and ends with `DUPLICATE_RC` without the
  body. `abandoned:<who>` there means that no job may run it any more.
- `run/starts[.<task>]`: one line for each start (restart count, host, time); a requeued job claims again with its id.
- `exit[.<task>]`: `key value` lines (rc, signal, started, ended, job, restart, host), written whole or not at all. It
  is moved to `run/` when the same job starts again.
- `ended`: touched last, the hook for those who watch a folder rather than a scheduler. Where the folder `.ended` lies
  beside the attempts' folders, a file with the tag's name is left there too: one folder to watch for all jobs.

The body stands in the script itself, because schedulers copy the script and nothing else. Each of its lines gets a
leading `|`, taken off when the job starts: so no line of it can end the here-document, and none can be read as a
directive by those schedulers that look for directives in the whole file (Grid Engine, OAR, LSF).
"""

from __future__ import annotations

import shlex

from dragoman.errors import BadRequest
from dragoman.job import JobSpec

__all__ = ["CLAIM_RC", "DUPLICATE_RC", "SECRET_RC", "WORK_DIR_RC", "body_changes", "job_lines"]

DUPLICATE_RC = 113
"""Another job runs this attempt, or it was abandoned; the body was not run."""
CLAIM_RC = 114
"""The attempt's folder could not be claimed (not mounted, read-only, full, no job id); the body was not run."""
WORK_DIR_RC = 115
"""The work directory could not be entered; the body was not run."""
SECRET_RC = 116
"""A secret's file could not be read, or the body not be written; the body was not run."""

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "csh", "tcsh", "fish", "yash", "rc"})
_MAY_HAVE = frozenset("\t\n\r")


def job_lines(
    spec: JobSpec, *, job_id: str, restart: str, task: str = "", submit_dir: tuple[str, ...] = ()
) -> list[str]:
    """The lines that follow a script's directives.

    Args:
        spec: the job.
        job_id: how the shell learns the job's id, written as the right side of an assignment (`${SLURM_JOB_ID:-}`). It
            must give the id as the dialect's `parse_submit` reads it, and for all tasks of an array the array's id.
        restart: the same for the number of restarts; `0` where the scheduler does not tell.
        task: the same for the index within an array; empty for a job that is none.
        submit_dir: variables that tell a job where it was submitted. The body is told its work directory instead: that
            is where its inputs are, and scripts of people begin with `cd $PBS_O_WORKDIR`.

    Raises:
        BadRequest: a value holds control characters, or the body cannot be written to a script.

    """
    return [
        "# dragoman: claim the attempt, set the environment, run the body, record its end",
        "set +x",
        f"dgm_control={_word(spec.control_dir, 'control_dir')}",
        f"dgm_work={_word(spec.work_dir, 'work_dir')}",
        f"dgm_job={job_id}",
        f"dgm_restart={restart}",
        f"dgm_task={task}",
        *_CLAIM.splitlines(),
        *_environment(spec),
        *_body(spec),
        *_RUN.replace("@INTERPRETER@", " ".join(map(shlex.quote, _interpreter(spec))))
        .replace("@SUBMIT_DIR@\n", "".join(f'export {name}="$dgm_work"\n' for name in submit_dir))
        .splitlines(),
    ]


def body_changes(spec: JobSpec) -> tuple[str, ...]:
    """What is changed in the body when it is written into a script, for the person who approves it."""
    if "\r\n" in spec.body and _is_shell(spec):
        return ("the line ends of the script were CR LF and are now LF: a shell would take the CR as part of a word",)
    return ()


def _environment(spec: JobSpec) -> list[str]:
    lines = ["dgm_cr=$(printf '\\r')", "dgm_nl='", "'", f"export DRAGOMAN_TAG={_word(spec.tag, 'tag')}"]
    for variable in spec.environment:
        if not variable.name.isidentifier() or not variable.name.isascii():
            raise BadRequest(
                f"{variable.name!r} is no name of a variable", where="environment", cure="use letters, digits and _"
            )
        if variable.secret is not None:
            lines.append(f"dgm_secret {variable.name}")
            lines.append(f"export {variable.name}=\"$dgm_value\"; dgm_value=''")
        else:
            value = _value(variable.value or "", f"environment.{variable.name}")
            lines.append(f"export {variable.name}={value}")
    return lines


def _body(spec: JobSpec) -> list[str]:
    if "\0" in spec.body:
        raise BadRequest("the script holds a NUL character", where="body", cure="give a text file")
    try:
        spec.body.encode()
    except UnicodeEncodeError as error:
        raise BadRequest("the script is no valid text", where="body", cure="save it as UTF-8") from error
    text = spec.body.replace("\r\n", "\n") if _is_shell(spec) else spec.body
    # Slurm refuses scripts with CR LF anywhere: where the CR must stay it goes into the mark at the line's beginning.
    lines = [f"^{line[:-1]}" if line.endswith("\r") else f"|{line}" for line in text.removesuffix("\n").split("\n")]
    changed = [f"# {words}" for words in body_changes(spec)]
    return [*changed, "dgm_body() { cat <<'DRAGOMAN_BODY'", *lines, "DRAGOMAN_BODY", "}"]


def _interpreter(spec: JobSpec) -> list[str]:
    _word(spec.body_interpreter, "body_interpreter")
    first = spec.body.split("\n", 1)[0].rstrip("\r")
    if spec.body_interpreter == "/bin/sh" and first.startswith("#!") and first[2:].strip():
        # As the kernel reads it: the program, and the rest of the line as one argument.
        words = first[2:].strip().split(None, 1)
    else:
        try:
            words = shlex.split(spec.body_interpreter)
        except ValueError as error:
            raise BadRequest(str(error), where="body_interpreter", cure="balance its quotes") from error
    if not words:
        raise BadRequest("no program is named", where="body_interpreter", cure="give a path such as /bin/bash")
    for word in words:
        _word(word, "the first line of the body")
    return words


def _is_shell(spec: JobSpec) -> bool:
    return any(word.rsplit("/", 1)[-1] in _SHELLS for word in _interpreter(spec)[:2])


def _word(value: str, where: str) -> str:
    """One quoted word of the shell, on one line."""
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise BadRequest("control characters are not allowed here", where=where, cure="delete them")
    return shlex.quote(value)


def _value(value: str, where: str) -> str:
    """A quoted value that may have several lines, written so that no line of the script begins with a part of it."""
    if any((ord(character) < 32 and character not in _MAY_HAVE) or ord(character) == 127 for character in value):
        raise BadRequest(
            "control characters other than tab and line end are not allowed here", where=where, cure="delete them"
        )
    return shlex.quote(value).replace("\n", "'\"$dgm_nl\"'").replace("\r", "'\"$dgm_cr\"'")


_CLAIM = f"""\
dgm_umask=$(umask)
umask 077
dgm_host=$(uname -n)
dgm_part=${{dgm_task:+.$dgm_task}}
dgm_started=
dgm_now() {{ date -u +%Y-%m-%dT%H:%M:%SZ; }}
dgm_holder() {{
  readlink "$dgm_control/run/owner" 2>/dev/null ||
    LC_ALL=C ls -l "$dgm_control/run/owner" 2>/dev/null | sed -n 's/^.* -> //p'
}}
dgm_record() {{
  dgm_signal=
  if [ "$1" -gt 128 ] && [ "$1" -le 192 ]; then dgm_signal=$(($1 - 128)); fi
  dgm_file="$dgm_control/run/exit$dgm_part.$dgm_host.$$"
  printf '%s\\n' "rc $1" "signal $dgm_signal" "started $dgm_started" "ended $(dgm_now)" "job $dgm_job" \\
    "restart $dgm_restart" "host $dgm_host" >"$dgm_file" || return 0
  # A later start of this job speaks for it; what this one saw stays beside it.
  if [ "$(tail -n 1 "$dgm_control/run/starts$dgm_part" 2>/dev/null)" = "$dgm_start" ]; then
    # Not with `:`, whose failed redirection (no room) would end a POSIX shell here and lose the exit code.
    mv -f "$dgm_file" "$dgm_control/exit$dgm_part" && {{
      true >"$dgm_control/ended"
      if [ -d "$dgm_control/../.ended" ]; then true >"$dgm_control/../.ended/${{dgm_control##*/}}"; fi
    }} 2>/dev/null
  fi
}}
dgm_refuse() {{
  printf 'dragoman: %s\\n' "$2" >&2
  if [ -n "$dgm_started" ]; then dgm_record "$1"; fi
  exit "$1"
}}
if [ -z "$dgm_job" ]; then dgm_refuse {CLAIM_RC} 'this script has no job id: it is started by its scheduler only'; fi
if [ ! -d "$dgm_control" ]; then dgm_refuse {CLAIM_RC} "$dgm_control is not to be seen on $dgm_host"; fi
mkdir "$dgm_control/run" 2>/dev/null
dgm_tries=0
dgm_owner=
while [ -z "$dgm_owner" ] && [ "$dgm_tries" -lt 10 ]; do
  if [ "$dgm_tries" -gt 0 ]; then sleep 1; fi
  dgm_tries=$((dgm_tries + 1))
  # Whether it worked is read, not believed: a network file system may report a link as there that this call made.
  ln -s "job:$dgm_job" "$dgm_control/run/owner" 2>/dev/null
  dgm_owner=$(dgm_holder)
done
case $dgm_owner in
"job:$dgm_job") ;;
'') dgm_refuse {CLAIM_RC} "$dgm_control/run cannot be claimed (full, read-only, or without symbolic links)" ;;
*)
  printf '%s\\n' "duplicate $dgm_job owner $dgm_owner host $dgm_host at $(dgm_now)" >>"$dgm_control/duplicates"
  dgm_refuse {DUPLICATE_RC} "this attempt belongs to $dgm_owner: nothing is run"
  ;;
esac
if [ -f "$dgm_control/exit$dgm_part" ]; then
  mv -f "$dgm_control/exit$dgm_part" "$dgm_control/run/exit$dgm_part.before.$dgm_host.$$"
fi
dgm_started=$(dgm_now)
dgm_start="restart $dgm_restart host $dgm_host pid $$ at $dgm_started"
printf '%s\\n' "$dgm_start" >>"$dgm_control/run/starts$dgm_part" ||
  dgm_refuse {CLAIM_RC} "$dgm_control cannot be written"
dgm_secret() {{
  dgm_value=$(cat "$dgm_control/secrets/$1" && printf x) || dgm_refuse {SECRET_RC} "the secret $1 cannot be read"
  dgm_value=${{dgm_value%x}}
}}"""

_RUN = f"""\
if [ ! -s "$dgm_control/run/body" ]; then
  dgm_file="$dgm_control/run/body$dgm_part.$dgm_host.$$"
  dgm_body | LC_ALL=C sed -e 's/^|//' -e t -e "s/^^\\(.*\\)\\$/\\1$dgm_cr/" >"$dgm_file" &&
    mv -f "$dgm_file" "$dgm_control/run/body" || dgm_refuse {SECRET_RC} "the body cannot be written to $dgm_control/run"
fi
cd "$dgm_work" || dgm_refuse {WORK_DIR_RC} "$dgm_work cannot be entered on $dgm_host"
@SUBMIT_DIR@
umask "$dgm_umask"
dgm_pid=
dgm_got=
dgm_forward() {{
  dgm_got=$1
  if [ -n "$dgm_pid" ]; then kill -"$1" "$dgm_pid" 2>/dev/null; fi
}}
# A background command of a shell ignores INT, so the body is told by TERM.
trap 'dgm_forward TERM' INT TERM
trap 'dgm_forward HUP' HUP
trap 'dgm_forward USR1' USR1
trap 'dgm_forward USR2' USR2
@INTERPRETER@ "$dgm_control/run/body" </dev/null &
dgm_pid=$!
# A signal came before the body was there, and one that comes before it has begun would be lost in the fork.
if [ -n "$dgm_got" ]; then sleep 1 && dgm_forward "$dgm_got"; fi
dgm_rc=
while :; do
  dgm_got=
  wait "$dgm_pid"
  dgm_now_rc=$?
  # ksh says 256 and the signal's number where others say 128.
  if [ "$dgm_now_rc" -gt 256 ]; then dgm_now_rc=$((dgm_now_rc - 128)); fi
  # The signal came after the real end had been read: that end stands.
  if [ "$dgm_now_rc" -eq 127 ] && [ -n "$dgm_rc" ] && [ "$dgm_rc" -le 128 ]; then break; fi
  dgm_rc=$dgm_now_rc
  if [ -z "$dgm_got" ]; then break; fi
done
umask 077
dgm_record "$dgm_rc"
exit "$dgm_rc\""""
