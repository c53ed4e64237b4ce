"""The template of a text: structure and operators of what its answers need, names and constants left blank.

Two texts have the same template exactly when their needed quantities can be matched one to one so that operators and
parents agree, whatever the order of the statements and of the terms of a sum. The digest is built from the text
alone: every quantity is described by what it is computed from (bottom up) and then by what it is used for (top down),
and the template is the bag of these descriptions. Isomorphic texts always share it; that different ones do is
possible in theory for repeated symmetric parts.
"""

import hashlib
from collections.abc import Iterable, Mapping

from mas_orchestra.masbench.expression import Combination
from mas_orchestra.masbench.system import System

__all__ = ["template_digest"]


def template_digest(system: System, targets: Iterable[str], *, with_constants: bool = False) -> int:
    """A 64-bit digest of the template of what the targets need.

    Args:
        system: The text's equations.
        targets: The asked quantities; which of the needed ones are asked is no part of the template.
        with_constants: Keep the constants: what tells texts apart whose sizes have very few templates.
    """
    order = system.needed(targets)
    below: dict[str, str] = {}
    for key in order:
        below[key] = _digest(_operator(system, key, with_constants=with_constants), _sources(system, key, below))
    used_for: dict[str, list[str]] = {key: [] for key in order}
    whole: dict[str, str] = {}
    for key in reversed(order):
        whole[key] = _digest(below[key], *sorted(used_for[key]))
        for place, parent in enumerate(system.parents(key)):
            used_for[parent].append(_digest(whole[key], _role(system, key, place)))
    return int(_digest(*sorted(whole.values())), 16)


def _operator(system: System, key: str, *, with_constants: bool) -> str:
    """The words of the statement without names."""
    definition = system.definitions.get(key)
    if definition is None:
        return "undefined"
    expression = definition.expression
    if expression is None:
        return "total"
    prefixes = ",".join(prefix.value for prefix, _ in expression.prefixes)
    constants = str(expression.constants) if with_constants else ""
    return f"{expression.combination.value}|{prefixes}|{constants}"


def _sources(system: System, key: str, below: Mapping[str, str]) -> str:
    """What the quantity is computed from; the order counts only in a difference."""
    parents = [f"{_role(system, key, place)}:{below[parent]}" for place, parent in enumerate(system.parents(key))]
    return ";".join(sorted(parents))


def _role(system: System, key: str, place: int) -> str:
    definition = system.definitions[key]
    is_ordered = definition.expression is not None and definition.expression.combination is Combination.DIFFERENCE
    return str(place) if is_ordered else "-"


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()
