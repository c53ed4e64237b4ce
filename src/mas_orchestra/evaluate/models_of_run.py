"""The models of a run, each opened once however many systems name it."""

from collections.abc import Mapping
from pathlib import Path

from mas_orchestra.errors import ConfigError
from mas_orchestra.evaluate.config import EvalConfig
from mas_orchestra.models.base import ChatModel
from mas_orchestra.models.cache import CachedModel
from mas_orchestra.models.uri import open_model
from mas_orchestra.search.base import Retriever

__all__ = ["OpenModels"]


class OpenModels:
    """Opens models by URI, in front of them the response cache where there is one."""

    def __init__(self, config: EvalConfig, models: Mapping[str, ChatModel]) -> None:
        """A run's models; `models` are those that a program made, by the URI that the configuration has for them."""
        self._config = config
        self._opened = {uri: self._remembering(model) for uri, model in models.items()}
        self._retrievers: dict[Path, Retriever] = {}

    def _remembering(self, model: ChatModel) -> ChatModel:
        cache = self._config.cache
        return model if cache is None else CachedModel(model, Path(cache))

    def open(self, uri: str | None) -> ChatModel:
        """The model of that URI.

        Raises:
            UsageError: There is no URI, or it names no model.
        """
        if uri is None:
            raise ConfigError('no model to ask: give --model URI, or model = "URI" in the evaluation\'s file')
        if uri not in self._opened:
            self._opened[uri] = self._remembering(open_model(uri, self._config))
        return self._opened[uri]

    def retriever(self, corpus: Path) -> Retriever:
        """What search agents search; indexed once."""
        if corpus not in self._retrievers:
            from mas_orchestra.search.bm25 import BM25Retriever

            self._retrievers[corpus] = BM25Retriever.from_jsonl(corpus)
        return self._retrievers[corpus]

    async def close(self) -> None:
        """Close every model."""
        for model in self._opened.values():
            await model.close()
