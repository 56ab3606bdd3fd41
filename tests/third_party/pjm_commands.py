"""Stands for PJM: pjsub, pjstat, pjdel. Called as `pjm_commands.py FOLDER PROGRAM ARGUMENTS...`."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "fakes"))
from queue_folder import Folder  # type: ignore[import-not-found]  # beside the other fakes

folder, program, arguments = Folder(sys.argv[1]), sys.argv[2], sys.argv[3:]
STATES = {"pending": "QUE", "held": "HLD", "running": "RUN"}

if program == "pjsub":
    text = Path(arguments[-1]).read_text()
    options = dict(re.findall(r"^#PJM (-\w) ?(.*)$", text, re.MULTILINE))
    if "rscgrp=nosuch" in text:
        sys.exit("[ERR.] PJM 0021 pjsub rscgrp nosuch does not exist.")
    job_id = str(len(folder.jobs()) + 101)
    folder.take(
        {"name": options["-N"], "command": ["/bin/sh", arguments[-1]], "stdout": options["-o"], "stderr": options["-e"],
         "environment": {"PJM_JOBID": job_id}},
        job_id,
    )  # fmt: skip
    sys.stdout.write(f"[INFO] PJM 0000 pjsub Job {job_id} submitted.\n")
elif "--rsc" in arguments:
    sys.stdout.write("H,RSCGRP,STATUS,NODE,FREE,CORE\n,small,ENABLE,384,12,48\n,large,DISABLE,4096,0,48\n")
elif program == "pjstat":
    asked = [one for one in arguments if one.isdigit()]
    sys.stdout.write("H,JOB_ID,JOB_NAME,ST,EC\n")
    for job in folder.jobs():
        ended = job["state"] == "ended"
        if ended == ("-H" in arguments) and (not asked or job["id"] in asked):
            state = STATES.get(job["state"]) or ("CCL" if job.get("why") == "cancelled" else "EXT")
            sys.stdout.write(f",{job['id']},{job['name']},{state},{job.get('rc', '-')}\n")
elif folder.cancel(arguments[0]):
    sys.stdout.write(f"[INFO] PJM 0100 pjdel Accepted job {arguments[0]}.\n")
else:
    sys.exit(f"[ERR.] PJM 0112 pjdel Job {arguments[0]} does not exist.")
