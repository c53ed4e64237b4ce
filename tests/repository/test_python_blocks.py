"""Python in the pages: prompts (``>>>``) are doctests that run; other blocks compile and import names that exist."""

import ast
import doctest
import importlib.util
from collections.abc import Iterator

import pytest

from repository.documents import Block, blocks
from repository.source_tree import listed


def python_blocks(*, prompts: bool) -> list[Block]:
    found = (block for block in blocks() if block.language in {"python", "py", "pycon"})
    return [block for block in found if (">>> " in block.body) == prompts]


def name_of(block: Block) -> str:
    return f"{block.page}:{block.line}"


@pytest.mark.parametrize("block", python_blocks(prompts=True), ids=name_of)
def test_prompts_give_what_they_show(block: Block) -> None:
    test = doctest.DocTestParser().get_doctest(block.body, {}, name_of(block), block.page, block.line)
    said: list[str] = []

    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)

    assert result.attempted > 0
    assert result.failed == 0, "".join(said)


def unknown_names(block: Block) -> Iterator[str]:
    """Names that a block imports from this package and that are not there."""
    for node in ast.walk(ast.parse(block.body, name_of(block))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mas_orchestra":
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                if not hasattr(module, alias.name) and not is_module(f"{node.module}.{alias.name}"):
                    yield f"{name_of(block)} {node.module} has no {alias.name}"


def is_module(name: str) -> bool:
    parent = importlib.import_module(name.rpartition(".")[0])
    return hasattr(parent, "__path__") and importlib.util.find_spec(name) is not None


def test_blocks_compile_and_import_names_that_exist() -> None:
    found = [hit for block in python_blocks(prompts=False) for hit in unknown_names(block)]

    assert not found, listed(found, "Not there:")


def test_an_unknown_name_is_seen() -> None:
    block = Block(page="x.md", line=1, info="python", body="from mas_orchestra.seeds import rng, dice\n")

    assert list(unknown_names(block)) == ["x.md:1 mas_orchestra.seeds has no dice"]
