"""Names in plans: legal ids, near-miss names of sub-agents, slugs that providers accept."""

import hashlib
import re
from collections.abc import Iterable

__all__ = ["is_legal_id", "loose", "slugs", "undoubled"]

_ILLEGAL_IN_ID = re.compile(r"[${}\r\n]")
_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9_-]+")
_SLUG_LENGTH = 64


def is_legal_id(text: str) -> bool:
    r"""Whether `text`, trimmed already, can name a step.

    >>> [is_legal_id(text) for text in ("step-1", "étape 2", "计算", "", "a$b", "a\nb")]
    [True, True, True, False, False, False]
    """
    return bool(text) and _ILLEGAL_IN_ID.search(text) is None


def loose(name: str) -> str:
    """`name` as alias tables compare it: letter case, blanks, hyphens and underscores aside.

    >>> loose("Chain-of_Thought ")
    'chainofthought'
    """
    return re.sub(r"[-_\s]+", "", name).casefold()


def undoubled(text: str) -> str | None:
    """The half of a text that is the same thing twice, as ``CoTAgentCoTAgent``, or ``None``.

    >>> undoubled("CoTAgentCoTAgent")
    'CoTAgent'
    """
    half = text[: len(text) // 2]
    return half if half and half + half == text else None


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A slug for each name: letters, digits, ``_`` and ``-``, at most 64, all different.

    A name that is a slug already stays. Any other gets a hash of the whole name, so its slug does not depend on its
    neighbours.

    >>> slugs(["CoTAgent", "étape 2"])
    {'CoTAgent': 'CoTAgent', 'étape 2': 'tape_2_b311b54e'}
    """
    names = tuple(dict.fromkeys(names))
    legal = {name for name in names if name and len(name) <= _SLUG_LENGTH and not _NOT_IN_SLUG.search(name)}
    taken = set(legal)
    found: dict[str, str] = {}
    for name in names:
        found[name] = name if name in legal else _hashed(name, taken)
        taken.add(found[name])
    return found


def _hashed(name: str, taken: set[str]) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()
    stem = _NOT_IN_SLUG.sub("_", name).strip("_")
    lengths = (8, 16, 32, 63)
    candidates = (f"{stem[: _SLUG_LENGTH - length - 1]}_{digest[:length]}".lstrip("_") for length in lengths)
    return next(candidate for candidate in candidates if candidate not in taken)
