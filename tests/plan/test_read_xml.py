"""The xml format: the paper's grammar, its raw text, and where its blocks end."""

import pytest

from mas_orchestra.plan import FaultCode, read
from plan.plan_text import agent, edge, xml_plan
from support.cards import CARDS


def strict(text, **options):
    return read(text, catalog=CARDS, **options)


def lenient(text, **options):
    return read(text, catalog=CARDS, mode="lenient", **options)


def codes(report):
    return [fault.code.value for fault in report.faults]


def test_a_plan_of_two_steps():
    report = strict(xml_plan({"find": "Find it.", "tell": "Tell of ${find}."}, [("find", "tell")]))

    assert report.valid
    assert report.format == "xml"
    assert report.plan.thinking == "because"
    assert [(step.id, step.agent, step.description, step.input) for step in report.plan.steps] == [
        ("find", "CoTAgent", "does find", "Find it."),
        ("tell", "CoTAgent", "does tell", "Tell of ${find}."),
    ]
    assert report.plan.edges == (("find", "tell"),)
    assert (report.sink, report.width, report.length, report.max_calls) == ("tell", 1, 2, 2)


@pytest.mark.parametrize(
    "text",
    [
        "Find n with 3<n & n<10; AT&T's value if x<y",
        "if a<b then </b> else <i>x</i>",
        "Explain <agent> and </agent> and what </agent_input> closes",
        "the tag <agent_input> is mine",
        "what does </think> do, and <think>?",
        'JSON: {"steps": [{"id": "x", "agent": "CoTAgent"}]}',
        "\\frac{1}{2} and {x : x>0} and $5",
        "&copy; & &nbsp; stay",
        "two\n\nparagraphs",
        "write <answer>42</answer> at the end",
    ],
)
def test_raw_text_survives_byte_for_byte(text):
    report = strict(agent("a", text))

    assert report.faults == ()
    assert report.plan.steps[0].input == text


def test_entities_are_read():
    report = strict(agent("a", "x &lt; y &amp;&amp; &quot;z&quot; &#8364; &#x20AC;"))

    assert report.plan.steps[0].input == 'x < y && "z" € €'


@pytest.mark.parametrize("empty", ["", "  \n ", '""'])
def test_an_empty_input_is_the_question_itself(empty):
    assert strict(agent("a", empty)).plan.steps[0].input == ""


def test_blanks_around_fields_and_inside_tags_do_not_count():
    text = agent("\n  a  \n", "\n   work\n  ").replace("</agent_id>", "</agent_id  >").replace("<agent>", "<agent\n>")
    report = strict(text)

    assert report.plan.steps[0].id == "a"
    assert report.plan.steps[0].input == "work"


class TestLowDegree:
    """The paper's form for a direct answer or one sub-agent."""

    def test_a_direct_answer(self):
        report = strict("<thinking>Easy.</thinking><answer>\\boxed{4}</answer>", dom="low")

        assert report.plan.answer == "\\boxed{4}"
        assert (report.sink, report.width, report.length, report.max_calls) == (None, 0, 0, 0)

    @pytest.mark.parametrize("answer", ["agent_output_id", "out_1"])
    def test_one_agent_whose_output_is_the_answer(self, answer):
        text = (
            "<thinking>Hard.</thinking><agent><agent_name>SCAgent</agent_name><agent_description>d"
            "</agent_description><required_arguments><agent_input></agent_input></required_arguments>"
            f"<agent_output_id>out_1</agent_output_id></agent><answer>{answer}</answer>"
        )
        report = strict(text, dom="low")

        assert report.faults == ()
        assert report.plan.steps[0].id == "out_1"
        assert report.plan.answer is None
        assert report.sink == "out_1"

    def test_an_answer_beside_an_agent_is_one_too_many(self):
        report = strict(agent("a") + "<answer>42</answer>", dom="low")

        assert codes(report) == ["dom_violation"]
        assert (report.faults[0].line, report.faults[0].column) == (2, 9)

    def test_two_steps_or_an_edge(self):
        report = strict(xml_plan({"a": "x", "b": "${a}"}, [("a", "b")]), dom="low")

        assert codes(report) == ["dom_violation", "dom_violation"]

    def test_an_agent_with_an_id_as_under_high(self):
        assert strict(agent("a"), dom="low").valid

    def test_two_different_answers(self):
        report = strict("<answer>4</answer><answer>5</answer>", dom="low")

        assert codes(report) == ["malformed_xml"]

    def test_an_empty_answer_is_no_plan(self):
        assert codes(strict("<answer> </answer>", dom="low")) == ["no_plan"]


def test_a_direct_answer_violates_high():
    assert codes(strict("<answer>4</answer>")) == ["dom_violation"]


class TestUnclosed:
    def test_last_edge(self):
        text = xml_plan({"a": "x", "b": "${a}"}) + "<edge><from>a</from><to>b</to>"

        assert codes(strict(text)) == ["unclosed_tag"]
        report = lenient(text)
        assert report.valid
        assert [warning.code for warning in report.warnings] == [FaultCode.UNCLOSED_TAG]
        assert (report.warnings[0].line, report.warnings[0].column) == (4, 1)

    @pytest.mark.parametrize("cut", ["</agent>", "</required_arguments></agent>"])
    def test_last_agent(self, cut):
        text = agent("a", "x").replace(cut, "")

        assert codes(strict(text)) == ["unclosed_tag"]
        assert lenient(text).plan.steps[0].input == "x"

    def test_last_agent_before_the_edges(self):
        text = agent("a", "x") + agent("b", "${a}").replace("</agent>", "") + edge(("a", "b"))

        assert codes(strict(text)) == ["unclosed_tag"]
        assert lenient(text).valid

    def test_an_agent_that_ends_at_the_next_is_always_an_error(self):
        text = agent("a", "x").replace("</agent>", "") + agent("b", "${a}") + edge(("a", "b"))

        assert codes(strict(text)) == ["unclosed_tag"]
        assert codes(lenient(text)) == ["unclosed_tag"]

    @pytest.mark.parametrize("tag", ["agent_id", "agent_name", "agent_description", "agent_input"])
    def test_a_field_is_always_an_error_and_swallows_nothing(self, tag):
        text = agent("a", "x").replace(f"</{tag}>", "") + agent("b", "${a}") + edge(("a", "b"))
        report = lenient(text)

        assert "unclosed_tag" in codes(report)
        assert [step.id for step in report.found.steps][1] == "b"

    def test_a_cut_off_input_is_never_repaired(self):
        report = lenient(
            "<agent><agent_id>a</agent_id><agent_name>CoTAgent</agent_name>"
            "<required_arguments><agent_input>Work out the"
        )

        assert codes(report) == ["unclosed_tag"]

    def test_an_end_of_an_edge(self):
        report = strict(xml_plan({"a": "x", "b": "${a}"}) + "<edge><from>a<to>b</to></edge>")

        assert codes(report) == ["unclosed_tag"]
        assert report.found.edges == (("a", "b"),)


class TestEdges:
    @pytest.mark.parametrize(
        ("block", "kept"),
        [
            ("<edge><from>a</from><from>b</from><to>c</to></edge>", [("b", "c")]),
            ("<edge><from>a</from><to>c</to><to>b</to></edge>", [("a", "c")]),
            ("<edge><to>b</to><from>a</from></edge>", []),
            ("<edge><from>a</from></edge>", []),
        ],
    )
    def test_ends_pair_up_in_order_or_not_at_all(self, block, kept):
        report = strict(xml_plan({"a": "x", "b": "y", "c": "z"}) + block)

        assert "malformed_edge" in codes(report)
        assert list(report.found.edges) == kept

    def test_all_blocks_are_read_and_repeats_count_once(self):
        text = xml_plan({"a": "x", "b": "y", "c": "${a} ${b}"}) + edge(("a", "c")) + edge(("b", "c"), ("a", "c"))
        report = strict(text)

        assert report.plan.edges == (("a", "c"), ("b", "c"))
        assert [warning.code for warning in report.warnings] == ["duplicate_edge"]
        assert report.warnings[0].line == 6

    def test_edges_may_stand_before_the_steps(self):
        assert strict(edge(("a", "b")) + agent("a", "x") + agent("b", "${a}")).valid

    def test_an_empty_block(self):
        assert strict(agent("a") + "<edge></edge>").valid


class TestMissing:
    def test_each_field(self):
        report = strict("<agent></agent>")

        assert codes(report) == ["missing_field"] * 3

    def test_required_arguments(self):
        report = lenient(agent("a").replace("<required_arguments>", "").replace("</required_arguments>", ""))

        assert codes(report) == ["missing_field"]
        assert "<required_arguments>" in report.faults[0].message

    def test_text_that_stands_outside_the_input_is_not_lost_silently(self):
        report = lenient(agent("a").replace("<agent_input></agent_input>", "Solve it."))

        assert codes(report) == ["missing_field"]
        assert "<agent_input>" in report.faults[0].message

    def test_a_tag_that_no_sub_agent_knows(self):
        report = lenient(agent("a", "x", extra="<temperature>2</temperature>"))

        assert codes(report) == ["bad_argument"]
        assert "<temperature>" in report.faults[0].message

    def test_a_field_given_twice(self):
        report = lenient(agent("a", "x", extra="<agent_input>y</agent_input>"))

        assert codes(report) == ["malformed_xml"]

    @pytest.mark.parametrize("text", ["<agent_id>a</agent_id>", "<from>a</from>", "<agent_name>x</agent_name>"])
    def test_a_field_outside_its_block(self, text):
        assert codes(strict(text)) == ["malformed_xml"]


def test_a_block_tag_in_prose_is_only_prose():
    text = "I shall write one <agent> block and no <edge> block.\n" + agent("a", "x")
    report = strict(text)

    assert report.faults == ()
    assert [step.id for step in report.plan.steps] == ["a"]


class TestRoles:
    @pytest.mark.parametrize(
        "written", ['["A", "B"]', "['A', 'B']", "[ 'A' , \"B\", ]", "[&quot;A&quot;, &quot;B&quot;]"]
    )
    def test_json_and_python_lists(self, written):
        report = strict(agent("a", "x", kind="DebateAgent", extra=f"<debate_roles>{written}</debate_roles>"))

        assert report.plan.steps[0].arguments == {"roles": ["A", "B"]}
        assert report.warnings == ()
        assert report.max_calls == 11

    def test_a_comma_list_is_taken_with_a_warning(self):
        text = agent("a", "x", kind="DebateAgent", extra="<debate_roles>Professor, 'Student'</debate_roles>")
        report = strict(text)

        assert report.plan.steps[0].arguments == {"roles": ["Professor", "Student"]}
        assert [(warning.code, warning.step) for warning in report.warnings] == [("repaired", "a")]

    def test_a_closing_tag_inside_a_role(self):
        text = agent("a", "x", kind="DebateAgent", extra='<debate_roles>["a</debate_roles>b", "c"]</debate_roles>')

        assert strict(text).plan.steps[0].arguments == {"roles": ["a</debate_roles>b", "c"]}

    @pytest.mark.parametrize("written", ["[]", '["one"]', "", "one", "[1, 2]", '["a", "b"', '{"a": "b"}', "null"])
    def test_fewer_than_two_roles(self, written):
        text = agent("a", "x", kind="DebateAgent", extra=f"<debate_roles>{written}</debate_roles>")

        for report in (strict(text), lenient(text)):
            assert codes(report) == ["bad_argument"]
            assert report.faults[0].step == "a"

    def test_none_at_all(self):
        assert codes(strict(agent("a", "x", kind="DebateAgent"))) == ["bad_argument"]

    def test_roles_for_a_sub_agent_that_takes_none(self):
        text = agent("a", "x", extra="<debate_roles>['A', 'B']</debate_roles>")

        assert codes(strict(text)) == ["bad_argument"]
        assert strict(agent("a", "x", extra="<debate_roles></debate_roles>")).valid
