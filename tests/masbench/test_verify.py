"""A set is proven row by row and as a whole, in one pass that keeps a few bytes a row."""

import gc
import json
import re
from itertools import product

import pytest

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench import axes
from mas_orchestra.masbench.analyze import Analysis
from mas_orchestra.masbench.build import build
from mas_orchestra.masbench.export import Format
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Problem, Split, Style
from mas_orchestra.masbench.read_rows import Row, read_row_line
from mas_orchestra.masbench.request import BuildRequest
from mas_orchestra.masbench.system import Definition
from mas_orchestra.masbench.verify import Verifier, verify
from masbench.published import FILE
from masbench.sets import problem, record, write

SWEEPS = [axis for axis in Axis if axis is not Axis.COMBINE]


def run(path):
    faults = []
    return verify(path, on_fault=faults.append), faults


def run_rows(*records):
    verifier = Verifier()
    faults = [verifier.take(read_row_line(json.dumps(entry).encode(), f"x:{n}")) for n, entry in enumerate(records, 1)]
    return [fault for found in faults for fault in found], verifier.finish(), verifier.result


def relabelled(entry, row_id, split):
    """The row under another id and split, with a text of its own."""
    changed = entry | {"id": row_id, "split": split, "question": entry["question"] + "\n"}
    return changed | {"measured": entry["measured"] | {"characters": len(changed["question"])}}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("built") / "set"
    build(
        out,
        BuildRequest(
            format=Format.JSONL,
            axes=tuple(SWEEPS),
            values=(3, 6),
            parameters=None,
            train=4,
            test=4,
            style=Style.EXACT,
            attacks=(AttackKind.NOTE, AttackKind.CLAIM),
            needle=True,
            abstract=False,
        ),
        workers=1,
    )
    return out


def test_a_built_set_has_no_fault(built):
    result, faults = run(built)

    assert faults == []
    assert (result.rows, result.certified, result.faulty, result.faults) == (7 * 16, 7 * 16, 0, 0)
    assert result.groups["depth/train"] == result.groups["robustness/test"] == 8
    assert result.versions == ("1",)


@pytest.fixture
def copied(built, tmp_path):
    for file in (*built.rglob("*.jsonl"), built / "build.json"):
        target = tmp_path / file.relative_to(built)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("equals 1", "equals 2"),
        ('"answers":[', '"answers":[2'),
        (" more than each ", " more than each X"),
        ('"depth":', '"depth":1'),
    ],
)
def test_one_changed_byte_is_found_with_the_row_and_the_file(copied, old, new):
    file = copied / "depth" / "train.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if number > 3 and old in line)
    lines[place] = lines[place].replace(old, new, 1)
    file.write_text("".join(lines), "utf-8")

    result, faults = run(copied)

    of_rows = {(fault.id, fault.place) for fault in faults if fault.id}
    assert (json.loads(lines[place])["id"], f"{file}:{place + 1}") in of_rows
    assert [fault.reason for fault in faults if not fault.id] == ["depth/train.jsonl has changed since it was built"]
    assert result.faulty == len(of_rows)


def test_files_that_are_missing_or_added_are_named(copied):
    (copied / "depth" / "train.jsonl").rename(copied / "depth" / "more.jsonl")

    _, faults = run(copied)

    assert [fault.reason for fault in faults] == [
        "depth/train.jsonl is missing",
        "depth/more.jsonl was not built with the others",
    ]


@pytest.mark.parametrize("junk", ["{", "[]", "{}", '{"files": 3}', '{"files": [3]}'])
def test_a_broken_list_of_files_is_told(copied, junk):
    (copied / "build.json").write_text(junk)

    assert any("list of files" in fault.reason for fault in run(copied)[1])


def test_an_id_that_stands_twice_is_found():
    rows, _, _ = run_rows(record(), record(index=1) | {"id": record()["id"]})

    assert [(fault.place, fault.reason) for fault in rows] == [("x:2", "the id stands in the set twice")]


def test_a_text_that_stands_twice_is_found():
    rows, _, _ = run_rows(record(), record() | {"id": record()["id"][:-1] + "7"})

    assert [(fault.place, fault.reason) for fault in rows] == [("x:2", "the exact text stands in the set twice")]


def test_names_and_templates_that_both_splits_use_are_found():
    entry = record(Axis.DEPTH, 6)
    rows, _, result = run_rows(entry, relabelled(entry, entry["id"].replace("train", "test"), "test"))

    assert [fault.place for fault in rows] == ["x:2", "x:2"]
    assert "names that train uses too" in rows[0].reason
    assert rows[1].reason == "its template occurs in train too"
    assert (result.rows, result.faulty, result.faults) == (2, 1, 2)


def test_a_template_under_other_names_is_still_the_same():
    entry = record(Axis.DEPTH, 6)
    text = json.dumps(relabelled(entry, entry["id"].replace("train", "test"), "test"))
    for number, name in enumerate(sorted({name for pair in entry["graph"]["quantities"] for name in pair})):
        text = text.replace(name, f"Q{chr(97 + number)}" + re.sub(r"\S", "q", name[2:]))

    rows, _, _ = run_rows(entry, json.loads(text))

    assert [fault.reason for fault in rows] == ["its template occurs in train too"]


def test_small_sizes_share_templates_but_not_with_their_constants():
    train, test = record(Axis.DEPTH, 2), record(Axis.DEPTH, 2, split=Split.TEST)

    assert run_rows(train, test)[0] == []
    rows, _, _ = run_rows(train, relabelled(train, train["id"].replace("train", "test"), "test"))
    assert rows[-1].reason == "its template with its constants occurs in train too"


def test_mixed_generator_versions_are_found():
    _, of_set, result = run_rows(record(), record(index=1) | {"generator_version": "0"})

    assert [(fault.id, fault.reason) for fault in of_set] == [("", "rows of several generator versions: 1, 0")]
    assert result.faults == 1


def test_answers_that_are_not_uniform_are_found():
    recipe = Recipe(axis=Axis.DEPTH, value=2, parameters=axes.sweep(Axis.DEPTH, [2])[2], split=Split.TRAIN)
    problems = [json.loads(generate(recipe, index).model_dump_json()) for index in range(23 * 12)]
    low = [entry for entry in problems if entry["answers"][0] < 12]

    assert run_rows(*problems)[1] == []
    (fault,) = run_rows(*low)[1]
    assert "not uniform: chi-square" in fault.reason
    assert f"over {len(low)} rows" in fault.reason
    assert run_rows(*low[:100])[1] == []  # too few to tell


def test_an_empty_file_is_a_fault(tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n")

    assert [fault.reason for fault in run(tmp_path)[1]] == ["there is no row to verify"]


def test_a_folder_without_rows_is_an_error(tmp_path):
    with pytest.raises(UsageError):
        verify(tmp_path)


def test_rows_are_counted_as_they_are_read(tmp_path):
    write(tmp_path / "rows.jsonl", [record(index=index) for index in range(3)])
    seen = []

    verify(tmp_path, on_row=seen.append)

    assert seen == [1, 2, 3]


def test_the_published_examples():
    result, faults = run(FILE)

    assert (result.rows, result.certified, result.faulty) == (14, 0, 2)
    assert [fault.id for fault in faults] == [f"{FILE}:13", f"{FILE}:14"]
    assert result.groups == {"without certificate": 14}


def test_rows_that_cannot_be_read_are_faults_of_their_own():
    verifier = Verifier()

    (fault,) = verifier.take(Row(place="x:1", id="x:1", fault="not JSON"))

    assert (fault.id, fault.reason) == ("x:1", "not JSON")
    assert verifier.result.faulty == 1


def test_no_row_is_kept():
    lines = [problem(Axis.BREADTH, 6, index).model_dump_json().encode() for index in range(12)]
    verifier = Verifier()
    before = _alive()

    for line in lines:
        verifier.take(read_row_line(line, "x"))

    assert verifier.result.rows == 12
    assert _alive() == before


def _alive():
    """How many rows, certificates and analyses the process holds."""
    gc.collect()
    return sum(isinstance(thing, (Row, Problem, Analysis, Definition)) for thing in gc.get_objects())


@pytest.mark.parametrize("axis", SWEEPS)
def test_a_sample_of_every_sweep(axis):
    assert _proven(axis, least=60) >= 60


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("axis", SWEEPS)
def test_ten_thousand_problems_of_every_sweep(axis):
    assert _proven(axis, least=10_000) >= 10_000


def _proven(axis, *, least):
    """How many problems of the sweep were proven, as many of every value and split."""
    values = range(3, 13) if axis is Axis.DEPTH_FIXED_SIZE else range(2, 13)
    verifier = Verifier()
    for value, split in product(values, Split):
        for index in range(-(-least // (2 * len(values)))):
            made = problem(axis, value, index, split)
            assert verifier.take(read_row_line(made.model_dump_json().encode(), made.id)) == []
    assert verifier.finish() == []
    return verifier.result.rows
