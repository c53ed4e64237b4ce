"""What stands around a plan: reasoning, prose, fences, harmony's channels; and finding the format."""

import pytest

from mas_orchestra.plan import read
from plan.plan_text import agent, edge, json_plan, tool_calls, xml_plan
from support.cards import CARDS

XML = xml_plan({"a": "x", "b": "${a}"}, [("a", "b")])
JSON = json_plan({"a": "x", "b": "${a}"}, [("a", "b")])
TOOLS = tool_calls(("CoTAgent", {"id": "a", "input": "x"}), ("CoTAgent", {"id": "b", "input": "${a}"}))
DRAFTS = (agent("draft", "y"), json_plan({"draft": "y"}), tool_calls(("CoTAgent", {"id": "draft"})), "<edge><from>")
HARMONY = '{"steps":[{"id":"a","agent":"CoTAgent"}],"edges":[]}'


def strict(text, **options):
    return read(text, catalog=CARDS, **options)


def codes(report):
    return [fault.code.value for fault in report.faults]


def ids(report):
    return [step.id for step in report.plan.steps]


@pytest.mark.parametrize(("text", "wire"), [(XML, "xml"), (JSON, "json"), (TOOLS, "tools")])
def test_the_format_is_found(text, wire):
    assert strict(text).format == wire
    assert strict(text, format=wire).valid


@pytest.mark.parametrize(
    ("text", "wire"), [(XML, "json"), (XML, "tools"), (JSON, "xml"), (TOOLS, "xml"), (TOOLS, "json")]
)
def test_a_format_that_was_asked_for_is_the_only_one(text, wire):
    assert codes(strict(text, format=wire)) == ["no_plan"]


@pytest.mark.parametrize("text", [XML, JSON, TOOLS])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('Here is my plan: {x : x>0}, [1], "quoted".\n', "\nI hope it's good."),
        ("```json\n", "\n```\n"),
        ("~~~\n", "\n~~~"),
        ("\ufeff \n", ""),
        ('I considered {"a": ${cost}} and \\frac{1}{2}.\n', ""),
    ],
)
def test_prose_and_fences_are_harmless(text, before, after):
    report = strict(before + text + after)

    assert report.faults == ()
    assert ids(report) == ["a", "b"]


def test_a_fence_is_told_of():
    report = strict(f"```json\n{JSON}\n```")

    assert [(warning.code, warning.line) for warning in report.warnings] == [("repaired", 1)]


class TestReasoning:
    @pytest.mark.parametrize("text", [XML, JSON, TOOLS])
    @pytest.mark.parametrize("draft", DRAFTS)
    @pytest.mark.parametrize("tag", ["think", "thinking"])
    def test_a_draft_inside_reasoning_is_never_a_plan(self, text, draft, tag):
        assert ids(strict(f"<{tag}>maybe {draft} or so</{tag}>\n{text}")) == ["a", "b"]
        assert codes(strict(f"<{tag}>maybe {draft} or so</{tag}>\nNo plan.")) == ["no_plan"]

    @pytest.mark.parametrize("text", [XML, JSON, TOOLS])
    @pytest.mark.parametrize("draft", DRAFTS)
    @pytest.mark.parametrize("tag", ["think", "thinking"])
    def test_a_lone_closing_tag_ends_reasoning_that_the_template_began(self, text, draft, tag):
        report = strict(f"maybe {draft} or so</{tag}>\n{text}")

        assert report.faults == ()
        assert ids(report) == ["a", "b"]

    @pytest.mark.parametrize("tag", ["think", "thinking"])
    def test_reasoning_that_never_ends(self, tag):
        report = strict(f"so\n<{tag}>hm {XML.replace('thinking>', 'b>')}", on_no_plan="answer")

        assert codes(report) == ["reasoning_not_closed"]
        assert (report.faults[0].line, report.faults[0].column) == (2, 1)

    def test_thinking_is_kept(self):
        assert strict(f"<think>long</think>{XML}").plan.thinking == "because"
        assert strict(f"<think>long</think>{agent('a')}").plan.thinking == "long"
        assert strict(f"long</think>{agent('a')}").plan.thinking == "long"
        assert strict(f"<thinking>short</thinking>{HARMONY}").plan.thinking == "short"

    def test_tags_of_reasoning_inside_data_are_data(self):
        work = "compare <think> with </think>"

        assert strict(agent("a", work)).plan.steps[0].input == work
        assert strict(json_plan({"a": work})).plan.steps[0].input == work


class TestHarmony:
    @pytest.mark.parametrize(
        "header",
        [
            "<|start|>assistant to=functions.create_mas<|channel|>commentary <|constrain|>json<|message|>",
            "<|start|>assistant<|channel|>commentary to=functions.create_mas <|constrain|>json<|message|>",
            "<|channel|>commentary to=functions.create_mas<|message|>",
            "<|start|>assistant<|channel|>final<|message|>",
            "<|channel|>final <|constrain|>json<|message|>",
        ],
    )
    @pytest.mark.parametrize("end", ["<|call|>", "<|return|>", "<|end|>", ""])
    def test_one_plan_object(self, header, end):
        assert ids(strict(header + HARMONY + end)) == ["a"]

    def test_one_call_a_sub_agent(self):
        text = "".join(
            f"<|start|>assistant<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{body}<|call|>"
            for name, body in [("CoTAgent", '{"id": "a", "input": "x"}'), ("SCAgent", '{"id": "b", "input": "${a}"}')]
        )
        report = strict(text)

        assert report.format == "tools"
        assert report.plan.edges == (("a", "b"),)

    @pytest.mark.parametrize("draft", DRAFTS)
    def test_analysis_is_not_read(self, draft):
        analysis = f"<|channel|>analysis<|message|>{draft}<|end|>"

        assert ids(strict(f"{analysis}<|start|>assistant<|channel|>final<|message|>{XML}<|return|>")) == ["a", "b"]
        assert codes(strict(analysis)) == ["no_plan"]

    def test_analysis_that_never_ends(self):
        assert codes(strict(f"<|channel|>analysis<|message|>{XML}")) == ["reasoning_not_closed"]

    def test_a_preamble_is_not_read(self):
        preamble = "<|channel|>commentary<|message|>I shall plan.<|end|>"

        assert ids(strict(f"{preamble}<|start|>assistant<|channel|>final<|message|>{HARMONY}")) == ["a"]

    @pytest.mark.parametrize("marker", ["assistantfinal", "assistant final"])
    def test_headers_without_their_special_tokens(self, marker):
        assert ids(strict(f"analysisWe could {agent('draft')}{marker}{XML}")) == ["a", "b"]

    def test_places_are_those_of_the_whole_text(self):
        report = strict(f"<|channel|>analysis<|message|>hm\n<|end|><|channel|>final<|message|>{agent('a', '${b}')}")

        assert [(fault.code, fault.line) for fault in report.faults] == [("unknown_reference", 2)]

    def test_text_that_only_speaks_of_it(self):
        work = "what does <|channel|>final<|message|> mean?"

        assert strict(agent("a", work)).plan.steps[0].input == work


class TestNoPlan:
    @pytest.mark.parametrize(
        "text",
        ["", "   ", "42", "\\boxed{42}", '<DSML tool_name="CoTAgent">solve it</DSML>', "null", "{", "<", "a\x00b"],
    )
    def test_is_an_error(self, text):
        report = strict(text)

        assert codes(report) == ["no_plan"]
        assert report.format is None

    @pytest.mark.parametrize("dom", ["low", "high"])
    def test_is_the_answer_where_the_caller_asks_for_that(self, dom):
        report = strict("<think>hm</think>\nIt is \\boxed{42}.\n", on_no_plan="answer", dom=dom)

        assert report.plan.answer == "It is \\boxed{42}."
        assert [warning.code for warning in report.warnings] == ["no_plan"]

    def test_nothing_at_all_is_no_answer(self):
        assert codes(strict("<think>hm</think>  ", on_no_plan="answer")) == ["no_plan"]

    def test_a_broken_plan_is_no_answer(self):
        assert codes(strict('{"steps": [', on_no_plan="answer")) == ["malformed_json"]
        assert not strict(edge(("a", "b")), on_no_plan="answer").valid


class TestTruncated:
    def test_is_never_valid(self):
        for mode in ("strict", "lenient"):
            report = strict(XML, truncated=True, mode=mode)
            assert codes(report) == ["truncated_plan"]
            assert report.plan is None
            assert ids_of_found(report) == ["a", "b"]

    def test_an_edge_cut_in_the_middle(self):
        report = strict(xml_plan({"a": "x", "b": "${a}"}) + "<edge><from>a</from><to>", truncated=True, mode="lenient")

        assert "truncated_plan" in codes(report)

    def test_is_told_apart_from_text_without_a_plan(self):
        assert codes(strict("Let me", truncated=True, on_no_plan="answer")) == ["truncated_plan"]


def ids_of_found(report):
    return [step.id for step in report.found.steps]


def test_halves_of_surrogate_pairs_are_replaced():
    report = strict(agent("a", "x \ud800 y"))

    assert report.plan.steps[0].input == "x \ufffd y"


@pytest.mark.parametrize(
    ("option", "word"), [("dom", "middle"), ("mode", "loose"), ("format", "yaml"), ("on_no_plan", "guess")]
)
def test_an_unknown_word_is_the_callers_fault(option, word):
    with pytest.raises(ValueError, match=word):
        strict(XML, **{option: word})
