"""What one evaluation is: systems, tasks, attempts, models, limits; read from TOML and kept, resolved, with the run."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from mas_orchestra.config import CONFIG_FILE, Section, Settings, read_config, read_toml
from mas_orchestra.errors import ConfigError
from mas_orchestra.run.runtime import Limits, OnStepError
from mas_orchestra.types import JsonValue

__all__ = ["AttemptLimits", "EvalConfig", "RunCaps", "differences", "read_eval_config", "read_stored_config", "to_toml"]

Texts = Annotated[tuple[str, ...], Field(strict=False)]  # TOML has lists, no tuples

SECRET_HEADERS = ("authorization", "key", "token", "cookie", "secret")


class AttemptLimits(Section):
    """``[limits]``: hard limits of one attempt, as in `mas_orchestra.run.Limits`."""

    max_calls: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_cost_usd: float | None = Field(default=None, gt=0)
    timeout_s: float | None = Field(default=None, gt=0)
    step_timeout_s: float | None = Field(default=None, gt=0)

    def limits(self) -> Limits:
        """The limits of the runtime."""
        return Limits(**self.model_dump())


class RunCaps(Section):
    """``[caps]``: hard limits of the whole run, all its processes and interruptions together."""

    max_calls: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_cost_usd: float | None = Field(default=None, gt=0)
    max_time_s: float | None = Field(default=None, gt=0)
    """Seconds of this start of the run, not of earlier ones."""


class EvalConfig(Settings):
    """One evaluation; models, endpoints, prices and sub-agents' options as in `mas.toml`, with this file over it.

    Attributes:
        name: Name of the run, and of its folder unless one is given.
        systems: What is compared, as ``sc:5`` or ``orchestrated:openai:NAME dom=high``.
        reference: The system that the others are compared with; the first single agent by default.
        matched_cost: Add ``sc@cost:SYSTEM`` for every multi-agent system that has none.
        tasks: Task sets, as ``masbench:data/masbench`` or ``jsonl:mine.jsonl``.
        validation: Task sets of ``workflow_search``, which must share no task with `tasks`.
        max_tasks: Use only the first so many tasks.
        attempts: Attempts of each system at each task (MAS-Orchestra, section 5: avg@8).
        seed: Names every random draw of the run.
        judge: URI of the model that judges tasks of kind ``judge``.
        corpus: JSON lines that search agents search.
        plan_scorer: Picks the plan of ``best_of:N``, see `mas_orchestra.evaluate.plan_scorers`.
        expected_reply_tokens: Tokens of a reply that the estimate before the run reckons with.
        concurrency: Attempts in flight in one process.
        cache: Folder of the response cache.
        store: PostgreSQL URL without a password; unset is SQLite in the run's folder.
        stop_after_errors: End the run after so many broken attempts in a row: the endpoint is down.
    """

    name: str = Field(default="evaluation", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    systems: Texts = Field(min_length=1)
    reference: str | None = None
    matched_cost: bool = True
    tasks: Texts = ()
    validation: Texts = ()
    max_tasks: int | None = Field(default=None, ge=1)
    attempts: int = Field(default=8, ge=1, le=10_000)
    seed: int = Field(default=0, ge=-(2**63), lt=2**63)
    judge: str | None = None
    limits: AttemptLimits = AttemptLimits()
    on_step_error: OnStepError = Field(default=OnStepError.FAIL, strict=False)
    corpus: str | None = None
    plan_scorer: str | None = None
    expected_reply_tokens: int = Field(default=500, ge=1)
    concurrency: int = Field(default=32, ge=1)
    cache: str | None = None
    store: str | None = None
    caps: RunCaps = RunCaps()
    stop_after_errors: int = Field(default=25, ge=1)

    @field_validator("store")
    @classmethod
    def _without_password(cls, url: str | None) -> str | None:
        """A password would end in the run's config file."""
        if url is not None and not url.startswith(("postgresql://", "postgres://")):
            raise ValueError("accepted are postgresql://USER@HOST/DATABASE, or nothing for a file in the run's folder")
        if url is not None and ":" in url.partition("://")[2].partition("/")[0].rpartition("@")[0]:
            raise ValueError("holds a password; leave it out and set PGPASSWORD, or use ~/.pgpass")
        return url


OPERATIONAL = frozenset(
    {"concurrency", "cache", "caps", "endpoints", "store", "stop_after_errors", "expected_reply_tokens"}
)
"""What may change between two starts of one run: how it is run, not what is measured."""


def read_eval_config(
    file: Path | None,
    overrides: Sequence[str] = (),
    *,
    given: Mapping[str, JsonValue] | None = None,
    base: Path | None = None,
) -> EvalConfig:
    """The resolved configuration: `mas.toml`, then the evaluation's own file, then options and ``--set``.

    Args:
        file: The evaluation's file.
        overrides: Texts such as ``attempts=4``.
        given: What command line options say.
        base: Settings under it all; ``mas.toml`` in the current folder where there is one.

    Raises:
        ConfigError: A file that cannot be read, an unknown key or a value of the wrong type.
    """
    default = Path(CONFIG_FILE)
    base = base or (default if default.is_file() else None)
    tree: dict[str, JsonValue] = {}
    for layer in (read_toml(base) if base else {}, read_toml(file) if file else {}, given or {}):
        tree = _merged(tree, layer)
    config = read_config(EvalConfig, tree, overrides, place=str(file or "the options"))
    _refuse_secret_headers(config)
    return config


def read_stored_config(file: Path) -> EvalConfig:
    """The configuration that `to_toml` wrote; nothing else has a say.

    Raises:
        ConfigError: The file is no such configuration.
    """
    return read_config(EvalConfig, read_toml(file), place=str(file))


def _merged(under: Mapping[str, JsonValue], over: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Both trees, tables merged, `over` winning."""
    merged = dict(under)
    for key, value in over.items():
        known = merged.get(key)
        merged[key] = _merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


def _refuse_secret_headers(config: EvalConfig) -> None:
    for url, endpoint in config.endpoints.items():
        for name, value in endpoint.headers.items():
            if any(word in name.lower() for word in SECRET_HEADERS) and not value.startswith("env:"):
                raise ConfigError(
                    f'endpoints."{url}".headers.{name}: would be written into the run\'s folder; '
                    "name an environment variable instead, as env:NAME"
                )


def differences(stored: EvalConfig, asked: EvalConfig) -> list[str]:
    """What would be measured differently, one line a setting; how a run is run may differ."""
    old, new = stored.model_dump(mode="json"), asked.model_dump(mode="json")
    return [
        f"{key}: stored {json.dumps(old[key])}, asked for {json.dumps(new[key])}"
        for key in sorted(old)
        if key not in OPERATIONAL and old[key] != new[key]
    ]


def to_toml(config: EvalConfig) -> str:
    """The configuration as TOML that reads back as the same value; settings without a value are left out."""
    return _table(config.model_dump(mode="json", exclude_none=True), ())


def _table(tree: Mapping[str, JsonValue], path: tuple[str, ...]) -> str:
    values = {key: value for key, value in tree.items() if not isinstance(value, dict)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in values.items()]
    head = f"\n[{'.'.join(map(_key, path))}]\n" if path and (lines or not tree) else ""
    body = "".join(f"{line}\n" for line in lines)
    return head + body + "".join(_table(value, (*path, key)) for key, value in tree.items() if isinstance(value, dict))


def _value(value: JsonValue) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
        case None:
            raise ConfigError("TOML has no null; leave the setting out")
        case _:
            return repr(value)


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]{1,100}", text) else _string(text)


def _string(text: str) -> str:
    """A basic string, fit for a key too: JSON escapes what TOML does, except DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
