r"""Scores multiple choice: the letter in any decoration, several letters, or none.

Read in this order, each with the reading's name in the details:

1. the final answer (a box or a line "Answer: …", see `final_answer`), where it holds letters or an option's text; a box
   that holds anything else, as ``\boxed{\Delta E}``, is mathematics and is passed over;
2. the whole reply, or else its last line, where that is letters or an option's text.

``B`` ``(b)`` ``B.`` ``**B)** Paris`` ``Option B`` ``\text{B}`` ``Ｂ`` ``B is correct`` are all B. ``A, C`` and
``A and C`` are two letters. A letter in the middle of a sentence ("a vitamin", "energy E") is none, and one beyond the
options is none of them. The value is 1 only for exactly the letters of a reference: naming every option earns nothing.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from mas_orchestra.score.base import Score
from mas_orchestra.score.final_answer import FinalAnswer, ReadBy, answer_lines, boxes, final_answer, is_echo
from mas_orchestra.tasks.task import Task

__all__ = ["CHOICES", "ChoiceScorer", "read_letters"]

CHOICES = "choices"
"""Key of `Task.metadata`: the options' texts in the order of their letters."""

_LOOKALIKES = {ord(cyrillic): latin for cyrillic, latin in zip("АВСЕНКМОРТХ", "ABCEHKMOPTX", strict=True)}
_CIRCLED = {0x24B6 + number: chr(ord("A") + number) for number in range(26)}
_MARKS = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mathit|bf|rm)\b|[*_`$\"'{}]|\\[()\[\]]")
_PREFIX = re.compile(
    r"(?:the |my |correct |final |right ){0,3}(?:answers?|options?|choices?|letters?)(?: is| are)?[ :]*"
)
_SUFFIX = re.compile(r" (?:is|are) (?:the )?(?:correct|right|best|true|answer)\b.{0,60}")
_LETTER = r"[(\[]?[a-z][)\].:]{0,2}"
_LETTERS = re.compile(rf"{_LETTER}(?:(?: ?(?:,|;|/|&|\+) ?(?:and |or )?| and | or | ){_LETTER}){{0,25}}")
_ONE_LETTER = re.compile(r"[a-z]")
_LETTER_WITH_TEXT = re.compile(r"(?:[(\[]([a-z])[)\]][.:]?|([a-z])[).:])(?:[ ](\S.{0,2000}))?", re.DOTALL)
_WORDS = frozenset({"and", "or"})
_LONGEST = 2_000


class ChoiceScorer:
    """Compares the letters that a reply names with those of the task's answers, as ``"B"`` or ``"A, C"``."""

    @property
    def name(self) -> str:
        """``"choice"``."""
        return "choice"

    async def score(self, task: Task, answer: str) -> Score:
        """1 for exactly the right letters, else 0; unscored where no answer of the task names letters."""
        options = _options(task.metadata)
        references = [letters for text in task.answers if (letters := read_letters(text, options))]
        if not references:
            return Score(value=None, reason="no_reference" if not task.answers else "bad_reference")
        if is_echo(answer, task.question):
            return Score(value=0.0, reason="echo")
        given, read_by = _read(answer, options)
        right = given in references
        details = {"rule": self.name, "read": ", ".join(given), "read_by": read_by}
        return Score(value=float(right), reason=_reason(given, references, right=right), details={**details})


def read_letters(text: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    r"""The letters that the whole text names, in capitals and order, each once; empty where it is anything else.

    >>> read_letters(r"\text{(b)}"), read_letters("A and C"), read_letters("Option D."), read_letters("a vitamin")
    (('B',), ('A', 'C'), ('D',), ())
    >>> read_letters("Paris", ("Rome", "Paris"))
    ('B',)
    """
    if len(text) > _LONGEST:
        return ()
    plain = _plain(text)
    if by_text := _by_text(plain, options):
        return by_text
    bare = _SUFFIX.sub("", _PREFIX.sub("", plain, count=1)).strip().rstrip(".")
    if _LETTERS.fullmatch(bare):
        words = [word for word in re.findall(r"[a-z]+", bare) if word not in _WORDS]
        return _known({word.upper() for word in words if len(word) == 1}, options)
    if (match := _LETTER_WITH_TEXT.fullmatch(bare)) is not None:
        letter, rest = match[1] or match[2], match[3]
        agrees = rest is None or not options or _by_text(rest.strip(), options) in {(), (letter.upper(),)}
        return _known({letter.upper()}, options) if agrees else ()
    return ()


def _read(reply: str, options: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    for found in _places(reply):
        if letters := read_letters(found.text, options):
            return letters, found.read_by.value
    lines = [line for line in reply.splitlines() if line.strip()]
    if lines and (letters := read_letters(lines[-1], options)):
        return letters, "last_line"
    return (), "nothing"


def _places(reply: str) -> Iterator[FinalAnswer]:
    """Final statements, the last one first; then the whole reply."""
    statements = [*boxes(reply)[-1:], *answer_lines(reply)[-1:]]
    for statement in sorted(statements, key=lambda found: found.start, reverse=True):
        inside = final_answer(statement.text)
        yield inside if inside.read_by is ReadBy.LAST_BOX else statement
    yield FinalAnswer(text=reply, start=0, read_by=ReadBy.WHOLE)


def _plain(text: str) -> str:
    """Without marks that only decorate, in small letters, blanks collapsed."""
    latin = unicodedata.normalize("NFKC", text.translate(_CIRCLED)).translate(_LOOKALIKES)
    return " ".join(_MARKS.sub(" ", latin).casefold().split())


def _by_text(plain: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """The letter of the one option whose text this is."""
    found = [number for number, option in enumerate(options) if _plain(option).rstrip(".") == plain.rstrip(".")]
    return (chr(ord("A") + found[0]),) if len(found) == 1 and plain else ()


def _known(letters: set[str], options: tuple[str, ...]) -> tuple[str, ...]:
    """In order; none at all where one of them is no option."""
    last = chr(ord("A") + len(options) - 1) if options else "Z"
    return tuple(sorted(letters)) if all(letter <= last for letter in letters) else ()


def _options(metadata: Mapping[str, object]) -> tuple[str, ...]:
    choices = metadata.get(CHOICES)
    return tuple(map(str, choices)) if isinstance(choices, list | tuple) else ()


def _reason(given: tuple[str, ...], references: list[tuple[str, ...]], *, right: bool) -> str:
    if right:
        return "right"
    if not given:
        return "no_choice"
    return "several_choices" if len(given) > max(map(len, references)) else "wrong"
