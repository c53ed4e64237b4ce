"""Independent random generators named by a path.

A generator is a pure function of what it is for: the same path gives the same draws on any machine, in any
order and in any number of processes. Never ``seed + index``, never a global generator.
"""

import hashlib
import random

__all__ = ["digest", "rng"]


def digest(*path: str | float) -> int:
    """A 256-bit integer that is a function of the whole path.

    Every part enters with its type and length, so ``("a", "bc")``, ``("ab", "c")`` and ``("a", "b", "c")`` differ,
    and so do ``1``, ``1.0`` and ``"1"``.
    """
    parts = (f"{type(part).__name__}:{part!r}" for part in path)
    text = "".join(f"{len(part)}:{part};" for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def rng(*path: str | float) -> random.Random:
    """A generator seeded by the SHA-256 of the path, as ``rng("masbench", "train", "depth", 4, 17)``.

    >>> rng("a", 1).random() == rng("a", 1).random()
    True
    >>> rng("a", 1).random() == rng("a", 2).random()
    False
    """
    return random.Random(digest(*path))  # noqa: S311  (simulation and sampling, not cryptography)
