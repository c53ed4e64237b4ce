"""Runs as OpenTelemetry spans, after the semantic conventions for generative AI.

One span a run (``invoke_workflow``), below it one a step (``invoke_agent``), below that one a call (``chat``). Prompts,
replies and answers are not recorded: they may hold anything. Without a configured OpenTelemetry SDK nothing happens.
"""

import time
from collections.abc import Mapping

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.util.types import AttributeValue

from mas_orchestra.run.events import CallFinished, Event, RunFinished, RunStarted, StepFinished, StepStarted
from mas_orchestra.run.outcome import CallRecord, Failure, Outcome, StepRecord
from mas_orchestra.types import Usage

__all__ = ["Telemetry"]


class Telemetry:
    """A listener that turns the events of one run at a time into spans.

    Args:
        tracer: Where spans go; by default the tracer of the globally configured provider.
    """

    def __init__(self, tracer: Tracer | None = None) -> None:
        self._tracer = tracer or trace.get_tracer("mas_orchestra")
        self._began_ns = 0
        self._run: Span | None = None
        self._steps: dict[str, Span] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case RunStarted():
                self._began_ns = time.time_ns()
                self._run = self._open(
                    f"invoke_workflow {event.system}", event.at_s, None, {"mas.system": event.system}
                )
            case StepStarted():
                facts = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": event.agent}
                name = f"invoke_agent {event.agent}"
                self._steps[event.step] = self._open(name, event.at_s, self._run, {**facts, "mas.step.id": event.step})
            case CallFinished():
                self._call(event.record, event.at_s)
            case StepFinished() if event.record.id in self._steps:
                span = self._steps.pop(event.record.id)
                self._close(span, event.at_s, _step_facts(event.record), event.record.failure)
            case RunFinished() if self._run is not None:
                self._close(self._run, event.at_s, _run_facts(event.outcome), event.outcome.failure)
                self._run = None
            case _:
                pass

    def _call(self, record: CallRecord, ended_s: float) -> None:
        parent = self._steps.get(record.step, self._run)
        span = self._open(f"chat {record.model}", record.started_s, parent, {}, SpanKind.CLIENT)
        self._close(span, ended_s, _call_facts(record), record.failure)

    def _open(
        self,
        name: str,
        at_s: float,
        parent: Span | None,
        facts: Mapping[str, AttributeValue],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        context = trace.set_span_in_context(parent) if parent else None
        return self._tracer.start_span(name, context, kind, attributes=facts, start_time=self._ns(at_s))

    def _close(self, span: Span, at_s: float, facts: Mapping[str, AttributeValue], failure: Failure | None) -> None:
        span.set_attributes(facts)
        if failure is not None:
            span.set_attribute("error.type", failure.code)
            span.set_status(Status(StatusCode.ERROR, failure.code))
        span.end(self._ns(at_s))

    def _ns(self, at_s: float) -> int:
        return self._began_ns + int(at_s * 1e9)


def _usage_facts(usage: Usage) -> dict[str, AttributeValue]:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "mas.usage.estimated": usage.estimated,
    }


def _call_facts(record: CallRecord) -> dict[str, AttributeValue]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": record.model,
        "gen_ai.response.finish_reasons": [str(choice.finish_reason) for choice in record.choices],
        "mas.call.purpose": record.purpose,
        "mas.call.requests": record.requests,
        "mas.call.queue_s": record.queue_s,
        "mas.call.cached": record.cached,
        **_usage_facts(record.usage),
    }


def _step_facts(record: StepRecord) -> dict[str, AttributeValue]:
    return {"mas.step.status": str(record.status), **_usage_facts(record.usage)}


def _run_facts(outcome: Outcome) -> dict[str, AttributeValue]:
    facts = {"mas.status": str(outcome.status), "mas.calls": outcome.calls, **_usage_facts(outcome.usage)}
    if outcome.cost_usd is not None:
        facts["mas.cost_usd"] = outcome.cost_usd
    return facts
