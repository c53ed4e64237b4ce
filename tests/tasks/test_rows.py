"""Files as people have them: every format, and every way in which a file is broken."""

import pytest

from mas_orchestra.errors import FileFormatError
from mas_orchestra.tasks.rows import read_rows


def write(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def records(file):
    return [(row.number, dict(row.record)) for row in read_rows(file)]


def test_json_lines_keep_their_line_numbers(tmp_path):
    file = write(tmp_path, "a.jsonl", '{"q": "a"}\n\n  \n{"q": "b"}\r\n{"q": "c"}')

    assert records(file) == [(1, {"q": "a"}), (4, {"q": "b"}), (5, {"q": "c"})]


def test_a_json_list_is_numbered_by_its_items(tmp_path):
    file = write(tmp_path, "a.json", '[{"q": 1},\n {"q": 2}]')

    assert records(file) == [(1, {"q": 1}), (2, {"q": 2})]
    assert [row.place for row in read_rows(file)] == [f"{file}, row 1", f"{file}, row 2"]


def test_csv_cells_may_hold_lines_commas_and_quotes(tmp_path):
    file = write(tmp_path, "a.csv", 'q,a\n"one,\ntwo","say ""hi"""\n\nthree,4\n')

    assert records(file) == [(2, {"q": "one,\ntwo", "a": 'say "hi"'}), (5, {"q": "three", "a": "4"})]


def test_a_form_feed_or_a_line_separator_in_a_cell_is_no_new_line(tmp_path):
    file = write(tmp_path, "a.csv", "q,a\none\u2028two\x0cthree,4\nx,5\n")

    assert records(file) == [(2, {"q": "one\u2028two\x0cthree", "a": "4"}), (3, {"q": "x", "a": "5"})]


def test_tabs_and_byte_order_marks(tmp_path):
    assert records(write(tmp_path, "a.tsv", b"\xef\xbb\xbfq\ta\nx,y\t1\n")) == [(2, {"q": "x,y", "a": "1"})]
    assert records(write(tmp_path, "b.jsonl", b'\xef\xbb\xbf{"q": 1}')) == [(1, {"q": 1})]
    assert records(write(tmp_path, "c.json", b'\xef\xbb\xbf[{"q": 1}]')) == [(1, {"q": 1})]


def test_parquet_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"q": ["a", "b"], "n": [1, None]}), tmp_path / "a.parquet")

    assert records(tmp_path / "a.parquet") == [(1, {"q": "a", "n": 1}), (2, {"q": "b", "n": None})]


def test_a_very_long_cell_is_read(tmp_path):
    file = write(tmp_path, "a.csv", f"q,a\n{'x' * 300_000},1\n")

    assert len(records(file)[0][1]["q"]) == 300_000


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "", "holds no rows"),
        ("a.jsonl", "\n\n", "holds no rows"),
        ("a.csv", "q,a\n", "holds no rows"),
        ("a.csv", "", "holds no rows"),
        ("a.json", "[]", "holds no rows"),
        ("a.jsonl", '{"q": 1}\n{"q": 2', "line 2: not JSON"),
        ("a.jsonl", '{"q": NaN}', "NaN is no JSON number"),
        ("a.jsonl", "[" * 100_000, "line 1: not JSON"),
        ("a.jsonl", '{"q": 1}\n[1]', "line 2: expected an object with columns as keys, got list"),
        ("a.json", '{"q": 1}', "expected a JSON list of objects, got dict"),
        ("a.json", '[{"q": 1},\n{]', "line 2: not JSON"),
        ("a.csv", "q,a\nx\n", "line 2: 1 cells under 2 columns"),
        ("a.csv", "q,a\nx,1\ny,2,3\n", "line 3: 3 cells under 2 columns"),
        ("a.csv", 'q,a\n"x,1\n', "line 2: not CSV"),
        ("a.csv", "q,q\nx,1\n", "the columns q come twice"),
        ("a.jsonl", '{"q": "caf\u00e9"}'.encode("latin-1"), "line 1: the byte 0xe9 is not UTF-8"),
        ("a.csv", b"q,a\nx,1\ny,\xff\n", "line 3: the byte 0xff is not UTF-8"),
        ("a.csv", "q,a\nx,1\n".encode("utf-16"), "UTF-16; save it as UTF-8"),
        ("a.parquet", b"PAR2 no", "not a Parquet file"),
        ("a.xlsx", b"PK", "unknown kind of file"),
    ],
)
def test_a_broken_file_says_where_and_what_to_do(tmp_path, name, content, message):
    file = write(tmp_path, name, content)
    with pytest.raises(FileFormatError) as caught:
        records(file)
    assert message in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_cannot_be_opened_is_one_error(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be read"):
        records(tmp_path / "none.jsonl")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileFormatError, match="cannot be read"):
        records(tmp_path / "folder.csv")
