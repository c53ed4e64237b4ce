"""How a system is written in a line: ``debate:3x5``, ``orchestrated:URI dom=high``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mas_orchestra.agents.spec import ACCEPTED_FORMS
from mas_orchestra.errors import ConfigError
from mas_orchestra.plan.report import PlanFormat
from mas_orchestra.run import PlanWriter
from mas_orchestra.types import DoM

__all__ = ["FORMS", "HEADS", "SystemText"]

FORMS = f"""{ACCEPTED_FORMS}
orchestrated[:URI] [dom=low|high] [format=xml|json|tools] [repair_turns=N]
plan:FILE [dom=low|high]
best_of:N [model=URI] [dom=low|high] [scorer=NAME]
majority_of:N [model=URI] [dom=low|high]
workflow_search
sc@cost:SYSTEM"""
"""Every form of a system's text."""

HEADS = (
    "cot",
    "sc",
    "debate",
    "reflexion",
    "search",
    "orchestrated",
    "plan",
    "best_of",
    "majority_of",
    "workflow_search",
)
_OPTION = re.compile(r"([a-z_]{1,20})=(\S{1,500})")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemText:
    """A system's text: what stands before its options, and those."""

    whole: str
    head: str
    rest: str
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> "SystemText":
        """A text taken apart."""
        words, options = text.split(), {}
        while len(words) > 1 and (match := _OPTION.fullmatch(words[-1])):
            options[match[1]] = match[2]
            words.pop()
        head, _, rest = " ".join(words).partition(":")
        return cls(whole=" ".join(text.split()), head=head, rest=rest, options=options)

    def only(self, *known: str) -> None:
        """Refuse any option but these."""
        for name in self.options:
            if name not in known:
                accepted = ", ".join(known) or "none"
                raise ConfigError(f"system {self.whole!r}: unknown option {name!r}; it accepts: {accepted}")

    def count(self) -> int:
        """The number behind the colon."""
        if not re.fullmatch(r"[0-9]{1,3}", self.rest) or int(self.rest) < 1:
            raise ConfigError(f"system {self.whole!r}: {self.rest!r} is no number of plans, as in {self.head}:5")
        return int(self.rest)

    def dom(self) -> DoM:
        """The degree of MAS."""
        word = self.options.get("dom", DoM.HIGH.value)
        if word not in set(DoM):
            raise ConfigError(f"system {self.whole!r}: dom={word} is neither low nor high")
        return DoM(word)

    def writer(self) -> PlanWriter:
        """How the orchestrator is asked."""
        writer = PlanWriter(dom=self.dom())
        if "format" in self.options:
            if self.options["format"] not in set(PlanFormat):
                raise ConfigError(f"system {self.whole!r}: format is one of {', '.join(PlanFormat)}")
            writer = replace(writer, format=PlanFormat(self.options["format"]))
        if "repair_turns" in self.options:
            if not re.fullmatch(r"[0-9]", self.options["repair_turns"]):
                raise ConfigError(f"system {self.whole!r}: repair_turns is a number from 0 to 9")
            writer = replace(writer, repair_turns=int(self.options["repair_turns"]))
        return writer
