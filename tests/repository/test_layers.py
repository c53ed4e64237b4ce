"""Imports point downwards only, and heavy libraries are imported where they are used."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from repository.source_tree import PACKAGE, Module, listed, modules, planted

ROOT_PACKAGE = "mas_orchestra"

# From the lowest layer to the highest. Packages of one layer do not know each other, except in the lowest.
LAYERS = (
    ("errors", "types", "seeds", "config"),
    ("plan", "models", "search", "masbench"),
    ("tasks", "simulate"),
    ("agents", "score"),
    ("run",),
    ("evaluate",),
    ("train", "serve"),
    ("cli",),
)
RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}

# Slow to import, large, or optional: never at the top of a module.
HEAVY = frozenset(
    {"accelerate", "bm25s", "datasets", "fastapi", "genai_prices", "math_verify", "matplotlib", "openai", "pandas"}
    | {"peft", "pyarrow", "ray", "scipy", "sqlalchemy", "sympy", "tantivy", "torch", "transformers", "trl", "uvicorn"}
    | {"verl", "xllamacpp"}
)

# Heavy enough to belong to one package, even inside a function.
HOMES = {
    "torch": {"train"},
    "trl": {"train"},
    "verl": {"train"},
    "ray": {"train", "evaluate"},
    "xllamacpp": {"models"},
    "fastapi": {"serve"},
    "uvicorn": {"serve"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module, with the line and whether importing the file runs it."""

    target: str
    line: int
    at_import: bool


def imports(module: Module) -> Iterator[Import]:
    """Every import of a module, those inside functions included."""
    late = {id(node) for block in ast.walk(module.tree) if runs_later(block) for node in ast.walk(block)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # `from mas_orchestra import plan` names a package; `from mas_orchestra.plan import read` may name a value.
            parent = node.module or ""
            targets = [f"{parent}.{alias.name}" if parent == ROOT_PACKAGE else parent for alias in node.names]
        else:
            continue
        found = dict.fromkeys(targets)  # several names of one module are one import
        yield from (Import(target=name, line=node.lineno, at_import=id(node) not in late) for name in found)


def runs_later(block: ast.AST) -> bool:
    """Whether importing the file leaves `block` alone: functions, and what is for type checkers only."""
    is_for_types = isinstance(block, ast.If) and ast.unparse(block.test).endswith("TYPE_CHECKING")
    return is_for_types or isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)


def package_of(name: str) -> str | None:
    """``plan`` for ``mas_orchestra.plan.read``; ``None`` for the root and for other people's modules."""
    parts = name.split(".")
    return parts[1] if parts[0] == ROOT_PACKAGE and len(parts) > 1 else None


def layer_violations(module: Module) -> list[str]:
    """Imports that point upwards, sideways, or to a package without a layer."""
    own = package_of(module.name)
    if own in {None, "__main__"}:  # the root re-exports public names, and `python -m` is the command line
        return []
    found = []
    for item in imports(module):
        other = package_of(item.target)
        if item.target == ROOT_PACKAGE:
            found.append(f"{module.path}:{item.line} imports the root package; import the module that holds the name")
        elif other is not None and other != own and not points_down(own, other):
            found.append(f"{module.path}:{item.line} {own} must not import {item.target}")
    return found


def points_down(own: str, other: str) -> bool:
    """Whether a module of `own` may import from `other`."""
    if own not in RANK or other not in RANK:
        return False
    return RANK[other] < RANK[own] or RANK[own] == RANK[other] == 0


def heavy_violations(module: Module) -> list[str]:
    """Heavy libraries imported at the top of a module or outside their package."""
    found = []
    for item in imports(module):
        library = item.target.split(".")[0]
        if library in HEAVY and item.at_import:
            found.append(f"{module.path}:{item.line} imports {library} at import time; move it into the function")
        if library in HOMES and package_of(module.name) not in HOMES[library]:
            found.append(f"{module.path}:{item.line} {library} belongs to {' and '.join(sorted(HOMES[library]))} only")
    return found


def test_imports_point_downwards() -> None:
    problems = [problem for module in modules("src") for problem in layer_violations(module)]

    assert not problems, listed(problems, "Layers, lowest first: " + " → ".join(" ".join(layer) for layer in LAYERS))


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    problems = [problem for module in modules("src") for problem in heavy_violations(module)]

    assert not problems, listed(problems, "Heavy libraries:")


def test_every_package_has_a_layer() -> None:
    present = {path.stem for path in PACKAGE.iterdir() if not path.name.startswith("_") and path.name != "py.typed"}

    assert present <= set(RANK), f"give each of {sorted(present - set(RANK))} a place in LAYERS"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mas_orchestra.plan.planted", "from mas_orchestra.run.outcome import Outcome"),
        ("mas_orchestra.plan.planted", "from mas_orchestra.models import base"),
        ("mas_orchestra.agents.planted", "def late():\n    import mas_orchestra.score"),
        ("mas_orchestra.seeds", "from mas_orchestra import plan"),
        ("mas_orchestra.run.planted", "from mas_orchestra import solve"),
        ("mas_orchestra.cli.planted", "import mas_orchestra"),
    ],
)
def test_a_wrong_direction_is_seen(name: str, text: str) -> None:
    assert layer_violations(planted(text, name=name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mas_orchestra.run.planted", "from mas_orchestra import plan, seeds"),
        ("mas_orchestra.plan.planted", "from mas_orchestra.plan import schema\nimport json"),
        ("mas_orchestra.errors", "from mas_orchestra.types import Usage"),
    ],
)
def test_a_right_direction_is_not(name: str, text: str) -> None:
    assert not layer_violations(planted(text, name=name))


def test_a_heavy_import_is_seen_at_the_top_and_in_the_wrong_package() -> None:
    at_top = planted("import scipy.stats", name="mas_orchestra.evaluate.planted")
    elsewhere = planted("def f():\n    import torch", name="mas_orchestra.evaluate.planted")
    in_place = planted("def f():\n    import torch", name="mas_orchestra.train.planted")

    assert [len(heavy_violations(module)) for module in (at_top, elsewhere, in_place)] == [1, 1, 0]
