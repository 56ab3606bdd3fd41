"""Stands for Grid Engine: qsub, qstat, qacct, qdel, qhold, qrls, qhost, qconf.

Called as `sge.py FOLDER PROGRAM ARGUMENTS...`. Faults: `down`, `lost` (taken, and no answer), `warning` (says that
it is unable to run the job, and runs it), `no-history`, `busy`, `short-limit`.
"""

import fnmatch
import re
import shlex
import sys
import time
from pathlib import Path
from xml.sax.saxutils import escape

from queue_folder import Folder, Job  # type: ignore[import-not-found]  # beside this program

folder, program, arguments = Folder(sys.argv[1]), sys.argv[2], sys.argv[3:]


def clock(seconds: float | None, form: str) -> str:
    return time.strftime(form, time.gmtime(seconds or 0))


def fail(words: str, rc: int = 1) -> None:
    sys.stderr.write(f"{words}\n")
    sys.exit(rc)


def qsub() -> None:
    text = Path(arguments[-1]).read_text()
    options: dict[str, str] = {}
    resources: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("#$ "):
            name, *values = shlex.split(line[3:])
            options[name] = " ".join(values)
            if name == "-l":
                name, _, value = values[0].partition("=")
                resources[name] = value
    if "-w" in arguments:
        sys.stdout.write("verification: found suitable queue(s)\n")
        return
    if options.get("-q") == "nosuch":
        fail('Unable to run job: Job was rejected because job requests unknown queue "nosuch".\nExiting.')
    hours, minutes, seconds = (int(part) for part in resources.get("h_rt", "0:0:0").split(":"))
    span = re.fullmatch(r"(\d+)-(\d+)", options.get("-t", ""))
    base = str(len({one["id"].partition(".")[0] for one in folder.jobs()}) + 1)
    for task in range(int(span[1]), int(span[2]) + 1) if span else [0]:
        number = str(task or "undefined")
        job: Job = {
            "name": options["-N"], "queue": options.get("-q", "all.q"),
            "command": ["/bin/sh", str(folder.script(text))], "cwd": options.get("-wd"),
            "stdout": options["-o"].replace("$TASK_ID", number), "stderr": options["-e"].replace("$TASK_ID", number),
            "category": f"-l h_rt={resources.get('h_rt', '')}",
            "limit": hours * 3600 + minutes * 60 + seconds or None,
            "environment": {"JOB_ID": base, "SGE_TASK_ID": number, "RESTARTED": "0"},
        }  # fmt: skip
        folder.take(job, f"{base}.{task}" if task else base)
    if folder.fault("lost"):
        fail("error: commlib error: got read error (closing connection)")
    if folder.fault("warning"):
        words = f'Your job {base} ("{options["-N"]}") has been submitted'
        fail(f"Unable to run job: warning: user1's job is not allowed to run in any queue\n{words}\nExiting.")
    sys.stdout.write(f"{base}.{span[1]}-{span[2]}:1\n" if span else f"{base}\n")


def qstat() -> None:
    jobs = [job for job in folder.jobs() if job["state"] != "ended"]
    if "-help" in arguments:
        sys.stdout.write("SGE 8.1.9\nusage: qstat [options]\n")
    elif "-xml" not in arguments:
        for job in jobs:
            word = "r" if job["state"] == "running" else "qw"
            at = clock(job["submitted"], "%m/%d/%Y %H:%M:%S")
            sys.stdout.write(f"  {job['id'].partition('.')[0]} 0.5 {job['name'][:10]} user1 {word} {at} 1\n")
    else:
        sys.stdout.write("<?xml version='1.0'?>\n<job_info><queue_info>\n")
        for job in jobs:
            word = {"running": "r", "pending": "qw", "held": "hqw"}[job["state"]]
            base, _, task = job["id"].partition(".")
            where = "<queue_name>all.q@node1</queue_name>" if word == "r" else "<queue_name></queue_name>"
            kind, tag = ("running", "JAT_start_time") if word == "r" else ("pending", "JB_submission_time")
            at = clock(job.get("started") or job["submitted"], "%Y-%m-%dT%H:%M:%S")
            sys.stdout.write(
                f'<job_list state="{kind}"><JB_job_number>{base}</JB_job_number>'
                f"<JB_name>{escape(job['name'])}</JB_name>"
                f"<state>{word}</state><{tag}>{at}</{tag}>{where}<slots>1</slots>"
                + (f"<tasks>{task}</tasks>" if task else "")
                + "</job_list>\n"
            )
        sys.stdout.write("</queue_info><job_info></job_info></job_info>\n")


def qacct() -> None:
    if folder.fault("no-history"):
        fail("/var/lib/gridengine/default/common/accounting: No such file or directory\nno jobs running since startup")
    wanted = arguments[arguments.index("-j") + 1]
    kind = "id" if wanted.isdecimal() else "name"
    found = [
        job
        for job in folder.jobs()
        if job["state"] == "ended"
        and (job["id"].partition(".")[0] == wanted if kind == "id" else fnmatch.fnmatch(job["name"], wanted))
    ]
    if not found:
        fail(f"error: job {kind} {wanted} not found")
    for job in found:
        rc = job.get("rc", 0)
        failed = {"limit": "37  : qmaster enforced h_rt, h_cpu, or h_vmem limit"}.get(job.get("why") or "", "0    ")
        if failed.strip() == "0" and (rc < 0 or job.get("why")):
            failed = "100 : assumedly after job"
        base, _, task = job["id"].partition(".")
        form = "%a %b %d %H:%M:%S %Y"
        record = {
            "qname": "all.q", "hostname": "node1", "owner": "user1", "jobname": job["name"], "jobnumber": base,
            "taskid": task or "undefined", "qsub_time": clock(job["submitted"], form),
            "start_time": clock(job.get("started"), form), "end_time": clock(job.get("ended"), form), "slots": "1",
            "failed": failed, "exit_status": str(rc if rc >= 0 else 128 - rc),
            "ru_wallclock": f"{int((job.get('ended') or 0) - (job.get('started') or 0)) + 1}s", "maxvmem": "3.398MB",
            "category": job["category"],
        }  # fmt: skip
        sys.stdout.write("=" * 62 + "\n" + "".join(f"{key:<12} {value}\n" for key, value in record.items()))


def act() -> None:
    base = arguments[-1]
    mine = [job for job in folder.jobs() if job["id"].partition(".")[0] == base]
    if program != "qdel" and not mine:
        sys.stdout.write(f'denied: job "{base}" does not exist\n')
        sys.exit(1)
    if program == "qdel":
        ended = [folder.cancel(job["id"]) for job in mine]
        if not any(ended):
            sys.stdout.write(f'denied: job "{base}" does not exist\n')
            sys.exit(1)
        sys.stdout.write(f"user1 has registered the job {base} for deletion\n")
    else:
        for job in mine:
            (folder.hold if program == "qhold" else folder.release)(job["id"])
        sys.stdout.write(f"modified hold of job {base}\n")


TABLES = {
    "qhost": (
        "<?xml version='1.0'?>\n<qhost><host name='global'></host><host name='node1'>"
        "<hostvalue name='num_proc'>8</hostvalue><hostvalue name='mem_total'>23.5G</hostvalue>"
        "<resourcevalue name='gpu' dominance='hc'>2.000000</resourcevalue><queue name='all.q'>"
        "<queuevalue qname='all.q' name='qtype_string'>BIP</queuevalue>"
        "<queuevalue qname='all.q' name='slots_used'>3</queuevalue>"
        "<queuevalue qname='all.q' name='slots'>8</queuevalue>"
        "<queuevalue qname='all.q' name='state_string'></queuevalue></queue></host></qhost>\n"
    ),
    "qconf": "qname        all.q\nh_rt         24:00:00\nuser_lists   NONE\nprojects     NONE\n",
}

if folder.fault("down"):
    fail(
        "error: commlib error: got select error (Connection refused)\nunable to send message to qmaster using port 6444"
    )
elif program in TABLES:
    sys.stdout.write(TABLES[program])
else:
    {"qsub": qsub, "qstat": qstat, "qacct": qacct}.get(program, act)()
