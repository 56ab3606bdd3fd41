"""The XML that Moab's commands print: one `<Data>` element, with other words before and after it at some sites."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

__all__ = ["Element", "read_data"]

Element = ET.Element


def read_data(text: str) -> list[Element] | None:
    """What the first `<Data>` holds; None where there is none, or where it was cut. A DTD is refused."""
    found = re.search(r"<Data\b.*?(?:</Data>|/>)", text, re.DOTALL)
    if found is not None and found[0].endswith("/>") and re.fullmatch(r"<Data\b[^<>]*/>", found[0]) is None:
        found = re.search(r"<Data\b.*?</Data>", text, re.DOTALL)
    if found is None or "<!DOCTYPE" in found[0] or "<!ENTITY" in found[0]:
        return None
    try:
        root = ET.fromstring("".join(one for one in found[0] if one in "\n\t" or ord(one) >= 32))  # noqa: S314 # no DTD
    except ET.ParseError:
        return None
    return list(root)
