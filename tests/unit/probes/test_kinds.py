"""Kinds of faults that tools of this sort are known for, as each of its kind: versions, names, words before answers."""

import json
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.facts import Package
from dragoman.kleene import Truth
from dragoman.versions import VersionBound, VersionRange, compare
from providers.probes.container.blame import blame
from providers.probes.container.command_line import container_command
from providers.probes.container.flavours import flavour_admits, parse_flavour
from providers.probes.json_output import first_json, json_lines
from providers.probes.software.easybuild import parse_easyconfig
from providers.probes.software.module_names import Module, named, parse_listing, split_version
from providers.probes.software.module_spider import Way, parse_spider
from providers.probes.software.modules import load_lines
from providers.probes.software.system import upstream_version
from providers.probes.storage.mount_table import parse_mountinfo
from providers.verbs import PackageQuery


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("apptainer version 1.2.5-1.el9", ("apptainer", "1.2.5")),
        ("singularity-ce version 3.11.4", ("singularity-ce", "3.11.4")),
        ("singularity version 3.8.7", ("singularity", "3.8.7")),
        ("4.1.0-jammy", (None, "4.1.0")),
        ("singularity-ce version 3.8.3\n", ("singularity-ce", "3.8.3")),
        ("INFO: reading /etc\napptainer version 1.3.0-rc.1+12-gabcdef\n", ("apptainer", "1.3.0rc1")),
        ("SingularityPRO version 3.9-8.el8", ("singularity-pro", "3.9")),
        ("command not found", (None, None)),
        ("", (None, None)),
    ],
)
def test_flavour_and_version_by_their_own_words(said: str, told: tuple[str | None, str | None]) -> None:
    assert parse_flavour(said) == told


@pytest.mark.parametrize(
    ("asked", "wanted", "found", "version", "fits"),
    [
        ("singularity", ">=3.5", "apptainer", "1.2.5", Truth.YES),
        ("singularity", ">=3.5", "singularity-ce", "3.11.4", Truth.YES),
        ("singularity", ">=3.9", "singularity", "3.8.7", Truth.NO),
        ("singularity", ">=3.5,<4", "apptainer", "1.2.5", Truth.UNKNOWN),
        ("singularity", ">=4.0", "apptainer", "1.3.0", Truth.UNKNOWN),
        ("singularity-ce", ">=3.8", "singularity", "3.8.7", Truth.YES),
        ("singularity-ce", ">=3.10", "singularity", "3.8.7", Truth.UNKNOWN),
        ("apptainer", ">=1.0", "singularity-ce", "3.11.4", Truth.NO),
        ("apptainer", ">=1.2", "apptainer", "1.1.9", Truth.NO),
        ("apptainer", ">=1.2", "apptainer", None, Truth.UNKNOWN),
        ("singularity", None, "apptainer", "1.0.0", Truth.YES),
        ("docker", None, "podman", "4.3.1", Truth.NO),
    ],
)
def test_versions_are_held_against_their_own_flavour(
    asked: str, wanted: str | None, found: str, version: str | None, fits: Truth
) -> None:
    assert flavour_admits(asked, VersionRange.parse(wanted) if wanted else None, found, version) is fits


def test_dates_as_lammps_writes_them_are_in_one_order() -> None:
    steps = [
        ["29Sep2021", "20210929", "29SEP2021", "stable_29Sep2021"],
        ["stable_29Sep2021_update2", "20210929.2", "29sep2021_update2"],
        ["patch_2Aug2023", "20230802", "02Aug2023", "2-aug-2023"],
        ["20230802.4", "stable_2Aug2023_update4"],
        ["7Feb2024", "20240207"],
    ]
    for index, step in enumerate(steps):
        for left in step:
            assert [compare(left, right) for right in step] == [0] * len(step)
            for later in steps[index + 1 :]:
                assert {compare(left, right) for right in later} == {-1}
                assert {compare(right, left) for right in later} == {1}


@pytest.mark.parametrize(
    ("wanted", "found", "fits"),
    [
        (">=20230802", "develop", Truth.UNKNOWN),
        (">=20230802", "master", Truth.UNKNOWN),
        (">=20230802", "stable", Truth.UNKNOWN),
        (">=20230802", "git.9f3a=20240101", Truth.YES),
        (">=20230802", "git.9f3a=20220101", Truth.NO),
        (">=20230802", "git.9f3a20240101", Truth.UNKNOWN),
        (">=3.0", "3.0rc1", Truth.NO),
        (">=3.0", "3.1-rc2", Truth.YES),
        (">=3.0", "main", Truth.UNKNOWN),
        (">=3.0", "feature-x2", Truth.UNKNOWN),
        ("==develop", "develop", Truth.YES),
        (">=r2022b", "r2023a", Truth.YES),
        (">=2.1", "v2.10", Truth.YES),
    ],
)
def test_names_and_hashes_have_no_place_among_numbers(wanted: str, found: str, fits: Truth) -> None:
    assert VersionRange.parse(wanted).admits(found) is fits


@pytest.mark.parametrize("text", ["2.10", "3.10", "1e3", "007", "1.20", "2023e1"])
def test_versions_stay_text(text: str) -> None:
    assert VersionBound(operator="==", version=text).version == text
    assert Package(name="x", version=text, manager="spack").model_dump(mode="json")["version"] == text
    with pytest.raises(ValueError, match="string"):
        Package(name="x", version=float("2.10"), manager="spack")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="string"):
        PackageQuery(name=float("2.10"))  # type: ignore[arg-type]
    assert compare("2.10", "2.1") == 1


def test_a_listing_without_its_decoration() -> None:
    text = (
        "/opt/modules/Core:\ngcc/12.2.0\ngcc/13.1.0(default)\npython3/\npython3/3.10.1\n^numpy\n"
        "   lammps/2Aug2023 (D,L)  cuda/12.4 (g)\n"
    )
    assert parse_listing(text) == [
        Module("gcc/12.2.0"),
        Module("gcc/13.1.0", default=True),
        Module("python3/3.10.1"),
        Module("numpy", extension=True),
        Module("lammps/2Aug2023", default=True, loaded=True),
        Module("cuda/12.4"),
    ]


def test_a_listing_of_modules_5_and_its_legend() -> None:
    text = (
        "------------------------- /apps/modules -------------------------\n"
        "gcc/12.2.0(default) <L>  gcc/13.1.0(new) <H>  foo/cur(@)  null\n\n"
        "Key:\n(symbolic-version)  <module-tag>  <L>=loaded\n"
    )
    assert parse_listing(text) == [
        Module("gcc/12.2.0", default=True, loaded=True),
        Module("gcc/13.1.0", hidden=True),
        Module("null"),
    ]


def test_a_listing_of_lmod_with_sentences() -> None:
    text = (
        "------------------ /opt/apps/modulefiles ------------------\n"
        "   StdEnv (S,L)    openmpi/4.1.4 (L,D)    openmpi/5.0.0\n\n"
        "  Where:\n   L:  Module is loaded\n   D:  Default Module\n\n"
        'Use "module spider" to find all possible modules and extensions.\n'
        'Use "module keyword key1 key2 ..." to search for all possible modules matching\nany of the "keys".\n'
    )
    assert [module.full for module in parse_listing(text)] == ["StdEnv", "openmpi/4.1.4", "openmpi/5.0.0"]


@pytest.mark.parametrize(
    ("full", "wanted", "told"),
    [
        ("lammps/2Aug2023", "LAMMPS", ("lammps", "2Aug2023", (), None)),
        ("openmpi/4.1.4-gcc-12.2.0", "openmpi", ("openmpi", "4.1.4", ("gcc-12.2.0",), "gcc@12.2.0")),
        ("openmpi/4.1.4-gcc-12.2.0", "gcc", None),
        ("lammps/2Aug2023/gcc/12.2.0", "gcc", None),
        ("gcc/x86/12.2", "gcc", ("gcc", "12.2", ("x86",), None)),
        ("chem/lammps/2Aug2023", "lammps", ("lammps", "2Aug2023", (), None)),
        ("lammps-tools/1.0", "lammps", None),
        ("null", "null", ("null", None, (), None)),
        ("cray-mpich/8.1.25", "mpich", None),
    ],
)
def test_the_name_of_a_module_and_no_other_word_of_it(full: str, wanted: str, told: Any) -> None:
    assert named(full, wanted) == told


@pytest.mark.parametrize(
    ("text", "version", "behind", "compiler"),
    [
        ("2023.1-foss-2022a-CUDA-11.7.0", "2023.1", ("foss-2022a-CUDA-11.7.0",), "foss@2022a"),
        ("20230802-gcc-12.2.0-abc1234", "20230802", ("gcc-12.2.0-abc1234",), "gcc@12.2.0"),
        ("9.0-cuda", "9.0", ("cuda",), None),
        ("3.10.4-GCCcore-11.3.0", "3.10.4", ("GCCcore-11.3.0",), "GCCcore@11.3.0"),
        ("5.3.1", "5.3.1", (), None),
        ("2Aug2023_update1", "2Aug2023_update1", (), None),
    ],
)
def test_a_toolchain_is_no_part_of_a_version(
    text: str, version: str, behind: tuple[str, ...], compiler: str | None
) -> None:
    assert split_version(text) == (version, behind, compiler)


NOTE = 'You will need to load all module(s) on any one of the lines below before the "{}" module is available to load.'


def test_parents_of_a_hierarchy() -> None:
    text = "You will need to load all module(s) on any one of the lines below before ... \n      gcc/10.2.0\n"
    text += "      intel/2021.4\n    Help:\n      Open MPI"
    assert parse_spider(text) == Way(before=(("gcc/10.2.0",), ("intel/2021.4",)))


def test_parents_of_two_levels_after_a_wrapped_sentence() -> None:
    text = NOTE.format("hdf5/1.14").replace(" before", "\nbefore")
    text += (
        "\n\n      gcc/10.2.0  openmpi/4.1.4\n      intel/2021.4  impi/2021.4\n \n    Help:\n      HDF5 reads files\n"
    )
    assert parse_spider(text) == Way(before=(("gcc/10.2.0", "openmpi/4.1.4"), ("intel/2021.4", "impi/2021.4")))


def test_directly_and_not_at_all() -> None:
    assert parse_spider("    This module can be loaded directly: module load gcc/12.2.0\n") == Way(direct=True)
    assert parse_spider('Lmod has detected the following error: Unable to find: "nope/1".') is None
    assert parse_spider(NOTE.format("x/1") + "\n\n      gcc/1; rm -rf $HOME\n") is None


def test_load_lines_hold_names_of_modules_alone() -> None:
    assert load_lines("/opt/my modules/init/sh", ("gcc/1", "x/2"))[0].endswith(". '/opt/my modules/init/sh'")
    for name in ("x;id", "$(id)", "a b", "-f", "x/../../y", "", 'x"', "x\n"):
        assert load_lines("/init", (name,)) == ()


BANNER = "==> WARNING: A newer version of conda exists. <==\n    current version: 24.9.0\n"
NUMPY = [{"name": "numpy", "version": "2.2.2"}]


@pytest.mark.parametrize(
    "text",
    [
        BANNER + json.dumps(NUMPY),
        "[WARN] cache is old\n[1] 4711\n" + json.dumps(NUMPY, indent=2) + "\nGoodbye\n",
        json.dumps(NUMPY),
        "\ufeff\x1b[0m motd {not json}\n{broken\n" + json.dumps(NUMPY),
    ],
)
def test_words_around_json(text: str) -> None:
    assert first_json(text, list) == NUMPY


@pytest.mark.parametrize(
    "text",
    [
        "",
        BANNER,
        json.dumps(NUMPY)[:-3],
        "[" * 100_000,
        '{"name": "numpy"}',
        json.dumps(NUMPY) + " and more",
        "[\n" * 5000,
    ],
)
def test_what_is_cut_is_no_json(text: str) -> None:
    assert first_json(text, list) is None


def test_objects_by_line() -> None:
    assert json_lines('warning\n{"a": 1}\n[2]\n{"b": 2}\n') == [{"a": 1}, {"b": 2}]
    assert json_lines("") == []
    assert json_lines("not json at all") is None


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?", "daemon-down"),
        ("permission denied while trying to connect to the Docker daemon socket at unix:///x", "permission"),
        ("dial unix /run/x.sock: connect: permission denied. Is the docker daemon running?", "permission"),
        ("dial unix /var/run/docker.sock: connect: no such file or directory", "daemon-down"),
        ("error during connect: Get http://x: dial tcp: connect: connection refused", "daemon-down"),
        ("Error: cannot find newuidmap", "subuid"),
        ("no subuid ranges found for user \"ada\" in /etc/subuid", "subuid"),
        ("user namespaces are not enabled in /proc/sys/user/max_user_namespaces", "user-namespaces"),
        ("FATAL: something that nobody foresaw", None),
        ("", None),
    ],
)  # fmt: skip
def test_whose_matter_a_failure_is(message: str, word: str | None) -> None:
    told = blame(Completed(("docker", "info"), 1, b"", message.encode()))
    assert (told.partition(":")[0] if told else None) == word


@pytest.mark.parametrize(
    ("line", "image", "options", "command"),
    [
        (
            "apptainer exec --nv --bind /scratch:/scratch img.sif lmp -in in.lj",
            "img.sif",
            [("--nv",), ("--bind", "/scratch:/scratch")],
            "lmp -in in.lj",
        ),
        ("singularity -q exec -B /a:/b -c --env=A=1 x.sif gmx mdrun -v", "x.sif",
         [("-q",), ("-B", "/a:/b"), ("-c",), ("--env=A=1",)], "gmx mdrun -v"),
        ("docker run --rm -it -v /data:/data --gpus all -e A=1 ubuntu:22.04 ls -l", "ubuntu:22.04",
         [("--rm",), ("-it",), ("-v", "/data:/data"), ("--gpus", "all"), ("-e", "A=1")], "ls -l"),
        ("/usr/bin/podman run -itv /a:/b -w/work -- alpine", "alpine", [("-itv", "/a:/b"), ("-w/work",)], ""),
        ("docker --context far container run ubuntu", "ubuntu", [("--context", "far")], ""),
        ("docker run --health-retries 3 --cpu-rt-runtime 9 --use-api-socket nginx", "nginx",
         [("--health-retries", "3"), ("--cpu-rt-runtime", "9"), ("--use-api-socket",)], ""),
        ("podman run --hostuser me --passwd --sdnotify conmon --gidmap 0:1:2 -dt alpine sh", "alpine",
         [("--hostuser", "me"), ("--passwd",), ("--sdnotify", "conmon"), ("--gidmap", "0:1:2"), ("-dt",)], "sh"),
        ("apptainer exec --no-mount home,tmp --docker-username me --nvccli a.sif app", "a.sif",
         [("--no-mount", "home,tmp"), ("--docker-username", "me"), ("--nvccli",)], "app"),
        ("singularity run --brand-new=1 a.sif", "a.sif", [("--brand-new=1",)], ""),
        ("ch-run -w --set-env --cd /work -b /a:/b /img -- make -j 4", "/img",
         [("-w",), ("--set-env",), ("--cd", "/work"), ("-b", "/a:/b")], "make -j 4"),
        ("ch-run --unset-e=* img true", "img", [("--unset-e=*",)], "true"),
        ("shifter --image=docker:ubuntu:22.04 -V /a:/b -E app -i x", "docker:ubuntu:22.04",
         [("--image=docker:ubuntu:22.04",), ("-V", "/a:/b"), ("-E",)], "app -i x"),
        ("shifter -v -ialpine ls", "alpine", [("-v",), ("-ialpine",)], "ls"),
        ("enroot start -r --env A=1 -m .:/mnt cuda+devel.sqsh nvcc x.cu", "cuda+devel.sqsh",
         [("-r",), ("--env", "A=1"), ("-m", ".:/mnt")], "nvcc x.cu"),
        ("sarus --debug run -t --mpi --mount type=bind,source=/a,destination=/b -w /w ubuntu:22.04 app", "ubuntu:22.04",
         [("--debug",), ("-t",), ("--mpi",), ("--mount", "type=bind,source=/a,destination=/b"), ("-w", "/w")], "app"),
    ],
)  # fmt: skip
def test_an_option_is_not_the_image(line: str, image: str, options: list[tuple[str, ...]], command: str) -> None:
    found = container_command(line.split())
    assert found is not None
    assert (found.image, list(found.options), " ".join(found.command)) == (image, options, command)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("apptainer exec --brand-new a.sif app", "--brand-new is not known"),
        ("docker run --rm -itZ ubuntu ls", "-Z is not known"),
        ("podman --shiny run run alpine", "--shiny is not known"),
        ("ch-run --jo /img -- app", "--jo is not known"),  # of four options the beginning
        ("sarus run --mount", "--mount has no value"),
        ("shifter -E app", "names no image"),
    ],
)
def test_an_option_that_is_not_known_leaves_the_image_unknown(line: str, words: str) -> None:
    found = container_command(line.split())
    assert found is not None
    assert (found.image, words in found.doubt) == (None, True)


@pytest.mark.parametrize(
    "line", ["", "lmp -in x", "docker exec running ls", "apptainer pull x.sif", "apptainer exec --nv",
             "docker --shiny ps", "enroot list", "sarus images", "ch-run", "shifter --help", "podman exec -it x run"]
)  # fmt: skip
def test_what_starts_no_image(line: str) -> None:
    assert container_command(line.split()) is None


@pytest.mark.parametrize(
    ("whole", "upstream"),
    [
        ("4.1.4-3+b1", "4.1.4"), ("1:2.10~rc1-1", "2.10rc1"), ("4.3.1+ds1-8+deb12u1+b3", "4.3.1"),
        ("2.36", "2.36"), ("7:5.1.6-0+deb12u1", "5.1.6"), ("1.2-3-4", "1.2-3"),
    ],
)  # fmt: skip
def test_the_version_of_the_makers(whole: str, upstream: str) -> None:
    assert upstream_version(whole) == upstream


def test_an_easyconfig_is_read_and_never_run() -> None:
    text = (
        "name = \"GROMACS\"  # the name\nversion = '2023.1'\nversionsuffix = '-CUDA-%(cudaver)s'\n"
        "toolchain = {'name': 'foss',\n             'version': '2022a'}\nimport os; os.abort()\n"
    )
    assert parse_easyconfig(text) == {
        "name": "GROMACS", "version": "2023.1", "toolchain": "foss", "toolchain_version": "2022a",
    }  # fmt: skip
    assert parse_easyconfig("toolchain = SYSTEM\nversion = '1' + '2'\n") == {"toolchain": "system"}


def test_a_name_that_is_none_does_not_take_its_line_s_others_away() -> None:
    text = "   openmpi/4.1.5 (L)   gcc/13.1.0   .hidden/1.0 (H)\n  Use  it with care and  read the manual\n"
    assert [module.full for module in parse_listing(text)] == ["openmpi/4.1.5", "gcc/13.1.0"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("   cmake   gcc/12\ufffd   ninja   texlive(\u2026   zlib/1.3", ["cmake", "ninja", "zlib/1.3"]),
        ("gcc/12.2.0\tb@d|name\tperl", ["gcc/12.2.0", "perl"]),
        ("a-long-name/2023.1-foss-2022a gcc/13.1   cmake/3", ["a-long-name/2023.1-foss-2022a", "gcc/13.1", "cmake/3"]),
        ("See the manual and/or ask   support   gcc/13", ["gcc/13"]),
        ("The following  modules  are hidden today", []),
    ],
)  # fmt: skip
def test_one_cell_that_cannot_be_read_keeps_its_neighbours(line: str, names: list[str]) -> None:
    assert [module.full for module in parse_listing(line)] == names


@pytest.mark.parametrize(
    ("written", "point"),
    [
        (r"/data/M\303\274ller\040x", "/data/M\u00fcller x"),
        (r"/\344\270\255\346\226\207", "/\u4e2d\u6587"),
        ("/M\u00fcller", "/M\u00fcller"),
        (r"/a\134040b", r"/a\040b"),
        (r"/caf\303", "/caf\ufffd"),
        (r"/x\777\09", r"/x\777\09"),
    ],
)
def test_escapes_of_a_mount_are_bytes_of_utf_8(written: str, point: str) -> None:
    (mount,) = parse_mountinfo(f"36 35 98:0 / {written} rw,noatime - nfs {written} rw\n")
    assert (mount.point, mount.source) == (point, point)
