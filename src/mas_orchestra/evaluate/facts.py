"""Where a run comes from: versions, commit, command, models, scorers, prompts and prices, as far as known."""

import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from mas_orchestra import plan as language
from mas_orchestra.evaluate.config import EvalConfig
from mas_orchestra.evaluate.contenders import Contender
from mas_orchestra.models.base import ChatModel
from mas_orchestra.tasks.task_set import TaskSet
from mas_orchestra.types import DoM, JsonValue, Usage

__all__ = ["VERSION_FACT", "gather_facts"]

VERSION_FACT = "mas_orchestra"


def gather_facts(
    config: EvalConfig, sets: Sequence[TaskSet], contenders: Sequence[Contender], scorers: dict[str, str]
) -> dict[str, JsonValue]:
    """The facts of a run, JSON values only and without secrets."""
    models = {model.uri: model for one in contenders for model in one.runtime.all_models}
    catalog = contenders[0].runtime.registry.catalog
    return {
        VERSION_FACT: version("mas-orchestra"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "commit": _commit(),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "seed": config.seed,
        "models": {uri: _price(model) for uri, model in sorted(models.items())},
        "judge": config.judge,
        "scorers": dict(scorers),
        "tasks": [_origin(one) for one in sets],
        "prompts": {
            f"{form.value} dom={dom.value}": language.prompt_hash(dom=dom, catalog=catalog, format=form)
            for form in language.PlanFormat
            for dom in DoM
        },
    }


def _origin(tasks: TaskSet) -> JsonValue:
    return {
        "name": tasks.name,
        "source": tasks.source,
        "licence": tasks.licence,
        "fingerprint": tasks.fingerprint,
        "tasks": len(tasks),
    }


def _price(model: ChatModel) -> JsonValue:
    """US dollars per million tokens, ``None`` where unknown; long prompts may cost more than the list says."""
    prices = {
        "input": model.cost_usd(Usage(input_tokens=1_000)),
        "cache_read": model.cost_usd(Usage(cache_read_tokens=1_000)),
        "output": model.cost_usd(Usage(output_tokens=1_000)),
    }
    return {name: None if price is None else round(price * 1_000, 9) for name, price in prices.items()}


def _commit() -> str | None:
    """The commit of the code that runs, where it runs from a checkout; with a mark where files differ from it."""
    folder = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],  # noqa: S607  (git is found by PATH)
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None
