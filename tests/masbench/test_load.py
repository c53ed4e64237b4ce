import json
from pathlib import Path

import pytest

from mas_orchestra.errors import FileFormatError, UnreachableError, UsageError
from mas_orchestra.masbench import hub
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.load import BenchRow, load
from mas_orchestra.masbench.problem import Axis, Parameters, Split

PUBLISHED = {
    "reward_model_json": json.dumps({"ground_truth": "14<<horizon>>22", "style": "rule"}),
    "extra_info_json": json.dumps({"answer": "14<<horizon>>22"}),
    "prompt_json": json.dumps(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Problem 1: …"}]
    ),
    "axis": "horizon",
    "value": "2",
    "data": json.dumps({"data_source": "igsm", "prompt": []}),
}


def write(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_the_published_layout_is_read_from_its_strings(tmp_path):
    [row] = load(write(tmp_path / "horizon" / "test-00000-of-00001.jsonl", PUBLISHED))
    assert row == BenchRow(
        id="horizon-test-00000-of-00001-1",
        axis="horizon",
        value=2,
        split="test",
        question="Problem 1: …",
        answers=("14", "22"),
    )


def test_combine_rows_without_value_and_axis_take_the_name_of_their_folder(tmp_path):
    record = {name: cell for name, cell in PUBLISHED.items() if name not in {"axis", "value"}}
    [row] = load(write(tmp_path / "combine" / "train.jsonl", record))
    assert (row.axis, row.value, row.split) == ("combine", None, "train")


def test_published_parquet_is_read_like_ours(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet

    (tmp_path / "horizon").mkdir()
    pyarrow.parquet.write_table(pa.Table.from_pylist([PUBLISHED]), tmp_path / "horizon" / "test.parquet")
    assert [row.answers for row in load(tmp_path)] == [("14", "22")]


def test_plain_questions_with_answers_are_read(tmp_path):
    path = write(tmp_path / "mine.jsonl", {"question": "1+1?", "answer": 2}, {"question": "?", "answers": ["3", 4]})
    assert [row.answers for row in load(path)] == [("2",), ("3", "4")]


def test_rows_are_filtered_by_axis_and_split(tmp_path):
    path = write(tmp_path / "x.jsonl", *({**PUBLISHED, "axis": axis} for axis in ("depth", "breadth", "depth")))
    assert len(list(load(path, axis="depth"))) == 2
    assert not list(load(path, split="train"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: expected an object, got list"),
        ("{}", "row 1: neither ours nor of the published set .*answer"),
        ('{"generator_version": "1"}', "row 1: .*id: Field required"),
        ('{"prompt_json": "[]", "reward_model_json": "{}"}', "row 1: .*ground_truth"),
        ('{"prompt_json": "[]", "reward_model_json": "{\\"ground_truth\\": 1}"}', "row 1: .*IndexError"),
        ('{"question": "?", "answer": 1, "value": "many"}', "row 1: .*many"),
    ],
)
def test_a_broken_row_names_file_and_place(tmp_path, text, says):
    path = tmp_path / "bad.jsonl"
    path.write_text(text + "\n")
    with pytest.raises(FileFormatError, match=f"bad.jsonl, {says}"):
        list(load(path))


def test_a_row_of_ours_with_a_certificate_of_another_length_is_refused(tmp_path):
    problem = generate(Recipe(axis=Axis.DEPTH, parameters=Parameters(d=3, b=2, n=4, T=6), split=Split.TEST), 0)
    record = problem.model_dump(mode="json") | {"answers": [1, 2]}
    with pytest.raises(FileFormatError, match="2 answers for 1 asked"):
        list(load(write(tmp_path / "x.jsonl", record)))


def test_a_file_that_is_no_parquet_says_so(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(FileFormatError, match="not a parquet file"):
        list(load(tmp_path / "x.parquet"))


def test_an_empty_folder_and_a_missing_path_say_what_to_do(tmp_path):
    with pytest.raises(UsageError, match="mas bench build"):
        load(tmp_path)
    with pytest.raises(UsageError, match="no such path"):
        load(tmp_path / "a" / "b")


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A hub on loopback whose files are those of a dictionary; counts the requests."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    pages: dict[str, bytes] = {}
    asked: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Authorization")))
            self.send_response(200 if self.path in pages else 404)
            self.end_headers()
            self.wfile.write(pages.get(self.path, b""))

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield pages, asked
    server.shutdown()
    server.server_close()


def offer(pages: dict[str, bytes], path: str, body: bytes, size: int | None = None) -> None:
    entry = {"type": "file", "path": path, "size": len(body) if size is None else size}
    pages["/api/datasets/own/set/tree/main?recursive=true"] = json.dumps(
        [{"type": "directory", "path": "x"}, entry]
    ).encode()
    pages[f"/datasets/own/set/resolve/main/{path}"] = body


def test_a_hub_dataset_is_downloaded_once(mirror, tmp_path, monkeypatch):
    pages, asked = mirror
    offer(pages, "horizon/test.jsonl", json.dumps(PUBLISHED).encode())
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert [row.answers for row in load("own/set")] == [("14", "22")]
    assert [row.split for row in load("own/set")] == ["test"]
    assert [path for path, _ in asked].count("/datasets/own/set/resolve/main/horizon/test.jsonl") == 1
    assert {token for _, token in asked} == {"Bearer hf_secret"}
    assert (tmp_path / "cache" / "mas-orchestra" / "hub" / "own--set" / "horizon" / "test.jsonl").is_file()


def test_a_cut_off_download_is_not_kept(mirror, tmp_path):
    pages, _ = mirror
    offer(pages, "depth/test.jsonl", b"{}", size=99)
    with pytest.raises(UnreachableError, match="ended early"):
        load("own/set")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_hub_file_outside_its_dataset_is_refused(mirror, tmp_path):
    pages, _ = mirror
    offer(pages, "../../evil.jsonl", b"{}")
    with pytest.raises(FileFormatError, match="outside its dataset"):
        load("own/set")
    assert not list(tmp_path.rglob("evil.jsonl"))


def test_an_answer_that_is_no_list_of_files_is_a_format_error(mirror):
    pages, _ = mirror
    pages["/api/datasets/own/set/tree/main?recursive=true"] = b'{"error": "moved"}'
    with pytest.raises(FileFormatError, match="did not answer with a list of files"):
        load("own/set")


def test_without_network_the_error_says_which_file_to_put_where(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with pytest.raises(UnreachableError) as caught:
        load("Salesforce/MASBench")
    assert "download the .parquet files of http://127.0.0.1:9/datasets/Salesforce/MASBench" in str(caught.value)
    assert "DIR/AXIS/test.parquet" in str(caught.value)
    assert "hf_secret" not in str(caught.value)


def test_an_endpoint_that_is_no_web_address_is_refused(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc")
    with pytest.raises(UsageError, match="must begin with https://"):
        hub.fetch("own/set")
