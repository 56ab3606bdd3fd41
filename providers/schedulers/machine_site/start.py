"""Starts a job's first process: a session of its own, its CPUs, GPUs, folder, output files and environment."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from .host import limits_of
from .job import Job
from .launch import HELD_SIGNALS
from .processes import started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .folder import Folder

INHERITED = frozenset(
    (
        "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LOGNAME", "MANPATH", "MODULEPATH", "MODULESHOME", "PATH",
        "PYENV_ROOT", "SHELL", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
        "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
    )
)  # fmt: skip
INHERITED_BEGINNINGS = ("LC_", "CONDA_", "LMOD_", "SPACK_")


def inherited(environment: dict[str, str]) -> dict[str, str]:
    """What a job takes over of its submitter's environment: where programs lie, and the language.

    Nothing else, because it is kept in a file until the job starts: a token in the submitter's environment is not.
    """
    return {
        name: value
        for name, value in environment.items()
        if name in INHERITED or (name.startswith(INHERITED_BEGINNINGS) and not _secret(name))
    }


def _secret(name: str) -> bool:
    return any(word in name.upper() for word in ("TOKEN", "SECRET", "PASSW", "KEY"))


def start(folder: Folder, job: Job) -> int:
    """Start the job's script; the id of its process. Raises OSError where it cannot run; nothing of it ran then.

    The process waits until its id is recorded, so that no line of the script runs unknown to the queue.
    """
    script = folder.at("scripts", job.id)
    argv = [*_interpreter(script), script]
    environment = _environment(folder, job)
    cpus = job.cpu_ids or limits_of(folder)["cpu_ids"]
    failed_read, failed_write = os.pipe()
    go_read, go_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(go_write)
            os.setsid()
            if os.read(go_read, 1):
                _run(job, argv, environment, cpus)
        except OSError as error:
            os.write(failed_write, b"%d %s" % (error.errno or 0, os.fsencode(error.filename or b"")))
        finally:
            os._exit(127)
    os.close(go_read)
    os.close(failed_write)
    job.process = [pid, started(pid)]
    with suppress(OSError):  # without it, the marks in the environment still tell whose processes these are
        _record(folder, job)
    os.write(go_write, b"g")
    os.close(go_write)
    failure = os.read(failed_read, 4096)
    os.close(failed_read)
    if failure:
        os.waitpid(pid, 0)
        number, _, name = failure.partition(b" ")
        raise OSError(int(number), os.strerror(int(number)), os.fsdecode(name) or None)
    return pid


def _record(folder: Folder, job: Job) -> None:
    with folder.lock():
        now = folder.load("running", job.id)
        if now is not None:
            now.process = job.process
            folder.store(now)


def _run(job: Job, argv: list[str], environment: dict[str, str], cpus: list[int]) -> None:
    """In the new process: never returns."""
    os.umask(job.umask)
    with suppress(OSError):  # a CPU that went away must not keep the job from running
        os.sched_setaffinity(0, cpus)
    os.chdir(job.work_dir)
    null = os.open(os.devnull, os.O_RDONLY)
    output = os.open(job.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    same = os.path.normpath(job.error) == os.path.normpath(job.output)
    error = output if same else os.open(job.error, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    for descriptor, standard in ((null, 0), (output, 1), (error, 2)):
        os.dup2(descriptor, standard)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python, and that would be inherited
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_SIGNALS)
    os.execvpe(argv[0], argv, environment)  # noqa: S606


def _environment(folder: Folder, job: Job) -> dict[str, str]:
    environment = {
        **job.environment,
        "DRAGOMAN_JOB_ID": job.id,
        "DRAGOMAN_MACHINE": folder.path,
        "DRAGOMAN_CPUS": str(job.cpus),
        "DRAGOMAN_TASKS": str(job.tasks or 1),
    }
    if job.tag:
        environment["DRAGOMAN_TAG"] = job.tag
    # Set even when empty: a job without GPUs must not use those of others.
    devices = ",".join(map(str, job.gpu_ids))
    if limits_of(folder)["gpus"]:
        environment.update(CUDA_VISIBLE_DEVICES=devices, ROCR_VISIBLE_DEVICES=devices)
    return environment


def _interpreter(script: str) -> list[str]:
    """Program and argument of the script's first line, as the kernel reads it; the folder may forbid execution."""
    with open(script, "rb") as file:
        first = file.readline(4096)
    words = os.fsdecode(first[2:]).strip().split(None, 1) if first.startswith(b"#!") else []
    return words or ["/bin/sh"]
