"""Ethernet: by the kernel's type, not by the name; a speed that nobody knows is not a number."""

from typing import Any

import pytest

from dragoman.kleene import Truth
from dragoman.observation import Outcome
from providers.probes.network.ethernet import Ethernet

NET = "/sys/class/net"


def interface(name: str, **files: str | Exception) -> dict[str, str | Exception]:
    return {f"{NET}/{name}/{file.replace('__', '/')}": text for file, text in files.items()}


def test_states_speeds_kinds_and_latency(host: Any) -> None:
    host.files = {
        **interface("lo", type="772\n", operstate="unknown\n", uevent="INTERFACE=lo\n"),
        **interface("eth0", type="1\n", operstate="up\n", speed="25000\n", uevent="INTERFACE=eth0\n",
                    device__uevent="DRIVER=ixgbe\n"),
        **interface("eth1", type="1\n", operstate="down\n", speed=OSError("Invalid argument"), uevent="",
                    device__uevent="DRIVER=mlx5_core\n"),
        **interface("ib0", type="32\n", operstate="up\n", speed="200000\n"),
        **interface("bond0", type="1\n", operstate="up\n", speed="4294967295\n", uevent="DEVTYPE=bond\n"),
        **interface("veth12", type="1\n", operstate="unknown\n", speed="-1\n", uevent="IFINDEX=3\n"),
        **interface("dark", type=PermissionError("denied")),
        f"{NET}/bonding_masters": "bond0\n",
    }  # fmt: skip
    answer = host.ask(Ethernet(), "interfaces")
    assert answer.value is not None
    seen = {each.name: (each.up, each.gbit_s, each.low_latency, each.detail) for each in answer.value.interfaces}
    assert seen == {
        "eth0": (Truth.YES, 25.0, Truth.NO, "driver ixgbe"),
        "eth1": (Truth.NO, None, Truth.UNKNOWN, "driver mlx5_core"),
        "bond0": (Truth.YES, None, Truth.UNKNOWN, "bond"),
        "veth12": (Truth.UNKNOWN, None, Truth.NO, "virtual"),
        "dark": (Truth.UNKNOWN, None, Truth.UNKNOWN, "its type cannot be read"),
    }
    assert {each.fabric for each in answer.value.interfaces} == {"ethernet"}


@pytest.mark.parametrize(
    ("driver", "told"),
    [
        *((each, Truth.UNKNOWN) for each in (
            "ionic", "hns3", "mana", "i40e", "iavf", "enic", "sfc", "hv_netvsc", "virtio_net", "ice", "bnxt_en",
            "be2net", "vmxnet3", "some_driver_of_tomorrow",
        )),
        *((each, Truth.NO) for each in ("e1000e", "igb", "ixgbe", "tg3", "r8169")),
    ],
)  # fmt: skip
def test_only_a_driver_that_is_known_for_plain_ethernet_is_slow(host: Any, driver: str, told: Truth) -> None:
    host.files = interface("eth0", type="1\n", uevent="", device__uevent=f"DRIVER={driver}\n")
    answer = host.ask(Ethernet(), "interfaces")
    assert answer.value is not None
    assert answer.value.interfaces[0].low_latency is told


@pytest.mark.parametrize(
    ("name", "uevent", "told"),
    [
        ("team0", "", Truth.UNKNOWN),
        ("eth0.7", "DEVTYPE=vlan\n", Truth.UNKNOWN),
        ("ipvl0", "DEVTYPE=ipvlan\n", Truth.UNKNOWN),
        ("wlp3s0", "DEVTYPE=wlan\n", Truth.NO),
        ("docker0", "", Truth.NO),
    ],
)
def test_what_may_stand_on_an_rdma_adapter(host: Any, name: str, uevent: str, told: Truth) -> None:
    host.files = interface(name, type="1\n", uevent=uevent)
    answer = host.ask(Ethernet(), "interfaces")
    assert answer.value is not None
    assert answer.value.interfaces[0].low_latency is told


def test_a_host_with_only_a_loopback_has_none(host: Any) -> None:
    host.files = interface("lo", type="772\n")
    assert host.ask(Ethernet(), "interfaces").outcome is Outcome.ABSENT
    assert host.ask(Ethernet(), "probe").outcome is Outcome.ABSENT


@pytest.mark.parametrize("verb", ["interfaces", "probe"])
def test_no_sysfs_is_unknown(host: Any, verb: str) -> None:
    assert host.ask(Ethernet(), verb).outcome is Outcome.UNKNOWN
