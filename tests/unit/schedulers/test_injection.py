"""Nothing of a request runs, but its body: scripts with hostile text in each field are really started by a shell."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import EnvironmentVariable
from dragoman.shape import Shape
from providers.registry import dialects

TAG = "dgm-0123456789ab-a0"
IDS = {"pbs": {"PBS_JOBID": "1.s"}, "torque": {"PBS_JOBID": "1.s"}, "oar": {"OAR_JOB_ID": "1"}, "flux": {},
       "sge": {"JOB_ID": "1"}, "lsf": {"LSB_JOBID": "1"}, "slurm": {"SLURM_JOB_ID": "1"}}  # fmt: skip
FIELDS = ["name", "account", "queue", "reservation", "qos", "stdout", "stderr", "image", "licenses", "native_options",
          "constraint", "folder", "value", "variable"]  # fmt: skip
PIECES = ["'", '"', "`", "$(touch PWNED)", "; touch PWNED;", "&& touch PWNED ", "${IFS}", "\\", "-", "--x", "*", "~",
          "%", "{{id}}", "#", "\n", "\r", "\t", "\u2028", "\x85", " ", "é", "日", "a", "9", "^", "$HOME", "=", ",", ":",
          "\n#PBS -l x=1\n", "\n#flux: -x\n", "../", "DRAGOMAN_BODY\n"]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
BODY = 'printf %s "$A" >"$OUT"\n'


def spec_with(field: str, text: str, root: Path) -> JobSpec:
    """A job with this text in the field, whatever its model would say of it."""
    control = f"{root}/{text.replace('/', '_') if field == 'folder' else 'c'}"
    shape: dict[str, Any] = dict(Shape(nodes=1)) | ({"constraint": text} if field == "constraint" else {})
    variable: dict[str, Any] = {
        "name": text if field == "variable" else "A",
        "value": text if field == "value" else "1",
    }
    fields: dict[str, Any] = {
        **dict(JobSpec(tag=TAG, shape=Shape(nodes=1), work_dir="/w", control_dir="/c", body=BODY)),
        "shape": Shape.model_construct(**shape), "control_dir": control, "work_dir": f"{control}/work",
        "environment": (EnvironmentVariable.model_construct(secret=None, **variable),),
    }  # fmt: skip
    if field in JobSpec.model_fields:
        fields[field] = (text,) if isinstance(fields[field], tuple) else text
    return JobSpec.model_construct(**fields)


def run(script: str, root: Path, environment: Mapping[str, str]) -> int:
    (root / "bin").mkdir()
    (root / "bin" / "flux").write_text("#!/bin/sh\necho 1\n")
    (root / "bin" / "flux").chmod(0o755)
    (root / "script").write_text(script)
    (root / "home").mkdir()
    given_to = {"PATH": f"{root}/bin:{os.defpath}", "HOME": f"{root}/home", "OUT": f"{root}/out", **environment}
    done = subprocess.run(  # noqa: TID251  # no event loop here
        ["/bin/sh", f"{root}/script"], env=given_to, cwd=root / "home", capture_output=True, timeout=60, check=False
    )
    return done.returncode


@pytest.mark.parametrize("name", IDS)
@settings(max_examples=25, deadline=None)
@given(field=st.sampled_from(FIELDS), text=texts)
def test_it_is_refused_or_stays_text(name: str, field: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        spec = spec_with(field, text, root)
        dialect, told = dialects.get(name)(), None
        try:
            script = dialect.render(spec)
            dialect.submit_command(spec, f"{spec.control_dir}/submit/script")
        except BadRequest as error:
            told = error
        if told is not None:
            assert told.cure
            assert told.where
            return
        Path(spec.work_dir).mkdir(parents=True)
        rc = run(script, root, IDS[name])
        assert list(root.rglob("PWNED*")) == []
        if field not in ("stdout", "stderr"):  # they may name a folder that is not there
            assert rc == 0
            said = {"value": text, "variable": ""}.get(field, "1")  # a variable of another name is not `A`
            assert (root / "out").read_bytes().decode() == said
            assert (Path(spec.work_dir) / spec.stdout).is_file() or name in ("sge", "slurm")


@pytest.mark.parametrize("name", ["pbs", "torque"])
@pytest.mark.parametrize("folder", ["/work/a:b", "/work/$PBS_JOBID", "/work/^array_index^"])
def test_what_qsub_would_fill_in_or_take_for_a_host_is_no_path_of_its_log(name: str, folder: str) -> None:
    spec = JobSpec(tag=TAG, shape=Shape(), work_dir=f"{folder}/work", control_dir=folder, body=BODY)
    assert "#PBS -o /dev/null\n" in dialects.get(name)().render(spec)
