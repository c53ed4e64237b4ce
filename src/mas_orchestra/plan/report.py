"""What reading a plan found: the plan, or why there is none."""

from dataclasses import asdict, dataclass
from enum import StrEnum

from mas_orchestra.plan.schema import Plan
from mas_orchestra.types import DoM, JsonValue

__all__ = [
    "Fault",
    "FaultCode",
    "Mode",
    "OnNoPlan",
    "PlanFormat",
    "PlanReport",
    "Severity",
    "fault_json",
    "report_json",
]


class Mode(StrEnum):
    """How faults are treated."""

    STRICT = "strict"
    """Any error makes the plan invalid: training, and the "valid" rate of reports."""
    LENIENT = "lenient"
    """The listed repairs are made and recorded as warnings: solving, serving."""


class OnNoPlan(StrEnum):
    """What a text without any plan is."""

    ERROR = "error"
    """`no_plan`, an error."""
    ANSWER = "answer"
    """The direct answer, whatever the degree of MAS: the paper's behaviour."""


class PlanFormat(StrEnum):
    """The wire formats."""

    XML = "xml"
    TOOLS = "tools"
    JSON = "json"


class Severity(StrEnum):
    """An error makes a plan invalid, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class FaultCode(StrEnum):
    """Stable codes, one a kind of fault (the table is in docs/guide/plan-language.md)."""

    NO_PLAN = "no_plan"
    MALFORMED_XML = "malformed_xml"
    MALFORMED_JSON = "malformed_json"
    UNCLOSED_TAG = "unclosed_tag"
    TRUNCATED_PLAN = "truncated_plan"
    REASONING_NOT_CLOSED = "reasoning_not_closed"
    MISSING_FIELD = "missing_field"
    UNKNOWN_AGENT = "unknown_agent"
    BAD_ARGUMENT = "bad_argument"
    DUPLICATE_ID = "duplicate_id"
    MALFORMED_EDGE = "malformed_edge"
    UNDECLARED_ENDPOINT = "undeclared_endpoint"
    SELF_LOOP = "self_loop"
    CYCLE = "cycle"
    MULTIPLE_SINKS = "multiple_sinks"
    DISCONNECTED = "disconnected"
    UNKNOWN_REFERENCE = "unknown_reference"
    REFERENCE_WITHOUT_EDGE = "reference_without_edge"
    EDGE_WITHOUT_REFERENCE = "edge_without_reference"
    DOM_VIOLATION = "dom_violation"
    PLAN_TOO_LARGE = "plan_too_large"
    DUPLICATE_EDGE = "duplicate_edge"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with a plan's text.

    Attributes:
        message: What was found, what is accepted, what to do.
        line: 1-based line in the text, or ``None`` where the fault has no place (a cycle).
        column: 1-based column, likewise.
        step: Id of the step concerned, or ``None``.
    """

    code: FaultCode
    severity: Severity
    message: str
    line: int | None = None
    column: int | None = None
    step: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """The result of `mas_orchestra.plan.read`.

    Attributes:
        plan: The plan, repaired in lenient mode; ``None`` when it is not valid.
        faults: Errors, in the order of the text. Empty exactly when the plan is valid.
        warnings: Everything else that was found or repaired.
        found: What could be read, valid or not; for showing it to people, never for running it.
        format: The wire format that was recognised, ``None`` when none was.
        sink: Id of the step whose answer is the plan's answer; ``None`` for a direct answer or an invalid plan.
        width: Largest number of steps on one level of the graph; 0 for a direct answer.
        length: Steps on the longest chain.
        max_calls: Most LLM calls that running the plan can take.
    """

    plan: Plan | None
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    format: PlanFormat | None
    mode: Mode
    dom: DoM
    sink: str | None = None
    width: int = 0
    length: int = 0
    max_calls: int = 0
    found: Plan | None = None

    @property
    def valid(self) -> bool:
        """Whether the plan can be run."""
        return self.plan is not None


def report_json(report: PlanReport) -> dict[str, JsonValue]:
    """The object that ``mas plan check --json`` prints; steps and edges are shown for an invalid plan too."""
    shown = report.plan or report.found or Plan()
    return {
        "valid": report.valid,
        "format": report.format,
        "mode": report.mode,
        "dom": report.dom,
        "thinking": shown.thinking,
        "answer": shown.answer,
        "steps": [step.model_dump(mode="json") for step in shown.steps],
        "edges": [[edge.source, edge.target] for edge in shown.edges],
        "sink": report.sink,
        "width": report.width,
        "length": report.length,
        "max_calls": report.max_calls,
        "faults": [fault_json(fault) for fault in report.faults],
        "warnings": [fault_json(warning) for warning in report.warnings],
    }


def fault_json(fault: Fault) -> dict[str, JsonValue]:
    """A fault as ``mas plan check --json`` prints it."""
    return asdict(fault)
