"""`read` and `check`: from a model's text, or a plan made by hand, to a report with every fault."""

from mas_orchestra.plan.catalog import Catalog, installed_catalog
from mas_orchestra.plan.check import judge
from mas_orchestra.plan.check_state import Rules
from mas_orchestra.plan.draft import Draft
from mas_orchestra.plan.faults import FaultLog
from mas_orchestra.plan.report import FaultCode, Mode, OnNoPlan, PlanFormat, PlanReport
from mas_orchestra.plan.scan import scan
from mas_orchestra.plan.schema import Plan
from mas_orchestra.types import DoM

__all__ = ["AUTO", "DEFAULT_MAX_STEPS", "check", "read"]

AUTO = "auto"
"""Find the wire format out."""
DEFAULT_MAX_STEPS = 64

_TRUNCATED = "the model stopped by length, so the plan may be cut off; allow more tokens or ask for a shorter plan."


def read(
    text: str,
    *,
    dom: DoM | str = DoM.HIGH,
    mode: Mode | str = Mode.STRICT,
    format: PlanFormat | str = AUTO,  # noqa: A002  (the word of the command line)
    catalog: Catalog | None = None,
    max_steps: int = DEFAULT_MAX_STEPS,
    max_calls: int | None = None,
    on_no_plan: OnNoPlan | str = OnNoPlan.ERROR,
    truncated: bool = False,
    auto_join: bool = False,
) -> PlanReport:
    """What a model's text says, or every reason why it is no valid plan; no text makes it raise.

    Args:
        text: The whole reply, reasoning and prose included.
        dom: Degree of MAS that was asked for.
        mode: Whether faults with a repair are errors or are mended.
        format: The wire format, or ``auto``.
        catalog: Sub-agents that may be named; all installed ones by default.
        max_steps: Most steps.
        max_calls: Most LLM calls in the worst case, as the cards reckon it.
        on_no_plan: ``answer`` takes a text without any plan as a direct answer (the paper's behaviour).
        truncated: The model stopped by length; such a plan is never valid.
        auto_join: In lenient mode, join several sinks by a collector step.

    Raises:
        ValueError: `dom`, `mode`, `format` or `on_no_plan` is not one of its words.
    """
    wanted, otherwise = None if format == AUTO else PlanFormat(format), OnNoPlan(on_no_plan)
    rules = _rules(dom, catalog, max_steps, max_calls, auto_join=auto_join)
    text = _without_surrogates(text)
    faults = FaultLog(text, Mode(mode))
    found = scan(text, wanted, rules.catalog, faults, max_steps=max_steps)
    if truncated:
        faults.error(FaultCode.TRUNCATED_PLAN, _TRUNCATED, at=len(text))
    if found.draft.steps or found.draft.answer is not None:
        return judge(found.draft, faults, rules)
    return _no_plan(found.draft, found.outside, faults, rules, otherwise)


def check(
    plan: Plan,
    *,
    dom: DoM | str = DoM.HIGH,
    mode: Mode | str = Mode.STRICT,
    catalog: Catalog | None = None,
    max_steps: int = DEFAULT_MAX_STEPS,
    max_calls: int | None = None,
    auto_join: bool = False,
) -> PlanReport:
    """The report on a plan made by hand, by the same rules as `read`; its faults have no places.

    >>> check(Plan(answer="42"), dom="low", catalog=Catalog()).valid
    True
    """
    rules = _rules(dom, catalog, max_steps, max_calls, auto_join=auto_join)
    faults = FaultLog("", Mode(mode))
    draft = Draft.of(plan)
    if not draft.steps and not (draft.answer or "").strip():
        return _no_plan(draft, "", faults, rules, OnNoPlan.ERROR)
    return judge(draft, faults, rules)


def _rules(dom: DoM | str, catalog: Catalog | None, max_steps: int, max_calls: int | None, *, auto_join: bool) -> Rules:
    return Rules(
        dom=DoM(dom),
        catalog=installed_catalog() if catalog is None else catalog,
        max_steps=max_steps,
        max_calls=max_calls,
        auto_join=auto_join,
    )


def _no_plan(draft: Draft, outside: str, faults: FaultLog, rules: Rules, on_no_plan: OnNoPlan) -> PlanReport:
    """A text without any plan: an error, or the direct answer that the paper's reader takes it for."""
    message = "neither a step nor an answer was found"
    answer = None
    if not faults.has_errors:
        if on_no_plan is OnNoPlan.ANSWER and draft.format is None and outside:
            faults.warning(FaultCode.NO_PLAN, f"{message}; the whole text is taken as the answer.", at=0)
            answer = outside
        else:
            found = message if outside or draft.format else "the text is empty (reasoning apart)"
            faults.error(FaultCode.NO_PLAN, f"{found}; write a plan in one of the formats xml, tools, json.", at=0)
    plan = Plan(thinking=draft.thinking, answer=answer)
    return PlanReport(
        plan=None if faults.has_errors else plan,
        faults=faults.errors(),
        warnings=faults.warnings(),
        format=draft.format,
        mode=faults.mode,
        dom=rules.dom,
        found=plan,
    )


def _without_surrogates(text: str) -> str:
    """`text` with halves of surrogate pairs replaced, one character for one: no value of ours can hold them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
