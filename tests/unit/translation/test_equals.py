"""Single words that have an equal elsewhere, and those that only look as if they had."""

from __future__ import annotations

import subprocess

import pytest

from providers.translation.translate import translate_script


@pytest.mark.parametrize(
    ("image", "written"),
    [
        ("docker:example/app:1.0", "example/app:1.0"),
        ("docker:ubuntu:22.04", "ubuntu:22.04"),
        ("docker://ghcr.io/x/y:2", "ghcr.io/x/y:2"),
        ("docker:24-dind", "docker:24-dind"),
        ("reg.example.org:5000/a/b:1", "reg.example.org:5000/a/b:1"),
    ],
)
def test_a_pod_is_given_an_images_bare_name(image: str, written: str) -> None:
    made = translate_script(f"#!/bin/bash\n#SBATCH --image={image} -n 1\n./app\n", "k8s")
    assert f"image: {written}\n" in made.script


@pytest.mark.parametrize("image", ["library://a/b:1", "id:0123456789abcdef", "/images/app.sif"])
def test_what_no_pod_can_pull_is_told(image: str) -> None:
    made = translate_script(f"#!/bin/bash\n#SBATCH --image={image} -n 1\n./app\n", "k8s")
    assert any(image in remark.words for remark in made.lost)
    assert f"image: {image}" not in made.script


@pytest.mark.parametrize("job_id", ["123[4].server", "123-4.server.example.org", "123.server"])
def test_torque_has_the_arrays_id_in_the_jobs(job_id: str) -> None:
    made = translate_script("#!/bin/sh\n#SBATCH -a 1-4\necho $SLURM_ARRAY_JOB_ID\n", "torque")
    assert "PBS_ARRAY_ID" not in made.script
    run = ["env", f"PBS_JOBID={job_id}", "PBS_O_WORKDIR=/", "sh"]
    done = subprocess.run(run, input=made.script, capture_output=True, text=True, check=True)  # noqa: TID251  # a test may block
    assert done.stdout == "123\n"


def test_a_part_of_a_gpu_for_each_slot_is_told() -> None:
    made = translate_script("#!/bin/bash\n#SBATCH -N 1 -n 4 --gpus=1\n./app\n", "sge")
    assert "#$ -l gpu=0.25" in made.script.splitlines()
    assert any("DOUBLE" in remark.why for remark in made.report)
    whole = translate_script("#!/bin/bash\n#SBATCH -N 1 -n 4 --gpus=4\n./app\n", "sge")
    assert not any("DOUBLE" in remark.why for remark in whole.report)


@pytest.mark.parametrize(
    ("first", "second"), [("/nodes=2/core=4", "/nodes=1/core=16,walltime=9:00:00"),
                          ("/nodes=2/core=4,walltime=1:00:00", "/nodes=1/core=16,walltime=9:00:00"),
                          ("{cluster='a'}/nodes=2,walltime=1:00:00", "/nodes=7,walltime=9:00:00")]
)  # fmt: skip
def test_one_of_several_shapes_of_oar_is_taken_whole(first: str, second: str) -> None:
    made = translate_script(f"#!/bin/sh\n#OAR -l {first}\n#OAR -l {second}\n./app\n", "slurm")
    assert "09:00:00" not in made.script.replace("9:00:00:", "")
    assert "--nodes=7" not in made.script
    assert any(second in remark.words for remark in made.lost)


WAITS = {
    "slurm": ("--hold", "--begin=2027-01-31T10:05:00"),
    "pbs": ("-h", "-a 202701311005.00"),
    "torque": ("-h", "-a 202701311005.00"),
    "lsf": ("-H", "-b 2027:01:31:10:05"),
    "sge": ("-h", "-a 202701311005.00"),
    "oar": ("--hold", '-r "2027-01-31 10:05:00"'),
}
MARKS = {"slurm": "#SBATCH", "lsf": "#BSUB", "sge": "#$", "oar": "#OAR"}


@pytest.mark.parametrize("target", WAITS)
@pytest.mark.parametrize("source", WAITS)
def test_holds_and_starts_are_carried(source: str, target: str) -> None:
    mark, written = MARKS.get(source, "#PBS"), MARKS.get(target, "#PBS")
    text = "#!/bin/bash\n" + "".join(f"{mark} {option}\n" for option in WAITS[source]) + "./app\n"
    made = translate_script(text, target, source=source)
    lines = [line for line in made.script.splitlines() if line.startswith(f"{written} ")]
    for option in WAITS[target]:
        assert lines.count(f"{written} {option}") == 1, made.script
    assert made.lost == ()


@pytest.mark.parametrize("option", ["--hold", "--begin=2027-01-31T10:05:00", "--begin=now+1hour", "--begin=16:00"])
def test_where_there_is_no_equal_it_is_told(option: str) -> None:
    for target in ("k8s", "flux") if "now" not in option and "16" not in option else ("pbs", "lsf", "k8s"):
        made = translate_script(f"#!/bin/bash\n#SBATCH -n 1 {option}\n./app\n", target)
        assert [remark.words for remark in made.lost] == [option]
