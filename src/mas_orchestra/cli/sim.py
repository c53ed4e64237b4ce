"""``mas sim``: simulated models, to try things without a key and to train against. SIMULATED."""

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mas_orchestra.simulate.model import SimulatedModel
    from mas_orchestra.simulate.server import Address

__all__ = ["sim_app"]

EXAMPLES = """\b
Examples:
  mas sim profiles
  mas sim serve weak --port 8123
"""
SERVE_EXAMPLES = """\b
Examples:
  mas sim serve
  mas sim serve weak --port 8123
  mas solve --file task.txt --model openai:sim:weak@http://127.0.0.1:8123/v1
"""
PROFILES_EXAMPLES = """\b
Examples:
  mas sim profiles
  mas sim profiles --json | jq '.weak.operation_budget'
"""

sim_app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, epilog=EXAMPLES)


@sim_app.callback()
def sim() -> None:
    """Serve and list simulated models: they read MASBENCH texts, solve them and err. No language model is behind it."""


@sim_app.command("profiles", epilog=PROFILES_EXAMPLES)
def list_profiles(*, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """List the profiles of simulated models; with --json, with all their numbers."""
    from mas_orchestra.cli.deliver import print_json
    from mas_orchestra.simulate.profile import profiles

    if as_json:
        print_json({name: profile.model_dump() for name, profile in profiles().items()})
        return
    for name, profile in profiles().items():
        typer.echo(f"sim:{name:<14} {profile.summary}")
    typer.echo("All of them are SIMULATED; docs/simulator.md says how they were fitted.")


@sim_app.command(epilog=SERVE_EXAMPLES)
def serve(
    profile: Annotated[str | None, typer.Argument(metavar="[PROFILE]", help="Only this one. Default: all.")] = None,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on; any but this machine's own needs --key-env.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8123,
    key_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="Environment variable with the key that clients must send.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the models' draws.")] = 0,
    sleep: Annotated[bool, typer.Option("--sleep", help="Take as long as the simulated model would.")] = False,
) -> None:
    """Serve simulated models as an OpenAI-compatible endpoint, until interrupted. Models are named sim:PROFILE."""
    from mas_orchestra.simulate.model import SimulatedModel
    from mas_orchestra.simulate.profile import SCHEME, profiles
    from mas_orchestra.simulate.server import Address

    names = tuple(profiles()) if profile is None else (profile.removeprefix(f"{SCHEME}:"),)
    passing = asyncio.sleep if sleep else None
    models = {f"{SCHEME}:{name}": SimulatedModel(name, seed=seed, sleep=passing) for name in names}
    asyncio.run(_serve(models, Address(host=host, port=port, key=_key(key_env))))


def _key(variable: str | None) -> str:
    from mas_orchestra.errors import UsageError

    if variable is None:
        return ""
    key = os.environ.get(variable, "")
    if not key:
        raise UsageError(f"--key-env {variable}: that environment variable is not set; set it to the key")
    return key


async def _serve(models: "Mapping[str, SimulatedModel]", address: "Address") -> None:
    from mas_orchestra.simulate.server import serve as serving

    ended = asyncio.Event()
    if os.name != "nt":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with serving(models, address) as base_url:
        typer.echo(f"Serving {', '.join(models)} (SIMULATED) at {base_url}; Ctrl-C ends it.")
        await ended.wait()
