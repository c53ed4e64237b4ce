"""The files of this repository as the checks see them: paths, text and syntax trees, each read once."""

import ast
import io
import subprocess
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "mas_orchestra"
BINARY = frozenset({".png", ".gguf", ".parquet", ".sqlite", ".ico", ".gz", ".safetensors"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One Python file.

    Attributes:
        path: Relative to the repository, with forward slashes.
        name: Dotted name of a module of the package, otherwise the path.
    """

    path: str
    name: str
    text: str
    tree: ast.Module

    @property
    def line_count(self) -> int:
        return self.text.count("\n")

    @property
    def code_line_count(self) -> int:
        """Lines with code on them: no docstrings, no comments, no blank lines."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        code = {
            line for token in tokens if token.type not in NO_CODE for line in range(token.start[0], token.end[0] + 1)
        }
        return len(code - docstring_lines(self.tree))


NO_CODE = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Lines of every docstring, those below attributes included."""
    texts = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return {line for text in texts for line in range(text.lineno, (text.end_lineno or text.lineno) + 1)}


@cache
def repository_files() -> tuple[Path, ...]:
    """Every file that is or could be committed: tracked ones and new ones that git does not ignore."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = (ROOT / name for name in listing.split("\0") if name)
    return tuple(sorted(path for path in found if path.is_file() and not path.is_symlink()))


def text_files() -> Iterator[tuple[str, str]]:
    """Relative path and content of every text file."""
    for path in repository_files():
        if path.suffix not in BINARY:
            yield relative(path), path.read_text(encoding="utf-8")


def relative(path: Path) -> str:
    """`path` as the messages print it."""
    return path.relative_to(ROOT).as_posix()


@cache
def modules(folder: str) -> tuple[Module, ...]:
    """Every Python file under `folder` (``src``, ``tests``, ``benchmarks``, …), parsed."""
    inside = (path for path in repository_files() if path.suffix == ".py" and relative(path).startswith(f"{folder}/"))
    return tuple(read_module(path) for path in inside)


def read_module(path: Path) -> Module:
    """Parse one file."""
    text = path.read_text(encoding="utf-8")
    name = dotted_name(path) if path.is_relative_to(PACKAGE) else relative(path)
    return Module(path=relative(path), name=name, text=text, tree=ast.parse(text, filename=str(path)))


def planted(text: str, *, name: str = "mas_orchestra.plan.planted") -> Module:
    """A module that exists only in a test, to show that a check can fail."""
    return Module(path="src/" + name.replace(".", "/") + ".py", name=name, text=text, tree=ast.parse(text))


def dotted_name(path: Path) -> str:
    """``mas_orchestra.plan.read`` for its file; a package has the name of its folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def listed(problems: list[str], rule: str) -> str:
    """The message of a failed check: the rule, then every place that breaks it."""
    return rule + "\n  " + "\n  ".join(problems)
