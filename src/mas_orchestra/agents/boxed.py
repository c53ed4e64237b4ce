r"""What stands in ``\boxed{…}``."""

import re

__all__ = ["boxed"]

# An escaped brace is consumed first, so that it never counts as one that opens or closes.
_BRACE = re.compile(r"\\[{}]|\\f?boxed ?\{|[{}]")


def boxed(text: str) -> tuple[str, ...]:
    r"""Contents of every closed innermost box, in order of their ends, trimmed; one pass over the text.

    >>> boxed(r"first \boxed{\frac{1}{2}}, then \boxed{\boxed{7}} and \boxed{cut")
    ('\\frac{1}{2}', '7')
    """
    found: list[str] = []
    open_braces: list[int | None] = []  # where a box's content starts; None for an ordinary brace
    last_box_start = -1
    for match in _BRACE.finditer(text):
        brace = match.group()
        if brace in {"\\{", "\\}"}:
            continue
        if brace != "}":
            open_braces.append(match.end() if "boxed" in brace else None)
        elif open_braces and (start := open_braces.pop()) is not None and start > last_box_start:
            found.append(text[start : match.start()].strip())
            last_box_start = start
    return tuple(found)
