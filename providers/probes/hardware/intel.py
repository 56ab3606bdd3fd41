"""Intel data centre GPUs by xpu-smi in JSON; without it, by the kernel's display controllers in /sys/class/drm.

Graphics of the processor itself are VGA controllers (class 0x0300) and are not counted; accelerators are class 0x0380.
Source: Intel XPU Manager documentation, "xpu-smi user guide" (`discovery`, `ps`).
"""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.facts import Gpus
from dragoman.kleene import Truth, truth
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, FileRead, Paths, Probe, Results, brief, no_answer, question, where_is
from providers.probes.hardware.gpu_cards import Card, gpu_verbs, known_number, put_together
from providers.probes.json_output import first_json
from providers.registry import register_probe
from providers.verbs import NoArguments

__all__ = ["Intel"]

CLASSES, DRM = "/sys/class", "/sys/class/drm"
"""Without the first, nothing is shown by what is not below it."""
VENDOR, CLASS = f"{DRM}/card*/device/vendor", f"{DRM}/card*/device/class"
MOST_CARDS = 32


def _ask(_: NoArguments, paths: Paths) -> Ask:
    smi = where_is("xpu-smi", paths, key="intel")
    return Ask(
        commands={
            "cards": question(smi, "discovery", "-j", timeout_s=25.0),
            "processes": question(smi, "ps", "-j", timeout_s=25.0),
        },
        files=(CLASSES, DRM, VENDOR, CLASS),
    )


def _listed(results: Results, name: str, key: str) -> list[Mapping[str, object]] | None:
    done = results.done(name)
    whole = None if done is None or done.rc != 0 or done.truncated else first_json(done.out, dict)
    rows = whole.get(key) if isinstance(whole, dict) else None
    return [row if isinstance(row, Mapping) else {} for row in rows] if isinstance(rows, list) else None


def _parse(_: NoArguments, results: Results) -> Answer[Gpus] | Ask:
    rows = _listed(results, "cards", "device_list")
    if rows is None:
        return _by_kernel(results)
    done = results.done("cards")
    if not rows:
        return _none_listed(results)
    rows = [row for row in rows if isinstance(row.get("device_id"), int | str)]
    if not rows:
        return Answer[Gpus].unknown(f"what xpu-smi lists has no number: {brief(done or '')}")
    smi = done.argv[0] if done is not None else "xpu-smi"
    more = {
        f"card {row['device_id']}": question(smi, "discovery", "-d", str(row["device_id"]), "-j", timeout_s=25.0)
        for row in rows[:MOST_CARDS]
        if str(row["device_id"]).isdigit()
    }
    if not all(results.asked(name) for name in more):
        return Ask(commands=more)
    return Answer[Gpus].ok(put_together("intel", [_card(row, results) for row in rows]))


def _card(row: Mapping[str, object], results: Results) -> Card:
    done = results.whole(f"card {row['device_id']}")
    told = first_json(done.out, dict) if done is not None and done.rc == 0 and not done.truncated else None
    details: Mapping[str, object] = told if isinstance(told, dict) else {}
    size = known_number(details.get("memory_physical_size_byte"))
    driver = details.get("driver_version")
    processes = _listed(results, "processes", "device_util_by_proc_list")
    free = Truth.UNKNOWN
    if processes is not None:
        # xpu-smi is a process on the GPU itself while it looks.
        mine = [each for each in processes if str(each.get("device_id")) == str(row["device_id"])]
        free = truth(not [each for each in mine if not str(each.get("process_name")).endswith("xpu-smi")])
    return Card(
        model=str(row["device_name"]) if row.get("device_name") else None,
        memory_bytes=int(size) if size else None,
        driver=str(driver) if driver else None,
        free=free,
    )


def _by_kernel(results: Results) -> Answer[Gpus]:
    trouble = no_answer(results, "cards")
    done = results.done("cards")
    if done is not None:
        return Answer[Gpus].unknown(f"driver: {brief(done)}")
    if trouble is not None and trouble.outcome is Outcome.UNKNOWN:
        return Answer[Gpus].unknown(trouble.reason)
    count, doubt = _accelerators(results)
    if doubt:
        return Answer[Gpus].unknown(doubt)
    if count:
        return Answer[Gpus].ok(put_together("intel", [Card()] * count))
    return Answer[Gpus].absent("there is no xpu-smi and no Intel accelerator among the display controllers")


def _none_listed(results: Results) -> Answer[Gpus]:
    """Level Zero lists no device that the user may not open: the kernel has to say so too."""
    count, doubt = _accelerators(results)
    if count or doubt:
        return Answer[Gpus].unknown(f"xpu-smi lists no device, but {doubt or f'the kernel has {count}'}")
    return Answer[Gpus].absent("xpu-smi lists no device")


def _accelerators(results: Results) -> tuple[int, str]:
    """How many the kernel has, and why that is not shown."""
    drm = results.file(DRM)
    if drm.outcome is Outcome.UNKNOWN:
        return 0, drm.reason
    if drm.outcome is Outcome.ABSENT and results.file(CLASSES).outcome is not Outcome.OK:
        return 0, f"there is no {CLASSES} to look in here"
    vendors, classes = _by_card(results.found(VENDOR)), _by_card(results.found(CLASS))
    count = 0
    for name in sorted({*vendors, *classes}):
        vendor, kind = vendors.get(name), classes.get(name)
        words = [(read.value or "") if read is not None else "" for read in (vendor, kind)]
        if words[0] not in ("", "0x8086") or words[1][:6] not in ("", "0x0380"):
            continue
        if not all(words):
            refused = next((read.reason for read in (vendor, kind) if read is not None and read.reason), "")
            return 0, refused or f"of {DRM}/{name} neither vendor nor class is told"
        count += 1
    return count, ""


def _by_card(reads: tuple[FileRead, ...]) -> dict[str, FileRead]:
    return {read.path.removeprefix(f"{DRM}/").partition("/")[0]: read for read in reads}


@register_probe
class Intel(Probe):
    """`hardware/intel`."""

    category = Category.HARDWARE
    name = "intel"
    verbs = gpu_verbs(_ask, _parse)
