"""Calls and constructs that the source does not contain."""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from repository.source_tree import Module, listed, modules, planted, text_files

BLIND_EXCEPTS: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("blind_excepts.toml").read_text(encoding="utf-8")
)

# Dotted names as they are written at the call.
BANNED = {
    "exec": "a plan is data; nothing is executed",
    "eval": "a plan is data; nothing is executed",
    "compile": "a plan is data; nothing is executed",
    "__import__": "import by name with importlib, and only names of ours",
    "pickle.loads": "unpickling runs code",
    "pickle.load": "unpickling runs code",
    "marshal.loads": "reading marshalled data can crash the process",
    "os.system": "use subprocess.run with a list",
    "os.popen": "use subprocess.run with a list",
    "asyncio.gather": "use asyncio.TaskGroup: a failure must cancel and await the siblings",
    "asyncio.get_event_loop": "use asyncio.get_running_loop",
    "asyncio.ensure_future": "use asyncio.TaskGroup.create_task",
    "breakpoint": "left from debugging",
    "hash": "differs from process to process for text; use mas_orchestra.seeds.digest",
}

# A global generator hides a draw from the seed; the classes make generators of one's own.
GENERATORS = re.compile(
    r"^(?:random|np\.random|numpy\.random)\.(?!Random$|SystemRandom$|Generator$|default_rng$|PCG64$)\w+$"
)

SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore)\b")
REASONED = re.compile(r"#\s*(?:noqa:\s*[A-Z]+\d+\b(?:,\s*[A-Z]+\d+\b)*|type:\s*ignore\[[\w, -]+\])\s*[(#—:,-]*\s*\w+")

Handler = ast.ExceptHandler
Function = ast.FunctionDef | ast.AsyncFunctionDef


def banned_calls(module: Module) -> Iterator[str]:
    """Every call of a banned name, and every ``shell=True``."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in BANNED:
            yield f"{module.path}:{node.lineno} {name}(): {BANNED[name]}"
        elif GENERATORS.match(name):
            yield f"{module.path}:{node.lineno} {name}(): take an rng made by mas_orchestra.seeds.rng"
        if any(k.arg == "shell" and ast.unparse(k.value) == "True" for k in node.keywords):
            yield f"{module.path}:{node.lineno} shell=True: pass a list"


def blind_excepts(module: Module) -> Iterator[str]:
    """``path::function`` of every handler that catches `Exception` or wider and does not raise."""
    for function in ast.walk(module.tree):
        if isinstance(function, Function):
            for node in ast.walk(function):
                if isinstance(node, Handler) and catches_all(node) and not raises(node):
                    yield f"{module.path}::{function.name}"


def catches_all(handler: Handler) -> bool:
    caught = ast.unparse(handler.type).strip("()").split(", ") if handler.type else ["BaseException"]
    return bool({"Exception", "BaseException"} & set(caught))


def raises(handler: Handler) -> bool:
    """Whether it ends by raising: cleaning up, or giving the failure its type."""
    return isinstance(handler.body[-1], ast.Raise)


def swallowed(module: Module) -> Iterator[str]:
    """Handlers that do nothing with what they caught and do not say why."""
    lines = module.text.splitlines()
    for node in ast.walk(module.tree):
        if not isinstance(node, Handler) or not all(isinstance(statement, ast.Pass) for statement in node.body):
            continue
        if "#" not in "".join(lines[node.lineno - 1 : node.end_lineno]):
            yield f"{module.path}:{node.lineno} does nothing with what it caught; handle it, or say why not"


def suppressions(path: str, text: str) -> Iterator[str]:
    """Comments that silence a linter or mypy without a code or without a reason beside it."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and SUPPRESSION.search(token.string) and not REASONED.search(token.string):
            yield f"{path}:{token.start[0]} {token.string}"


def test_no_banned_calls() -> None:
    found = [hit for module in modules("src") for hit in banned_calls(module)]

    assert not found, listed(found, "Banned:")


def test_only_named_boundaries_catch_everything() -> None:
    found = {hit for module in modules("src") for hit in blind_excepts(module)}

    assert found <= set(BLIND_EXCEPTS), listed(sorted(found - set(BLIND_EXCEPTS)), "Not in blind_excepts.toml:")
    assert set(BLIND_EXCEPTS) <= found, listed(sorted(set(BLIND_EXCEPTS) - found), "Remove from blind_excepts.toml:")


def test_no_exception_is_swallowed() -> None:
    found = [hit for module in modules("src") for hit in swallowed(module)]

    assert not found, listed(found, "Swallowed:")


def test_every_suppression_has_a_code_and_a_reason() -> None:
    found = [hit for path, text in text_files() if path.endswith(".py") for hit in suppressions(path, text)]

    assert not found, listed(found, "Say why, beside it:")


@pytest.mark.parametrize(
    "line",
    [
        "exec(plan)",
        "np.random.seed(1)",
        "random.shuffle(x)",
        "subprocess.run(c, shell=True)",
        "hash(text)",
        "asyncio.gather()",
    ],
)
def test_a_banned_call_is_seen(line: str) -> None:
    assert list(banned_calls(planted(line)))


@pytest.mark.parametrize("line", ["random.Random(1)", "rng.random()", "np.random.default_rng(3)", "self.compile(x)"])
def test_an_ordinary_call_is_not(line: str) -> None:
    assert not list(banned_calls(planted(line)))


@pytest.mark.parametrize("caught", ["", " Exception", " (ValueError, Exception) as e", " BaseException"])
def test_a_blind_except_is_seen(caught: str) -> None:
    module = planted(f"def f():\n    try:\n        g()\n    except{caught}:\n        pass\n")

    assert list(blind_excepts(module)) == [f"{module.path}::f"]
    assert list(swallowed(module))


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("x  # noqa", 1),
        ("x  # noqa: S311", 1),
        ("x  # noqa: S311  (simulation)", 0),
        ("x  # type: ignore", 1),
        ("x  # type: ignore[arg-type]", 1),
        ("x  # type: ignore[arg-type]  # pydantic coerces it", 0),
    ],
)
def test_a_suppression_needs_a_code_and_a_reason(line: str, count: int) -> None:
    assert len(list(suppressions("x.py", line))) == count
