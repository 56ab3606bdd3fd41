"""Words that mean something at one scheduler's site alone, memory in all, and times in longer units."""

from __future__ import annotations

import re

import pytest

from providers.translation.translate import dialect_named, translate_script

CONDITIONS = [
    ("slurm", "#SBATCH -C haswell", "haswell"), ("pbs", "#PBS -l select=1:ncpus=2:host=n1", "host=n1"),
    ("torque", "#PBS -l nodes=1:ppn=2:fast", "fast"), ("flux", "#flux: --requires=fast", "fast"),
    ("lsf", '#BSUB -R "select[rh8]"', "rh8"), ("oar", "#OAR -p cluster='x'", "cluster='x'"),
]  # fmt: skip
TARGETS = ["flux", "kubernetes", "lsf", "machine", "oar", "pbs", "sge", "slurm", "torque"]
_WHY = re.compile("mean nothing|names no properties|is no condition of PBS")


@pytest.mark.parametrize(
    ("source", "line", "word", "target"), [(*each, to) for each in CONDITIONS for to in TARGETS if to != each[0]]
)
def test_a_condition_on_nodes_is_told_and_not_copied(source: str, line: str, word: str, target: str) -> None:
    made = translate_script(f"#!/bin/bash\n{line}\n./app\n", target, source=source)
    assert [remark.line for remark in made.lost if word in remark.why and _WHY.search(remark.why)] == [2]
    directives = "".join(row for row in made.script.splitlines(keepends=True) if "not translated" not in row)
    assert word not in directives


def test_a_condition_of_each_component_is_told() -> None:
    text = "#!/bin/bash\n#SBATCH -n 1 -C big\n#SBATCH hetjob\n#SBATCH -n 2 -C small\nsrun ./app\n"
    made = translate_script(text, "pbs")
    assert "big" not in made.script.replace("#SBATCH", "").split("./app")[0].split("# not translated")[0]
    assert sum("mean nothing" in remark.why for remark in made.lost) >= 1


def test_moab_and_torque_have_one_language() -> None:
    made = translate_script("#!/bin/sh\n#MSUB -l nodes=2:ppn=4:fast\n./app\n", "torque")
    assert "nodes=2:ppn=4:fast" in made.script
    assert made.lost == ()


def test_a_condition_that_only_names_the_gpus_is_carried_by_them() -> None:
    made = translate_script("#!/bin/sh\n#PBS -l select=1:ncpus=2:ngpus=1:gputype=A100\n./app\n", "slurm")
    assert "--gres=gpu:a100:1" in made.script
    assert made.lost == ()


@pytest.mark.parametrize("target", ["slurm", "pbs", "torque", "lsf", "sge"])
@pytest.mark.parametrize(
    "options",
    ["-N 2 --ntasks-per-node=4 --mem=8G", "-N 2 --ntasks-per-node=4 --mem-per-cpu=2G", "-n 6 -c 2 --mem-per-cpu=1500M"],
)
def test_memory_is_as_much_in_all_or_told(options: str, target: str) -> None:
    made = translate_script(f"#!/bin/bash\n#SBATCH {options}\nsrun ./app\n", target)
    told = [remark for remark in made.lost if "memory in all become" in remark.why]
    request = dialect_named(target).read_script(made.script).request
    wanted = made.request.shape.memory
    assert wanted is not None
    assert request.shape.memory is not None
    whole = {"-N 2 --ntasks-per-node=4 --mem=8G": 16 * 2**30, "-N 2 --ntasks-per-node=4 --mem-per-cpu=2G": 16 * 2**30}
    asked = whole.get(options, 12 * 1500 * 2**20)
    counts = {"node": request.shape.node_count or 1, "task": request.shape.task_count or 1,
              "cpu": request.shape.total_cpus or 1, "job": 1, "gpu": 0}  # fmt: skip
    got = request.shape.memory.bytes * counts[request.shape.memory.per]
    assert asked <= got <= asked * 1.02 or told, (asked, got)


def test_a_time_in_longer_units_is_told() -> None:
    made = translate_script("#!/bin/bash\n#SBATCH -t 0:0:90\n./app\n", "lsf")
    assert "#BSUB -W 0:02" in made.script
    assert [(remark.kind, remark.line) for remark in made.report if "90 seconds become 120" in remark.why] == [
        ("note", 2)
    ]


@pytest.mark.parametrize(
    ("text", "seconds", "rounded"),
    [("1.1h", 3960, False), ("0.7m", 42, False), ("2.5", 150, False), ("90.5s", 91, True)],
)
def test_durations_of_flux_are_exact_and_rounding_is_told(text: str, seconds: int, rounded: bool) -> None:
    request = dialect_named("flux").read_script(f"#!/bin/sh\n#flux: -t {text}\n./app\n").request
    assert request.walltime_s == seconds
    assert any("rounded up" in note for note in request.notes) == rounded


@pytest.mark.parametrize(
    ("source", "first", "late", "path"),
    [
        ("lsf", "#BSUB -n 4", "#BSUB -P chem", "account"),
        ("oar", "#OAR -l core=4", "#OAR --project chem", "account"),
        ("sge", "#$ -pe smp 4", "#$ -P chem", "account"),
    ],
)
def test_late_directives_count_where_the_scheduler_reads_the_whole_file(
    source: str, first: str, late: str, path: str
) -> None:
    made = translate_script(f"#!/bin/sh\n{first}\n./app\n{late}\n", "slurm", source=source)
    assert getattr(made.request, path) == "chem"
    assert "#SBATCH --account=chem" in made.script
    assert made.lost == ()


@pytest.mark.parametrize(("source", "mark"), [("slurm", "#SBATCH"), ("pbs", "#PBS"), ("torque", "#PBS")])
def test_late_directives_are_told_where_it_does_not(source: str, mark: str) -> None:
    made = translate_script(f"#!/bin/sh\n{mark} -q a\n./app\n{mark} -A chem\n", "lsf", source=source)
    assert made.request.account is None
    assert [remark.line for remark in made.report if "after the first command" in remark.why] == [4]


def test_a_directive_on_oars_first_line_is_told() -> None:
    made = translate_script("#OAR -l core=4\n./app\n", "slurm", source="oar")
    assert any("passes over the first line" in remark.why for remark in made.report)


def test_an_option_is_told_once_and_what_is_carried_in_part_is_told_so() -> None:
    text = "#!/bin/bash\n#SBATCH --oversubscribe --image=docker:x/y:1\n./app\n"
    lost = translate_script(text, "pbs").lost
    assert [(remark.words, "the rest" in remark.why) for remark in lost] == [
        ("--image=docker:x/y:1", False), ("--oversubscribe", False),
    ]  # fmt: skip
    part = translate_script('#!/bin/bash\n#BSUB -gpu "num=2:mode=exclusive_process"\n./app\n', "slurm")
    assert "--gres=gpu:2" in part.script
    assert [("the rest of what this option says" in remark.why) for remark in part.lost] == [True]


def test_the_least_time_is_no_loss_where_it_is_written() -> None:
    made = translate_script("#!/bin/bash\n#SBATCH -t 2:00:00 --time-min 10\n./app\n", "pbs")
    assert "#PBS -l min_walltime=00:10:00\n#PBS -l max_walltime=02:00:00\n" in made.script
    assert made.lost == ()


def test_the_jobs_name_stands_in_a_files_name_where_there_is_no_mark_for_it() -> None:
    made = translate_script("#!/bin/bash\n#SBATCH -J relax -o logs/%x-%j.out\n./app\n", "lsf")
    assert "#BSUB -o logs/relax-%J.out" in made.script
    assert made.lost == ()


def test_one_queue_of_several_is_told() -> None:
    made = translate_script("#!/bin/bash\n#SBATCH -p a,b\n./app\n", "pbs")
    assert "#PBS -q a\n" in made.script
    assert [remark.why[:23] for remark in made.lost] == ["one queue can be named,"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("slurm", "#SBATCH -n 2\n#SBATCH -n 4\n#SBATCH -o a -o b\n#SBATCH --gpus=0\n#SBATCH -d x\n#SBATCH -d y"),
        ("pbs", "#PBS -N a\n#PBS -N b\n#PBS -o x\n#PBS -o y"),
        ("sge", "#$ -N a\n#$ -N b\n#$ -o x\n#$ -o y"),
        ("lsf", "#BSUB -P a\n#BSUB -P b\n#BSUB -u x\n#BSUB -u y"),
        ("oar", "#OAR -q a\n#OAR -q b\n#OAR -O x\n#OAR -O y"),
        ("flux", "#flux: -n1\n#flux: -n2\n#flux: --output=x\n#flux: --output=y\n#flux: -g0"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["pbs", "slurm", "lsf"])
def test_words_that_a_later_one_replaces_were_understood(source: str, text: str, target: str) -> None:
    if source != target:
        lost = translate_script(f"#!/bin/sh\n{text}\n./app\n", target, source=source).lost
        assert [remark for remark in lost if "not understood" in remark.why] == []


def test_a_licence_that_is_none_is_refused_and_not_written() -> None:
    for target in ("sge", "lsf", "pbs", "torque"):
        made = translate_script("#!/bin/bash\n#SBATCH -L :,b\n./app\n", target)
        assert [remark.why[:17] for remark in made.lost] == ["':' is no licence"]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("oar", "#OAR -a 12"), ("flux", "#flux: --dependency=afterok:f2"), ("flux", "#flux: -o mpi=z"),
        ("oar", "#OAR --notify [END]mail:a@b.org"), ("pbs", "#PBS -v A='1,2',B"), ("slurm", "#SBATCH hetjob"),
        ("flux", "#flux: -N2"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", TARGETS)
def test_each_loss_has_its_line(source: str, line: str, target: str) -> None:
    if source != target:
        lost = translate_script(f"#!/bin/sh\n{line}\n./app\n", target, source=source).lost
        assert [remark.line for remark in lost] == [2] * len(lost)
