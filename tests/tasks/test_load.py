"""A spec in, tasks out: samples, fingerprints, and every way to write a spec wrongly."""

import pytest

from mas_orchestra.errors import FileFormatError, UnknownNameError, UsageError
from mas_orchestra.tasks.load import LOADERS, load_tasks


@pytest.fixture
def ten(tmp_path):
    file = tmp_path / "ten.jsonl"
    file.write_text("".join(f'{{"id": "t{n}", "question": "{n} + 1?", "answer": {n + 1}}}\n' for n in range(10)))
    return file


def test_a_limit_draws_a_sample_in_the_order_of_the_file(ten):
    all_ids = [task.id for task in load_tasks(f"jsonl:{ten}").tasks]
    samples = [[task.id for task in load_tasks(f"jsonl:{ten}", limit=4, seed=seed).tasks] for seed in range(8)]

    assert all(sample == sorted(sample, key=all_ids.index) and len(set(sample)) == 4 for sample in samples)
    assert len({tuple(sample) for sample in samples}) > 1
    assert samples[3] == [task.id for task in load_tasks(f"jsonl:{ten}", limit=4, seed=3).tasks]
    assert len(load_tasks(f"jsonl:{ten}", limit=99)) == 10


def test_the_fingerprint_is_of_the_tasks_and_nothing_else(ten, tmp_path):
    whole = load_tasks(f"jsonl:{ten}")
    copy = tmp_path / "copy.jsonl"
    copy.write_text(ten.read_text())
    other = tmp_path / "other.jsonl"
    other.write_text(ten.read_text().replace('"answer": 3', '"answer": 4'))

    assert load_tasks(str(copy)).fingerprint == whole.fingerprint
    assert load_tasks(f"jsonl:{other}").fingerprint != whole.fingerprint
    assert load_tasks(f"jsonl:{ten}", limit=5).fingerprint != whole.fingerprint


def test_a_file_alone_is_one_of_the_users_own(ten):
    assert load_tasks(str(ten)) == load_tasks(f"jsonl:{ten}")
    assert load_tasks(str(ten)).name == "ten"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("hotpot:x", UnknownNameError, "Did you mean 'hotpotqa'"),
        ("", UnknownNameError, "Known: "),
        ("jsonl:", UsageError, "no such file"),
        ("jsonl:none.jsonl", UsageError, "no such file"),
        ("masbench:", UsageError, "masbench:AXIS"),
        ("masbench:none", UsageError, "no such path"),
        ("aime24:x.jsonl?n=3", UsageError, "takes no options"),
        ("masbench:depth?values", UsageError, "NAME=VALUE"),
        ("masbench:depth?n=1&n=2", UsageError, "once"),
    ],
)
def test_a_wrong_spec_says_what_is_right(spec, error, message):
    with pytest.raises(error) as caught:
        load_tasks(spec)
    assert message in str(caught.value)


def test_columns_are_for_files_of_ones_own():
    with pytest.raises(UsageError, match="columns are for files of your own"):
        load_tasks("masbench:depth", columns={"question": "text"})


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_is_refused(ten, limit):
    with pytest.raises(UsageError, match="at least 1"):
        load_tasks(f"jsonl:{ten}", limit=limit)


def test_the_wrong_loader_for_a_file_is_refused(ten):
    with pytest.raises(UsageError, match=r"csv reads \.csv or \.tsv"):
        load_tasks(f"csv:{ten}")


def test_an_id_that_comes_twice_is_told_with_both_places(tmp_path):
    file = tmp_path / "twice.jsonl"
    file.write_text('{"id": 1, "question": "a", "answer": "b"}\n\n{"id": "1", "question": "c", "answer": "d"}\n')
    with pytest.raises(FileFormatError, match=r"line 3: the id '1' is that of .*line 1"):
        load_tasks(f"jsonl:{file}")


def test_every_loader_says_its_form():
    assert all(form.startswith(name) for name, form in LOADERS.items())
