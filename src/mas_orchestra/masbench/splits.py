"""What keeps train and test apart: a mark in the template, for tiny sizes in the constants.

A template is the needed graph with its operators, constants and names blanked. The number of needed statements that
say "more than" is even in train and odd in test. It is a property of the template, so no template can be in both, and
setting it takes one change instead of redrawing until a hash falls into the right bin (as iGSM does).
Sizes with few templates would lose half of them that way; there the sum of the constants of needed modifiers carries
the mark. The leaves do not enter, so aiming at an answer leaves it alone.
"""

from collections.abc import Iterator, Sequence
from random import Random

from mas_orchestra.masbench.problem import MODULUS, Form, Modifier, Parameters, Split
from mas_orchestra.masbench.structure import Component

__all__ = ["has_few_templates", "mark"]

_FEW_LINKS = 3


def has_few_templates(parameters: Parameters) -> bool:
    """Whether train and test differ in constants only: fewer than three links that every draw has."""
    return parameters.p * (parameters.d - 1) < _FEW_LINKS


def mark(components: Sequence[Component], parameters: Parameters, split: Split, rng: Random) -> None:
    """Change at most one operator so that the problem belongs to `split`; influences must be measured afterwards."""
    odd = split is Split.TEST
    if has_few_templates(parameters):
        _mark_constants(components, odd=odd, rng=rng)
    else:
        _mark_template(components, odd=odd, rng=rng)


def _modified(components: Sequence[Component]) -> Iterator[tuple[Component, int]]:
    for component in components:
        for node in range(component.needed):
            if component.modifiers[node] is not Modifier.NONE:
                yield component, node


def _mark_template(components: Sequence[Component], *, odd: bool, rng: Random) -> None:
    count = sum(component.modifiers[node] is Modifier.MORE for component, node in _modified(components))
    if count % 2 != odd:
        component, node = _pick_link(components, rng)
        if component.modifiers[node] is Modifier.MORE:
            component.modifiers[node], component.constants[node] = Modifier.TIMES, rng.randint(2, MODULUS - 1)
        else:
            component.modifiers[node], component.constants[node] = Modifier.MORE, rng.randint(1, MODULUS - 1)


def _mark_constants(components: Sequence[Component], *, odd: bool, rng: Random) -> None:
    modified = list(_modified(components))
    if not modified:
        component, node = _pick_link(components, rng)
        component.modifiers[node], component.constants[node] = Modifier.MORE, rng.randint(1, MODULUS - 1)
        modified = [(component, node)]
    total = sum(component.constants[node] for component, node in modified)
    if total % 2 != odd:
        component, node = rng.choice(modified)
        component.constants[node] += 1 if component.constants[node] < MODULUS - 1 else -1


def _pick_link(components: Sequence[Component], rng: Random) -> tuple[Component, int]:
    """A spine quantity that may carry a modifier; of two neighbours on the spine at most one is a total."""
    component = rng.choice(components)
    return component, rng.choice(
        [node for node in range(component.spine - 1) if component.forms[node] is not Form.TOTAL]
    )
