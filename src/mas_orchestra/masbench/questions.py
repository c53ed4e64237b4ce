"""Questions: what a sentence of the family asks for, in every wording that the published set and ours use."""

import re
from dataclasses import dataclass
from enum import StrEnum

from mas_orchestra.masbench.expression import is_quantity_name
from mas_orchestra.masbench.sentences import Sentence, UnreadableTextError

__all__ = ["Question", "Subject", "read_questions"]

_RETURN_LIST = re.compile(r",? and the (?=number of |magic number for )|, the (?=number of |magic number for )")


class Subject(StrEnum):
    """What a question asks for."""

    QUANTITY = "quantity"
    NEEDLE = "needle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One asked answer.

    Attributes:
        name: The quantity's whole text, or the needle's name.
        owner: Owner where the question tells it apart ("How many B does A have?"), else empty.
        problem: Number of the problem it stands in, 0 where the text is one passage.
    """

    subject: Subject
    name: str
    owner: str
    problem: int
    line: int


def read_questions(sentence: Sentence, problem: int) -> list[Question]:
    """What the sentence asks, in its order; empty when it is no question of this family.

    Raises:
        UnreadableTextError: It begins like one and cannot be read.
    """
    text = sentence.text
    if text.startswith("From the passage, identify and return "):
        return _return_list(sentence)
    if text.startswith("How many "):
        item, does, owner = text.removeprefix("How many ").removesuffix("?").removesuffix(" have").rpartition(" does ")
        if not does or not text.endswith(" have?"):
            raise UnreadableTextError("expected 'How many B does A have?'", sentence)
        return [_asked(item, owner, problem, sentence)]
    if text.startswith("What is ") and text.endswith("?"):
        return _what_is(sentence, problem)
    return []


def _what_is(sentence: Sentence, problem: int) -> list[Question]:
    what = sentence.text.removeprefix("What is ").removesuffix("?").removeprefix("the value of ")
    if found := _noun_phrase(what.removeprefix("the "), problem, sentence):
        return [found]
    if is_quantity_name(what):
        return [Question(subject=Subject.QUANTITY, name=what, owner="", problem=problem, line=sentence.line)]
    raise UnreadableTextError('expected "What is the value of A\'s B?"', sentence)


def _return_list(sentence: Sentence) -> list[Question]:
    listed = sentence.text.removeprefix("From the passage, identify and return ").partition(", wrapped in")[0]
    parts = _RETURN_LIST.split(listed.removeprefix("the ").rstrip(".?"))
    found = [_noun_phrase(part, 0, sentence) for part in parts]
    if None in found:
        raise UnreadableTextError(
            "expected a list of 'the number of B that A has' and 'the magic number for X'", sentence
        )
    return [question for question in found if question]


def _noun_phrase(text: str, problem: int, sentence: Sentence) -> Question | None:
    """The question for "number of B that A has" or "magic number for X"."""
    if text.startswith("magic number for "):
        name = text.removeprefix("magic number for ")
        return Question(subject=Subject.NEEDLE, name=name, owner="", problem=problem, line=sentence.line)
    item, that, owner = text.removeprefix("number of ").removesuffix(" has").rpartition(" that ")
    if text.startswith("number of ") and text.endswith(" has") and that:
        return _asked(item, owner, problem, sentence)
    return None


def _asked(item: str, owner: str, problem: int, sentence: Sentence) -> Question:
    name = f"{owner}'s {item}"
    return Question(subject=Subject.QUANTITY, name=name, owner=owner, problem=problem, line=sentence.line)
