"""``mas models``: which models there are, what an endpoint really does, and the embedded model's weights."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from mas_orchestra.config import Settings
    from mas_orchestra.models.check import CheckReport
    from mas_orchestra.types import JsonValue

__all__ = ["models_app"]

EXAMPLES = """\b
Examples:
  mas models list
  mas models check openai:gpt-4.1-mini
  mas models get local:smollm2-135m
"""
CHECK_EXAMPLES = """\b
Examples:
  mas models check openai:gpt-4.1-mini
  mas models check openai:llama-3.1-8b@http://localhost:8000/v1 --json
  mas models check local:smollm2-135m
"""
LIST_EXAMPLES = """\b
Examples:
  mas models list
  mas models list --json | jq -r '.endpoints[].base_url'
"""

models_app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, epilog=EXAMPLES)

ConfigOption: TypeAlias = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings. Default: MAS_CONFIG, then ./mas.toml.")
]
SetOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change one setting; repeatable.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@models_app.callback()
def models() -> None:
    """List and check models, and fetch the embedded one."""


@models_app.command("list", epilog=LIST_EXAMPLES)
def list_models(config: ConfigOption = None, overrides: SetOption = None, *, as_json: JsonOption = False) -> None:
    """Show how models are named, and the endpoints, prices and embedded models of this machine."""
    from mas_orchestra.cli.deliver import print_json
    from mas_orchestra.config import load_settings

    inventory = _inventory(load_settings(config, overrides or ()))
    if as_json:
        print_json(inventory)
    else:
        _print_inventory(inventory)


@models_app.command(epilog=CHECK_EXAMPLES)
def check(
    uri: Annotated[str, typer.Argument(metavar="URI", help="The model, as openai:NAME[@BASE_URL].")],
    config: ConfigOption = None,
    overrides: SetOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Find out with a few short calls what a model really does: five calls, at most 256 tokens each."""
    from mas_orchestra.cli.boundary import ExitCode
    from mas_orchestra.cli.deliver import print_json
    from mas_orchestra.config import load_settings

    report = asyncio.run(_check(uri, load_settings(config, overrides or ())))
    if as_json:
        print_json(_report_json(report))
    else:
        _print_report(report)
    if not report.reachable:
        raise typer.Exit(ExitCode.FAILED)


@models_app.command(epilog="\b\nExample:\n  mas models get local:smollm2-135m\n")
def get(uri: Annotated[str, typer.Argument(metavar="URI", help="An embedded model, as local:smollm2-135m.")]) -> None:
    """Fetch the weights of an embedded model, unless they are there and right."""
    from mas_orchestra.errors import UsageError
    from mas_orchestra.models.download import fetch
    from mas_orchestra.models.weights import EMBEDDED, find_weights

    scheme, _, name = uri.rpartition(":")
    if scheme not in {"local", ""}:
        raise UsageError(f"{uri!r}: only embedded models can be fetched, as in: mas models get local:smollm2-135m")
    there = find_weights(EMBEDDED[name]) if name in EMBEDDED else None
    typer.echo(str(there or fetch(name)))


async def _check(uri: str, settings: "Settings") -> "CheckReport":
    from mas_orchestra.models.check import check_model
    from mas_orchestra.models.uri import open_model

    model = open_model(uri, settings)
    try:
        return await check_model(model)
    finally:
        await model.close()


def _inventory(settings: "Settings") -> "dict[str, JsonValue]":
    """What ``mas models list --json`` prints."""
    from mas_orchestra.models.uri import SCHEMES
    from mas_orchestra.models.weights import EMBEDDED, find_weights

    found = {name: find_weights(model) for name, model in EMBEDDED.items()}
    return {
        "model": _without_secret(settings.model),
        "orchestrator": _without_secret(settings.orchestrator),
        "forms": dict(SCHEMES),
        "endpoints": [
            {"base_url": url, **options.model_dump(exclude={"headers"}, exclude_unset=True)}
            for url, options in settings.endpoints.items()
        ],
        "prices": {name: price.model_dump() for name, price in settings.prices.items()},
        "embedded": [{"uri": f"local:{name}", "path": str(path) if path else None} for name, path in found.items()],
    }


def _print_inventory(inventory: "dict[str, JsonValue]") -> None:
    from mas_orchestra.cli.printable import one_line

    def section(title: str, lines: list[str], otherwise: str) -> None:
        typer.echo(f"{title}:")
        for line in lines or [otherwise]:
            typer.echo(f"  {one_line(line)}")

    chosen = {key: inventory[key] for key in ("model", "orchestrator") if inventory[key]}
    section("Chosen in the settings", [f"{key} = {uri}" for key, uri in chosen.items()], "none; name one with --model")
    typer.echo("Forms of a model's URI:")
    forms = inventory["forms"]
    for form in forms.values() if isinstance(forms, dict) else ():
        typer.echo(f"  {form}")
    endpoints = inventory["endpoints"]
    section(
        "Endpoints with settings of their own",
        [_pairs(each) for each in endpoints] if isinstance(endpoints, list) else [],
        'none; see [endpoints."BASE_URL"] in mas.toml',
    )
    prices = inventory["prices"]
    section(
        "Prices of your own, in US dollars per million tokens",
        [f"{name}: {_pairs(price)}" for name, price in prices.items()] if isinstance(prices, dict) else [],
        "none; public price lists are used where they know the model",
    )
    embedded = inventory["embedded"]
    section("Embedded models", [_pairs(each) for each in embedded] if isinstance(embedded, list) else [], "none")


def _without_secret(uri: str | None) -> str | None:
    """The URI; only its scheme where its base URL is none that may be shown."""
    from mas_orchestra.config import normal_base_url

    before, at, url = (uri or "").partition("@http")
    try:
        if at:
            normal_base_url(f"http{url}")
    except ValueError:
        return f"{before.partition(':')[0]}:…"
    return uri


def _pairs(table: "JsonValue") -> str:
    """A table on one line, what is unset left out."""
    known = {key: value for key, value in table.items() if value is not None} if isinstance(table, dict) else {}
    return ", ".join(f"{key} {value}" for key, value in known.items())


def _report_json(report: "CheckReport") -> "dict[str, JsonValue]":
    from dataclasses import asdict

    return asdict(report)


def _print_report(report: "CheckReport") -> None:
    from mas_orchestra.cli.printable import one_line

    words = {None: "not tried", True: "yes", False: "no"}
    rows = {
        "reachable": words[report.reachable],
        "model": report.model or "unknown",
        "latency": "unknown" if report.latency_s is None else f"{report.latency_s:.2f} s",
        "usage reported": words[report.usage_reported],
        "usage in streams": words[report.stream_usage_reported],
        "tool calls": words[report.tools],
        "JSON schema": words[report.json_schema],
        "n samples at once": words[report.native_n],
        "tokens used": f"{report.usage.total_tokens}{' at least' if report.usage.estimated else ''}",
        "cost": "unknown" if report.cost_usd is None else f"${report.cost_usd:.6f}",
    }
    typer.echo(one_line(report.uri))
    for name, value in rows.items():
        typer.echo(f"  {name:<18} {one_line(value)}")
    for problem in report.problems:
        typer.echo(f"  ! {one_line(problem, limit=800)}")
