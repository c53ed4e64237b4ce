"""Rows are read one by one from JSON lines and the published layout; a bad line is told and harms no other."""

import importlib.util
import json

import pytest

from mas_orchestra.errors import FileFormatError, MissingExtraError, UsageError
from mas_orchestra.masbench.export import Format, encode
from mas_orchestra.masbench.load import load
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.masbench.read_rows import read_row_line, read_rows
from mas_orchestra.masbench.row_files import row_files
from masbench.published import FILE
from masbench.sets import problem, record, write

HAS_PYARROW = importlib.util.find_spec("pyarrow") is not None


def rows(path):
    return list(read_rows(path))


def test_our_rows(tmp_path):
    write(tmp_path / "rows.jsonl", [record(), record(index=1)])

    first, second = rows(tmp_path / "rows.jsonl")

    assert (first.id, second.id) == (record()["id"], record(index=1)["id"])
    assert first.question == record()["question"]
    assert first.answers == tuple(map(str, record()["answers"]))
    assert first.certificate == record()
    assert (first.fault, first.columns) == (None, None)
    assert second.place == f"{tmp_path / 'rows.jsonl'}:2"


def test_the_published_examples():
    read = rows(FILE)

    assert len(read) == 14
    assert read[4].answers == ("0", "2664863", "8", "4226067")
    assert {row.certificate for row in read} == {None}
    assert read[0].id == f"{FILE}:1"


@pytest.mark.parametrize("layout", [Format.HF, Format.PARQUET])
def test_the_column_layouts_keep_the_certificate(layout):
    made = problem(Axis.HORIZON, 3)

    row = read_row_line(json.dumps(encode(made, layout)).encode(), "x:1")

    assert row.certificate == json.loads(made.model_dump_json())
    assert (row.id, row.question) == (made.id, made.question)
    assert row.answers == tuple(map(str, made.answers))
    assert row.columns == json.loads(json.dumps(encode(made, layout)))


def test_a_published_row_without_a_certificate():
    record = {
        "prompt_json": json.dumps([{"role": "system", "content": "s"}, {"role": "user", "content": "the question"}]),
        "reward_model_json": json.dumps({"ground_truth": "19<<horizon>>2"}),
        "extra_info_json": json.dumps({"answer": "19"}),
        "axis": "horizon",
        "value": "2",
        "data": "not json {",
    }

    row = read_row_line(json.dumps(record).encode(), "x:1")

    assert (row.question, row.answers, row.certificate) == ("the question", ("19", "2"), None)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[1]", "expected a JSON object, got list"),
        ("{}", "got the keys none"),
        ('{"axis": "depth"}', "got the keys axis"),
        ('{"question": 3}', "expected 'question'"),
        ('{"prompt": "x"}', "expected 'question'"),
        ('{"prompt_json": "[broken"}', "expected 'question'"),
        ('{"prompt": [{"role": "user"}, 3]}', "expected 'question'"),
        ("\ud800", "not JSON"),
    ],
)
def test_a_line_that_is_no_row_is_told(line, says):
    row = read_row_line(line.encode("utf-8", "surrogatepass"), "x:7")

    assert says in row.fault
    assert (row.id, row.question, row.answers) == ("x:7", "", ())


def test_a_bad_line_harms_no_other_and_blank_lines_are_nothing(tmp_path):
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(record())}\n\n{{oops\n{json.dumps(record(index=1))}\n")

    read = rows(tmp_path / "rows.jsonl")

    assert [row.fault is None for row in read] == [True, False, True]
    assert read[1].place.endswith(":3")


def test_folders_are_read_in_the_order_of_their_names_hidden_ones_apart(tmp_path):
    for name in ("b/test.jsonl", "a/train.jsonl", ".cache/x.jsonl", "a/.x.jsonl"):
        write(tmp_path / name, [record()])
    (tmp_path / "README.md").write_text("no rows")

    assert [file.relative_to(tmp_path).as_posix() for file in row_files(tmp_path)] == ["a/train.jsonl", "b/test.jsonl"]
    assert len(rows(tmp_path)) == 2


def test_a_folder_without_rows_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="holds no"):
        row_files(tmp_path)


@pytest.mark.parametrize("place", ["depth/train.unfinished", "depth/train.jsonl", "depth", ""])
def test_no_part_of_an_unfinished_build_is_read(tmp_path, place):
    partial = tmp_path / ".set.0123456789ab.partial"
    write(partial / "depth" / "train.jsonl", [record()])
    write(partial / "depth" / "train.unfinished", [record()])

    with pytest.raises(UsageError, match="unfinished build"):
        row_files(partial / place)
    with pytest.raises(UsageError, match="unfinished build"):
        load(partial / place)


def test_rows_are_read_lazily(tmp_path):
    write(tmp_path / "a.jsonl", [record()])
    (tmp_path / "b.parquet").write_bytes(b"not parquet")

    assert next(iter(read_rows(tmp_path))).id == record()["id"]


@pytest.mark.skipif(HAS_PYARROW, reason="pyarrow is installed here")
def test_parquet_without_pyarrow_says_what_to_install(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")

    with pytest.raises(MissingExtraError, match=r"mas-orchestra\[bench\]"):
        rows(tmp_path)


@pytest.mark.skipif(not HAS_PYARROW, reason="needs pyarrow")
@pytest.mark.parametrize("layout", [Format.HF, Format.PARQUET])
def test_parquet(tmp_path, layout):
    from mas_orchestra.masbench.export import open_writer

    with open_writer(tmp_path / "rows.parquet", layout) as writer:
        writer.write([encode(problem(index=index), layout) for index in range(3)])
    (tmp_path / "broken.parquet").write_bytes(b"not parquet")

    assert [row.id for row in rows(tmp_path / "rows.parquet")] == [problem(index=index).id for index in range(3)]
    with pytest.raises(FileFormatError, match=r"broken\.parquet"):
        rows(tmp_path)
