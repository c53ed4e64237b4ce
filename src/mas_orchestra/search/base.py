"""What a sub-agent may search: a retriever over an offline corpus or a live provider."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Document", "Hit", "Retriever"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a corpus. `id` is what a citation points at."""

    id: str
    title: str
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One search result: a document's id, title, a passage for the reader, and its score (higher is better)."""

    document_id: str
    title: str
    snippet: str
    score: float


class Retriever(Protocol):
    """Finds and opens documents. A failure is an exception; an empty list only means that nothing matches."""

    async def search(self, query: str, *, limit: int = 5) -> tuple[Hit, ...]:
        """The best `limit` documents for `query`, best first."""
        ...

    async def open(self, document_id: str) -> Document:
        """The whole document.

        Raises:
            StepError: `unknown_document`, there is none of this id.
        """
        ...
