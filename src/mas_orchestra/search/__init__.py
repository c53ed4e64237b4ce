"""Retrievers: what a search agent may search.

`base` says what a retriever is; `bm25` is one over documents in memory.
"""

from mas_orchestra.search.base import Document, Hit, Retriever
from mas_orchestra.search.bm25 import BM25Retriever, read_corpus

__all__ = ["BM25Retriever", "Document", "Hit", "Retriever", "read_corpus"]
