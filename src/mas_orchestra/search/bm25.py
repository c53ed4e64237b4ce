"""BM25 over documents in memory."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from mas_orchestra.errors import FileFormatError, StepError
from mas_orchestra.search.base import Document, Hit

if TYPE_CHECKING:
    import numpy as np

__all__ = ["BM25Retriever", "read_corpus", "snippet", "tokens"]

MOST_LINES_LISTED = 10
# Scripts that are written without blanks are split into characters, all others into words.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_BLANK = re.compile(r"\s")


class BM25Retriever:
    """Finds documents by their words: BM25 as in Lucene (k1 = 1.5, b = 0.75), titles included.

    Letter case is ignored; there are no stop words and there is no stemming. Equal scores keep the order of the corpus.
    A document that shares no word with the query is no result.

    Args:
        documents: The corpus; ids are unique.
        snippet_chars: Length of the passage of a result.

    Raises:
        FileFormatError: Two documents with one id.
    """

    def __init__(self, documents: Iterable[Document], *, snippet_chars: int = 300) -> None:
        self._documents = tuple(documents)
        self._by_id = {document.id: document for document in self._documents}
        self._snippet_chars = snippet_chars
        if len(self._by_id) < len(self._documents):
            ids = Counter(document.id for document in self._documents)
            repeated = ids.most_common(1)[0][0]
            raise FileFormatError(f"two documents of the corpus have the id {repeated!r}; ids must be unique")

    @classmethod
    def from_jsonl(cls, path: Path | str, *, snippet_chars: int = 300) -> "BM25Retriever":
        """A retriever over a file of `read_corpus`."""
        return cls(read_corpus(path), snippet_chars=snippet_chars)

    def __len__(self) -> int:
        return len(self._documents)

    async def search(self, query: str, *, limit: int = 5) -> tuple[Hit, ...]:
        """The best `limit` documents, best first; none for a query without words."""
        words = set(tokens(query))
        scores = self._scores(sorted(words))
        order = (-scores).argsort(kind="stable")[: max(0, limit)]
        return tuple(self._hit(self._documents[at], float(scores[at]), words) for at in order if scores[at] > 0)

    async def open(self, document_id: str) -> Document:
        """The whole document.

        Raises:
            StepError: `unknown_document`.
        """
        try:
            return self._by_id[document_id]
        except KeyError:
            raise StepError("unknown_document", f"the corpus has no document {document_id!r}") from None

    def _hit(self, document: Document, score: float, words: set[str]) -> Hit:
        passage = snippet(document.text, words, length=self._snippet_chars)
        return Hit(document_id=document.id, title=document.title, snippet=passage, score=score)

    def _scores(self, words: list[str]) -> "np.ndarray[Any, np.dtype[Any]]":
        """One score a document, in corpus order."""
        import numpy as np

        known = [word for word in words if self._index is not None and word in self._index.vocab_dict]
        if not known:
            return np.zeros(len(self._documents), dtype=np.float32)
        scores: np.ndarray[Any, np.dtype[Any]] = self._index.get_scores(known)
        return scores

    @cached_property
    def _index(self) -> Any:  # noqa: ANN401  (bm25s ships no types)
        """Built at the first search; ``None`` for a corpus without any word."""
        import bm25s

        corpus = [tokens(f"{document.title}\n{document.text}") for document in self._documents]
        if not any(corpus):
            return None
        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        index.index(corpus, show_progress=False)
        return index


class _Line(BaseModel):
    """One line of a corpus file."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str | int
    text: str
    title: str = ""
    url: str = ""

    def document(self) -> Document:
        return Document(id=str(self.id), title=self.title, text=self.text, url=self.url)


def read_corpus(path: Path | str) -> tuple[Document, ...]:
    """The documents of a JSONL file: one object a line with `id`, `text` and, where known, `title` and `url`.

    Raises:
        FileFormatError: Not UTF-8, or lines that are no such object, listed with their numbers.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: the corpus cannot be read: {error}") from error
    documents: list[Document] = []
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            documents.append(_Line.model_validate_json(line).document())
        except ValidationError as error:
            problems.append(f"line {number}: {_reason(error)}")
    if problems:
        shown = problems[:MOST_LINES_LISTED]
        more = f"; and {len(problems) - len(shown)} more" if len(problems) > len(shown) else ""
        raise FileFormatError(
            f"{path}: {len(problems)} lines are no documents ({'; '.join(shown)}{more}); "
            'a line is {"id": "…", "title": "…", "text": "…", "url": "…"}'
        )
    return tuple(documents)


def tokens(text: str) -> list[str]:
    """Words in lower case; single characters in scripts without blanks.

    >>> tokens("Émile's 2 Bücher, 東京")
    ['émile', 's', '2', 'bücher', '東', '京']
    """
    return _TOKEN.findall(text.casefold())


def snippet(text: str, words: set[str], *, length: int) -> str:
    """The passage of about `length` characters with the most different words of the query, else the beginning.

    >>> snippet("one two three four five six seven", {"five", "six"}, length=12)
    '… five six …'
    """
    matches = [(match.start(), match.end()) for match in _TOKEN.finditer(text) if match.group().casefold() in words]
    start, end = _densest(text, matches, length)
    start, end = _at_blanks(text, start, end)
    passage = " ".join(text[start:end].split())
    return f"{'… ' if start > 0 else ''}{passage}{' …' if end < len(text) else ''}"


def _densest(text: str, matches: Sequence[tuple[int, int]], length: int) -> tuple[int, int]:
    """The first window with the most different words, with up to a quarter of it before the first of them."""
    best_start, best_reach, best_count = 0, 0, 0
    inside: Counter[str] = Counter()
    held: deque[tuple[int, str]] = deque()
    for start, end in matches:
        held.append((start, text[start:end].casefold()))
        inside[held[-1][1]] += 1
        while len(held) > 1 and (end - held[0][0] > length or inside[held[0][1]] > 1):
            _, word = held.popleft()
            inside[word] -= 1
        count = sum(1 for number in inside.values() if number)
        if count > best_count:
            best_start, best_reach, best_count = held[0][0], end - held[0][0], count
    begin = max(0, best_start - max(0, min(length - best_reach, length // 4)))
    return begin, min(len(text), begin + length)


def _at_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """The window without the parts of words at its ends, where a blank is near enough."""
    if start > 0 and not text[start - 1].isspace() and (blank := _BLANK.search(text, start, min(end, start + 30))):
        start = blank.end()
    if end < len(text) and not text[end].isspace():
        end = max((blank.start() for blank in _BLANK.finditer(text, max(start, end - 30), end)), default=end)
    return start, end


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{first['loc'][0]}: {first['msg']}" if first["loc"] else first["msg"]
