r"""Scores multiple choice: the letter in any decoration, several letters, or none.

Read in this order, each with the reading's name in the details:

1. the final answer (a box or a line "Answer: …", see `final_answer`), where it holds letters or an option's text; a box
   that holds anything else, as ``\boxed{\Delta E}``, is mathematics and is passed over;
2. a last line that is nothing but a letter; the whole reply; the last line: where that is letters or an option's text.

``B`` ``(b)`` ``B.`` ``**B)** Paris`` ``Option B`` ``\text{B}`` ``Ｂ`` ``B is correct`` are all B. ``A, C`` and
``A and C`` are two letters. A letter in the middle of a sentence ("a vitamin", "energy E") is none, and one beyond the
options is none of them. The value is 1 only for exactly the letters of a reference: naming every option earns nothing.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from mas_orchestra.score.base import Score
from mas_orchestra.score.final_answer import ReadBy, repeats, statements
from mas_orchestra.tasks.task import Task

__all__ = ["CHOICES", "ChoiceScorer", "read_letters"]

CHOICES = "choices"
"""Key of `Task.metadata`: the options' texts in the order of their letters."""

_LOOKALIKES = {ord(cyrillic): latin for cyrillic, latin in zip("АВСЕНКМОРТХ", "ABCEHKMOPTX", strict=True)}
_CIRCLED = {0x24B6 + number: chr(ord("A") + number) for number in range(26)}
_MARKS = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mathit|bf|rm)\b|[*_`$\"'{}]|\\[()\[\]]|</?answer>")
_LEAD = re.compile(r"^(?:so|thus|hence|therefore|i(?: would| will)? (?:choose|pick|select|go with)|it is)\b,? ?")
_PREFIX = re.compile(
    r"(?:the |my |correct |final |right ){0,3}(?:answers?|options?|choices?|letters?)(?: is| are)?[ :]*"
)
_SUFFIX = re.compile(r" (?:is|are) (?:the )?(?:correct|right|best|true|answer)\b.*|,? (?:because|since|as|which)\b.*")
_LETTER = r"[(\[]?[a-z][)\].:]{0,2}"
_LETTERS = re.compile(rf"{_LETTER}(?:(?: ?(?:,|;|/|&|\+) ?(?:and |or )?| and (?:also )?| or | ){_LETTER}){{0,25}}")
_MARKED_LETTER = re.compile(r"(?<!\w)(?:[(\[]([a-z])[)\]][.:]?|([a-z])[).:])(?: |$)")
_WORDS = frozenset({"and", "or", "also"})
_LONGEST = 2_000
_LONE_LETTER = 4


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
        if repeats(answer, task.question):
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
    bare = _SUFFIX.sub("", _PREFIX.sub("", _LEAD.sub("", plain, count=1), count=1)).strip().rstrip(".")
    if by_text := _by_text(bare, options):
        return by_text
    if _LETTERS.fullmatch(bare):
        return _known({word for word in re.findall(r"[a-z]+", bare) if word not in _WORDS}, options)
    if (first := _MARKED_LETTER.match(bare)) is not None:
        named = {match[1] or match[2] for match in _MARKED_LETTER.finditer(bare)}
        named |= {letter.casefold() for letter in _by_text(bare[first.end() :].strip(), options)}
        return _known(named, options)
    return ()


def _read(reply: str, options: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    for text, read_by in _places(reply):
        if letters := read_letters(text, options):
            return letters, read_by
    return (), "nothing"


def _places(reply: str) -> Iterator[tuple[str, str]]:
    """Texts to read, each with the reading's name: the last final statement first."""
    yield from ((found.text, found.read_by.value) for found in statements(reply))
    last_line = next((line for line in reversed(reply.splitlines()) if line.strip()), "")
    if len(_plain(last_line)) <= _LONE_LETTER:  # else it may be the end of a list of all options
        yield last_line, "last_line"
    yield reply, ReadBy.WHOLE.value
    yield last_line, "last_line"


def _plain(text: str) -> str:
    """Without marks that only decorate, in small letters, blanks collapsed."""
    latin = unicodedata.normalize("NFKC", text.translate(_CIRCLED)).translate(_LOOKALIKES)
    return " ".join(_MARKS.sub(" ", latin).casefold().split())


def _by_text(plain: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """The letter of the one option whose text this is."""
    found = [number for number, option in enumerate(options) if _plain(option).rstrip(".") == plain.rstrip(".")]
    return (chr(ord("A") + found[0]),) if len(found) == 1 and plain else ()


def _known(letters: set[str], options: tuple[str, ...]) -> tuple[str, ...]:
    """In capitals and in order; none at all where one of them is no option."""
    last = chr(ord("A") + len(options) - 1) if options else "Z"
    named = sorted(letter.upper() for letter in letters)
    return tuple(named) if all(letter <= last for letter in named) else ()


def _options(metadata: Mapping[str, object]) -> tuple[str, ...]:
    choices = metadata.get(CHOICES)
    return tuple(map(str, choices)) if isinstance(choices, list | tuple) else ()


def _reason(given: tuple[str, ...], references: list[tuple[str, ...]], *, right: bool) -> str:
    if right:
        return "right"
    if not given:
        return "no_choice"
    return "several_choices" if len(given) > max(map(len, references)) else "wrong"
