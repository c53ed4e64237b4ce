"""``mas plan``: exit codes, the JSON object, and what people see."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from mas_orchestra.plan import Plan, installed_catalog, prompt_messages, read
from plan.plan_text import agent, edge, json_plan, tool_calls, xml_plan

GOOD = xml_plan({"a": "x", "b": "${a}"}, [("a", "b")])
SLOPPY = agent("a", "x", kind="cot") + agent("b", "${a}") + "<edge><from>a</from><to>b</to>"
RING = xml_plan({"a": "${b}", "b": "${a}"}, [("a", "b"), ("b", "a")])
FAULT_KEYS = ["code", "severity", "message", "line", "column", "step"]


def plan(*words, text=None):
    return CliRunner().invoke(app, ["plan", *words], input=text)


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "plan.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


class TestCheck:
    def test_the_json_object(self, file):
        result = plan("check", file(SLOPPY), "--mode", "lenient", "--json")

        assert result.exit_code == 0
        printed = json.loads(result.stdout)
        assert list(printed) == [
            "valid", "format", "mode", "dom", "thinking", "answer", "steps", "edges", "sink", "width", "length",
            "max_calls", "faults", "warnings",
        ]  # fmt: skip
        assert [list(step) for step in printed["steps"]] == [["id", "agent", "description", "input", "arguments"]] * 2
        assert printed["steps"][0]["agent"] == "CoTAgent"
        assert printed["edges"] == [["a", "b"]]
        assert (printed["valid"], printed["format"], printed["mode"], printed["dom"]) == (
            True,
            "xml",
            "lenient",
            "high",
        )
        assert (printed["sink"], printed["width"], printed["length"], printed["max_calls"]) == ("b", 1, 2, 2)
        assert printed["faults"] == []
        assert [(list(warning), warning["code"]) for warning in printed["warnings"]] == [
            (FAULT_KEYS, "unknown_agent"),
            (FAULT_KEYS, "unclosed_tag"),
        ]

    def test_of_an_invalid_plan(self, file):
        result = plan("check", file(RING), "--json")

        assert result.exit_code == 1
        printed = json.loads(result.stdout)
        assert printed["valid"] is False
        assert [fault["code"] for fault in printed["faults"]] == ["cycle"]
        assert printed["faults"][0]["severity"] == "error"
        assert printed["sink"] is None

    def test_of_a_direct_answer_on_stdin(self):
        result = plan("check", "-", "--dom", "low", "--json", text="<answer>été</answer>")

        printed = json.loads(result.stdout)
        assert (printed["valid"], printed["answer"], printed["steps"], printed["length"]) == (True, "été", [], 0)

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ([], 0),
            (["--dom", "low"], 1),
            (["--max-steps", "1"], 1),
            (["--max-calls", "1"], 1),
            (["--max-calls", "2"], 0),
            (["--format", "json"], 1),
            (["--format", "xml"], 0),
            (["--truncated"], 1),
            (["--mode", "sloppy"], 2),
            (["--dom", "middle"], 2),
            (["--max-steps", "0"], 2),
            (["--what"], 2),
        ],
    )
    def test_options_and_exit_codes(self, file, options, code):
        assert plan("check", file(GOOD), *options).exit_code == code

    def test_without_a_file(self):
        assert plan("check").exit_code == 2

    @pytest.mark.parametrize("text", [b"a\n\xff\xfe", b"\x80"])
    def test_text_that_is_not_utf8(self, file, text):
        for result in (plan("check", file(text)), plan("check", "-", text=text)):
            assert result.exit_code == 2
            assert "not UTF-8 text: byte 0x" in result.stderr

    @pytest.mark.parametrize("name", ["nowhere.xml", "."])
    def test_a_file_that_cannot_be_read(self, name, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        result = plan("check", name, "--json")

        assert result.exit_code == 2
        assert name in result.stderr
        assert result.stdout == ""

    def test_a_byte_order_mark_is_not_text(self, file):
        assert plan("check", file(b"\xef\xbb\xbf" + GOOD.encode())).exit_code == 0

    def test_people_see_the_line_and_a_caret(self, file):
        result = plan("check", file("Here:\n" + agent("a", "x", kind="Wizard")))

        assert result.exit_code == 1
        lines = result.stdout.splitlines()
        assert lines[0] == "✗ invalid xml plan: 1 error"
        assert lines[1] == "error unknown_agent at line 2, column 42 (step a)"
        caret = lines[4].index("^")
        assert lines[3][caret:].startswith("Wizard")

    def test_a_long_line_is_cut_around_the_fault(self, file):
        text = json_plan({"a": "x" * 5000, "b": "${a}${nobody}", "c": "y" * 5000}, [("a", "b")])
        lines = plan("check", file(text)).stdout.splitlines()
        place = next(number for number, line in enumerate(lines) if line.startswith("error unknown_reference"))

        assert len(lines[place + 2]) < 120
        assert lines[place + 2][lines[place + 3].index("^") :].startswith("${nobody}")

    def test_lenient_mode_prints_the_repaired_plan(self, file):
        result = plan("check", file(SLOPPY), "--mode", "lenient")

        head, _, repaired = result.stdout.partition("\n\n")
        assert head.startswith("✓ valid xml plan: 2 steps, width 1, length 2, at most 2 LLM calls, answer from b")
        assert read(repaired).plan.steps[0].agent == "CoTAgent"

    def test_auto_join(self, file):
        text = xml_plan({"a": "x", "b": "y"})

        assert plan("check", file(text), "--mode", "lenient").exit_code == 1
        assert "collector" in plan("check", file(text), "--mode", "lenient", "--auto-join").stdout

    def test_escape_sequences_of_a_model_do_not_reach_the_terminal(self, file):
        result = plan("check", file(agent("a\x1b[31m", "${\x1b]0;title\x07}", kind="\x1b[2J\x1b[31mWizard")))

        assert "\x1b" not in result.stdout

    def test_the_plan_of_somebody_elses_json(self, file):
        result = plan("check", file('{"agents": []}'))

        assert result.exit_code == 1
        assert "no_plan" in result.stdout


class TestRender:
    @pytest.mark.parametrize("to", ["xml", "tools", "json"])
    @pytest.mark.parametrize("text", [GOOD, json_plan({"a": "x", "b": "${a}"}, [("a", "b")])])
    def test_from_any_format_to_any(self, file, text, to):
        result = plan("render", file(text), "--to", to)

        assert result.exit_code == 0
        report = read(result.stdout)
        assert report.format == to
        assert report.plan.edges == (("a", "b"),)

    def test_a_direct_answer(self):
        result = plan("render", "-", "--to", "json", text="<answer>4</answer>")

        assert result.exit_code == 0
        assert read(result.stdout, dom="low").plan == Plan(answer="4")

    def test_drawings(self, file):
        assert ET.fromstring(plan("render", file(GOOD), "--to", "svg").stdout).tag.endswith("svg")
        assert plan("render", file(GOOD), "--to", "mermaid").stdout.endswith("s1 --> s2\n")

    def test_a_plan_with_faults_is_drawn_and_nothing_else(self, file):
        drawn = plan("render", file(RING), "--to", "mermaid")
        written = plan("render", file(RING), "--to", "json")

        assert (drawn.exit_code, written.exit_code) == (1, 1)
        assert "s2 --> s1" in drawn.stdout
        assert written.stdout == ""
        assert "cycle" in drawn.stderr
        assert "cycle" in written.stderr

    def test_slips_are_mended_unless_strict(self, file):
        mended = plan("render", file(SLOPPY), "--to", "tools")

        assert mended.exit_code == 0
        assert "unknown_agent" in mended.stderr
        assert plan("render", file(SLOPPY), "--to", "tools", "--mode", "strict").exit_code == 1

    def test_no_plan_at_all(self, file):
        result = plan("render", file("hello"), "--to", "svg")

        assert (result.exit_code, result.stdout) == (1, "")


class TestSchema:
    @pytest.mark.parametrize("dom", ["high", "low"])
    def test_it_is_one_json_schema(self, dom):
        schema = json.loads(plan("schema", "--dom", dom).stdout)

        jsonschema.Draft202012Validator.check_schema(schema)
        assert ("answer" in schema["properties"]) == (dom == "low")

    def test_tools(self):
        definitions = json.loads(plan("schema", "--for", "tools").stdout)

        assert [item["function"]["name"] for item in definitions] == list(installed_catalog().names)
        assert all(item["type"] == "function" for item in definitions)


class TestPrompt:
    def test_the_exact_messages(self):
        question = 'Is {{ 7 }} "prime"? ${x}'
        printed = json.loads(plan("prompt", question, "--json", "--format", "tools").stdout)
        sent = prompt_messages(question, dom="high", catalog=installed_catalog(), format="tools")

        assert printed["messages"] == [{"role": m.role.value, "content": m.content} for m in sent]
        assert len(printed["prompt_hash"]) == 64

    def test_for_people(self):
        result = plan("prompt", "-", "--dom", "low", text="Is 7 prime?\n")

        assert result.stdout.startswith("--- system\n")
        assert result.stdout.endswith("Question: Is 7 prime?\n")
        assert "Degree of MAS: low" in result.stdout

    def test_a_template_of_ones_own(self, file):
        assert plan("prompt", "Q", "--template", file("[{{ question }}]")).stdout == "--- user\n[Q]\n"
        wrong = plan("prompt", "Q", "--template", file("{{ nothing }}"))
        assert wrong.exit_code == 2
        assert "nothing" in wrong.stderr


@pytest.mark.parametrize("command", [[], ["check"], ["render"], ["schema"], ["prompt"]])
def test_help(command):
    result = plan(*command, "--help")

    assert result.exit_code == 0
    assert command == [] or "Examples:\n    mas plan" in result.stdout


def test_tool_calls_are_checked_too(file):
    text = tool_calls(("CoTAgent", {"id": "a", "input": ""}))

    assert json.loads(plan("check", file(text), "--json").stdout)["format"] == "tools"


def test_edges_of_several_blocks(file):
    text = xml_plan({"a": "x", "b": "${a}"}) + edge(("a", "b")) + edge(("a", "b"))

    assert json.loads(plan("check", file(text), "--json").stdout)["edges"] == [["a", "b"]]


class TestSettings:
    """``mas plan`` speaks of the sub-agents that ``mas solve`` in the same folder offers."""

    PLAN = (
        '{"steps": [{"id": "a", "agent": "CoTAgent", "description": "", "input": "", "model": "strong"}], "edges": []}'
    )

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("model.toml").write_text('price = { input = 1.0, output = 2.0 }\n[default]\nreply = "x"\n', "utf-8")
        menu = (
            '[agents.SCAgent]\nsamples = 7\n[menu.strong]\nmodel = "scripted:model.toml"\ngood_at = "the last word"\n'
        )
        Path("mas.toml").write_text(menu, encoding="utf-8")
        Path("plan.json").write_text(self.PLAN, encoding="utf-8")
        return tmp_path

    def run(self, *words):
        return CliRunner().invoke(app, ["plan", *words])

    def test_a_model_of_the_menu_may_be_chosen(self, folder):
        assert self.run("check", "plan.json").exit_code == 0
        Path("mas.toml").unlink()
        refused = self.run("check", "plan.json")
        assert refused.exit_code == 1
        assert "bad_argument" in refused.output

    def test_it_survives_every_format(self, folder):
        for name in ("xml", "tools", "json"):
            written = self.run("render", "plan.json", "--to", name).stdout
            Path("again").write_text(written, encoding="utf-8")
            assert self.run("check", "again").exit_code == 0, written
            assert "strong" in written

    def test_prompt_and_schema_tell_of_menu_and_options(self, folder):
        told = self.run("prompt", "Why?").stdout
        assert "strong: the last word, $1.00 in and $2.00 out per million tokens" in told
        assert "7 calls at the same time" in told
        assert '"strong"' in self.run("schema").stdout
