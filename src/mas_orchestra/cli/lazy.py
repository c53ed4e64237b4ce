"""Commands that are listed at once and imported when they are called.

``mas --help`` must answer in a third of a second although some commands import numpy, pydantic models or a web stack.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperCommand

__all__ = ["LazyCommand"]


class LazyCommand(TyperCommand):
    """Stands for a command or a group of commands until somebody calls it.

    Args:
        name: What the user types.
        summary: Its line in the list of commands.
        target: ``package.module:attribute`` of what implements it: a `typer.Typer`, or the function of one command.
    """

    def __init__(self, name: str, summary: str, target: str) -> None:
        super().__init__(name, help=summary, rich_markup_mode=None)
        self.target = target

    def load(self) -> TyperCommand:
        """The real command; imports its module."""
        module, _, attribute = self.target.partition(":")
        found = getattr(import_module(module), attribute)
        app = found if isinstance(found, typer.Typer) else _app_of(found)
        app.rich_markup_mode = None  # one look for every help text: plain, quick, the same in a pipe
        command = typer.main.get_command(app)
        command.name = self.name
        return cast("TyperCommand", command)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (typer's own signature differs by version)
        """A context of the real command, so that typer parses, runs and documents that one."""
        return self.load().make_context(*args, **kwargs)


def _app_of(function: Callable[..., None]) -> typer.Typer:
    app = typer.Typer(add_completion=False)
    app.command()(function)
    return app
