"""Traces: an outcome as a versioned JSON file, and as the object that ``mas solve --json`` prints."""

import json
import os
import tempfile
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from mas_orchestra import plan as language
from mas_orchestra.errors import FileFormatError
from mas_orchestra.run.ledger import total_cost_usd, total_usage
from mas_orchestra.run.outcome import CallRecord, Failure, Outcome, StepRecord, Warned
from mas_orchestra.types import JsonValue, Usage

__all__ = ["TRACE_VERSION", "outcome_json", "read_trace", "write_trace"]

TRACE_VERSION: Literal[1] = 1


class _Trace(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["mas-orchestra-trace"] = "mas-orchestra-trace"
    version: Literal[1] = TRACE_VERSION
    outcome: Outcome


def write_trace(outcome: Outcome, path: Path) -> None:
    """Write a trace whole or not at all.

    Raises:
        FileFormatError: The file cannot be written; says why.
    """
    text = json.dumps(_Trace(outcome=outcome).model_dump(mode="json"), ensure_ascii=False, indent=1)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            try:
                file.write(text.encode(errors="replace"))  # half a surrogate pair must not cost the whole trace
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise FileFormatError(f"cannot write the trace {path}: {error.strerror or error}") from error


def read_trace(path: Path) -> Outcome:
    """The outcome that a trace holds.

    Raises:
        FileFormatError: No such file, not a trace, or a version that this release does not read.
    """
    try:
        data = path.read_bytes()
        head = orjson.loads(data)
    except OSError as error:
        raise FileFormatError(f"cannot read the trace {path}: {error.strerror or error}") from error
    except orjson.JSONDecodeError as error:
        raise FileFormatError(f"{path} is not a trace: not JSON ({error})") from error
    if not isinstance(head, dict) or head.get("format") != "mas-orchestra-trace":
        raise FileFormatError(f'{path} is not a trace: "format" is not "mas-orchestra-trace"')
    if head.get("version") != TRACE_VERSION:
        raise FileFormatError(
            f"{path} is a trace of version {head.get('version')!r}; this release reads version {TRACE_VERSION}"
        )
    try:
        return _Trace.model_validate_json(data).outcome
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise FileFormatError(f"{path} is a broken trace: {place}: {first['msg']}") from error


def outcome_json(outcome: Outcome) -> dict[str, JsonValue]:
    """The object that ``mas solve --json`` prints."""
    report = outcome.report
    return {
        "status": outcome.status,
        "answer": outcome.answer,
        "plan": language.report_json(report) if report else None,
        "steps": [_step_json(step) for step in outcome.steps],
        "usage": {"calls": outcome.calls, **_usage_json(outcome.usage)},
        "cost_usd": outcome.cost_usd,
        "models": _models_json(outcome),
        "wall_s": round(outcome.wall_s, 6),
        "critical_path_s": round(outcome.critical_path_s, 6),
        "faults": [language.fault_json(fault) for fault in outcome.faults],
        "warnings": [
            *(language.fault_json(warning) for warning in (report.warnings if report else ())),
            *(_pair_json(warning) for warning in outcome.warnings),
        ],
        "failure": _pair_json(outcome.failure),
    }


def _models_json(outcome: Outcome) -> list[JsonValue]:
    """What each model took, in the order of their first calls."""
    by_model: dict[str, list[CallRecord]] = {}
    calls = (*outcome.planning, *(call for step in outcome.steps for call in step.calls))
    for call in sorted(calls, key=lambda call: call.started_s):
        by_model.setdefault(call.model, []).append(call)
    return [
        {
            "model": model,
            "usage": {"calls": sum(record.calls for record in records), **_usage_json(total_usage(records))},
            "cost_usd": total_cost_usd(records),
        }
        for model, records in by_model.items()
    ]


def _step_json(step: StepRecord) -> dict[str, JsonValue]:
    return {
        "id": step.id,
        "agent": step.agent,
        "status": step.status,
        "input": step.input,
        "output": step.output,
        "calls": sum(call.calls for call in step.calls),
        "usage": _usage_json(step.usage),
        "cost_usd": step.cost_usd,
        "wall_s": round(step.wall_s, 6),
        "details": step.details,
        "failure": _pair_json(step.failure),
    }


def _usage_json(usage: Usage) -> dict[str, JsonValue]:
    return {
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "estimated": usage.estimated,
    }


def _pair_json(found: Failure | Warned | None) -> JsonValue:
    return {"code": found.code, "message": found.message} if found else None
