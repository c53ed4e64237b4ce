"""Published sets, each on a small file of our own in its real schema."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from mas_orchestra.errors import FileFormatError, UnreachableError, UsageError
from mas_orchestra.score import Scorers
from mas_orchestra.tasks.load import PUBLISHED, load_tasks

DATA = Path(__file__).parent / "data"
FILES = {
    "aime24": "aime24.jsonl",
    "aime25": "aime25.jsonl",
    "gpqa_diamond": "gpqa_diamond.csv",
    "hotpotqa": "hotpotqa.jsonl",
    "browsecomp_plus": "browsecomp_plus_decrypted.jsonl",
    "deepscaler": "deepscaler.json",
}


def loaded(name, file=None, **options):
    return load_tasks(f"{name}:{DATA / (file or FILES[name])}", **options)


def test_every_set_has_a_file_here():
    assert set(FILES) == set(PUBLISHED)


@pytest.mark.parametrize(
    ("name", "task_id", "answer", "kind"),
    [
        ("aime24", "aime24-60", "080", "mathematics"),
        ("aime25", "aime25-0", "12", "mathematics"),
        ("hotpotqa", "hotpotqa-5a000001", "Norway", "text"),
        ("browsecomp_plus", "browsecomp_plus-1", "Lillevik", "judge"),
        ("deepscaler", "deepscaler-1", "\\frac{3}{4}", "mathematics"),
    ],
)
def test_a_row_becomes_a_task(name, task_id, answer, kind):
    tasks = loaded(name)

    first = tasks.tasks[0]
    assert (tasks.name, first.id, first.answers, first.kind) == (name, task_id, (answer,), kind)
    assert first.question.strip()
    assert tasks.licence
    assert tasks.source.endswith(FILES[name])


@pytest.mark.parametrize(
    ("name", "file", "task_id"),
    [
        ("aime24", "aime24_other_names.jsonl", "aime24-2024-I-91"),
        ("hotpotqa", "hotpotqa_authors.json", "hotpotqa-5a000001"),
    ],
)
def test_other_copies_of_a_set_are_read_too(name, file, task_id):
    assert [task.id for task in loaded(name, file).tasks] == [task_id]


def test_options_are_shuffled_by_the_seed_and_the_letter_follows():
    orders = set()
    for seed in range(20):
        for task in loaded("gpqa_diamond", seed=seed).tasks:
            right = {"gpqa-recMade1": "Hydrogen", "gpqa-recMade2": "Neutron"}[task.id]
            [letter] = task.answers
            assert task.metadata["choices"]["ABCD".index(letter)] == right
            assert f"\n{letter}) {right}\n" in task.question
            orders.add((task.id, *task.metadata["choices"]))
    assert len(orders) > 10
    assert loaded("gpqa_diamond", seed=3) == loaded("gpqa_diamond", seed=3)
    assert loaded("gpqa_diamond", seed=3).fingerprint != loaded("gpqa_diamond", seed=4).fingerprint


def test_where_an_option_stands_tells_nothing_about_the_other_questions():
    letters = [tuple(task.answers[0] for task in loaded("gpqa_diamond", seed=seed).tasks) for seed in range(20)]

    assert len({first == second for first, second in letters}) == 2


@pytest.mark.parametrize("name", sorted(set(FILES) - {"browsecomp_plus"}))
async def test_every_reference_is_right_by_the_scorer_of_its_kind(name):
    with Scorers.standard() as scorers:
        values = [(await scorers[task.kind].score(task, task.answers[0])).value for task in loaded(name).tasks]

    assert values == [1.0] * len(values)


def test_a_scrambled_question_is_refused(tmp_path):
    file = tmp_path / "scrambled.jsonl"
    file.write_text('{"query_id": "1", "query": "' + "Qx3+" * 20 + '==", "answer": "Zm9v"}')
    with pytest.raises(FileFormatError, match="decrypt_dataset"):
        load_tasks(f"browsecomp_plus:{file}")


def test_another_schema_is_named_with_its_columns(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"text": "How many?", "label": 4}')
    with pytest.raises(FileFormatError, match=r"line 1: expected the column .* its columns are text, label"):
        load_tasks(f"aime25:{file}")


@pytest.mark.parametrize("answer", ["null", '""', '" "'])
def test_a_row_without_an_answer_is_refused(tmp_path, answer):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": 1, "problem": "How many?", "answer": ' + answer + "}")
    with pytest.raises(FileFormatError, match="line 1: nothing in the column 'answer'"):
        load_tasks(f"aime24:{file}")


def test_a_set_without_a_file_says_what_to_get_and_how_to_give_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UnreachableError) as caught:
        load_tasks("hotpotqa")

    message = str(caught.value)
    assert "https://huggingface.co/datasets/hotpotqa/hotpot_qa" in message
    assert "'distractor' and 'validation'" in message
    assert "hotpotqa:FILE" in message
    assert "AXIS" not in message


def test_a_file_that_is_not_there_is_no_hub_id(tmp_path):
    with pytest.raises(UsageError, match=r"no such file or folder.*aime24:FILE"):
        load_tasks(f"aime24:{tmp_path / 'none.jsonl'}")


def test_in_a_folder_the_split_is_taken_with_all_its_parts(tmp_path):
    lines = (DATA / "hotpotqa.jsonl").read_text().splitlines()
    folder = tmp_path / "distractor"
    folder.mkdir()
    for number, line in enumerate(lines):
        (folder / f"validation-0000{number}-of-00002.jsonl").write_text(line)
    (folder / "train-00000-of-00001.jsonl").write_text(lines[0])

    assert len(load_tasks(f"hotpotqa:{tmp_path}")) == 2


def test_a_folder_in_which_two_files_could_be_meant_is_refused(tmp_path):
    for name in ("validation_distractor.jsonl", "other_distractor_validation.jsonl"):
        (tmp_path / name).write_text((DATA / "hotpotqa.jsonl").read_text())
    with pytest.raises(UsageError, match=r"cannot tell which file .* validation_distractor\.jsonl"):
        load_tasks(f"hotpotqa:{tmp_path}")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub on loopback: path of a page → its bytes; and the paths asked for."""
    pages, asked = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200 if self.path in pages else 404)
            self.end_headers()
            self.wfile.write(pages.get(self.path, b""))

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield pages, asked
    server.shutdown()
    server.server_close()


def offer(pages, dataset, files):
    entries = [{"type": "file", "path": path, "size": len(body)} for path, body in files.items()]
    pages[f"/api/datasets/{dataset}/tree/main?recursive=true"] = json.dumps(entries).encode()
    pages.update({f"/datasets/{dataset}/resolve/main/{path}": body for path, body in files.items()})


def test_of_a_dataset_on_the_hub_only_the_file_that_is_meant_is_downloaded_and_once(hub):
    pages, asked = hub
    rows = (DATA / "gpqa_diamond.csv").read_bytes()
    offer(pages, "Idavidrein/gpqa", {"gpqa_diamond.csv": rows, "gpqa_main.csv": rows, "README.md": b"x"})

    assert load_tasks("gpqa_diamond").fingerprint == loaded("gpqa_diamond").fingerprint
    assert load_tasks("gpqa_diamond:Idavidrein/gpqa") == load_tasks("gpqa_diamond")
    assert [path for path in asked if "resolve" in path] == ["/datasets/Idavidrein/gpqa/resolve/main/gpqa_diamond.csv"]


def test_a_dataset_without_the_file_says_so(hub):
    pages, _ = hub
    offer(pages, "Idavidrein/gpqa", {"gpqa_main.csv": b"x"})
    with pytest.raises(UsageError, match="nothing to load"):
        load_tasks("gpqa_diamond")
