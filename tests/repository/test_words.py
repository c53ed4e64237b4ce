"""Words, paths and names that this repository does not hold."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from repository.source_tree import listed, relative, repository_files, text_files

# The same patterns must not fire on this file: hence the one-letter classes.
HERE = "tests/repository/test_words.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A pattern that no line may match, and what to write instead."""

    pattern: re.Pattern[str]
    remedy: str


RULES = (
    Rule(
        pattern=re.compile(r"(?<![\w.}-])/(?:home|root|Users|work|workspace|scratch)/\w"),
        remedy="a path of one machine: use a path relative to the repository, or a temporary folder",
    ),
    Rule(
        pattern=re.compile(r"[.][.]/shared|[.]library/|\bdesign/[a-z-]+[.]md"),
        remedy="a place outside the repository: say here what it says",
    ),
    Rule(
        pattern=re.compile(
            r"(?i)\bthe ceo\b|steerin[g] repo|developer.?s session|\bour? design pages?\b|\bthe brief says"
        ),
        remedy="how the work is organised: speak of the project alone",
    ),
    Rule(
        pattern=re.compile(r"(?<![\w#-])B\d\d(?![\w-])"),
        remedy="an id of a case that readers cannot look up: say the fault",
    ),
    Rule(pattern=re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b"), remedy="do it, or say what is missing and why"),
    Rule(pattern=re.compile(r"(?<!\w)<{7} |^>{7} |^={7}$"), remedy="a merge conflict"),
    Rule(pattern=re.compile(r"\bsk-[A-Za-z0-9]{20,}|\bghp_[A-Za-z0-9]{20,}"), remedy="looks like a key"),
)

VAGUE_FILES = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "stuff", "shared_vars"})
VERSION_SUFFIX = re.compile(r"_(?:old|new|v\d+|copy|backup|bak)$")
# Facts of others: pinned names of packages, and the licence's own text.
EXEMPT = frozenset({"LICENSE", "constraints.txt", "benchmarks/constraints.txt"})


def violations(path: str, text: str) -> list[str]:
    """Every line of `text` that a rule forbids."""
    return [
        f"{path}:{number} {match.group()!r}: {rule.remedy}"
        for number, line in enumerate(text.splitlines(), start=1)
        for rule in RULES
        if (match := rule.pattern.search(line))
    ]


def test_no_forbidden_words() -> None:
    found = [hit for path, text in text_files() if path not in EXEMPT for hit in violations(path, text)]

    assert not found, listed(found, "Forbidden words and paths:")


def test_files_are_named_after_their_concept() -> None:
    names = [relative(path) for path in repository_files()]
    vague = [name for name in names if PurePosixPath(name).stem in VAGUE_FILES]
    versions = [name for name in names if VERSION_SUFFIX.search(PurePosixPath(name).stem)]

    assert not vague + versions, listed(vague + versions, "Name the concept; git remembers versions:")


@pytest.mark.parametrize(
    "line",
    [
        "see /home/" + "ann/x.txt",
        "cd /wor" + "k/main",
        "read ../" + "shared/cases",
        "as in design/" + "masbench.md",
        "case B" + "03 of the list",
        "# TO" + "DO: later",
        "ask the C" + "EO",
    ],
)
def test_a_forbidden_line_is_seen(line: str) -> None:
    assert violations("x.md", line)


@pytest.mark.parametrize(
    "line",
    [
        "an aiohttp session",
        "https://example.org/work/papers",
        "ruff B905",
        "#B22222",
        "tmp_path / 'work'",
        "a todo list",
    ],
)
def test_an_ordinary_line_is_not(line: str) -> None:
    assert not violations("x.md", line)
