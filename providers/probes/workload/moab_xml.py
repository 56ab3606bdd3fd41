"""The XML that Moab's commands print: one `<Data>` element, with other words before and after it at some sites."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

__all__ = ["Element", "read_data"]

Element = ET.Element


def read_data(text: str) -> list[Element] | None:
    """What the first `<Data>` holds; None where there is none, or where it was cut. A DTD is refused."""
    begin = re.search(r"<Data(?=[\s/>])", text)
    if begin is None:
        return None
    empty = re.compile(r"<Data\s*/>").match(text, begin.start())
    end = empty.end() if empty else text.find("</Data>", begin.start()) + len("</Data>")
    data = text[begin.start() : end]
    if end < begin.end() or "<!DOCTYPE" in data or "<!ENTITY" in data:
        return None
    try:
        root = ET.fromstring("".join(one for one in data if one in "\n\t" or ord(one) >= 32))  # noqa: S314 # no DTD
    except ET.ParseError:
        return None
    return list(root)
