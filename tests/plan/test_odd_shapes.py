"""Shapes that models write now and then: what is read of them, and which fault names what is not."""

import json

import pytest

from mas_orchestra.agents import Registry
from mas_orchestra.plan import read
from plan.plan_text import agent, json_plan

CATALOG = Registry.only("CoTAgent", "SCAgent", "DebateAgent").catalog


def report_of(text, mode="lenient"):
    return read(text, catalog=CATALOG, mode=mode)


def codes(report):
    return [str(fault.code) for fault in report.faults]


def call_with(arguments):
    return json.dumps({"tool_calls": [{"type": "function", "function": {"name": "CoTAgent", "arguments": arguments}}]})


class TestToolCalls:
    @pytest.mark.parametrize("arguments", [[1, 2], 7, None, True], ids=["list", "number", "null", "boolean"])
    def test_arguments_that_are_no_object_are_named(self, arguments):
        report = report_of(call_with(arguments))
        assert not report.valid
        assert "malformed_json" in codes(report)
        assert any("must be a JSON object" in fault.message and fault.line == 1 for fault in report.faults)

    def test_arguments_as_an_object_are_read_like_arguments_as_text(self):
        arguments = {"id": "a", "input": "Solve."}
        as_object, as_text = report_of(call_with(arguments)), report_of(call_with(json.dumps(arguments)))
        assert as_object.found == as_text.found
        assert codes(as_object) == codes(as_text)


class TestWrappedPlans:
    PLAN = json_plan({"a": "Solve."})

    @pytest.mark.parametrize("wrapper", ["plan", "arguments", "parameters"])
    def test_a_plan_as_text_in_a_wrapper_is_the_plan_or_a_fault_and_never_half_a_plan(self, wrapper):
        report = report_of(json.dumps({wrapper: self.PLAN}))
        assert report.valid == (not report.faults)
        if report.valid:
            assert report.plan == report_of(self.PLAN).plan

    @pytest.mark.parametrize("cut", [1, 10, 30])
    def test_a_broken_plan_in_a_wrapper_is_no_plan(self, cut):
        report = report_of(json.dumps({"plan": self.PLAN[:-cut]}))
        assert not report.valid
        assert report.faults


class TestEdges:
    TWO = agent("a") + agent("b", "${a}")

    @pytest.mark.parametrize("stray", ["</from>", "</to>", "</from></to>", "</to></from>"])
    def test_closing_tags_without_opening_ones_lose_no_edge(self, stray):
        text = f"<thinking>x</thinking>{self.TWO}<edge>{stray}<from>a</from><to>b</to></edge>"
        report = report_of(text)
        assert [tuple(edge) for edge in report.found.edges] == [("a", "b")]

    @pytest.mark.parametrize("stray", ["</from>", "</to>"])
    def test_they_are_told(self, stray):
        text = f"<thinking>x</thinking>{self.TWO}<edge>{stray}<from>a</from><to>b</to></edge>"
        for mode in ("strict", "lenient"):
            report = report_of(text, mode)
            assert [found for found in (*report.faults, *report.warnings) if stray.strip("</>") in found.message]

    @pytest.mark.parametrize("half", ["<from>a</from>", "<to>b</to>"])
    def test_half_an_edge_is_a_fault_with_its_place(self, half):
        report = report_of(f"<thinking>x</thinking>\n{self.TWO}<edge>{half}</edge>", "strict")
        (fault,) = [fault for fault in report.faults if str(fault.code) == "malformed_edge"]
        assert fault.line == 4
