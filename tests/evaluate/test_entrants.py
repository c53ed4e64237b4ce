"""Systems of several runs: names, references, tasks in common, and warnings about what differs."""

import pytest

from mas_orchestra.evaluate.entrants import differing_settings, entrants, task_key
from mas_orchestra.evaluate.scoreboard import scoreboard
from support.results import attempt, duel, info, run, task


def labels(*results):
    return [one.label for one in entrants(results)]


def test_a_name_that_is_unique_stays_as_it_is() -> None:
    assert labels(duel([1.0], [1.0])) == ["cot", "mas"]


def test_a_name_of_two_runs_carries_the_run() -> None:
    first, second = duel([1.0], [1.0], name="monday"), duel([0.0], [1.0], name="tuesday")

    assert labels(first, second) == ["cot [monday]", "mas [monday]", "cot [tuesday]", "mas [tuesday]"]


def test_the_same_run_twice_is_numbered() -> None:
    results = duel([1.0], [1.0])

    assert labels(results, results, results)[::2] == ["cot [run]", "cot [run] #2", "cot [run] #3"]


def test_every_system_meets_the_reference_of_its_own_run() -> None:
    first, second = duel([1.0], [1.0], name="a"), duel([0.0], [1.0], name="b")

    assert [one.reference for one in entrants([first, second])] == [None, "cot [a]", None, "cot [b]"]


def test_a_run_without_a_reference_borrows_one() -> None:
    later = run([info("new")], [task("t0")], [attempt("new", "t0")], name="later")

    found = entrants([duel([1.0], [1.0]), later])

    assert found[-1].reference == "cot"


def test_tasks_are_the_same_only_with_the_same_text_and_answers() -> None:
    original = task("t0")

    assert task_key(original) == task_key(task("t0"))
    assert task_key(original) != task_key(task("t0", question="Another?"))
    assert task_key(original) != task_key(task("t0", answers=("2",)))
    assert task_key(task("t0", question="\ud800"))[0] == "t0", "half a surrogate pair has a key, too"


def test_only_tasks_in_common_are_paired() -> None:
    first = duel([1.0, 1.0, 1.0], [1.0, 0.0, 1.0], name="a")
    changed = [task("t0"), task("t1", question="Changed?"), task("t9")]
    second = run([info("new")], changed, [attempt("new", one.id) for one in changed], name="b")

    board = scoreboard([first, second])

    assert {one.system.label: one.difference.tasks for one in board.comparisons} == {"mas": 3, "new": 1}
    assert any("1 of 5 are the same" in warning for warning in board.warnings)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"facts": {"judge": "openai:other"}}, "differ in judge"),
        ({"facts": {"judge": "openai:judge", "prompt_hashes": {"judge": "ab12"}}}, "differ in prompt_hashes"),
        ({"facts": {}}, "differ in judge"),
        ({"config": "[limits]\nmax_calls = 9\n"}, "limits.max_calls"),
        ({"config": "this = is = no TOML"}, "the whole configuration"),
        ({"k": 8}, "1 and 8 attempts a task"),
    ],
)
def test_what_differs_is_named(changes, named) -> None:
    same = {"facts": {"judge": "openai:judge"}, "config": "[limits]\nmax_calls = 5\n", "k": 1}
    first = duel([1.0], [1.0], name="a", **same)
    second = duel([1.0], [1.0], name="b", **(same | changes))

    assert any(named in sentence for sentence in differing_settings([first, second]))
    assert all("'a' and 'b'" in sentence for sentence in differing_settings([first, second]))


def test_what_always_differs_is_not_named() -> None:
    first = duel([1.0], [1.0], facts={"command": "mas eval run a.toml", "started_at": "2026-01-01"})
    second = duel([0.0], [1.0], facts={"command": "mas eval run b.toml", "started_at": "2026-01-02"})

    assert not differing_settings([first, second])


def test_many_differences_are_cut_short() -> None:
    first = duel([1.0], [1.0], config="\n".join(f"key{number} = 1" for number in range(20)))

    (sentence,) = differing_settings([first, duel([1.0], [1.0])])

    assert "and 14 more" in sentence
