"""GPUs that the kernel has and does not show are not absent."""

from typing import Any

import pytest

from dragoman.observation import Outcome
from providers.probes.hardware.amd import Amd
from providers.probes.hardware.intel import Intel
from providers.probes.hardware.nvidia import Nvidia

CARD = "/sys/class/drm/card0/device"
DENIED = PermissionError("permission denied")
Files = dict[str, str | Exception]


@pytest.mark.parametrize(
    ("files", "outcome"),
    [
        ({f"{CARD}/vendor": DENIED, f"{CARD}/class": "0x038000"}, Outcome.UNKNOWN),
        ({f"{CARD}/vendor": "0x8086", f"{CARD}/class": DENIED}, Outcome.UNKNOWN),
        ({f"{CARD}/vendor": DENIED, f"{CARD}/class": DENIED}, Outcome.UNKNOWN),
        ({f"{CARD}/vendor": "0x8086"}, Outcome.UNKNOWN),
        ({f"{CARD}/vendor": DENIED, f"{CARD}/class": "0x030000"}, Outcome.ABSENT),  # graphics, whoever made it
        ({f"{CARD}/vendor": "0x10de", f"{CARD}/class": DENIED}, Outcome.ABSENT),
        ({f"{CARD}/vendor": "0x8086", f"{CARD}/class": "0x038000"}, Outcome.OK),
        ({"/sys/class/drm": DENIED}, Outcome.UNKNOWN),
        ({}, Outcome.UNKNOWN),
    ],
)
@pytest.mark.parametrize("listed", [None, '{"device_list": []}\n'])
def test_an_intel_card_that_the_kernel_does_not_show(
    host: Any, files: Files, outcome: Outcome, listed: str | None
) -> None:
    host.files = files
    if listed is not None:
        host.commands = {"xpu-smi": listed}
        outcome = Outcome.UNKNOWN if outcome is Outcome.OK else outcome
    answer = host.ask(Intel(), "describe")
    assert answer.outcome is outcome
    assert answer.reason or outcome is Outcome.OK


def test_what_is_listed_without_a_number_is_there(host: Any) -> None:
    host.files = {"/sys/class/net/lo/type": "772"}
    host.commands = {"xpu-smi": '{"device_list": [{"device_name": "Max 1550"}]}\n'}
    assert host.ask(Intel(), "describe").outcome is Outcome.UNKNOWN


def test_no_sysfs_shows_no_lack_of_amd_cards(host: Any) -> None:
    assert host.ask(Amd(), "describe").outcome is Outcome.UNKNOWN
    host.files = {"/sys/class/x": ""}
    assert host.ask(Amd(), "describe").outcome is Outcome.ABSENT


@pytest.mark.parametrize(
    ("use", "held", "free"),
    [("0", "10850304", 1), ("0", None, None), ("99", None, 0), (None, "10850304", 1), (None, None, None)],
)
def test_an_amd_card_whose_memory_is_not_told_is_not_free(
    host: Any, use: str | None, held: str | None, free: int | None
) -> None:
    told = {"GPU use (%)": use, "VRAM Total Used Memory (B)": held, "GFX Version": "gfx90a"}
    words = ", ".join(f'"{key}": "{value}"' for key, value in told.items() if value is not None)
    host.commands = {"rocm-smi": f'{{"card0": {{"VRAM Total Memory (B)": "68702699520", {words}}}}}\n'}
    answer = host.ask(Amd(), "describe")
    assert answer.value is not None
    assert answer.value.kinds[0].free == free


@pytest.mark.parametrize("info", ["Model: NVIDIA H100\n", "", DENIED])
def test_no_devices_against_the_driver_s_own_list(host: Any, info: str | Exception) -> None:
    host.commands = {"nvidia-smi": (6, "No devices were found\n", "")}
    assert host.ask(Nvidia(), "describe").outcome is Outcome.ABSENT
    host.files = {"/proc/driver/nvidia/gpus/0000:41:00.0/information": info}
    answer = host.ask(Nvidia(), "describe")
    assert answer.outcome is Outcome.UNKNOWN
    assert "No devices were found" in answer.reason


def test_free_takes_a_list_of_processes_that_was_printed(host: Any) -> None:
    row = "0, GPU-1, NVIDIA A40, 46068 MiB, 3 MiB, 0 %, 535.104.05, Default, Disabled, Enabled\n"
    apps = {"told": "gpu_uuid, pid\n", "silent": "", "blank": "\n"}
    free = {}
    for name, said in apps.items():
        host.commands = {"nvidia-smi": lambda command, said=said: said if "apps" in command.argv[1] else row}
        answer = host.ask(Nvidia(), "describe")
        assert answer.value is not None
        free[name] = answer.value.kinds[0].free
    assert free == {"told": 1, "silent": None, "blank": None}
