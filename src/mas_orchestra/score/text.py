"""Scores short texts: normalised exact match and F1, alternatives, lists, and "nobody".

Normalisation, exact match and F1 are those of SQuAD (Rajpurkar et al. 2016) as HotpotQA uses them (Yang et al. 2018):
letter case, punctuation, articles and blanks do not count, and "yes" or "no" share no words with anything else.
Departs from both: ``+`` and ``#`` count, and a text that is nothing but articles or punctuation stays as it is, so that
"A" and "C++" are answers.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import orjson

from mas_orchestra.score.base import Score
from mas_orchestra.score.final_answer import final_answer, repeats
from mas_orchestra.tasks.task import Task

__all__ = ["ANSWER_FORM", "Metric", "TextScorer", "f1", "normalised"]

ANSWER_FORM = "answer_form"
"""Key of `Task.metadata`; with the value ``"list"`` the answers are all of one list, in any order, not alternatives."""

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = {ord(mark): None for mark in set(string.punctuation) - set("+#") | set("“”‘’«»…")} | {
    ord(mark): " " for mark in "-–—/"
}
_SEPARATORS = re.compile(r"[\n;]")
_ITEM_MARK = re.compile(r"^(?:[-*•]|[0-9]{1,3}[.)])\s")
_AND = re.compile(r",| and | & ", re.IGNORECASE)
_CLOSED = frozenset({"yes", "no", "noanswer"})
_NOBODY = frozenset(
    {"none", "nobody", "no one", "noone", "nothing", "empty", "empty list", "na", "null", "not applicable"}
)
_EMPTY = frozenset({"[]", "{}", "()", "∅", "n/a"})
_NOBODY_SENTENCE = re.compile(r"(?:nobody|no one|none|nothing|no person)(?: of \w{1,20}){0,2}(?: \w{1,20}){1,6}")
_MOST_ITEMS = 1_000


class Metric(StrEnum):
    """What the value of a score is."""

    EXACT = "exact"
    F1 = "f1"


class TextScorer:
    """Compares with each accepted answer and takes the best; `parts` always hold both ``exact`` and ``f1``."""

    def __init__(self, *, metric: Metric = Metric.EXACT) -> None:
        self._metric = metric

    @property
    def name(self) -> str:
        """``"text:exact"`` or ``"text:f1"``."""
        return f"text:{self._metric}"

    async def score(self, task: Task, answer: str) -> Score:
        """The metric's value; unscored where the task has no answers and is no list."""
        is_list = task.metadata.get(ANSWER_FORM) == "list"
        if not task.answers and not is_list:
            return Score(value=None, reason="no_reference")
        if repeats(answer, task.question):
            return Score(value=0.0, reason="echo", parts={"exact": 0.0, "f1": 0.0})
        read = final_answer(answer)
        parts = _list_parts(read.text, task.answers) if is_list else _text_parts(read.text, task.answers)
        return Score(
            value=parts[self._metric],
            reason="right" if parts["exact"] else "wrong",
            parts=parts,
            details={"rule": self.name, "read": read.text[:500], "read_by": read.read_by.value},
        )


def normalised(text: str) -> str:
    """The words that count, in order.

    >>> normalised("The  Beatles!"), normalised("A"), normalised("New-York")
    ('beatles', 'a', 'new york')
    """
    lowered = unicodedata.normalize("NFKC", text).casefold()
    bare = " ".join(lowered.translate(_PUNCTUATION).split())
    return " ".join(_ARTICLES.sub(" ", bare).split()) or bare or " ".join(lowered.split())


def f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall over normalised words.

    >>> f1("in the city of Paris", "Paris")
    0.4
    >>> f1("yes, Paris", "yes")
    0.0
    """
    given, wanted = normalised(answer).split(), normalised(reference).split()
    if given != wanted and {*_CLOSED} & {" ".join(given), " ".join(wanted)}:
        return 0.0
    return _harmonic(sum((Counter(given) & Counter(wanted)).values()), len(given), len(wanted))


def _harmonic(shared: int, given: int, wanted: int) -> float:
    return 2 * shared / (given + wanted) if shared else 0.0


def _text_parts(answer: str, references: tuple[str, ...]) -> dict[str, float]:
    items = _json_items(answer)
    if items is not None and len(items) == 1:
        answer = items[0]
    exact = any(normalised(answer) == normalised(reference) for reference in references)
    return {"exact": float(exact), "f1": max(f1(answer, reference) for reference in references)}


def _list_parts(answer: str, references: tuple[str, ...]) -> dict[str, float]:
    wanted = {normalised(reference) for reference in references}
    best = {"exact": 0.0, "f1": 0.0}
    for items in _ways_to_list(answer):
        given = {normalised(item) for item in items}
        if given == wanted:
            return {"exact": 1.0, "f1": 1.0}
        best["f1"] = max(best["f1"], _harmonic(len(given & wanted), len(given), len(wanted)))
    return best


def _ways_to_list(answer: str) -> list[list[str]]:
    """The lists that a text can be read as; names may hold "and" or a comma, so one text may be several."""
    items = _json_items(answer)
    if items is not None:
        return [items]
    whole = answer.strip().strip("[]{}()")
    lines = _pieces(_SEPARATORS.split(whole))
    empty: list[list[str]] = [[]] if _is_nobody(answer) else []
    return [
        *empty,
        lines,
        _pieces(re.split(r",|[\n;]", whole)),
        _pieces(piece for line in lines for piece in _AND.split(line)),
    ]


def _pieces(parts: Iterable[str]) -> list[str]:
    cleaned = [_ITEM_MARK.sub("", part.strip()).strip(" \t\"'.") for part in parts]
    return [part for part in cleaned if part][:_MOST_ITEMS]


def _is_nobody(answer: str) -> bool:
    text = normalised(answer)
    return text in _NOBODY or answer.strip().casefold() in _EMPTY or bool(_NOBODY_SENTENCE.fullmatch(text))


def _json_items(text: str) -> list[str] | None:
    """The items of a JSON list of texts and numbers; ``None`` for anything else."""
    if not text.strip().startswith("["):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str | int | float) for item in value):
        return None
    return [str(item) for item in value][:_MOST_ITEMS]
