"""Which system answers: an orchestrator's plan, a given plan, or one sub-agent alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mas_orchestra import plan as language
from mas_orchestra.agents.spec import AgentSpec
from mas_orchestra.cli.verdict import fault_lines
from mas_orchestra.errors import InvalidPlanError, UsageError
from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.read import DEFAULT_MAX_STEPS
from mas_orchestra.plan.report import Mode, PlanFormat
from mas_orchestra.plan.schema import Plan
from mas_orchestra.run import FixedPlan, Orchestrated, PlanWriter, StandaloneAgent, System
from mas_orchestra.types import DoM

__all__ = ["SystemChoice", "read_plan", "refuse_contradictions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemChoice:
    """The options that say which system answers.

    Attributes:
        plan: File of a given plan.
        agent: A sub-agent that answers alone.
        agent_name: How the user called it.
        dom: Degree of MAS that is asked for, or under which a given plan is read.
        max_steps: Largest plan, asked for or given.
        format, repair_turns, prompt: How an orchestrator is asked; ``None`` is its default.
    """

    plan: Path | None = None
    agent: AgentSpec | None = None
    agent_name: str = ""
    dom: DoM | None = None
    format: PlanFormat | None = None
    max_steps: int | None = None
    repair_turns: int | None = None
    prompt: Path | None = None

    def system(self, catalog: Catalog) -> System:
        """The system.

        Raises:
            UsageError: The plan or the prompt cannot be read.
        """
        if self.agent is not None:
            return StandaloneAgent(agent=self.agent.agent, arguments=dict(self.agent.arguments), name=self.agent_name)
        if self.plan is not None:
            return FixedPlan(plan=read_plan(self.plan, self.dom or DoM.HIGH, catalog, self.max_steps))
        if self.prompt is not None and not self.prompt.is_file():
            raise UsageError(f"--prompt: there is no file {self.prompt}")
        writer = PlanWriter(dom=self.dom or DoM.HIGH, format=self.format, prompt=self.prompt)
        if self.repair_turns is not None:
            writer = replace(writer, repair_turns=self.repair_turns)
        if self.max_steps is not None:
            writer = replace(writer, max_steps=self.max_steps)
        return Orchestrated(writer=writer)


def refuse_contradictions(
    *, plan: bool, agent: bool, planning: Mapping[str, bool], orchestrating: Mapping[str, bool]
) -> None:
    """Options that exclude each other are an error rather than silently ignored.

    Args:
        plan: Whether a plan is given.
        agent: Whether a sub-agent is to answer alone.
        planning: Option → whether it is given, of those that only a plan heeds.
        orchestrating: Option → whether it is given, of those that only an orchestrator heeds.

    Raises:
        UsageError: Names the options.
    """
    if plan and agent:
        raise UsageError("--plan and --agent exclude each other: the one is a whole plan, the other a single step")
    senseless = [option for option, is_given in orchestrating.items() if is_given]
    if agent:
        senseless += [option for option, is_given in planning.items() if is_given]
    if (plan or agent) and senseless:
        given = "--plan" if plan else "--agent"
        raise UsageError(f"with {given} no orchestrator is asked; leave out {', '.join(senseless)}")


def read_plan(file: Path, dom: DoM, catalog: Catalog, max_steps: int | None = None) -> Plan:
    """The plan in a file, in any of the wire formats.

    Raises:
        UsageError: The file cannot be read.
        InvalidPlanError: It holds no plan that can run; lists the faults with their places.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the plan {file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"the plan {file} is not UTF-8 text at byte {error.start}") from None
    most = DEFAULT_MAX_STEPS if max_steps is None else max_steps
    report = language.read(text, dom=dom, mode=Mode.LENIENT, catalog=catalog, max_steps=most)
    if report.plan is None:
        raise InvalidPlanError(f"{file} holds no plan that can run:\n{fault_lines(report.faults)}")
    return report.plan
