"""One question, with its reference answers where there are any."""

from dataclasses import dataclass, field

from mas_orchestra.types import JsonValue

__all__ = ["Task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a system is asked.

    Attributes:
        answers: Reference answers, empty when unknown. No system ever sees them.
        kind: Which scorer reads the reply (``"mathematics"``, ``"choice"``, …); empty when it is not scored.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    kind: str = ""
    metadata: dict[str, JsonValue] = field(default_factory=dict)
