"""``docs/reference/cli.md`` is what the commands say of themselves; ``pytest tests/cli --update-golden`` writes it."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from mas_orchestra.cli.lazy import LazyCommand

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
HEAD = """# The command line

Every command with the words of its own `--help`. `mas` and `mas-orchestra` are the same command. This page is written
by `pytest tests/cli --update-golden`.
"""
ROOT = typer.main.get_command(app)


def commands(command=ROOT, path: tuple[str, ...] = ("mas",)) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every command and group, parents first, by what one types for it."""
    real = command.load() if isinstance(command, LazyCommand) else command
    yield path, real
    for name, child in getattr(real, "commands", {}).items():
        yield from commands(child, (*path, name))


COMMANDS = dict(commands())


def help_of(path: tuple[str, ...]) -> str:
    result = CliRunner().invoke(app, [*path[1:], "--help"], prog_name="mas", terminal_width=100)
    assert result.exit_code == 0, result.output
    return result.stdout.rstrip()


def written() -> str:
    parts = [f"\n## `{' '.join(path)}`\n\n```text\n{help_of(path)}\n```\n" for path in COMMANDS]
    return HEAD + "".join(parts)


def examples() -> Iterator[list[str]]:
    """The words of every example of every help, pipes and substitutions of the shell taken off."""
    for path, command in COMMANDS.items():
        text = f"{command.help or ''}\n{command.epilog or ''}"
        for line in re.findall(r"^\s*(?:\w+=\$\()?(mas(?:-orchestra)? .*?)\)?$", text, re.MULTILINE):
            words = shlex.split(re.split(r"\s[|<>]\s?|\s&&\s", line)[0], comments=True)
            yield pytest.param(words, id=f"{' '.join(path)}: {' '.join(words)}")


def test_the_reference_is_what_the_commands_say(request):
    text = written()
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text, encoding="utf-8")

    assert PAGE.read_text("utf-8") == text, "run: pytest tests/cli --update-golden"


@pytest.mark.parametrize("words", list(examples()))
def test_every_example_parses(words):
    """Parsed as when typed, but not run."""
    context = ROOT.make_context("mas", words[1:])
    while context._protected_args:  # typer offers no public way to stop between parsing and running
        rest = [*context._protected_args, *context.args]
        name, command, words = context.command.resolve_command(context, rest)
        context = command.make_context(name, words, parent=context)

    assert context.command.callback is not None


def test_every_command_has_an_example_of_its_own():
    leaves = [path for path, command in COMMANDS.items() if not getattr(command, "commands", None)]
    missing = [
        " ".join(path)
        for path in leaves
        if f"  {' '.join(path)}" not in help_of(path) and f"({' '.join(path)}" not in help_of(path)
    ]

    assert not missing
