"""References: ``${id}`` inside a step's input, and nothing else."""

import re
from collections.abc import Mapping

__all__ = ["references", "substitute"]

# No character of the body can begin another reference, so every character is looked at once.
_REFERENCE = re.compile(r"\$\{([^${}\r\n]*)\}")


def references(template: str) -> tuple[str, ...]:
    r"""Ids that `template` refers to, each once, in order of first use; blanks around an id do not count.

    >>> references("Add ${a} to ${step 2}, then to ${ a }; leave {x} and $y and \\frac{1}{2} alone.")
    ('a', 'step 2')
    """
    if "${" not in template:
        return ()
    found = dict.fromkeys(body.strip() for body in _REFERENCE.findall(template))
    found.pop("", None)
    return tuple(found)


def substitute(template: str, answers: Mapping[str, str]) -> str:
    """`template` with every reference to a key of `answers` replaced; any other text stays byte for byte.

    One pass over the template: what is put in is never scanned again.

    >>> substitute("${a} and ${b} and ${c}", {"a": "${b}", "b": "2"})
    '${b} and 2 and ${c}'
    """

    def answer(match: re.Match[str]) -> str:
        name = match[1].strip()
        return answers.get(name, match[0]) if name else match[0]

    return _REFERENCE.sub(answer, template)
