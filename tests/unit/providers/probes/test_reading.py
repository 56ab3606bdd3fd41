"""Many files in one command, on this host: nothing in a name is shell, nothing in a file is a frame."""

import os
import secrets
from pathlib import Path

import pytest

from dragoman.command import Completed
from dragoman.errors import CommandTimeout
from dragoman.observation import Outcome
from providers.probes.base import FileRead
from providers.probes.reading import read_command, split_reads
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio


async def read(*paths: str, mark: str | None = None) -> dict[str, tuple[FileRead, ...]]:
    mark = mark or secrets.token_hex(12)
    return split_reads(await LocalTransport().run(read_command(paths, mark)), paths, mark)


def bytes_of(path: str) -> bytes:
    return Path(path).read_bytes()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_contents_come_back_byte_for_byte_in_the_order_of_the_folder(tmp_path: Path) -> None:
    data = os.urandom(70_000) + b"\0\n\n"
    for name in ("b", "a c", "d"):
        (tmp_path / name).write_bytes(name.encode() + data)
    reads = await read(f"{tmp_path}/*", f"{tmp_path}/d")
    assert [each.path for each in reads[f"{tmp_path}/*"]] == [f"{tmp_path}/a c", f"{tmp_path}/b", f"{tmp_path}/d"]
    assert [each.data[1:] for each in reads[f"{tmp_path}/d"]] == [data]
    assert {each.outcome for found in reads.values() for each in found} == {Outcome.OK}


async def test_names_are_never_read_as_shell(tmp_path: Path) -> None:
    evil = tmp_path / "a$(touch pwned) `touch pwned`;touch pwned"
    evil.write_text("evil")
    reads = await read(str(evil), f"{tmp_path}/-n", "/; touch pwned")
    assert reads[str(evil)][0].text == "evil"
    assert reads["/; touch pwned"][0].outcome is Outcome.ABSENT
    assert names_in(tmp_path) == [evil.name]
    assert "pwned" not in names_in(Path())


async def test_folders_missing_files_and_what_refuses_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/x").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    paths = (
        f"{tmp_path}/folder",
        f"{tmp_path}/dangling",
        f"{tmp_path}/none/at/all",
        f"{tmp_path}/no*",
        "/proc/self/mem",
    )
    reads = await read(*paths)
    folder, dangling, none, pattern, refused = (reads[path][0] for path in paths)
    assert folder.names == ("x",)
    assert [each.outcome for each in (dangling, none, pattern)] == [Outcome.ABSENT] * 3
    assert refused.outcome is Outcome.UNKNOWN
    assert refused.value is None


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up its rights")
async def test_behind_a_closed_folder_nothing_is_called_absent(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "there").touch()
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path("/tmp"):
            break
        folder.chmod(0o755)
    mark = secrets.token_hex(8)
    paths = (f"{closed}/there", f"{closed}/gone", f"{closed}/*")
    argv = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *read_command(paths, mark).argv)
    done = await LocalTransport().run(type(read_command(paths, mark))(argv=argv))
    reads = split_reads(done, paths, mark)
    assert [reads[path][0].outcome for path in paths] == [Outcome.UNKNOWN] * 3
    assert "permission" in reads[paths[0]][0].reason


def test_no_answer_and_a_cut_answer_are_unknown() -> None:
    lost = split_reads(CommandTimeout("no end within 20 s"), ["/a", "/b"], "mark")
    assert {each[0].outcome for each in lost.values()} == {Outcome.UNKNOWN}
    whole = Completed((), 0, b"hello markf 0 /a\0datamark0\nmarkf 1 /b\0da", b"", truncated=True)
    reads = split_reads(whole, ["/a", "/b", "/c"], "mark")
    assert reads["/a"][0].data == b"data"
    assert [reads[path][0].outcome for path in ("/b", "/c")] == [Outcome.UNKNOWN] * 2


async def test_what_the_kernel_makes_up_is_read_as_it_is() -> None:
    folder = Path("/sys/class/net/lo")
    paths = [str(folder / name) for name in ("mtu", "address", "uevent", "queues", "speed", "ifalias")]
    reads = await read(*paths, "/proc/sys/kernel/ostype", "/sys/class/net/lo/q*/*", "/sys/no/such")
    one = {path: found[0] for path, found in reads.items()}
    for path in (*paths[:3], "/proc/sys/kernel/ostype"):
        assert (one[path].outcome, one[path].data) == (Outcome.OK, bytes_of(path))
    assert (one[paths[3]].folder, sorted(one[paths[3]].names)) == (True, names_in(folder / "queues"))
    with pytest.raises(OSError, match="Invalid argument"):  # the loopback has no speed, and the kernel says so
        bytes_of(paths[4])
    assert (one[paths[4]].outcome, one[paths[5]].outcome) == (Outcome.UNKNOWN, Outcome.OK)
    assert one[paths[5]].value == ""
    assert [each.folder for each in reads["/sys/class/net/lo/q*/*"]] == [True] * len(names_in(folder / "queues"))
    assert one["/sys/no/such"].outcome is Outcome.ABSENT
