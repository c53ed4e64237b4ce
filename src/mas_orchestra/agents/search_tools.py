"""The tools of a search agent: what they are for the model, what they do, and what they leave to cite."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from mas_orchestra.errors import StepError
from mas_orchestra.search.base import Document, Hit, Retriever
from mas_orchestra.types import JsonValue, ToolCall, ToolSpec

__all__ = ["TOOLS", "Desk", "ToolResult"]

LONGEST_ECHO = 200


def _tool(name: str, description: str, argument: str, hint: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": {argument: {"type": "string", "description": hint}},
            "required": [argument],
            "additionalProperties": False,
        },
    )


TOOLS = (
    _tool(
        "search", "Find documents. Returns ids, titles and passages.", "query", "A few words that name what is sought."
    ),
    _tool("open", "Read one document.", "id", "The id of a search result."),
    _tool("think", "Note what is known and what is missing; returns nothing new.", "thought", "Your note."),
)
_ARGUMENT = {"search": "query", "open": "id", "think": "thought"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What one tool gave.

    Attributes:
        text: For the model.
        hits: What a search found.
        opened: The document that was read.
        failed: The retriever itself failed, which is not the same as finding nothing.
        is_finding: Worth keeping for the answer: a document, a passage, a note; not an error message.
    """

    text: str
    hits: tuple[Hit, ...] = ()
    opened: Document | None = None
    failed: StepError | None = None
    is_finding: bool = False


class Desk:
    """Runs tools, and keeps what they found in the order in which they were asked for.

    Args:
        retriever: What to search.
        results: Results of one search.
        page_chars: Characters of a document that are shown.
    """

    def __init__(self, retriever: Retriever, *, results: int, page_chars: int) -> None:
        self._retriever = retriever
        self._results = results
        self._page_chars = page_chars
        self._findings: dict[str, None] = {}
        self._sources: dict[str, dict[str, JsonValue]] = {}
        self.failures = 0

    @property
    def findings(self) -> tuple[str, ...]:
        """Texts worth answering from, without repeats."""
        return tuple(self._findings)

    @property
    def citations(self) -> list[JsonValue]:
        """Documents whose text the model really saw: `opened`, or only a passage of a search result."""
        return [dict(source) for source in self._sources.values()]

    async def use(self, call: ToolCall) -> ToolResult:
        """The tool's result; a mistake of the model comes back as a text that says what to do instead."""
        argument = _ARGUMENT.get(call.name)
        if argument is None:
            return ToolResult(text=f"there is no tool {_echo(call.name)}; the tools are {', '.join(_ARGUMENT)}")
        try:
            value = _text_argument(call.arguments, argument)
        except ValueError as error:
            return ToolResult(text=f'{call.name} was not run: {error}; give {{"{argument}": "…"}}')
        if call.name == "think":
            return ToolResult(text=value, is_finding=True)
        try:
            return await (self._search(value) if call.name == "search" else self._open(value))
        except StepError as error:
            return self._failure(error)

    def keep(self, results: Iterable[ToolResult]) -> None:
        """Remember what was found and seen."""
        for result in results:
            if result.is_finding:
                self._findings.setdefault(result.text)
            for hit in result.hits:
                self._sources.setdefault(hit.document_id, {"id": hit.document_id, "title": hit.title, "opened": False})
            if (page := result.opened) is not None:
                self._sources[page.id] = {"id": page.id, "title": page.title, "url": page.url, "opened": True}
            self.failures += result.failed is not None

    async def _search(self, query: str) -> ToolResult:
        hits = await self._retriever.search(query, limit=self._results)
        if not hits:
            return ToolResult(text=f"nothing matches {_echo(query)}; try other words")
        shown = "\n".join(_delimited("result", hit.document_id, f"Title: {hit.title}\n{hit.snippet}") for hit in hits)
        return ToolResult(text=shown, hits=hits, is_finding=True)

    async def _open(self, document_id: str) -> ToolResult:
        page = await self._retriever.open(document_id)
        text = page.text[: self._page_chars]
        cut = len(page.text) - len(text)
        note = f"\n[cut here: {cut} more characters are not shown]" if cut else ""
        shown = _delimited("document", page.id, f"Title: {page.title}\n{text}{note}")
        return ToolResult(text=shown, opened=page, is_finding=True)

    def _failure(self, error: StepError) -> ToolResult:
        if error.code == "unknown_document":
            return ToolResult(text=f"{error}; open takes the id of a search result")
        return ToolResult(
            text=f"the search service failed ({error.code}), which does not mean that nothing exists; "
            "try again, or answer and say that evidence is missing",
            failed=error,
        )


def _text_argument(arguments: str, name: str) -> str:
    try:
        value = json.loads(arguments, strict=False)
    except (ValueError, RecursionError) as error:
        reason = error.args[0] if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise ValueError(f"its arguments are not JSON ({reason}): {_echo(arguments)}") from None
    text = value.get(name) if isinstance(value, dict) else None
    text = str(text) if isinstance(text, int) else text
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{name!r} must be a text that is not empty; got {_echo(arguments)}")
    return text.strip()


def _delimited(kind: str, document_id: str, text: str) -> str:
    """The text between two lines that it cannot forge: they carry a digest of the text itself."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"[{kind} {document_id} {mark}]\n{text}\n[end of {kind} {mark}]"


def _echo(text: str) -> str:
    return repr(text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}…")
