"""One job of the queue, as its file holds it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDS = frozenset(
    ("completed", "failed", "cancelled", "timed-out", "out-of-memory", "node-failed", "never-ran")
)  # fmt: skip
STATES = ENDS | {"pending", "held", "running"}


class Job:
    """A job's record. What is not set has the default below and is not stored; times are seconds since the epoch."""

    schema = 1
    id = ""
    tag = ""
    name = ""
    state = "pending"
    reason = ""
    cpus = 1
    exclusive = False
    """All CPUs of the host, however many that are."""
    memory = 0
    """Bytes; 0: not stated, and then neither counted nor limited."""
    gpus = 0
    walltime = 0
    """Seconds; 0: no limit."""
    tasks = 0
    work_dir = "/"
    control_dir = ""
    output = "/dev/null"
    error = "/dev/null"
    """Relative to `work_dir`."""
    after: list[list[str]] = []  # never changed in place
    """Pairs of kind (`afterok`, `afterany`, `afternotok`, `after`) and job id."""
    begin = 0.0
    umask = 0o22
    environment: dict[str, str] = {}
    submitted = 0.0
    started = 0.0
    ended = 0.0
    cancelled = 0.0
    """When a person asked to cancel it."""
    boot = ""
    """The host's boot in which it was started."""
    supervisor: list[int] = []
    """Process id and start time (clock ticks since boot) of the process beside it."""
    process: list[int] = []
    """The same of the job's first process, which leads its session."""
    cpu_ids: list[int] = []
    gpu_ids: list[int] = []
    exit_code = -1
    """-1: none, it did not end by itself."""
    signal = 0
    max_rss = 0
    """Bytes: the most that was seen."""

    def __init__(self, **values: Any) -> None:  # noqa: ANN401  # a record as it was read, checked here
        for name, value in values.items():
            default = getattr(Job, name, None)
            if name.startswith("_") or default is None or callable(default):
                raise ValueError("no such field: " + name)
            if not isinstance(value, (int, float) if isinstance(default, float) else type(default)):
                raise ValueError("wrong type of " + name)
            setattr(self, name, value)
        if self.schema != 1 or self.state not in STATES or not self.id.isdigit():
            raise ValueError("not a job of this version")

    def dump(self) -> dict[str, Any]:
        """All that is set, as JSON."""
        return {"schema": self.schema, **vars(self)}

    def shown(self) -> dict[str, Any]:
        """What is told of it: everything but its environment."""
        return {name: value for name, value in self.dump().items() if name not in ("environment", "schema", "umask")}
