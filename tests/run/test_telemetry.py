import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mas_orchestra.errors import ServerError
from mas_orchestra.run import FixedPlan, solve
from mas_orchestra.run.telemetry import Telemetry
from support.runs import FakeModel, echo_plan, runtime_of
from support.virtual_time import run_virtual


def spans_of(model):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    listener = Telemetry(provider.get_tracer("test"))
    run_virtual(solve("Secret?", FixedPlan(plan=echo_plan("a>b")), runtime_of(model, listeners=(listener,))))
    return exporter.get_finished_spans()


def test_a_run_is_a_tree_of_spans():
    spans = spans_of(FakeModel(latency=lambda _: 1.0))
    names = [span.name for span in spans]
    assert names == ["chat fake:model", "invoke_agent Echo"] * 2 + ["invoke_workflow plan"]
    run = spans[-1]
    steps = [span for span in spans if span.name.startswith("invoke_agent")]
    assert [span.parent.span_id for span in steps] == [run.context.span_id] * 2
    assert spans[0].parent.span_id == steps[0].context.span_id
    assert [span.attributes["mas.step.id"] for span in steps] == ["a", "b"]
    assert (run.end_time - run.start_time) / 1e9 == pytest.approx(2.0)
    assert (spans[2].end_time - spans[2].start_time) / 1e9 == pytest.approx(1.0)


def test_usage_follows_the_conventions():
    call, *_, run = spans_of(FakeModel())
    assert call.attributes["gen_ai.operation.name"] == "chat"
    assert call.attributes["gen_ai.usage.input_tokens"] == 10
    assert call.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert run.attributes["gen_ai.usage.output_tokens"] == 10
    assert run.attributes["mas.status"] == "answered"


def test_failures_are_marked_by_their_code():
    call, step, run = spans_of(FakeModel(reply=lambda _: ServerError("the reply said hunter2")))
    assert {span.attributes["error.type"] for span in (call, step, run)} == {"server_error"}
    assert not call.status.is_ok


def test_texts_stay_out_of_spans():
    for span in spans_of(FakeModel(reply=lambda _: "hunter2")):
        assert "hunter2" not in str(span.to_json())
        assert "Secret?" not in str(span.to_json())
