"""What is declared agrees with what is there: pins, hooks, extras, package data."""

import re
import tomllib

from mas_orchestra.errors import MissingExtraError
from repository.source_tree import PACKAGE, ROOT, listed, modules, relative

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NAME = re.compile(r"[A-Za-z0-9_.-]+")


def normal(name: str) -> str:
    """As package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: str) -> set[str]:
    return {normal(line.split("==")[0]) for line in (ROOT / path).read_text("utf-8").splitlines() if "==" in line}


def required(items: list[str]) -> set[str]:
    return {normal(match.group()) for item in items if (match := NAME.match(item))}


def test_every_development_dependency_is_pinned() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    needed = required(PROJECT["project"]["dependencies"] + extras["dev"] + extras["local"] + extras["fast"])

    assert not needed - pins("constraints.txt"), listed(sorted(needed - pins("constraints.txt")), "No pin for:")


def test_the_benchmark_environment_is_pinned() -> None:
    assert {"langgraph", "langchain-openai", "openai"} <= pins("benchmarks/constraints.txt")


def test_hooks_are_local() -> None:
    """They run the tools of the pinned environment: offline, and the same as continuous integration."""
    text = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")

    assert set(re.findall(r"repo: *(\S+)", text)) == {"local"}
    assert set(re.findall(r"language: *(\S+)", text)) == {"system"}


def test_every_extra_that_a_message_names_exists() -> None:
    source = "\n".join(module.text for module in modules("src"))
    named = set(re.findall(r"MissingExtraError\([^,)]+, *\"([\w-]+)\"\)", source))

    assert not named - set(PROJECT["project"]["optional-dependencies"])
    assert "mas-orchestra[local]" in str(MissingExtraError("the embedded model", "local"))


def test_the_typing_marker_ships() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [relative(PACKAGE)]


def test_entry_points_lead_to_what_is_there() -> None:
    from importlib.metadata import entry_points

    ours = [point for point in entry_points(group="mas_orchestra.agents") if point.value.startswith("mas_orchestra.")]

    assert {point.name for point in ours} == set(PROJECT["project"]["entry-points"]["mas_orchestra.agents"])
    assert all(point.load() for point in ours)
