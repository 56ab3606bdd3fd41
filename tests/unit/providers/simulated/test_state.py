"""What people write in a simulated site, and what is refused."""

import pytest

from dragoman.errors import BadRequest
from providers.simulated.state import SimulatedState


def test_amounts_times_and_truths_as_people_write_them() -> None:
    state = SimulatedState.read(
        {
            "workload": {
                "scheduler": "slurm",
                "queues": [{"name": "batch", "usable": True, "max_walltime_s": "2h"}],
                "groups": [{"memory_bytes_per_node": "512GiB", "gpus": [{"count": 4, "memory_bytes": "80GB"}]}],
            },
            "interfaces": [{"name": "ib0", "fabric": "infiniband", "up": False, "gbit_s": 200}],
            "containers": [{"runtime": "podman", "images": [{"name": "x", "bytes": "1GiB"}]}],
            "wait_s": "90 min",
        },
        where="granite",
    )
    assert state.workload is not None
    assert state.workload.queues is not None
    assert state.workload.groups is not None
    assert (state.workload.queues[0].usable.value, state.workload.queues[0].max_walltime_s) == ("yes", 7200)
    assert state.workload.groups[0].memory_bytes_per_node == 512 * 2**30
    assert (state.interfaces[0].up.value, state.interfaces[0].gbit_s) == ("no", 200)
    assert state.wait_s == 5400
    assert SimulatedState.read(state.dump(), where="again") == state


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"packages": [{"name": "a", "manager": "pip", "version": 2.1}]}, "packages.0.version"),
        ({"memory": {"total_bytes": "a lot"}}, "memory.total_bytes"),
        ({"memory": {"total_bytes": -1}}, "memory.total_bytes"),
        ({"cpus": {}}, "cpus"),
        ({"workload": {}}, "workload.scheduler"),
        ({"unknown": ["netwrk/infiniband"]}, "unknown"),
    ],
)
def test_what_is_wrong_is_named(data: dict[str, object], field: str) -> None:
    with pytest.raises(BadRequest, match=f"granite: {field}"):
        SimulatedState.read(data, where="granite")  # type: ignore[arg-type]
