"""The store of a run: every attempt once, whole, with all that was said, so that nothing is ever asked twice.

An attempt is written with its steps, calls and score in one transaction. One that has a score is never written again;
one without is replaced when it is tried again, and what its earlier tries cost stays in its `spent_*` columns.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mas_orchestra.evaluate.attempt import AttemptKey, Spent
from mas_orchestra.evaluate.store_engine import StoreError, guarded
from mas_orchestra.evaluate.store_reading import Price, StoredOutcome, StoreReader, Unscored
from mas_orchestra.evaluate.store_rows import (
    Row,
    attempt_row,
    call_rows,
    score_row,
    step_rows,
)
from mas_orchestra.evaluate.stored_run import RunHead, now
from mas_orchestra.run.outcome import Outcome
from mas_orchestra.score.base import Score

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Price", "RunHead", "Store", "StoredOutcome", "Unscored"]


class Store(StoreReader):
    """One run in a database; several processes may write to it at the same time."""

    def add(self, key: AttemptKey, outcome: Outcome, score: Score, *, spent: Spent | None = None) -> bool:
        """Store an attempt with its steps, calls and score; false when it has a score already, and nothing is done.

        Args:
            key: Which attempt.
            outcome: How it went.
            score: What it is worth.
            spent: What was paid in all, where that is more than the outcome says.
        """
        from sqlalchemy.exc import IntegrityError

        paid = Spent.of(outcome) if spent is None else spent
        try:
            return self._add(key, outcome, score, paid)
        except StoreError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self._add(key, outcome, score, paid)  # another machine wrote the same attempt between look and write

    def _add(self, key: AttemptKey, outcome: Outcome, score: Score, paid: Spent) -> bool:
        from sqlalchemy import delete, insert

        attempts = self._tables.attempts
        with guarded(self._engine, writes=True) as connection:
            earlier = self._earlier(connection, key)
            if earlier is not None and earlier["value"] is not None:
                return False
            tries = 1
            if earlier is not None:
                tries += earlier["tries"]
                paid += _spent_of(earlier)
                connection.execute(delete(attempts).where(attempts.c.id == earlier["id"]))
            row = attempt_row(self.run, key, outcome, spent=paid, tries=tries)
            inserted = connection.execute(insert(attempts).values(row)).inserted_primary_key
            attempt_id = inserted[0] if inserted else 0
            for table, rows in (
                (self._tables.steps, step_rows(attempt_id, outcome)),
                (self._tables.calls, call_rows(attempt_id, outcome)),
                (self._tables.scores, [score_row(attempt_id, score, now())]),
            ):
                if rows:
                    connection.execute(insert(table), rows)
        return True

    def _earlier(self, connection: "Connection", key: AttemptKey) -> Row | None:
        from sqlalchemy import select

        attempts, scores = self._tables.attempts, self._tables.scores
        query = (
            select(
                attempts.c.id,
                attempts.c.tries,
                attempts.c.spent_calls,
                attempts.c.spent_tokens,
                attempts.c.spent_cost_usd,
                scores.c.value,
            )
            .join(scores, scores.c.attempt_id == attempts.c.id)
            .where(self._is(key))
        )
        if connection.dialect.name == "postgresql":
            query = query.with_for_update(of=attempts)
        found = connection.execute(query).mappings().first()
        return dict(found) if found else None

    def rescore(self, scores: Iterable[tuple[AttemptKey, Score]]) -> int:
        """Put other scores in the place of stored ones, all or none; how many."""
        from sqlalchemy import select, update

        table, count = self._tables.scores, 0
        with guarded(self._engine, writes=True) as connection:
            for key, score in scores:
                number = select(self._tables.attempts.c.id).where(self._is(key)).scalar_subquery()
                values = score_row(0, score, now())
                del values["attempt_id"]
                connection.execute(update(table).where(table.c.attempt_id == number).values(values))
                count += 1
        return count


def _spent_of(row: Row) -> Spent:
    return Spent(calls=row["spent_calls"], tokens=row["spent_tokens"], cost_usd=row["spent_cost_usd"])
