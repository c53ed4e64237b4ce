"""What a MASBENCH text says: statements, needles, questions, and what it claims without proof.

Every sentence is put into exactly one drawer. A sentence that begins like a statement or a question and cannot be
read raises; anything else that is no fact is kept as a claim (a false value for something asked or stated) or as
prose, so a caller can show what was not used. Nothing is executed and nothing is obeyed: an instruction inside the
text is prose or a claim like any other.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mas_orchestra.masbench.claims import Claim, Mentions
from mas_orchestra.masbench.expression import Expression, is_quantity_name, read_expression, read_integer
from mas_orchestra.masbench.questions import Question, Subject, read_questions
from mas_orchestra.masbench.sentences import Sentence, UnreadableTextError, sentences

__all__ = ["Link", "Needle", "Passage", "Statement", "read_text"]

_STATEMENT = "The number of each "
_HEADER = re.compile(r"Problem (\d{1,6}):")
_PLACEHOLDER = re.compile(r"\[answer(\d{1,6})\]")
_NEEDLE_OPENERS = ("One of the special magic numbers for ", "The special magic number for ")
_END_OF_PROBLEMS = re.compile(r"(?:#+ ?Final Answers|Note: In this problem set|=+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact: `quantity` equals `expression`; `problem` is 0 where the text is one passage."""

    quantity: str
    expression: Expression
    problem: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
    """A number to be found again: "One of the special magic numbers for X is: N."."""

    name: str
    value: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A sentence that carries an earlier answer on: "[variable4] = 9 * [answer2]". It is never needed for a value."""

    variable: str
    expression: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A whole text, read; placeholders of earlier answers are already replaced by the names they stand for.

    Attributes:
        carried: By problem, the names that it knew only as the answer of an earlier problem ("[answer2]").
    """

    statements: tuple[Statement, ...]
    needles: tuple[Needle, ...]
    questions: tuple[Question, ...]
    links: tuple[Link, ...]
    claims: tuple[Claim, ...]
    prose: tuple[Sentence, ...]
    carried: Mapping[int, frozenset[str]]


def read_text(text: str) -> Passage:
    """The passage that the text is.

    Raises:
        UnreadableTextError: It is not of this family: it asks nothing, states nothing, or says so unreadably.
    """
    reader = _Reader()
    for sentence in sentences(text):
        reader.take(sentence)
    return reader.finish()


class _Reader:
    """Sorts sentences one by one; what may be a claim waits until every name is known."""

    def __init__(self) -> None:
        self._problem = 0
        self._statements: list[Statement] = []
        self._needles: list[Needle] = []
        self._questions: list[Question] = []
        self._links: list[Link] = []
        self._rest: list[Sentence] = []
        self._unread_question: UnreadableTextError | None = None

    def take(self, sentence: Sentence) -> None:
        text = sentence.text
        if text.startswith(("...", "…")) and self._statements:
            raise UnreadableTextError("statements are left out here; give the whole text", sentence)
        if header := _HEADER.fullmatch(text):
            self._problem = int(header[1])
        elif text.startswith("The number of "):
            self._statements.append(_statement(sentence, self._problem))
        elif text.startswith(_NEEDLE_OPENERS):
            self._needles.append(_needle(sentence))
        elif text.startswith("Using the result ") and (link := _link(sentence)):
            self._links.append(link)
        elif questions := self._asked(sentence):
            self._questions.extend(questions)
        else:
            self._problem = 0 if _END_OF_PROBLEMS.match(text) else self._problem
            self._rest.append(sentence)

    def _asked(self, sentence: Sentence) -> list[Question]:
        """What the sentence asks; a question that cannot be read waits, for the text may be of another family."""
        try:
            return read_questions(sentence, self._problem)
        except UnreadableTextError as error:
            self._unread_question = self._unread_question or error
            return []

    def finish(self) -> Passage:
        self._refuse_other_families()
        names = {question.problem: question.name for question in self._questions if question.problem}
        statements = tuple(_resolved(statement, names) for statement in self._statements)
        questions = tuple(self._questions)
        mentions = Mentions(_quantities(statements, questions), (needle.name for needle in self._needles))
        claims, prose = [], []
        for sentence in self._rest:
            claim = mentions.claim_of(sentence)
            claims.append(claim) if claim else prose.append(sentence)
        return Passage(
            statements=statements,
            needles=tuple(self._needles),
            questions=questions,
            links=tuple(self._links),
            claims=tuple(claims),
            prose=tuple(prose),
            carried=_carried(self._statements, names),
        )

    def _refuse_other_families(self) -> None:
        first = self._rest[0] if self._rest else Sentence(text="", line=1)
        if not self._statements and not self._needles:
            raise UnreadableTextError(
                "this is no MASBENCH text: it holds no 'The number of each A's B equals …'", first
            )
        if self._unread_question:
            raise self._unread_question
        if not self._questions:
            raise UnreadableTextError("the text asks nothing: expected 'How many B does A have?' or the like", first)


def _statement(sentence: Sentence, problem: int) -> Statement:
    quantity, equals, right = sentence.text.removeprefix(_STATEMENT).partition(" equals ")
    if not (sentence.text.startswith(_STATEMENT) and equals and is_quantity_name(quantity)):
        raise UnreadableTextError('expected "The number of each A\'s B equals …"', sentence)
    try:
        expression = read_expression(right.removesuffix("."))
    except ValueError as error:
        raise UnreadableTextError(f"the right side cannot be read ({error})", sentence) from error
    return Statement(quantity=quantity, expression=expression, problem=problem, line=sentence.line)


def _needle(sentence: Sentence) -> Needle:
    rest = sentence.text.rstrip(".")
    for opener in _NEEDLE_OPENERS:
        rest = rest.removeprefix(opener)
    name, _, number = rest.rpartition(" is")
    value = read_integer(number.lstrip(": "))
    if not name or value is None:
        raise UnreadableTextError("expected 'One of the special magic numbers for X is: N.'", sentence)
    return Needle(name=name, value=value, line=sentence.line)


def _link(sentence: Sentence) -> Link | None:
    left, equals, right = sentence.text.rstrip(".").partition("] = ")
    _, bracket, variable = left.rpartition("[")
    return Link(variable=variable, expression=right, line=sentence.line) if equals and bracket else None


def _resolved(statement: Statement, names: Mapping[int, str]) -> Statement:
    """The statement with "[answer2]" replaced by what problem 2 asks for; unknown placeholders stay names."""
    expression = statement.expression
    if not any(term.startswith("[") for term in (statement.quantity, *expression.terms)):
        return statement
    terms = tuple(_named(term, names) or term for term in expression.terms)
    quantity = _named(statement.quantity, names) or statement.quantity
    return replace(statement, quantity=quantity, expression=replace(expression, terms=terms))


def _named(quantity: str, names: Mapping[int, str]) -> str | None:
    match = _PLACEHOLDER.fullmatch(quantity)
    return names.get(int(match[1])) if match else None


def _carried(statements: Iterable[Statement], names: Mapping[int, str]) -> Mapping[int, frozenset[str]]:
    carried: dict[int, set[str]] = {}
    for statement in statements:
        for key in (statement.quantity, *statement.expression.terms):
            if name := _named(key, names):
                carried.setdefault(statement.problem, set()).add(name)
    return {problem: frozenset(found) for problem, found in carried.items()}


def _quantities(statements: Iterable[Statement], questions: Iterable[Question]) -> Iterable[str]:
    for statement in statements:
        yield statement.quantity
        yield from statement.expression.terms
    for question in questions:
        if question.subject is Subject.QUANTITY:
            yield question.name
