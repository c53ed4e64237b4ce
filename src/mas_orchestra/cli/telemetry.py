"""Spans of a run for OpenTelemetry where the standard ``OTEL_*`` variables ask for them; else nothing is loaded."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mas_orchestra.cli.boundary import complain
from mas_orchestra.run.events import Listener

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

__all__ = ["telemetry"]

EXPORTER = "OTEL_TRACES_EXPORTER"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
INSTALL = "pip install opentelemetry-sdk opentelemetry-exporter-otlp"


@contextmanager
def telemetry(environ: Mapping[str, str] = os.environ) -> Iterator[tuple[Listener, ...]]:
    """Listeners that draw the run as spans; at the end what they still hold is sent.

    Telemetry that cannot be set up is a message and no reason to answer no question.
    """
    name = _exporter_name(environ)
    if name is None:
        yield ()
        return
    from opentelemetry import trace

    from mas_orchestra.run.telemetry import Telemetry

    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield (Telemetry(),)  # whoever started us (`opentelemetry-instrument`) has set everything up, and sends it
        return
    provider = _provider(name)
    if provider is None:
        yield ()
        return
    try:
        yield (Telemetry(provider.get_tracer("mas_orchestra")),)
    finally:
        provider.shutdown()


def _exporter_name(environ: Mapping[str, str]) -> str | None:
    """Name of the exporter that is asked for, ``None`` for none."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    name = environ.get(EXPORTER, "").split(",")[0].strip().lower()
    if not name and any(environ.get(variable) for variable in ENDPOINTS):
        name = "otlp"
    if name == "otlp":
        protocol = next((environ[variable] for variable in PROTOCOLS if environ.get(variable)), "")
        name = "otlp_proto_grpc" if protocol == "grpc" else "otlp_proto_http" if protocol else "otlp"
    return None if name in {"", "none"} else name


def _provider(name: str) -> "TracerProvider | None":
    from importlib.metadata import entry_points

    try:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    except ImportError:
        complain(f"No spans: OTEL_* variables ask for them, but the OpenTelemetry SDK is not installed ({INSTALL}).")
        return None
    found = next(iter(entry_points(group="opentelemetry_traces_exporter", name=name)), None)
    if found is None:
        complain(f"No spans: there is no OpenTelemetry exporter {name!r} on this machine ({INSTALL}).")
        return None
    try:
        exporter = ConsoleSpanExporter(out=sys.stderr) if name == "console" else found.load()()
    except Exception as error:  # noqa: BLE001  (an exporter is anybody's code; a question is answered without it)
        complain(f"No spans: the OpenTelemetry exporter {name!r} cannot be used: {type(error).__name__}: {error}")
        return None
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
