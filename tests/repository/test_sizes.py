"""Files and functions stay short; what is longer has a reason in ``size_exceptions.toml``."""

import ast
import statistics
import tomllib
from pathlib import Path

from repository.source_tree import Module, listed, modules, planted

FILE_LINES, FILE_LINES_HARD = 300, 600
FUNCTION_LINES, FUNCTION_LINES_HARD = 40, 80
MEDIAN_FUNCTION_LINES = 15
TEST_SHARE = 0.9
"""Lines of test for a line of source. One is the aim; this much is held, and it may only rise."""

EXCEPTIONS: dict[str, str] = tomllib.loads(Path(__file__).with_name("size_exceptions.toml").read_text(encoding="utf-8"))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(module: Module) -> dict[str, int]:
    """Lines of every function, docstring and signature included, by ``path::name``."""
    return {
        f"{module.path}::{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(module.tree)
        if isinstance(node, Function)
    }


def shipped() -> tuple[Module, ...]:
    return modules("src") + modules("benchmarks") + modules("examples")


def everything() -> tuple[Module, ...]:
    return shipped() + modules("tests")


def long_ones() -> dict[str, int]:
    """What passes the soft limits: files everywhere that ships, functions likewise."""
    files = {module.path: module.line_count for module in shipped() if module.line_count > FILE_LINES}
    bodies = {name: count for module in shipped() for name, count in functions(module).items()}
    return files | {name: count for name, count in bodies.items() if count > FUNCTION_LINES}


def test_what_is_long_has_a_reason() -> None:
    problems = [f"{name} has {count} lines" for name, count in sorted(long_ones().items()) if name not in EXCEPTIONS]

    assert not problems, listed(problems, f"At most {FILE_LINES} lines a file, {FUNCTION_LINES} a function:")


def test_no_exception_outlives_its_need() -> None:
    stale = sorted(set(EXCEPTIONS) - set(long_ones()))

    assert not stale, listed(stale, "Remove from size_exceptions.toml:")
    assert all(len(reason.split()) >= 5 for reason in EXCEPTIONS.values()), "a reason is a sentence"


def test_nothing_passes_the_hard_limits() -> None:
    files = [f"{m.path} has {m.line_count} lines" for m in everything() if m.line_count > FILE_LINES_HARD]
    bodies = [
        f"{name} has {count} lines"
        for module in everything()
        for name, count in functions(module).items()
        if count >= FUNCTION_LINES_HARD
    ]

    assert not files + bodies, listed(files + bodies, "No exceptions here; split:")


def test_most_functions_are_small() -> None:
    counts = [count for module in modules("src") for count in functions(module).values()]

    assert statistics.median(counts) <= MEDIAN_FUNCTION_LINES


def test_tests_keep_up_with_the_source() -> None:
    tests, source = (sum(module.code_line_count for module in modules(folder)) for folder in ("tests", "src"))

    assert tests >= TEST_SHARE * source, f"{tests} lines of test for {source} of source, comments and docstrings aside"


def test_lines_of_code_are_those_with_code() -> None:
    module = planted('"Doc."\n\nX = 1  # why\n"Of X."\n# more\nY = (\n    2\n)\n')

    assert module.code_line_count == 4


def test_functions_are_measured_to_their_last_line() -> None:
    module = planted("async def f(\n    a,\n):\n    '''Doc.'''\n    return (\n        a\n    )\n")

    assert functions(module) == {f"{module.path}::f": 7}
