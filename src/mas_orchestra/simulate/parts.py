"""What a simulated model replies in each part that it can be asked to play."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from mas_orchestra.models.base import Choice, FinishReason
from mas_orchestra.simulate.handed import assignment, given_answers
from mas_orchestra.simulate.prompt import Part, Prompt
from mas_orchestra.simulate.text import read
from mas_orchestra.simulate.work import Circumstances, Worked, work_out
from mas_orchestra.simulate.write import ANSWER_MARK, answer_of, fields, malformed

__all__ = ["Speaker"]


class Speaker:
    """Answers one prompt, as often as it is asked to.

    Raises:
        UnreadableTextError, UnsolvableTextError: The prompt holds no text of the family, or one without an answer.
    """

    def __init__(self, prompt: Prompt, circumstances: Circumstances) -> None:
        self._prompt, self._by = prompt, circumstances
        self._text = read(prompt.text)
        self._asked = assignment(self._text, prompt.task)
        self._text.route(self._asked.targets, ())  # raises here, before anything is said

    def say(self, rng: Random) -> Choice:
        """One sample."""
        match self._prompt.part:
            case Part.CRITIC:
                return self._written(self._criticism(rng), rng)
            case Part.DEBATER | Part.JUDGE if self._prompt.own or self._prompt.opinions:
                return self._answered(self._settled(rng), rng)
            case _:
                return self._answered(self._solved(rng), rng)

    def _answered(self, worked: Worked, rng: Random) -> Choice:
        answer = answer_of(self._text, self._asked, worked.values)
        steps = "\n".join(worked.steps)
        if worked.is_cut:
            whole = fields(self._prompt.form, {"thinking": f"{steps}\n{ANSWER_MARK}", "answer": answer})
            return Choice(content=_before_answer(whole), finish_reason=FinishReason.LENGTH)
        thinking = "" if self._by.is_brief else f"{steps}\n{ANSWER_MARK}{answer}".lstrip()
        return self._written({"thinking": thinking, "answer": answer}, rng)

    def _written(self, contents: Mapping[str, str | bool], rng: Random) -> Choice:
        form = self._prompt.form
        if rng.random() < self._by.profile.format_error:
            return Choice(content=malformed(form, contents, rng))
        return Choice(content=fields(form, contents))

    def _solved(self, rng: Random) -> Worked:
        """The work, or for values that are to be checked, the values unless an error in them is seen."""
        asked = self._asked
        if not asked.is_check:
            return work_out(self._text, asked, self._by, rng)
        doubtful = self._doubtful(dict(asked.handed), rng)
        trusted = tuple(item for item in asked.handed if item[0] not in doubtful)
        return work_out(self._text, replace(asked, handed=trusted), self._by, rng)

    def _doubtful(self, answers: Mapping[str, int], rng: Random) -> tuple[str, ...]:
        """Names whose value the model objects to, rightly or not."""
        truth = self._text.true_values(tuple(answers))
        profile = self._by.profile
        return tuple(
            name
            for name, value in answers.items()
            if rng.random() < (profile.false_alarm if value == truth[name] else profile.catch)
        )

    def _criticism(self, rng: Random) -> Mapping[str, str | bool]:
        """What a critic says of an attempt: one draw for the whole of it, and the first place that it objects to."""
        targets = self._asked.targets
        attempted = given_answers(self._text, targets, _final(self._prompt.own))
        truth = self._text.true_values(targets)
        wrong = [name for name in targets if attempted.get(name) != truth[name]]
        profile = self._by.profile
        if rng.random() >= (profile.catch if wrong else profile.false_alarm):
            return {"feedback": "I followed every step and found no mistake.", "correct": True}
        place = wrong[0] if wrong else rng.choice(targets)
        return {"feedback": f"The value of {place} does not follow from the statements.", "correct": False}

    def _settled(self, rng: Random) -> Worked:
        """What the model thinks after it has read others: by majority, and by solving anew where there is none."""
        prompt, targets = self._prompt, self._asked.targets
        own = given_answers(self._text, targets, _final(prompt.own))
        others = [given_answers(self._text, targets, _final(opinion)) for opinion in prompt.opinions]
        is_sway = rng.random() < self._by.profile.conformity
        fresh: Mapping[str, int] = {}
        worked = Worked(values={}, steps=())
        values: dict[str, int] = {}
        for name in targets:
            said = [answers[name] for answers in (own, *others) if name in answers]
            agreed = _majority(said)
            if agreed is not None and (len(set(said)) == 1 or is_sway or name not in own):
                values[name] = agreed
                continue
            if not fresh:
                worked = work_out(self._text, self._asked, self._by, rng)
                fresh = worked.values
            values[name] = fresh[name] if fresh[name] in said or not said else own.get(name, said[0])
        return replace(worked, values=values)


def _majority(said: Sequence[int]) -> int | None:
    """The value of more than half of them."""
    if not said:
        return None
    value, count = Counter(said).most_common(1)[0]
    return value if 2 * count > len(said) else None


def _final(text: str) -> str:
    """The end of a reply or thought, where its answer is."""
    for mark in ("\nAnswer: ", ANSWER_MARK):
        _, found, answer = text.rpartition(mark)
        if found:
            return answer
    return text.removeprefix("Answer: ")


def _before_answer(whole: str) -> str:
    """A reply that was cut off before its answer."""
    return whole[: whole.index(ANSWER_MARK)]
