"""``mas doctor``: what this machine can run, and what to do next."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mas_orchestra.cli.findings import Findings

__all__ = ["doctor"]


def doctor(
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings. Default: MAS_CONFIG, then ./mas.toml.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check what this machine can run: packages, models, keys, settings, plug-ins; say what to do next.

    Nothing is sent and no model is loaded. Of a key only its variable's name is shown, and whether it is set. Ends with
    exit code 0 if there is a model to ask, else 1.

    \b
    Examples:
      mas doctor
      mas doctor --json | jq -r '.next_steps[]'
    """  # noqa: D301  (this backspace is how click is told to keep the lines apart)
    from mas_orchestra.cli.boundary import ExitCode
    from mas_orchestra.cli.deliver import print_json
    from mas_orchestra.cli.findings import examine

    findings = examine(config)
    if as_json:
        from dataclasses import asdict

        print_json({"usable": findings.usable, **asdict(findings)})
    else:
        _print(findings)
    if not findings.usable:
        raise typer.Exit(ExitCode.FAILED)


def _print(found: "Findings") -> None:
    machine = found.machine
    _section(
        "This machine",
        [
            f"mas-orchestra {found.package or 'not installed'}, Python {found.python} ({found.executable})",
            f"{machine.system}, {machine.physical_cores} cores, {machine.model_threads} of them for a local model",
            f"memory: {_gigabytes(machine.memory_mb)}, {_gigabytes(machine.available_memory_mb)} free",
        ],
    )
    _section("Extras", [_extra(name, packages) for name, packages in found.extras.items()])
    _section("Settings", [_verdict(found.config.path or "no mas.toml here; the defaults hold", found.config.problem)])
    _section("Keys", [f"{name}: {'set' if is_set else 'not set'}" for name, is_set in found.keys.items()])
    _section("Endpoints", list(found.endpoints) or ["none in the settings"])
    _section("Models", [_verdict(f"{model.uri} ({model.why})", model.problem) for model in found.models])
    _section("Sub-agents", [_verdict(f"{each.name} ({each.package})", each.problem) for each in found.plugins])
    _section("Next", list(found.next_steps))


def _section(title: str, lines: list[str]) -> None:
    from mas_orchestra.cli.printable import one_line

    typer.echo(f"{title}:")
    for line in lines:
        typer.echo(f"  {one_line(line)}")


def _verdict(what: str, problem: str | None) -> str:
    return f"✗ {what}: {problem}" if problem else f"✓ {what}"


def _extra(name: str, packages: Mapping[str, str | None]) -> str:
    shown = ", ".join(f"{package} {version or 'not installed'}" for package, version in packages.items())
    return f"{name}: {shown}"


def _gigabytes(megabytes: int | None) -> str:
    return "unknown" if megabytes is None else f"{megabytes / 1000:.1f} GB"
