"""The store: one attempt, one transaction, once; the same on SQLite and PostgreSQL."""

import dataclasses
import multiprocessing
import sqlite3
import stat
import uuid

import pytest

from mas_orchestra import plan as language
from mas_orchestra.errors import MissingExtraError, UsageError
from mas_orchestra.evaluate.attempt import Spent, pack, unpack
from mas_orchestra.evaluate.results import SystemInfo
from mas_orchestra.evaluate.store import RunHead, Store
from mas_orchestra.evaluate.store_engine import StoreError, guarded, open_engine
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import Outcome
from mas_orchestra.score.base import Score
from mas_orchestra.types import OutcomeStatus, Usage
from support.evaluation import a_broken_outcome, an_outcome, key, some_tasks, write_attempts

RIGHT = Score(value=1.0, reason="right", parts={"answer": 1.0}, details={"read": "42"})
UNSCORED = Score(value=None, reason="endpoint_error")
SYSTEMS = (SystemInfo(name="cot", is_single_agent=True, is_simulated=False, is_reference=True),)


def head(name: str = "run") -> RunHead:
    return RunHead(name=name, config='name = "x"\n', systems=SYSTEMS, attempts_per_task=2, facts={"seed": 0})


def new_store(url: str, tasks: int = 3) -> Store:
    store = Store(url, f"run-{uuid.uuid4().hex}")
    assert store.create(head(store.run), some_tasks(tasks).tasks)
    return store


@pytest.fixture
def store(store_url):
    with new_store(store_url) as made:
        yield made


def test_a_run_reads_back_as_it_was_made(store):
    results = store.results()

    assert results.name == store.run
    assert results.tasks == some_tasks(3).tasks
    assert results.systems == SYSTEMS
    assert results.attempts == ()
    assert results.attempts_per_task == 2
    assert results.facts == {"seed": 0}
    assert results.config == 'name = "x"\n'


def test_a_run_is_made_once(store):
    assert not store.create(head(), some_tasks(9).tasks)
    assert len(store.tasks()) == 3


def test_an_attempt_reads_back_with_its_score(store):
    outcome = an_outcome(calls=3)

    assert store.add(key(), outcome, RIGHT)

    (attempt,) = store.attempts()
    assert (attempt.system, attempt.task_id, attempt.attempt, attempt.seed) == ("cot", "t0", 0, 0)
    assert (attempt.score, attempt.reason, attempt.parts) == (1.0, "right", {"answer": 1.0})
    assert (attempt.answer, attempt.status) == ("42", OutcomeStatus.ANSWERED)
    assert (attempt.calls, attempt.cached_calls, attempt.cost_usd) == (3, 0, pytest.approx(0.03))
    assert attempt.usage == Usage(input_tokens=30, output_tokens=15)


def test_the_whole_outcome_is_kept(store):
    outcome = an_outcome(calls=2)
    store.add(key(), outcome, RIGHT)

    (stored,) = store.outcomes()

    assert stored.outcome == outcome == store.outcome(key())
    assert stored.score == RIGHT


def test_a_plan_is_kept_with_its_shape(store):
    plan = Plan(
        steps=(Step(id="a", agent="CoTAgent"), Step(id="b", agent="SCAgent", input="Check ${a}")),
        edges=(Edge("a", "b"),),
    )
    store.add(key(), an_outcome(report=language.check(plan, mode="lenient")), RIGHT)

    (attempt,) = store.attempts()

    assert attempt.plan == plan
    assert attempt.agents == ("CoTAgent", "SCAgent")
    assert (attempt.width, attempt.length) == (1, 2)


def test_faults_are_kept_where_there_is_no_plan(store):
    report = language.read("no plan at all")
    store.add(key(), an_outcome(None, status=OutcomeStatus.INVALID_PLAN, report=report, steps=()), RIGHT)

    (attempt,) = store.attempts()

    assert attempt.plan is None
    assert attempt.fault_codes == ("no_plan",)


@pytest.mark.parametrize(
    ("debates", "share"), [([], None), ([True], 1.0), ([False], 0.0), ([True, False, False, True], 0.5)]
)
def test_unanimity_is_the_share_of_debates(store, debates, share):
    step = an_outcome().steps[0]
    steps = [step, *(dataclasses.replace(step, details={"first_round_unanimous": agreed}) for agreed in debates)]
    store.add(key(), an_outcome(steps=tuple(steps)), RIGHT)

    assert next(store.attempts()).first_round_unanimous == share


def test_answers_from_our_cache_are_counted_apart(store):
    step = an_outcome(calls=3).steps[0]
    calls = (*step.calls[:1], *(dataclasses.replace(call, cached=True) for call in step.calls[1:]))
    store.add(key(), an_outcome(calls=3, steps=(dataclasses.replace(step, calls=calls),)), RIGHT)

    attempt = next(store.attempts())

    assert (attempt.calls, attempt.cached_calls) == (3, 2)
    assert store.spent().calls == 1
    assert not store.price(key()).is_whole


def test_a_scored_attempt_is_never_written_again(store):
    store.add(key(), an_outcome("42"), RIGHT)

    assert not store.add(key(), an_outcome("other"), Score(value=0.0, reason="wrong"))
    assert [attempt.answer for attempt in store.attempts()] == ["42"]
    assert store.spent() == Spent(calls=1, tokens=15, cost_usd=0.01)


def test_an_unscored_attempt_is_replaced_and_what_it_cost_stays_counted(store):
    store.add(key(), a_broken_outcome(), UNSCORED)
    store.add(key(), a_broken_outcome(), UNSCORED)
    store.add(key(), an_outcome(calls=2), RIGHT)

    assert [attempt.score for attempt in store.attempts()] == [1.0]
    assert [row["tries"] for row in store.rows("attempts")] == [3]
    assert len(list(store.rows("calls"))) == 2
    spent = store.spent()
    assert (spent.calls, spent.tokens, spent.cost_usd) == (4, 60, pytest.approx(0.04))


def test_an_unknown_cost_is_unknown_in_every_sum(store):
    store.add(key(), an_outcome(), RIGHT)
    store.add(key(attempt=1), an_outcome(cost_usd=None), RIGHT)

    assert store.spent().cost_usd is None
    assert store.tallies()["cot"].cost_usd is None


@pytest.mark.parametrize("part", ["system", "task_id", "attempt", "seed"])
def test_every_part_of_the_key_tells_attempts_apart(store, part):
    other = {"system": "sc:5", "task_id": "t1", "attempt": 1, "seed": 1}[part]
    store.add(key(), an_outcome(), RIGHT)

    assert store.add(dataclasses.replace(key(), **{part: other}), an_outcome(), RIGHT)
    assert len(store.scored()) == 2


def test_scored_and_unscored_are_told_apart(store):
    store.add(key(), an_outcome(), RIGHT)
    store.add(key(task="t1"), a_broken_outcome(), UNSCORED)

    assert store.scored() == {key()}
    (unscored,) = store.unscored()
    assert unscored.key == key(task="t1")
    assert unscored.status is OutcomeStatus.ENDPOINT_ERROR
    assert store.price(key(task="t1")) is None


def test_tallies_count_by_system(store):
    store.add(key(), an_outcome(), RIGHT)
    store.add(key(attempt=1), an_outcome(), Score(value=0.5, reason="half"))
    store.add(key(task="t1"), a_broken_outcome(), UNSCORED)

    tally = store.tallies()["cot"]

    assert (tally.scored, tally.errored, tally.accuracy) == (2, 1, 0.75)
    assert tally.cost_usd == pytest.approx(0.03)


def test_steps_calls_and_score_come_with_the_attempt_or_not_at_all(store, monkeypatch):
    def fails(attempt_id, outcome):
        raise StoreError("a failure in the middle")

    monkeypatch.setattr("mas_orchestra.evaluate.store.call_rows", fails)
    with pytest.raises(StoreError, match="in the middle"):
        store.add(key(), an_outcome(), RIGHT)

    assert list(store.attempts()) == []
    assert list(store.rows("steps")) == []


def test_rescoring_replaces_scores_and_nothing_else(store):
    store.add(key(), an_outcome(), RIGHT)
    before = next(store.attempts())

    assert store.rescore([(key(), Score(value=0.25, reason="partly", parts={"new": 0.25}))]) == 1

    after = next(store.attempts())
    assert (after.score, after.reason, after.parts) == (0.25, "partly", {"new": 0.25})
    assert dataclasses.replace(after, score=1.0, reason="right", parts=before.parts) == before


def test_order_of_reading_does_not_depend_on_order_of_writing(store):
    keys = [key(system, task, attempt) for system in ("cot", "sc:5") for task in ("t0", "t1") for attempt in (0, 1)]
    for one in reversed(keys):
        store.add(one, an_outcome(), RIGHT)

    read = [key(a.system, a.task_id, a.attempt, a.seed) for a in store.attempts()]

    assert read == keys


HOSTILE = ["nul \0 inside", "half \ud83d a pair", "\x1b[2J", "'; DROP TABLE attempts; --", "🜁 ﷺ\u202e", "", " "]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_model_writes_is_stored(store, text):
    step = dataclasses.replace(an_outcome().steps[0], output=text, thinking=text, details={"said": text})
    outcome = an_outcome(text, steps=(step,))

    store.add(key(), outcome, Score(value=0.0, reason="wrong", details={"read": text}))

    attempt = next(store.attempts())
    assert attempt.answer is not None
    if text.isprintable():
        assert attempt.answer == text
    if "\ud83d" not in text:
        assert store.outcome(key()) == outcome


def test_what_systems_find_out_is_kept(store):
    store.keep_prepared("a", {"chosen": "x", "spent": {"calls": 2, "tokens": 30, "cost_usd": 0.5}})
    store.keep_prepared("b", {"chosen": "y", "spent": {"calls": 1, "tokens": 5, "cost_usd": 0.25}})

    assert store.prepared()["a"]["chosen"] == "x"
    assert store.spent() == Spent(calls=3, tokens=35, cost_usd=0.75)


def test_facts_are_added_to(store):
    store.note({"rescored_at": "today"})

    assert store.head().facts == {"seed": 0, "rescored_at": "today"}


def test_two_runs_in_one_store_do_not_see_each_other(store_url):
    with new_store(store_url) as first, new_store(store_url) as second:
        first.add(key(), an_outcome(), RIGHT)

        assert second.scored() == set()
        assert second.spent() == Spent()
        assert len(list(first.attempts())) == 1


def test_a_run_without_attempts_can_be_taken_away_and_one_with_attempts_cannot(store_url):
    with new_store(store_url) as empty, new_store(store_url) as full:
        full.add(key(), an_outcome(), RIGHT)
        empty.forget()

        assert not empty.exists()
        with pytest.raises(StoreError, match="paid for"):
            full.forget()
        assert full.exists()


def test_two_processes_write_at_the_same_time_and_each_attempt_is_stored_once(store, store_url):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_attempts, args=(store_url, store.run, number, 20)) for number in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)

    assert [writer.exitcode for writer in writers] == [0, 0]
    counts = {system: tally.scored for system, tally in store.tallies().items()}
    assert counts == {"cot": 20, "own 1": 20, "own 2": 20}
    assert len(list(store.rows("calls"))) == 60


def test_an_unknown_run_is_a_clear_error(store, store_url):
    with Store(store_url, "nothing") as other, pytest.raises(StoreError, match="no run named 'nothing'"):
        other.head()


def test_another_store_format_is_refused(tmp_path):
    url = f"sqlite:///{tmp_path / 'run.sqlite'}"
    with new_store(url) as store:
        with guarded(store._engine, writes=True) as connection:
            connection.exec_driver_sql("UPDATE runs SET store_version = 99")

        with pytest.raises(StoreError, match="store format 99; this release reads 1"):
            store.head()


def test_a_full_disk_is_a_clear_error_and_what_is_stored_stays(tmp_path):
    with new_store(f"sqlite:///{tmp_path / 'run.sqlite'}") as store:
        store.add(key(), an_outcome(), RIGHT)
        with guarded(store._engine) as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

        def limit(connection, _):
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")

        from sqlalchemy import event

        event.listen(store._engine, "connect", limit)
        store._engine.dispose()
        with pytest.raises(StoreError, match=r"full.*Free some space; what is stored is safe") as caught:
            store.add(key(attempt=1), an_outcome("".join(map(str, range(100_000)))), RIGHT)

        assert "mas eval resume" in str(caught.value)
        assert key() in store.scored()
        assert store.outcome(key()) == an_outcome()


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'nowhere' / 'run.sqlite'}", "run")

    with pytest.raises(StoreError, match="Check that the folder exists"):
        store.exists()


def test_a_damaged_file_is_a_clear_error(tmp_path):
    file = tmp_path / "run.sqlite"
    file.write_bytes(b"not a database at all" * 100)
    with Store(f"sqlite:///{file}", "run") as store, pytest.raises(StoreError, match="not a database"):
        store.exists()


def test_only_two_kinds_of_stores_are_accepted():
    with pytest.raises(UsageError, match="accepted are postgresql://"):
        open_engine("mysql://root@localhost/x")


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sqlalchemy", None)

    with pytest.raises(MissingExtraError, match=r"mas-orchestra\[eval\]"):
        open_engine("sqlite://")


def test_the_file_is_plain_sqlite_in_write_ahead_mode(tmp_path):
    file = tmp_path / "run.sqlite"
    with new_store(f"sqlite:///{file}") as store:
        store.add(key(), an_outcome(calls=2), RIGHT)

    connection = sqlite3.connect(file)
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    joined = connection.execute(
        "SELECT system, task, value, count(*) FROM attempts JOIN scores ON scores.attempt_id = attempts.id "
        "JOIN calls ON calls.attempt_id = attempts.id GROUP BY attempts.id"
    ).fetchall()
    connection.close()

    assert mode == "wal"
    assert joined == [("cot", "t0", 1.0, 2)]
    assert file.stat().st_mode & stat.S_IRUSR


@pytest.mark.parametrize("outcome", [an_outcome(), an_outcome(None), a_broken_outcome(), an_outcome(calls=50)])
def test_an_outcome_survives_packing(outcome: Outcome):
    packed = pack(outcome)

    assert unpack(packed) == outcome
    assert isinstance(packed, bytes)


def test_packing_is_worth_it():
    outcome = an_outcome(calls=50)

    assert len(pack(outcome)) < len(repr(outcome)) / 5
