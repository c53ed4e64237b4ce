"""The orchestrator: a model writes the whole plan in one reply; it is asked again only with the faults of its text."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from mas_orchestra import plan as language
from mas_orchestra.models.base import ChatModel, Choice, Completion, FinishReason, Params
from mas_orchestra.plan.compact import compact_messages, compact_schema
from mas_orchestra.plan.report import Fault, Mode, PlanFormat, PlanReport
from mas_orchestra.run.events import PlanParsed
from mas_orchestra.run.outcome import ORCHESTRATOR
from mas_orchestra.run.session import Session
from mas_orchestra.run.step_clock import StepClock
from mas_orchestra.types import DoM, JsonObject, Message, ResponseSchema

__all__ = ["PlanWriter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWriter:
    """How a model is asked for a plan.

    Attributes:
        format: Wire format to ask for; ``None`` takes json where the model can enforce a schema, else xml.
        repair_turns: How often the model may be asked again with the faults of its last text.
        max_steps: Largest plan, in steps.
        prompt: A prompt template of the user's own, as for a checkpoint that was trained on another prompt.
        answer_without_plan: Take a text without any plan as a direct answer (the paper's parser does).
    """

    dom: DoM = DoM.HIGH
    mode: Mode = Mode.LENIENT
    format: PlanFormat | None = None
    repair_turns: int = 2
    max_steps: int = 64
    prompt: Path | None = None
    params: Params = Params(temperature=0.5)
    answer_without_plan: bool = False

    async def __call__(self, session: Session) -> PlanReport:
        """The report of the last text that the orchestrator wrote.

        A text that was cut off by length, or that repeats the one before, is not asked for again. An empty one is asked
        for word for word, since there is nothing in it to be mended.

        Raises:
            CallError, BudgetError: From the model and the run.
        """
        model = session.runtime.orchestrator or session.runtime.model
        faults: tuple[Fault, ...] = ()
        previous: str | None = None
        for attempt in range(1, self.repair_turns + 2):
            request = self._request(session, model, faults, previous)
            completion = await _ask(session, model, request, attempt)
            text = _text_of(completion.choices[0])
            report = self._read(session, text, completion)
            session.emit(PlanParsed(at_s=session.elapsed_s, attempt=attempt, report=report))
            if report.valid or _is_cut_off(completion) or text == previous:
                break
            faults, previous = report.faults, text
        return report

    def _request(
        self, session: Session, model: ChatModel, faults: tuple[Fault, ...], previous: str | None
    ) -> "_Request":
        """What to send: prompt, and tools or a schema as the format and the model's abilities ask for."""
        question, catalog = session.task.question, session.runtime.catalog
        asked = self.format or (PlanFormat.JSON if model.abilities.json_schema else PlanFormat.XML)
        if model.abilities.small and asked is PlanFormat.JSON and self.prompt is None:
            return _Request(
                messages=compact_messages(question, catalog=catalog, dom=self.dom),
                params=_with_schema(self.params, compact_schema(catalog, self.dom)),
            )
        prompt = language.prompt_messages(
            question,
            dom=self.dom,
            catalog=catalog,
            format=asked,
            template=self.prompt,
            faults=faults if previous and previous.strip() else (),
            previous=previous or "",
        )
        params = self.params
        if asked is PlanFormat.TOOLS:
            params = dataclasses.replace(params, tools=language.tools(catalog, self.dom))
        elif asked is PlanFormat.JSON:
            params = _with_schema(params, language.json_schema(catalog, self.dom))
        return _Request(messages=prompt, params=params)

    def _read(self, session: Session, text: str, completion: Completion) -> PlanReport:
        return language.read(
            text,
            dom=self.dom,
            mode=self.mode,
            catalog=session.runtime.catalog,
            max_steps=self.max_steps,
            max_calls=session.budget.calls_left,
            on_no_plan="answer" if self.answer_without_plan else "error",
            truncated=_is_cut_off(completion),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    messages: tuple[Message, ...]
    params: Params


async def _ask(session: Session, model: ChatModel, request: _Request, attempt: int) -> Completion:
    purpose = "plan" if attempt == 1 else f"plan, repair turn {attempt - 1}"
    return await session.call(
        model, request.messages, request.params, step=ORCHESTRATOR, purpose=purpose, clock=StepClock(None)
    )


def _with_schema(params: Params, schema: JsonObject) -> Params:
    return dataclasses.replace(params, response_schema=ResponseSchema(name="plan", schema=schema))


def _text_of(choice: Choice) -> str:
    return language.text_of_tool_calls(choice.tool_calls, choice.content) if choice.tool_calls else choice.content


def _is_cut_off(completion: Completion) -> bool:
    return completion.choices[0].finish_reason is FinishReason.LENGTH
