"""What ``mas doctor`` finds out about this machine. Nothing here connects anywhere or loads a model.

Of secrets only the names of variables are looked at, and whether they are set.
"""

import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from mas_orchestra.config import Settings, load_settings, normal_base_url
from mas_orchestra.errors import MasError
from mas_orchestra.models.cores import default_threads, physical_cores
from mas_orchestra.models.keys import OPENAI_BASE_URL, OWN_KEY, PROVIDER_KEYS
from mas_orchestra.models.uri import open_model
from mas_orchestra.models.weights import EMBEDDED, find_weights
from mas_orchestra.plan.catalog import agent_entry_points
from mas_orchestra.plan.entry_point import load_agent

__all__ = ["Findings", "examine"]

PACKAGE = "mas-orchestra"
EXTRA = re.compile(r"extra == ['\"]([\w-]{1,40})['\"]")
REQUIREMENT = re.compile(r"[\w.-]{1,80}")
FOR_DEVELOPERS = frozenset({"dev"})
EMBEDDED_MODEL = "embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A sub-agent offered by entry point; `problem` is ``None`` when it loads."""

    name: str
    package: str
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The configuration file that holds here, if any, and what is wrong with it."""

    path: str | None
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that could be used without further words; `problem` is ``None`` when it can be opened."""

    uri: str
    why: str
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Cores and memory; ``None`` where the system does not say."""

    system: str
    physical_cores: int
    model_threads: int
    memory_mb: int | None
    available_memory_mb: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything that was found.

    Attributes:
        package: Our own version, ``None`` when we run uninstalled.
        extras: Extra → its packages → version, ``None`` where missing.
        keys: Environment variable → whether it is set.
        endpoints: Base URLs from the settings and from ``OPENAI_BASE_URL``.
        models: Models that a command would use when none is named, or could.
        next_steps: What to do, as commands where there is one.
    """

    python: str
    executable: str
    package: str | None
    extras: Mapping[str, Mapping[str, str | None]]
    machine: Machine
    config: Config
    keys: Mapping[str, bool]
    endpoints: Sequence[str]
    models: Sequence[Model]
    plugins: Sequence[Plugin]
    next_steps: Sequence[str]

    @property
    def usable(self) -> bool:
        """Whether there is a model to ask."""
        return any(model.problem is None for model in self.models)


def examine(config: Path | None = None, *, environ: Mapping[str, str] = os.environ) -> Findings:
    """Look at everything.

    Args:
        config: The configuration file that an option names.
        environ: Environment variables.
    """
    settings, found_config = _config(config, environ)
    keys = _keys(settings, environ)
    models = _models(settings, keys, environ)
    plugins = _plugins()
    return Findings(
        python=platform.python_version(),
        executable=sys.executable,
        package=_version(PACKAGE),
        extras=_extras(),
        machine=_machine(),
        config=found_config,
        keys=keys,
        endpoints=_endpoints(settings, environ),
        models=models,
        plugins=plugins,
        next_steps=_next_steps(found_config, models, plugins),
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _extras() -> dict[str, dict[str, str | None]]:
    try:
        requirements = requires(PACKAGE) or []
    except PackageNotFoundError:
        requirements = []
    extras: dict[str, dict[str, str | None]] = {}
    for requirement in requirements:
        extra, name = EXTRA.search(requirement), REQUIREMENT.match(requirement)
        if extra and name and extra[1] not in FOR_DEVELOPERS:
            extras.setdefault(extra[1], {})[name[0]] = _version(name[0])
    return extras


def _config(path: Path | None, environ: Mapping[str, str]) -> tuple[Settings, Config]:
    named = path or (Path(environ["MAS_CONFIG"]) if environ.get("MAS_CONFIG") else Path("mas.toml"))
    shown = str(named) if path or environ.get("MAS_CONFIG") or named.is_file() else None
    try:
        settings = load_settings(path, environ=environ)
        _ = settings.agent_models  # the one table that is checked where it is used
        return settings, Config(path=shown, problem=None)
    except MasError as error:
        return Settings(), Config(path=shown, problem=str(error))


def _keys(settings: Settings, environ: Mapping[str, str]) -> dict[str, bool]:
    named = [options.api_key_env for options in settings.endpoints.values() if options.api_key_env]
    names = sorted({*PROVIDER_KEYS.values(), OWN_KEY, *named})
    return {name: bool(environ.get(name)) for name in names}


def _endpoints(settings: Settings, environ: Mapping[str, str]) -> list[str]:
    found = list(settings.endpoints)
    if given := environ.get("OPENAI_BASE_URL"):
        try:
            found.append(normal_base_url(given))
        except ValueError as error:
            found.append(f"OPENAI_BASE_URL cannot be used: {error}")
    return found


def _models(settings: Settings, keys: Mapping[str, bool], environ: Mapping[str, str]) -> list[Model]:
    """Those that options, environment and settings name, then the embedded ones, then hosted ones with a key."""
    chosen = {
        "MAS_MODEL": environ.get("MAS_MODEL"),
        "model in the settings": settings.model,
        "MAS_ORCHESTRATOR": environ.get("MAS_ORCHESTRATOR"),
        "orchestrator in the settings": settings.orchestrator,
        **{f"[agents.{name}] in the settings": uri for name, uri in settings.agent_models.items()},
        **{f"[menu.{name}] in the settings": entry.model for name, entry in settings.menu.items()},
    }
    named = [_model(uri, why, settings, environ) for why, uri in chosen.items() if uri]
    embedded = [_model(f"local:{name}", EMBEDDED_MODEL, settings, environ) for name in EMBEDDED]
    hosted = [
        Model(uri="openai:NAME" if host in OPENAI_BASE_URL else f"openai:NAME@https://{host}/…", why=name, problem=None)
        for host, name in PROVIDER_KEYS.items()
        if keys.get(name)
    ]
    return [*named, *embedded, *hosted]


def _model(uri: str, why: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    """The model as it names itself; of a URI that cannot be opened only the scheme, since it may hold a password."""
    try:
        model = open_model(uri, settings, environ=environ)
        missing = getattr(model, "missing_key", None)
        return Model(uri=model.uri, why=why, problem=f"there is no key for it; set {missing}" if missing else None)
    except MasError as error:
        shown = uri if why == EMBEDDED_MODEL else f"{uri.partition(':')[0]}:…"
        return Model(uri=shown, why=why, problem=str(error))


def _plugins() -> list[Plugin]:
    return [
        Plugin(name=point.name, package=point.dist.name if point.dist else "unknown", problem=_load_problem(point))
        for point in agent_entry_points()
    ]


def _load_problem(point: EntryPoint) -> str | None:
    try:
        load_agent(point)
    except MasError as error:
        return str(error)
    return None


def _machine() -> Machine:
    total, available = _memory_mb()
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        physical_cores=physical_cores(),
        model_threads=default_threads(),
        memory_mb=total,
        available_memory_mb=available,
    )


def _memory_mb(meminfo: Path = Path("/proc/meminfo")) -> tuple[int | None, int | None]:
    """Memory of the machine and what of it is free for new processes, in MB (10⁶ bytes)."""
    try:
        rows = dict(line.split(":", 1) for line in meminfo.read_text(encoding="ascii").splitlines())
        total, available = (int(rows[name].split()[0]) * 1024 // 10**6 for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError):
        return None, None
    return total, available


def _next_steps(config: Config, models: Sequence[Model], plugins: Sequence[Plugin]) -> list[str]:
    steps = []
    if config.problem:
        steps.append(f"mend {config.path}: {config.problem}")
    steps += [f"mend {model.why}: {model.problem}" for model in models if model.problem and model.why != EMBEDDED_MODEL]
    steps += [f"pip uninstall {plugin.package}, or mend it: {plugin.problem}" for plugin in plugins if plugin.problem]
    if not plugins:
        steps.append("pip install mas-orchestra: without being installed it offers no sub-agents")
    if any(model.problem is None for model in models):
        return [*steps, 'mas solve "How many primes are there below 100?"']
    if find_spec("xllamacpp") is None:
        steps.append("pip install 'mas-orchestra[local]'")
    steps += [f"mas models get local:{name}" for name, model in EMBEDDED.items() if find_weights(model) is None]
    return [*steps, "or set a key, as OPENAI_API_KEY, and name a model: mas solve QUESTION --model openai:NAME"]
