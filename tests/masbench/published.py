"""The published examples that stand beside this file."""

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("published.jsonl")


@dataclass(frozen=True)
class Example:
    """One published example; `number` counts from 1."""

    number: int
    axis: str
    value: int | None
    question: str
    answers: tuple[int, ...]
    is_published: bool

    @property
    def is_whole(self) -> bool:
        return not self.question.startswith("[")


def examples() -> list[Example]:
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return [
        Example(
            number=number,
            axis=row["axis"],
            value=row["value"],
            question=row["question"],
            answers=tuple(map(int, row["answer"])),
            is_published=row["answer_source"] == "published",
        )
        for number, row in enumerate(rows, start=1)
    ]


WHOLE = [example for example in examples() if example.is_whole]


def example(number: int) -> Example:
    return examples()[number - 1]
