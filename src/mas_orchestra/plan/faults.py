"""Collects faults while a plan is read and gives them their lines and columns at the end."""

from dataclasses import dataclass

from mas_orchestra.plan.report import Fault, FaultCode, Mode, Severity

__all__ = ["FaultLog", "listed"]

_MOST = 1000
"""Faults that are kept of each severity: hostile text can hold a fault in every few bytes."""

_NEAR = 20_000
"""Characters in which the place of a reference is looked for; beyond that, the input's own place is given."""


@dataclass(frozen=True, slots=True)
class _Note:
    code: FaultCode
    severity: Severity
    message: str
    at: int | None
    step: str | None


class FaultLog:
    """Faults of one text, by offset until `errors` and `warnings` turn offsets into places.

    Attributes:
        mode: Decides whether a fault that has a repair is an error or a warning.
    """

    def __init__(self, text: str, mode: Mode) -> None:
        self.mode = mode
        self._text = text
        self._errors: list[_Note] = []
        self._warnings: list[_Note] = []

    def error(self, code: FaultCode, message: str, *, at: int | None = None, step: str | None = None) -> None:
        """Record what makes the plan invalid in both modes."""
        if len(self._errors) < _MOST:
            self._errors.append(_Note(code, Severity.ERROR, message, at, step))

    def warning(self, code: FaultCode, message: str, *, at: int | None = None, step: str | None = None) -> None:
        """Record what makes the plan invalid in neither mode."""
        if len(self._warnings) < _MOST:
            self._warnings.append(_Note(code, Severity.WARNING, message, at, step))

    def repair(
        self, code: FaultCode, found: str, mended: str, *, at: int | None = None, step: str | None = None
    ) -> bool:
        """Whether the caller shall mend this fault: yes, with a warning, in lenient mode; an error in strict mode.

        Args:
            code: The fault's own code.
            found: What was found and what is accepted.
            mended: What the repair does, for the warning.
            at: Offset in the text.
            step: Id of the step concerned.
        """
        if self.mode is Mode.LENIENT:
            self.warning(code, f"{found} {mended}", at=at, step=step)
            return True
        self.error(code, found, at=at, step=step)
        return False

    def place(self, at: int | None) -> str:
        """`at` in words for a message, as `` (line 3, column 1)``; empty for no place, or once the log is full."""
        if at is None or len(self._errors) >= _MOST:
            return ""
        line_start = self._text.rfind("\n", 0, at) + 1
        return f" (line {self._text.count(chr(10), 0, at) + 1}, column {at - line_start + 1})"

    def within(self, at: int | None, what: str) -> int | None:
        """Offset of `what` near offset `at` of the text, or `at` itself where it is spelt otherwise there."""
        if at is None:
            return None
        found = self._text.find(what, at, at + _NEAR)
        return found if found >= 0 else at

    def forget(self) -> None:
        """Drop everything recorded so far: the text up to here turned out to be reasoning."""
        self._errors.clear()
        self._warnings.clear()

    @property
    def has_errors(self) -> bool:
        """Whether the plan is invalid already."""
        return bool(self._errors)

    def errors(self) -> tuple[Fault, ...]:
        """Errors in the order of the text, those without a place last."""
        return self._placed(self._errors)

    def warnings(self) -> tuple[Fault, ...]:
        """Warnings, likewise."""
        return self._placed(self._warnings)

    def _placed(self, notes: list[_Note]) -> tuple[Fault, ...]:
        """One pass over the text, however many notes there are."""
        if not notes:
            return ()
        faults: list[Fault] = []
        line, line_start, seen = 1, 0, 0
        for note in sorted(notes, key=lambda note: len(self._text) + 1 if note.at is None else note.at):
            place: tuple[int, int] | tuple[None, None] = (None, None)
            if note.at is not None:
                if breaks := self._text.count("\n", seen, note.at):
                    line += breaks
                    line_start = self._text.rfind("\n", seen, note.at) + 1
                seen = note.at
                place = (line, note.at - line_start + 1)
            faults.append(
                Fault(
                    code=note.code,
                    severity=note.severity,
                    message=note.message,
                    line=place[0],
                    column=place[1],
                    step=note.step,
                )
            )
        return tuple(faults)


def listed(names: list[str], most: int = 12) -> str:
    """Quoted names for a message, cut when there are many.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
