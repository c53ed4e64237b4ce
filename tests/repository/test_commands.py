"""Commands in the pages exist and parse; those of a block marked ``sh run`` are run; every command is documented."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from mas_orchestra.cli.app import app
from repository.documents import Block, blocks, page, pages, shell_commands
from repository.source_tree import ROOT, listed

SHELLS = {"sh", "bash", "console", "shell"}
BINARIES = {"mas", "mas-orchestra"}
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with what one types for it."""
    real = command.load() if hasattr(command, "load") else command
    children = getattr(real, "commands", {})
    if not children or getattr(real, "invoke_without_command", False):
        yield path, real
    for name, child in children.items():
        yield from leaves(child, (*path, name))


COMMANDS = dict(leaves(typer.main.get_command(app)))


def fault_of(words: list[str]) -> str | None:
    """What is wrong with one command of a page, or ``None``; only commands of ours are judged."""
    program, *rest = words
    program = program.removeprefix(".venv/bin/")
    if program == "make":
        unknown = [word for word in rest if "=" not in word and not word.startswith("-") and word not in TARGETS]
        return f"make has no target {unknown[0]}" if unknown else None
    if "pip" in words:
        extras = {name for word in words for part in re.findall(r"\[([\w,-]+)\]", word) for name in part.split(",")}
        return f"there is no extra {sorted(extras - EXTRAS)}" if extras - EXTRAS else None
    return fault_of_ours(rest) if program in BINARIES else None


def fault_of_ours(words: list[str]) -> str | None:
    """An unknown command or option of ``mas``."""
    if not words or words[0].startswith("-"):
        return None
    matching = [path for path in COMMANDS if list(path) == words[: len(path)]]
    if not matching:
        groups = {path[: len(words)] for path in COMMANDS}
        return None if tuple(words) in groups or "--help" in words else f"mas has no command {' '.join(words[:2])}"
    path = max(matching, key=len)
    known = {name for parameter in COMMANDS[path].params for name in (*parameter.opts, *parameter.secondary_opts)}
    options = {word.split("=")[0] for word in words[len(path) :] if re.match(r"--?[a-zA-Z]", word)}
    unknown = sorted(options - known - {"--help", "-h"})
    return f"mas {' '.join(path)} has no option {unknown[0]}" if unknown else None


def shell_blocks() -> Iterator[Block]:
    return (block for block in blocks() if block.language in SHELLS)


def test_every_command_in_the_pages_exists() -> None:
    found = [
        f"{block.page}:{block.line} {fault}"
        for block in shell_blocks()
        for words in shell_commands(block)
        if (fault := fault_of(words))
    ]

    assert not found, listed(found, "Commands that do not exist:")


@pytest.mark.parametrize(
    "command",
    [
        "mas nothing",
        "mas plan nothing",
        "mas plan check --nothing x",
        "make nothing",
        "pip install 'mas-orchestra[nothing]'",
    ],
)
def test_a_command_that_does_not_exist_is_seen(command: str) -> None:
    block = Block(page="x.md", line=1, info="sh", body=command)

    assert all(fault_of(words) for words in shell_commands(block))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_is_documented(path: tuple[str, ...]) -> None:
    name = " ".join(("mas", *path))

    assert any(name in text for name_, text in pages().items() if name_ != "CHANGELOG.md"), f"no page mentions `{name}`"


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_help_has_an_example(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    text = f"{command.help}\n{command.epilog}"

    assert re.search(rf"^\s*(?:\$ )?mas {' '.join(path)}\b", text, re.MULTILINE), "no example in --help"


def runnable() -> list[Block]:
    return [block for block in shell_blocks() if "run" in block.info.split()]


@pytest.mark.parametrize("block", runnable(), ids=lambda block: f"{block.page}:{block.line}")
def test_a_block_marked_run_runs(block: Block, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    binaries = Path(sys.executable).parent
    commands = "\n".join(line.removeprefix("$ ") for line in block.body.splitlines())

    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        env={"PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert run.returncode == 0, f"{commands}\n{run.stdout}\n{run.stderr}"


def test_the_readme_has_commands_that_are_run() -> None:
    assert any(block.page == "README.md" for block in runnable())


def test_every_target_is_listed_by_make_help() -> None:
    helped = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

    assert helped == TARGETS, f"no line in `make help`: {sorted(TARGETS - helped)}"


def test_continuous_integration_runs_what_developers_run() -> None:
    assert {"make check", "make test"} <= set((ROOT / ".ci" / "run").read_text("utf-8").splitlines())
    assert "make check" in page("CONTRIBUTING.md")
