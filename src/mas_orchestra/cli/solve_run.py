"""How ``mas solve`` goes: check everything that costs nothing, run, deliver whatever came of it."""

import asyncio
import dataclasses
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rich.console import Console

from mas_orchestra.agents.registry import Registry
from mas_orchestra.agents.spec import AgentSpec, parse_agent_spec
from mas_orchestra.cli.boundary import ExitCode, complain
from mas_orchestra.cli.deliver import check_writable, deliver
from mas_orchestra.cli.interrupt import cancelling, undisturbed
from mas_orchestra.cli.live import Display, can_draw, lines, screen, silence
from mas_orchestra.cli.question import read_question
from mas_orchestra.cli.solve_models import choose_models
from mas_orchestra.cli.solve_options import DegreeChoice, FormatChoice, OnErrorChoice
from mas_orchestra.cli.solve_system import SystemChoice, refuse_contradictions
from mas_orchestra.cli.telemetry import telemetry
from mas_orchestra.config import Settings, load_settings
from mas_orchestra.errors import ConfigError
from mas_orchestra.models.base import ChatModel
from mas_orchestra.plan.report import PlanFormat
from mas_orchestra.run import Limits, OnStepError, Outcome, Runtime, System, run_async
from mas_orchestra.run import solve as solve_question
from mas_orchestra.run.events import Event, Listener, RunFinished
from mas_orchestra.search.base import Retriever
from mas_orchestra.types import DoM, JsonValue

__all__ = ["Request", "answer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user typed, option by option; see `solve_options`."""

    question: str | None
    file: Path | None
    model: str | None
    orchestrator: str | None
    dom: DegreeChoice | None
    plan: Path | None
    agent: str | None
    corpus: Path | None
    as_json: bool
    trace: Path | None
    quiet: bool
    max_calls: int | None
    max_tokens: int | None
    max_cost: float | None
    timeout: float | None
    step_timeout: float | None
    on_step_error: OnErrorChoice
    max_steps: int | None
    repair_turns: int | None
    prompt: Path | None
    plan_format: FormatChoice | None
    cache: Path | None
    seed: int
    config: Path | None
    overrides: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A request that was understood: nothing is left to find out but the answer."""

    question: str
    system: System
    runtime: Runtime


def answer(request: Request) -> ExitCode:
    """Solve and deliver.

    Raises:
        UsageError: Found before anything was sent.
    """
    job = _understand(request)
    ends: list[Outcome] = []
    code = ExitCode.INTERRUPTED
    with telemetry() as listeners:
        try:
            run_async(_run(job, _display(request), listeners, ends.append))
        finally:
            # Whatever else breaks, a run that ended is delivered: it was paid for.
            if ends:
                with undisturbed():
                    code = deliver(ends[0], as_json=request.as_json, trace=request.trace, quiet=request.quiet)
    return code


def _understand(request: Request) -> _Job:
    """Everything that can be found out without asking a model, most of it about mistakes of the user."""
    _refuse_contradictions(request)
    question = read_question(request.question, request.file)
    settings = load_settings(request.config, request.overrides or ())
    alone = parse_agent_spec(request.agent) if request.agent else None
    runtime = _runtime(request, settings, Registry.installed(_agent_options(settings, alone)))
    system = _system_choice(request, alone).system(runtime.catalog)
    if request.trace is not None:
        check_writable(request.trace)
    return _Job(question=question, system=system, runtime=runtime)


def _refuse_contradictions(request: Request) -> None:
    refuse_contradictions(
        plan=request.plan is not None,
        agent=request.agent is not None,
        planning={"--dom": request.dom is not None, "--max-steps": request.max_steps is not None},
        orchestrating={
            "--orchestrator": request.orchestrator is not None,
            "--format": request.plan_format is not None,
            "--repair-turns": request.repair_turns is not None,
            "--prompt": request.prompt is not None,
        },
    )


def _agent_options(settings: Settings, alone: AgentSpec | None) -> dict[str, dict[str, JsonValue]]:
    """Options of the sub-agents: those of the settings, and what ``--agent NAME:SIZE`` says over them."""
    options = settings.agent_options
    if alone is not None and alone.options:
        options[alone.agent] = {**options.get(alone.agent, {}), **alone.options}
    return options


def _system_choice(request: Request, alone: AgentSpec | None) -> SystemChoice:
    asked = request.plan_format or FormatChoice.AUTO
    return SystemChoice(
        plan=request.plan,
        agent=alone,
        agent_name=request.agent or "",
        dom=DoM(request.dom) if request.dom else None,
        format=None if asked is FormatChoice.AUTO else PlanFormat(asked),
        max_steps=request.max_steps,
        repair_turns=request.repair_turns,
        prompt=request.prompt,
    )


def _runtime(request: Request, settings: Settings, registry: Registry) -> Runtime:
    chosen = choose_models(request.model, request.orchestrator, settings)
    if chosen.is_fallback and not request.quiet:
        complain(f"No model was named, so the embedded {chosen.model} answers: small, free, and often wrong.")
    opened = cache(lambda uri: _opened(uri, request.cache, settings))  # one URI is one model, however often it is named
    return Runtime(
        model=opened(chosen.model),
        models={name: opened(entry.model) for name, entry in settings.menu.items()},
        model_hints={name: entry.good_at for name, entry in settings.menu.items()},
        agent_models={name: opened(uri) for name, uri in settings.agent_models.items()},
        orchestrator=opened(chosen.orchestrator) if chosen.orchestrator else None,
        registry=registry,
        retriever=_retriever(request.corpus),
        limits=Limits(
            max_calls=request.max_calls,
            max_tokens=request.max_tokens,
            max_cost_usd=request.max_cost,
            timeout_s=request.timeout,
            step_timeout_s=request.step_timeout,
        ),
        on_step_error=OnStepError(request.on_step_error),
        seed=request.seed,
    )


def _opened(uri: str, cache: Path | None, settings: Settings) -> ChatModel:
    from mas_orchestra.models.cache import CachedModel
    from mas_orchestra.models.uri import open_model

    model = open_model(uri, settings)
    if cache is not None:
        return CachedModel(model, cache)  # may answer without any key
    if missing := getattr(model, "missing_key", None):
        raise ConfigError(f"{uri}: there is no key for it; set {missing} in the environment. Nothing was asked.")
    return model


def _retriever(corpus: Path | None) -> Retriever | None:
    if corpus is None:
        return None
    from mas_orchestra.search.bm25 import BM25Retriever

    return BM25Retriever.from_jsonl(corpus)


def _display(request: Request) -> AbstractAsyncContextManager[Display]:
    if request.quiet:
        return silence(complain)
    if can_draw(sys.stderr):
        return screen(Console(stderr=True, highlight=False, markup=False, emoji=False))
    return lines(complain)


async def _run(
    job: _Job,
    display: AbstractAsyncContextManager[Display],
    listeners: tuple[Listener, ...],
    end: Callable[[Outcome], None],
) -> None:
    """Run to the end; `end` gets the outcome even when the run is interrupted or showing it breaks."""

    def listen(event: Event) -> None:
        if isinstance(event, RunFinished):
            end(event.outcome)

    try:
        async with display as shown:
            runtime = dataclasses.replace(job.runtime, listeners=(listen, shown.listen, *listeners))
            task = asyncio.create_task(solve_question(job.question, job.system, runtime))
            with cancelling(task, shown.say), suppress(asyncio.CancelledError):
                await task
    finally:
        await job.runtime.close()
