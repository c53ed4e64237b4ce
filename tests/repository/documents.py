"""The Markdown pages of this repository: links, code blocks, tables."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from repository.source_tree import ROOT, relative, repository_files

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: `info` is what follows the fence (``sh``, ``python``, ``sh run``)."""

    page: str
    line: int
    info: str
    body: str

    @property
    def language(self) -> str:
        return self.info.split()[0] if self.info.split() else ""


@cache
def pages() -> dict[str, str]:
    """Text of every Markdown page by its path."""
    return {relative(path): path.read_text("utf-8") for path in repository_files() if path.suffix == ".md"}


def blocks() -> Iterator[Block]:
    """Every fenced block of every page."""
    for page, text in pages().items():
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield Block(page=page, line=line, info=match["info"].strip(), body=match["body"])


def shell_commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block as words; comments, prompts and output apart.

    A block that shows prompts (``$ mas …``) holds commands on those lines only.
    """
    lines = block.body.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    for line in lines:
        for part in re.split(r"\s(?:&&|\|)\s", line):
            words = shlex.split(part, comments=True)
            if words:
                yield words


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes from the headings of a page."""
    prose = FENCE.sub("", text)
    slugs = (re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(prose))
    return set(slugs)


def links(text: str) -> Iterator[str]:
    """Targets of links and images, code aside."""
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    for match in LINK.finditer(prose):
        yield match[1] or match[2]


def table_rows(text: str) -> list[list[str]]:
    """Cells of every row of every table, the rule below the head left out."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.strip().startswith("|")]
    cells = [[cell.strip() for cell in row] for row in rows]
    return [row for row in cells if not all(set(cell) <= set("-: ") for cell in row)]


def page(name: str) -> str:
    """Text of one page that must exist."""
    assert (ROOT / name).is_file(), f"{name} is missing"
    return (ROOT / name).read_text("utf-8")
