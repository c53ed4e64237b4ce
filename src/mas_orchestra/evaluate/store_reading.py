"""What is read of a stored run: which attempts there are, what they took, all that was said."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mas_orchestra.evaluate.attempt import AttemptKey, Spent, unpack
from mas_orchestra.evaluate.progress import Tally
from mas_orchestra.evaluate.results import Attempt, RunResults
from mas_orchestra.evaluate.store_engine import guarded
from mas_orchestra.evaluate.store_rows import (
    Row,
    attempt_from,
    from_json,
)
from mas_orchestra.evaluate.stored_run import StoredRun
from mas_orchestra.run.outcome import Outcome
from mas_orchestra.score.base import Score
from mas_orchestra.types import OutcomeStatus

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select

__all__ = ["Price", "StoreReader", "StoredOutcome", "Unscored"]

PAGE = 200
"""Rows that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one attempt took, for a baseline that may take as much.

    Attributes:
        calls: LLM calls, those that our response cache answered included.
        is_whole: Whether every call was paid for; with answers from the cache, cost and tokens say too little.
    """

    calls: int
    tokens: int
    cost_usd: float | None
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """An attempt that is stored and has no score: how it ended, and why it has none."""

    key: AttemptKey
    status: OutcomeStatus
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutcome:
    """An outcome as it was stored, with its score."""

    key: AttemptKey
    outcome: Outcome
    score: Score


class StoreReader(StoredRun):
    """A run and its attempts, for those who look at them."""

    def scored(self) -> set[AttemptKey]:
        """The attempts that need nothing any more."""
        columns = self._tables.attempts.c, self._tables.scores.c
        query = self._joined(columns[0].system, columns[0].task, columns[0].attempt, columns[0].seed)
        with guarded(self._engine) as connection:
            rows = connection.execute(query.where(columns[1].value.is_not(None))).mappings()
            return {_key_of(row) for row in rows}

    def unscored(self) -> list[Unscored]:
        """The attempts that are stored without a score."""
        attempts, scores = self._tables.attempts.c, self._tables.scores.c
        query = self._joined(
            attempts.system, attempts.task, attempts.attempt, attempts.seed, attempts.status, scores.reason
        )
        with guarded(self._engine) as connection:
            rows = connection.execute(query.where(scores.value.is_(None))).mappings()
            return [
                Unscored(key=_key_of(row), status=OutcomeStatus(row["status"]), reason=row["reason"]) for row in rows
            ]

    def tallies(self) -> dict[str, Tally]:
        """Counts by system of what is stored."""
        from sqlalchemy import func

        attempts, scores = self._tables.attempts.c, self._tables.scores.c
        query = self._joined(
            attempts.system,
            func.count().label("stored"),
            func.count(scores.value).label("scored"),
            func.coalesce(func.sum(scores.value), 0.0).label("score_sum"),
            func.coalesce(func.sum(attempts.cost_usd), 0.0).label("cost_usd"),
            func.count(attempts.cost_usd).label("priced"),
        ).group_by(attempts.system)
        with guarded(self._engine) as connection:
            return {
                row["system"]: Tally(
                    scored=row["scored"],
                    errored=row["stored"] - row["scored"],
                    score_sum=float(row["score_sum"]),
                    cost_usd=float(row["cost_usd"]) if row["priced"] == row["stored"] else None,
                )
                for row in connection.execute(query).mappings()
            }

    def price(self, key: AttemptKey) -> Price | None:
        """What a scored attempt took; ``None`` when it is not there or has no score."""
        attempts, scores = self._tables.attempts.c, self._tables.scores.c
        total = attempts.input_tokens + attempts.cache_read_tokens + attempts.cache_write_tokens
        query = self._joined(
            attempts.calls,
            attempts.cached_calls,
            attempts.cost_usd,
            (total + attempts.output_tokens).label("tokens"),
        ).where(self._is(key), scores.value.is_not(None))
        with guarded(self._engine) as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            return None
        return Price(
            calls=row["calls"], tokens=row["tokens"], cost_usd=row["cost_usd"], is_whole=row["cached_calls"] == 0
        )

    def spent(self) -> Spent:
        """What the run was paid so far, tries without a score and preparations included."""
        from sqlalchemy import func, select

        columns = self._tables.attempts.c
        query = select(
            func.coalesce(func.sum(columns.spent_calls), 0),
            func.coalesce(func.sum(columns.spent_tokens), 0),
            func.coalesce(func.sum(columns.spent_cost_usd), 0.0),
            func.count() - func.count(columns.spent_cost_usd),
        ).where(columns.run == self.run)
        with guarded(self._engine) as connection:
            calls, tokens, cost_usd, unknown = connection.execute(query).one()
        total = Spent(calls=int(calls), tokens=int(tokens), cost_usd=None if unknown else float(cost_usd))
        for value in self.prepared().values():
            total += Spent(**value["spent"])
        return total

    def attempts(self) -> Iterator[Attempt]:
        """Every attempt by system, task and number, read page by page."""
        columns = [column for column in self._tables.attempts.c if column.name != "outcome"]
        scores = self._tables.scores.c
        for row in self._rows(self._joined(*columns, scores.value, scores.reason, scores.parts)):
            yield attempt_from(row)

    def outcomes(self) -> Iterator[StoredOutcome]:
        """Every attempt with its whole outcome, likewise."""
        scores = self._tables.scores.c
        for row in self._rows(
            self._joined(*self._tables.attempts.c, scores.value, scores.reason, scores.parts, scores.details)
        ):
            score = Score(
                value=row["value"],
                reason=row["reason"],
                parts=from_json(row["parts"]),
                details=from_json(row["details"]),
            )
            yield StoredOutcome(key=_key_of(row), outcome=unpack(row["outcome"]), score=score)

    def outcome(self, key: AttemptKey) -> Outcome:
        """The stored outcome of one attempt."""
        query = self._joined(self._tables.attempts.c.outcome).where(self._is(key))
        with guarded(self._engine) as connection:
            return unpack(connection.execute(query).scalar_one())

    def rows(self, table: str) -> Iterator[Row]:
        """Rows of ``attempts`` (with scores, without outcomes), ``steps`` or ``calls``, for exports."""
        attempts, scores = self._tables.attempts.c, self._tables.scores.c
        key = (attempts.id, attempts.system, attempts.task, attempts.attempt, attempts.seed)
        if table == "attempts":
            wanted = [column for column in attempts if column.name not in {"run", "outcome"}]
            query = self._joined(*wanted, scores.value.label("score"), scores.reason, scores.parts)
            yield from self._rows(query)
            return
        part = self._tables.metadata.tables[table]
        own = [column for column in part.c if column.name != "attempt_id"]
        query = self._joined(*key, *own).join(part, part.c.attempt_id == attempts.id)
        yield from self._rows(query, part.c.position)

    def _is(self, key: AttemptKey) -> "ColumnElement[bool]":
        from sqlalchemy import and_

        columns = self._tables.attempts.c
        return and_(
            columns.run == self.run,
            columns.system == key.system,
            columns.task == key.task_id,
            columns.attempt == key.attempt,
            columns.seed == key.seed,
        )

    def _joined(self, *columns: Any) -> "Select[Any]":  # noqa: ANN401  (columns of any type)
        from sqlalchemy import select

        attempts, scores = self._tables.attempts, self._tables.scores
        joined = attempts.join(scores, scores.c.attempt_id == attempts.c.id)
        return select(*columns).select_from(joined).where(attempts.c.run == self.run)

    def _rows(self, query: "Select[Any]", *then: Any) -> Iterator[Row]:  # noqa: ANN401  (columns of any type)
        """Rows in the order of their keys, so that equal runs read equal whatever came first.

        Read page by page, each in a transaction of its own: a reader that stops half-way holds nothing.
        """
        columns = self._tables.attempts.c
        keys = (columns.system, columns.task, columns.attempt, columns.seed)
        with guarded(self._engine) as connection:
            ids = connection.execute(self._joined(columns.id).order_by(*keys)).scalars().all()
        for start in range(0, len(ids), PAGE):
            page = query.where(columns.id.in_(ids[start : start + PAGE])).order_by(*keys, *then)
            with guarded(self._engine) as connection:
                rows = connection.execute(page).mappings().all()
            yield from map(dict, rows)

    def results(self) -> RunResults:
        """The run as one value."""
        head = self.head()
        return RunResults(
            name=head.name,
            systems=head.systems,
            tasks=self.tasks(),
            attempts=tuple(self.attempts()),
            attempts_per_task=head.attempts_per_task,
            facts=head.facts,
            config=head.config,
        )


def _key_of(row: Any) -> AttemptKey:  # noqa: ANN401  (a row of the driver)
    return AttemptKey(system=row["system"], task_id=row["task"], attempt=row["attempt"], seed=row["seed"])
