"""The json format and the tools format: shapes, slips, wrappers, places."""

import json

import pytest

from mas_orchestra.plan import read, text_of_tool_calls
from mas_orchestra.types import ToolCall
from plan.plan_text import json_plan, tool_calls
from support.cards import CARDS


def strict(text, **options):
    return read(text, catalog=CARDS, **options)


def lenient(text, **options):
    return read(text, catalog=CARDS, mode="lenient", **options)


def codes(report):
    return [fault.code.value for fault in report.faults]


ONE = '{"steps": [{"id": "a", "agent": "CoTAgent", "input": "x"}], "edges": []}'


class TestJson:
    def test_two_steps(self):
        report = strict(json_plan({"a": "x", "b": "${a}"}, [("a", "b")]))

        assert report.format == "json"
        assert report.plan.thinking == "because"
        assert report.plan.edges == (("a", "b"),)

    def test_a_direct_answer(self):
        assert strict('{"thinking": "", "steps": [], "answer": "4"}', dom="low").plan.answer == "4"

    @pytest.mark.parametrize("nothing", ["null", '""'])
    def test_an_answer_that_is_none_beside_a_step(self, nothing):
        assert strict(ONE[:-1] + f', "answer": {nothing}}}', dom="low").valid

    def test_nulls_are_not_given(self):
        text = '{"steps": [{"id": "a", "agent": "CoTAgent", "description": null, "input": null, "roles": null}]}'

        assert strict(text).plan.steps[0].arguments == {}

    def test_arguments_stand_beside_the_rest_or_under_their_own_key(self):
        flat = '{"steps": [{"id": "a", "agent": "DebateAgent", "roles": ["x", "y"]}]}'
        nested = '{"steps": [{"id": "a", "agent": "DebateAgent", "arguments": {"roles": ["x", "y"]}}]}'

        assert strict(flat).plan == strict(nested).plan
        assert strict(flat).plan.steps[0].arguments == {"roles": ["x", "y"]}

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ('{"steps": [{"id": "a", "agent": "CoTAgent", "roles": ["x", "y"]}]}', "bad_argument"),
            ('{"steps": [{"id": "a", "agent": "CoTAgent", "arguments": 5}]}', "malformed_json"),
            ('{"steps": [{"id": 1, "agent": "CoTAgent"}]}', "malformed_json"),
            ('{"steps": ["CoTAgent"]}', "malformed_json"),
            ('{"steps": "CoTAgent"}', "malformed_json"),
            ('{"steps": [{"id": "a", "agent": "CoTAgent"}], "edges": ["a"]}', "malformed_edge"),
            ('{"steps": [{"id": "a", "agent": "CoTAgent"}], "edges": [["a"]]}', "malformed_edge"),
            ('{"steps": [{"id": "a", "agent": "CoTAgent"}], "edges": [["a", 1]]}', "malformed_edge"),
            ('{"steps": [{"agent": "CoTAgent"}]}', "missing_field"),
            ('{"steps": [{"id": "a"}]}', "missing_field"),
            ('{"steps": [{"id": "a", "agent": "DebateAgent", "roles": "one"}]}', "bad_argument"),
            ('{"steps": [{"id": "a", "agent": "DebateAgent", "roles": ["x", 1]}]}', "bad_argument"),
            ('{"steps": []}', "no_plan"),
            ('{"agents": [{"id": "a", "name": "CoTAgent"}]}', "no_plan"),
            ("{}", "no_plan"),
            ('{"choices": [{"message": {"content": null, "reasoning": "So final: 42"}}]}', "no_plan"),
        ],
    )
    def test_what_is_not_a_plan(self, text, code):
        assert code in codes(strict(text))

    def test_places(self):
        text = '{\n "steps": [\n  {"id": "a",\n   "agent": "Nobody"}\n ]\n}'
        report = strict(text)

        assert [(fault.code, fault.line, fault.column) for fault in report.faults] == [("unknown_agent", 4, 13)]

    def test_closing_tags_and_fences_inside_strings(self):
        work = 'Explain </plan>, </think>, ```json and <agent> "quoted" \\ back'
        report = strict(f"<plan>{json_plan({'a': work})}</plan>")

        assert report.plan.steps[0].input == work

    def test_what_check_prints_can_be_read_again(self):
        from mas_orchestra.plan import report_json

        report = strict(json_plan({"a": "x", "b": "${a}"}, [("a", "b")]))

        assert strict(json.dumps(report_json(report))).plan == report.plan


class TestSlips:
    @pytest.mark.parametrize(
        "text",
        [
            '{"steps":[{"id":"a","agent":"CoTAgent",}],"edges":[],}',
            "{'steps':[{'id':'a','agent':'CoTAgent'}],'edges':[]}",
            '{"json_input": {"steps":[{"id":"a","agent":"CoTAgent"}],"edges":[]}}',
            '{"parameters": "{\\"steps\\":[{\\"id\\":\\"a\\",\\"agent\\":\\"CoTAgent\\"}],\\"edges\\":[]}"}',
            '{"steps":[{"id":"a","agent":"CoTAgentCoTAgent"}]}',
            '{"steps":[{"id":"a","agent":"chain-of-thought"}]}',
            '{"steps":[{"id":"a","agent":"CoTAgent"}]}{"steps":[{"id":"a","agent":"CoTAgent"}]}',
        ],
    )
    def test_an_error_in_strict_and_a_warning_in_lenient_mode(self, text):
        assert not strict(text).valid
        report = lenient(text)

        assert report.faults == ()
        assert (report.plan.steps[0].id, report.plan.steps[0].agent) == ("a", "CoTAgent")
        assert report.warnings
        assert all(warning.line == 1 and warning.column for warning in report.warnings)

    def test_each_kind_is_reported_once_with_its_count(self):
        report = lenient("{'steps':[{'id':'it\\'s \"a\"','agent':'CoTAgent'}]}")

        assert len(report.warnings) == 1
        assert "(5 times.)" in report.warnings[0].message
        assert report.plan.steps[0].id == 'it\'s "a"'

    @pytest.mark.parametrize(
        ("text", "column"),
        [
            ('{"steps":[{"id":"a","agent":"CoTAgent,"input":"x"}]}', 40),
            ('{"steps":[{"id":"a","agent":"CoTAgent"}],"edges":[["a","b]]}', 56),
            ('{"steps":[{"id":"a" "agent":"CoTAgent"}]}', 21),
            ('{"steps":[{"id":"a","agent":CoTAgent}]}', 29),
            ('{"steps":[{"id":"a","agent":"CoTAgent"}', 40),
            ('{"steps":[{"id":"a","id":"b","agent":"CoTAgent"}]}', 21),
            ('{"steps":[{"id":"\\q","agent":"CoTAgent"}]}', 17),
            ('{"steps":[{"id":"\\ud800","agent":"CoTAgent"}]}', 17),
            ('{"steps":[{"id":"a","agent":"CoTAgent","n":1e999}]}', 44),
            ('{"steps":[{"id":"a","agent":"CoTAgent","n":' + "9" * 5000 + "}]}", 44),
            ('{"steps":' + "[" * 200, 73),
        ],
    )
    def test_anything_else_stays_an_error_with_its_place(self, text, column):
        for report in (strict(text), lenient(text)):
            assert codes(report) == ["malformed_json"]
            assert (report.faults[0].line, report.faults[0].column) == (1, column)

    def test_a_line_break_in_a_string(self):
        report = lenient('{"steps":[{"id":"a",\n"agent":"CoT\nAgent"}]}')

        assert (report.faults[0].code, report.faults[0].line, report.faults[0].column) == ("malformed_json", 2, 9)
        assert "closing quote" in report.faults[0].message

    def test_two_different_plans_are_never_merged_or_chosen_from(self):
        report = lenient(ONE + ONE.replace('"a"', '"b"'))

        assert codes(report) == ["malformed_json"]
        assert report.faults[0].column == len(ONE) + 1

    def test_two_different_answers(self):
        text = tool_calls(("answer", {"value": "4"}), ("answer", {"value": "5"}))

        assert codes(strict(text, dom="low")) == ["malformed_json"]


class TestTools:
    def test_edges_are_the_references(self):
        report = strict(
            tool_calls(
                ("CoTAgent", {"id": "a", "input": "x"}),
                ("SCAgent", {"id": "b", "input": "${a} again ${a}", "description": "votes"}),
            )
        )

        assert report.format == "tools"
        assert report.plan.thinking == "because"
        assert report.plan.edges == (("a", "b"),)
        assert report.plan.steps[1].description == "votes"

    def test_a_direct_answer(self):
        assert strict(tool_calls(("answer", {"value": "4"})), dom="low").plan.answer == "4"

    def test_a_real_reply(self):
        calls = [
            ToolCall(id="call_1", name="functions.CoTAgent", arguments='{"id": "a", "input": "x"}'),
            ToolCall(id="call_2", name="DebateAgent", arguments='{"id": "b", "input": "${a}", "roles": ["p", "q"]}'),
        ]
        report = strict(text_of_tool_calls(calls, "I think."))

        assert report.plan.thinking == "I think."
        assert [step.agent for step in report.plan.steps] == ["CoTAgent", "DebateAgent"]
        assert report.max_calls == 12

    @pytest.mark.parametrize(
        "text",
        [
            '[{"name": "CoTAgent", "arguments": {"id": "a", "input": "x"}}]',
            '{"name": "CoTAgent", "arguments": {"id": "a", "input": "x"}}',
            '{"name": "CoTAgent", "parameters": {"id": "a", "input": "x"}}',
            '{"function": {"name": "CoTAgent", "arguments": "{\\"id\\": \\"a\\", \\"input\\": \\"x\\"}"}}',
            '<tool_call>\n{"name": "CoTAgent", "arguments": {"id": "a", "input": "x"}}\n</tool_call>',
        ],
    )
    def test_other_spellings_of_one_call(self, text):
        report = strict(text)

        assert report.format == "tools"
        assert [(step.id, step.input) for step in report.plan.steps] == [("a", "x")]

    def test_several_tool_call_blocks_are_one_plan(self):
        one = '<tool_call>{"name": "CoTAgent", "arguments": {"id": "%s", "input": "%s"}}</tool_call>\n'
        report = strict(one % ("a", "x") + one % ("b", "${a}"))

        assert report.plan.edges == (("a", "b"),)

    @pytest.mark.parametrize(
        "arguments",
        [
            '{"id": "a", "input": ""}"',
            '{"id": "a", "input": ""}{"id": "a", "input": ""}',
            "{'id': 'a', 'input': '',}",
            '{"json_input": {"id": "a", "input": ""}}',
            '{"parameters": "{\\"id\\": \\"a\\"}"}',
        ],
    )
    def test_slips_in_arguments(self, arguments):
        text = text_of_tool_calls([ToolCall(id="c", name="CoTAgent", arguments=arguments)])

        assert not strict(text).valid
        report = lenient(text)
        assert report.plan.steps[0].id == "a"
        assert report.warnings

    @pytest.mark.parametrize(
        "arguments", ['{"id": "a', '{"id": "a"} and more', '{"id": "a"}{"id": "b"}', "[]", '"a"', "", "5"]
    )
    def test_broken_arguments(self, arguments):
        text = text_of_tool_calls([ToolCall(id="c", name="CoTAgent", arguments=arguments)])
        report = lenient(text)

        assert codes(report) == ["malformed_json"]
        assert "CoTAgent" in report.faults[0].message

    def test_cycles_and_self_references(self):
        ring = tool_calls(("CoTAgent", {"id": "a", "input": "${b}"}), ("CoTAgent", {"id": "b", "input": "${a}"}))
        own = tool_calls(("CoTAgent", {"id": "a", "input": "${a}"}))

        assert codes(strict(ring)) == ["cycle"]
        assert codes(strict(own)) == ["self_loop"]

    def test_an_input_that_looks_like_a_wrapper_is_an_input(self):
        work = '{"key": "value"}'
        report = strict(tool_calls(("CoTAgent", {"id": "a", "input": work})))

        assert report.plan.steps[0].input == work
