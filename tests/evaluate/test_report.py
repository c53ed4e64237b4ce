"""The report's files: what they say, that they stand alone, that nothing in them can run."""

import csv
import io
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given

from mas_orchestra.errors import FileFormatError, MissingExtraError, UsageError
from mas_orchestra.evaluate.ablation import Fidelity
from mas_orchestra.evaluate.csv_files import csv_text
from mas_orchestra.evaluate.report import write_report
from mas_orchestra.evaluate.report_markdown import markdown
from mas_orchestra.evaluate.report_page import QUESTION, page
from mas_orchestra.plan.schema import Edge, Plan, Step
from strategies import FRAGMENTS, hostile_text
from support.results import DIAMOND, attempt, duel, info, run, study, task

HOSTILE = (
    "".join(FRAGMENTS) + "<img src=x onerror=alert(1)></pre></dd><svg onload=alert(2)>url(#arrow)" + "=1+1\ud800\x0b"
)


class Elements(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    fidelity = {"plan:expert.xml": Fidelity(steps=20, changed=5, changed_anyway=1)}
    return write_report([study(per_value=4, k=2)], tmp_path_factory.mktemp("out") / "new", fidelity=fidelity).parent


@pytest.fixture(scope="module")
def html(folder):
    return Elements((folder / "report.html").read_text("utf-8"))


def test_every_file_is_there(folder) -> None:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    figures = ("accuracy_cost", "axis_accuracy", "axis_gain", "plan_shapes", "verdicts")
    tables = ("axis_accuracy", "axis_gain", "comparisons", "diagnostics", "scoreboard")

    assert names == {
        "report.html",
        "report.md",
        *(f"tables/{name}.csv" for name in tables),
        *(f"figures/{name}.{ending}" for name in figures for ending in ("svg", "png")),
    }


def test_the_first_screen_has_question_scoreboard_and_verdicts_in_this_order(html) -> None:
    places = [
        html.text.index(words)
        for words in (
            QUESTION,
            "5 systems, 44 tasks, 2 attempts a task",
            "Scoreboard",
            "sc:5 against cot:",
            "Accuracy against",
        )
    ]

    assert places == sorted(places)


def test_every_table_and_figure_is_labelled_simulated(folder, html) -> None:
    shown = page([study(per_value=4, k=2)], {}, margin=0.02)
    titles = [table.title for table in shown.tables] + [drawing.title for drawing in shown.drawings]

    assert len(titles) == 14
    assert all(title.startswith("SIMULATED: ") for title in titles)
    text = (folder / "report.md").read_text("utf-8")
    assert all(title in html.text and f"## {title}" in text for title in titles)
    assert "orchestrated:openai:small-orchestrator dom=high (SIMULATED)" in html.text


def test_real_models_are_not_labelled(tmp_path) -> None:
    path = write_report([duel([1.0, 0.0], [1.0, 1.0])], tmp_path)

    assert "SIMULATED" not in path.read_text("utf-8")
    assert "SIMULATED" not in (tmp_path / "report.md").read_text("utf-8")


def test_the_page_stands_alone(folder, html) -> None:
    loading = {"src", "srcset", "data", "action", "poster", "background"}

    assert not {"script", "link", "iframe", "object", "embed", "base", "form", "img", "image"} & set(html.tags)
    assert not [name for name, _ in html.attributes if name in loading or name.startswith("on")]
    targets = [value for name, value in html.attributes if name in {"href", "xlink:href"}]
    assert targets
    assert all(str(value).startswith("#") for value in targets)
    assert "@import" not in (folder / "report.html").read_text("utf-8")


def test_links_inside_the_page_have_a_target_and_ids_are_unique(html) -> None:
    ids = [value for name, value in html.attributes if name == "id"]
    targets = {str(value)[1:] for name, value in html.attributes if name in {"href", "xlink:href"}}

    assert len(ids) == len(set(ids))
    assert targets <= set(ids)


def test_provenance_and_configuration_are_shown(html) -> None:
    for words in ("0123abc", "mas eval run study.toml", "sim:paper", 'loader = "masbench"'):
        assert words in html.text


def test_diagnostics_are_shown(html) -> None:
    assert "5 of 20 (25.0 %); control 1 of 20 (5.0 %)" in html.text
    assert "not measured" in html.text


def test_five_examples_with_their_plans(html) -> None:
    assert html.tags.count("article") == 5
    assert "right where the reference is wrong" in html.text
    assert "The plan of this attempt" in str(html.attributes)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_files_hold_numbers_for_programs(folder) -> None:
    rows = rows_of(folder / "tables" / "scoreboard.csv")

    assert [row["system"] for row in rows] == [one.name for one in study(per_value=1, k=1).systems]
    assert all(0 <= float(row["accuracy_low"]) <= float(row["accuracy"]) <= float(row["accuracy_high"]) for row in rows)
    assert [row["simulated"] for row in rows] == ["false", "false", "true", "false", "false"]
    assert {row["axis"] for row in rows_of(folder / "tables" / "axis_gain.csv")} == {"breadth", "depth", "robustness"}
    measures = {row["measure"] for row in rows_of(folder / "tables" / "diagnostics.csv")}
    assert {"agent", "steps", "whole_task_delegation", "fault_code", "ablation_changed"} <= measures


def test_an_unknown_cost_is_never_zero(tmp_path) -> None:
    results = duel([1.0, 0.0], [1.0, 1.0])
    unknown = replace(results, attempts=tuple(replace(one, cost_usd=None) for one in results.attempts))

    text = write_report([unknown], tmp_path).read_text("utf-8")

    assert "unknown" in text
    assert "$0" not in text
    assert {row["cost_usd"] for row in rows_of(tmp_path / "tables" / "scoreboard.csv")} == {"unknown"}


@given(hostile_text())
def test_no_cell_of_a_csv_is_a_formula(text) -> None:
    written = csv_text([{"system": text, "gain": -0.5}])
    rows = list(csv.DictReader(io.StringIO(written, newline="")))

    assert len(rows) == 1
    assert rows[0]["gain"] == "-0.5"
    assert rows[0]["system"].removeprefix("'") == text.removeprefix("'")
    assert not rows[0]["system"].lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


def test_numbers_that_are_none_are_empty_cells() -> None:
    assert (
        csv_text([{"a": float("nan"), "b": None, "c": float("inf"), "d": True, "e": 0}]) == "a,b,c,d,e\r\n,,,true,0\r\n"
    )
    assert csv_text([]) == "\r\n"


def hostile_run():
    """Every text that a user or a model may write is hostile."""
    plan = Plan(
        thinking=HOSTILE,
        steps=(
            Step(id=re.sub(r"[${}\r\n]", "", HOSTILE), agent=HOSTILE, description=HOSTILE, input=HOSTILE),
            Step(id="b", agent=HOSTILE, input=HOSTILE),
        ),
        edges=(Edge(re.sub(r"[${}\r\n]", "", HOSTILE), "b"),),
    )
    systems = [info(f"cot{HOSTILE}", single=True, reference=True), info(f"={HOSTILE}")]
    tasks = [task(f"{HOSTILE}{n}", axis=HOSTILE, value=HOSTILE, question=HOSTILE, answers=(HOSTILE,)) for n in range(2)]
    attempts = [
        attempt(one.name, each.id, answer=HOSTILE, reason=HOSTILE, plan=plan, fault_codes=(HOSTILE,))
        for one in systems
        for each in tasks
    ]
    return run(systems, tasks, attempts, name=HOSTILE, facts={HOSTILE: HOSTILE, "list": [HOSTILE]}, config=HOSTILE)


def test_hostile_text_is_only_ever_text(tmp_path, html) -> None:
    path = write_report([hostile_run()], tmp_path)
    found = Elements(path.read_text("utf-8"))

    assert set(found.tags) <= set(html.tags) | {"title"}, "no element that a report of ours does not have"
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not [name for name, _ in found.attributes if name in {"src", "srcdoc"}]
    assert "<img src=x onerror=alert(1)>" in found.text, "and all of it can be read"
    assert "url(#arrow)=1+1" in found.text


def test_hostile_text_is_text_in_markdown_too() -> None:
    text = markdown(page([hostile_run()], {}, margin=0.02))
    outside = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", text)

    assert "<" not in outside
    assert not re.search(r"(?<!\\)\|(?= *<)", outside)
    tables = [line for line in outside.splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in tables[:3]}
    assert len(widths) == 1, "a pipe in a name makes no column"


def test_a_fence_in_a_question_does_not_end_the_block() -> None:
    one = task("t0", question="```\n# Not a heading\n````")
    results = run([info("mas")], [one], [attempt("mas", "t0", plan=DIAMOND)])

    text = markdown(page([results], {}, margin=0.02))

    assert "`````text\n```\n# Not a heading\n````\n`````" in text


def test_a_long_question_is_cut_and_says_so(tmp_path) -> None:
    one = task("t0", question="x" * 5_000)

    text = write_report([run([info("mas")], [one], [attempt("mas", "t0")])], tmp_path).read_text("utf-8")

    assert "[2,000 more characters]" in text
    assert "x" * 3_001 not in text


def test_a_plan_too_large_for_a_picture_is_not_drawn(tmp_path) -> None:
    plan = Plan(steps=tuple(Step(id=f"s{n}", agent="CoTAgent") for n in range(61)))

    text = write_report([run([info("mas")], [task("t")], [attempt("mas", "t", plan=plan)])], tmp_path).read_text(
        "utf-8"
    )

    assert "No plan to draw." in text


def test_the_same_runs_give_the_same_bytes(tmp_path) -> None:
    results = duel([1.0, 0.0, 1.0], [1.0, 1.0, 0.0])
    first, second = (write_report([results], tmp_path / name).parent for name in ("a", "b"))

    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert files
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in files)


def test_several_runs_in_one_report_warn_about_what_differs(tmp_path) -> None:
    first = duel([1.0, 1.0], [1.0, 0.0], name="monday", facts={"judge": "a"})
    second = duel([0.0, 1.0], [1.0, 0.0], name="tuesday", facts={"judge": "b"})

    found = Elements(write_report([first, second], tmp_path).read_text("utf-8"))

    assert "runs 'monday' and 'tuesday' differ in judge" in found.text
    assert "mas [tuesday] against cot [tuesday]:" in found.text
    assert "Run monday" in found.text
    assert "Run tuesday" in found.text


@pytest.mark.parametrize(
    "results",
    [
        run([info("cot", single=True, reference=True)], [task("a")], []),
        run([info("cot", single=True, reference=True)], [], []),
        run([], [], []),
        duel([None], [None]),
        duel([1.0], [1.0]),
    ],
    ids=["no attempt", "no task", "no system", "all unscored", "one task"],
)
def test_degenerate_runs_have_a_report(results, tmp_path) -> None:
    found = Elements(write_report([results], tmp_path).read_text("utf-8"))

    assert "Scoreboard" in found.text
    assert "nan" not in found.text.lower().split()
    assert "nan" not in (tmp_path / "tables" / "scoreboard.csv").read_text("utf-8")


def test_no_run_is_a_mistake_of_the_caller(tmp_path) -> None:
    with pytest.raises(UsageError, match="at least one run"):
        write_report([], tmp_path)


@pytest.mark.parametrize("library", ["matplotlib", "scipy"])
def test_a_missing_extra_is_named(library, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(MissingExtraError, match=r"pip install 'mas-orchestra\[eval\]'"):
        write_report([duel([1.0], [1.0])], tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("not a folder")

    with pytest.raises(FileFormatError, match=r"report cannot be written to .*file"):
        write_report([duel([1.0], [1.0])], tmp_path / "file")
