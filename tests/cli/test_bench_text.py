"""``mas bench solve``, ``analyze`` and ``verify`` at the command line."""

import json

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from mas_orchestra.errors import MasError, UsageError
from mas_orchestra.masbench.problem import Axis
from masbench.published import FILE, example
from masbench.sets import problem, record, write

TEXT = "The number of each Zoo's Pond equals 5 more than each Zoo's Cage. {}How many Pond does Zoo have?"
STATED = "The number of each Zoo's Cage equals 20. "


def mas(*words, text=None):
    return CliRunner().invoke(app, ["bench", *map(str, words)], input=text)


def error_of(result):
    """The message that ended the command, and its exit code."""
    assert result.exit_code in {1, 2}, result.output
    return result.exit_code, result.stderr or str(result.exception)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "problem.txt"
    path.write_text(TEXT.format(STATED))
    return path


def test_solve_prints_what_was_asked_and_its_answer(file):
    result = mas("solve", file)

    assert (result.exit_code, result.stdout, result.stderr) == (0, "Zoo's Pond = 2\n", "")


def test_solve_as_json_has_two_keys(file):
    result = mas("solve", file, "--json")

    assert json.loads(result.stdout) == {"answers": [2], "asked": [["Zoo", "Pond"]]}


def test_solve_reads_stdin():
    assert json.loads(mas("solve", "-", "--json", text=TEXT.format(STATED)).stdout)["answers"] == [2]
    assert json.loads(mas("solve", "-", "--json", text=json.dumps({"question": TEXT.format(STATED)})).stdout)[
        "answers"
    ] == [2]


def test_undefined_quantities_are_zero_and_told_or_refused():
    zero = mas("solve", "-", "--json", text=TEXT.format(""))

    assert json.loads(zero.stdout)["answers"] == [5]
    assert "never defined, taken as 0: Zoo's Cage" in zero.stderr
    code, message = error_of(mas("solve", "-", "--undefined", "error", text=TEXT.format("")))
    assert code == 1
    assert "Zoo's Cage" in message


def test_a_text_of_another_family_is_refused_with_its_line():
    code, message = error_of(mas("solve", "-", text="\nJohn has 3 apples.\nHow many has he?"))

    assert code == 1
    assert "line 2" in message
    assert "John has 3 apples." in message


@pytest.mark.parametrize(
    ("content", "says"), [(b"", "is empty"), (b" \n ", "is empty"), (b"caf\xe9 is", "is not UTF-8 (byte 3)")]
)
def test_a_file_that_holds_no_text_is_wrong_usage(tmp_path, content, says):
    (tmp_path / "x.txt").write_bytes(content)

    code, message = error_of(mas("solve", tmp_path / "x.txt"))

    assert code == 2
    assert says in message


@pytest.mark.parametrize("command", ["solve", "analyze", "verify"])
def test_a_file_that_is_not_there_is_wrong_usage(command, tmp_path):
    code, message = error_of(mas(command, tmp_path / "none"))

    assert code == 2
    assert "there is no file or folder" in message


def test_rows_are_answered_one_a_line_with_their_ids(tmp_path):
    entries = [record(), record(Axis.HORIZON, 3)]
    write(tmp_path / "rows.jsonl", entries)

    result = mas("solve", tmp_path / "rows.jsonl", "--json")

    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"id": entry["id"], "answers": entry["answers"], "asked": entry["asked"]} for entry in entries
    ]


def test_a_row_that_cannot_be_solved_harms_no_other():
    result = mas("solve", FILE, "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]

    assert result.exit_code == 1
    assert len(lines) == 14
    assert [number for number, line in enumerate(lines, 1) if "error" in line] == [13, 14]
    assert lines[4]["answers"] == [0, 2664863, 8, 4226067]


def test_rows_for_people_stand_under_their_ids(tmp_path):
    write(tmp_path / "rows.jsonl", [record()])

    first, second = mas("solve", tmp_path / "rows.jsonl").stdout.splitlines()

    assert first == record()["id"] + ":"
    assert second.startswith("  ")
    assert second.endswith(f" = {record()['answers'][0]}")


def test_problems_of_a_set_may_be_read_apart(tmp_path):
    (tmp_path / "set.txt").write_text(example(4).question)

    def answers(*options):
        return json.loads(mas("solve", tmp_path / "set.txt", "--json", *options).stdout)["answers"]

    assert answers() == [7, 17, 17, 18]
    assert answers("--reading", "isolated") == [7, 17, 17, 0]


def test_analyze_as_json(tmp_path):
    made = problem(Axis.ROBUSTNESS, 3)
    (tmp_path / "x.txt").write_text(made.question)

    document = json.loads(mas("analyze", tmp_path / "x.txt", "--json").stdout)

    assert document["answers"] == list(made.answers)
    assert (document["depth"], document["breadth"], document["horizon"], document["robustness"]) == (13, 2, 12, 3)
    assert document["poison"]["joint"] == list(made.poisoned.joint)
    assert document["undefined"] == document["ambiguous"] == document["cycles"] == []


def test_analyze_for_people_lists_what_there_is():
    result = mas("analyze", "-", text=TEXT.format(""))

    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["depth"] == "2"
    assert lines["undefined"] == "Zoo's Cage"
    assert "cycles" not in lines
    assert "fault" not in lines


def test_verify_a_proven_file(tmp_path):
    write(tmp_path / "rows.jsonl", [record(index=index) for index in range(3)])

    result = mas("verify", tmp_path)

    assert result.exit_code == 0
    assert result.stdout == "  depth/train: 3\n3 rows: no fault\n"


def test_verify_names_rows_and_reasons_and_ends_with_one(tmp_path):
    wrong = record() | {"answers": [(record()["answers"][0] + 1) % 23]}
    write(tmp_path / "rows.jsonl", [wrong, record(index=1)])

    result = mas("verify", tmp_path / "rows.jsonl")

    assert result.exit_code == 1
    first = result.stdout.splitlines()[0]
    assert first.startswith(f"{wrong['id']} ({tmp_path / 'rows.jsonl'}:1): answers: the row says ")
    assert result.stdout.endswith("faults in 1 rows\n") or "1 faults in 1 rows" in result.stdout


def test_verify_as_json_counts_all_faults_and_lists_some(tmp_path):
    write(tmp_path / "rows.jsonl", [record(index=index) | {"answers": [23 + index]} for index in range(4)])

    result = mas("verify", tmp_path, "--json", "--limit", "2")

    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (document["rows"], document["faulty"]) == (4, 4)
    assert document["faults"] >= 4
    assert len(document["listed"]) == 2
    assert set(document["listed"][0]) == {"id", "place", "reason"}


def test_hostile_text_of_a_row_is_made_harmless(tmp_path):
    write(tmp_path / "rows.jsonl", [{"id": "a\x1b[31m", "question": "\x1b]0;x\x07"}])

    result = mas("verify", tmp_path / "rows.jsonl", "--json")

    assert result.exit_code == 1
    assert "\x1b" not in result.stdout


def test_errors_are_of_our_tree(tmp_path):
    assert issubclass(UsageError, MasError)
    assert isinstance(mas("solve", tmp_path / "none").exception, UsageError | SystemExit)
