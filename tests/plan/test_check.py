"""The rules of the plan language, one by one, and the repairs of lenient mode."""

from itertools import pairwise

import pytest

from mas_orchestra.plan import Catalog, Edge, Plan, Step, check, read
from plan.plan_text import agent, edge, json_plan, xml_plan
from support.cards import CARDS


def strict(steps, edges=(), **options):
    return read(xml_plan(steps, edges), catalog=CARDS, **options)


def lenient(steps, edges=(), **options):
    return strict(steps, edges, mode="lenient", **options)


def codes(report):
    return [fault.code.value for fault in report.faults]


def warned(report):
    return [warning.code.value for warning in report.warnings]


class TestAgents:
    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("cot_agent", "CoTAgent"),
            ("cot", "CoTAgent"),
            ("COTAGENT", "CoTAgent"),
            ("Chain-of-Thought", "CoTAgent"),
            ("chain of thought", "CoTAgent"),
            ("WebSearch", "WebSearchAgent"),
            ("web_search", "WebSearchAgent"),
            ("Self Consistency", "SCAgent"),
            ("DebateAgentDebateAgent", "DebateAgent"),
            ("cotcot", "CoTAgent"),
        ],
    )
    def test_a_near_miss(self, written, meant):
        roles = "<debate_roles>['A', 'B']</debate_roles>" if meant == "DebateAgent" else ""
        text = agent("a", "x", kind=written, extra=roles)
        report = read(text, catalog=CARDS)

        assert codes(report)[0] == "unknown_agent"
        assert f"Did you mean '{meant}'?" in report.faults[0].message
        assert (report.faults[0].line, report.faults[0].step) == (1, "a")
        mended = read(text, catalog=CARDS, mode="lenient")
        assert mended.plan.steps[0].agent == meant
        assert warned(mended) == ["unknown_agent"]

    def test_another_name_lists_the_known_and_the_nearest(self):
        report = read(agent("a", "x", kind="DebatAgnet"), catalog=CARDS, mode="lenient")

        assert codes(report) == ["unknown_agent"]
        assert "'DebateAgent'" in report.faults[0].message
        assert "WebSearchAgent" in report.faults[0].message

    def test_an_empty_catalog_knows_none(self):
        assert "Known sub-agents: none" in read(agent("a"), catalog=Catalog()).faults[0].message


class TestIds:
    @pytest.mark.parametrize("name", ["step-1", "étape 2", "计算", "1", "a<b", "a&b", '"', "a.b:c/d", "</agent_id>"])
    def test_any_text_is_an_id(self, name):
        plan = Plan(
            steps=(Step(id=name, agent="CoTAgent"), Step(id="end", agent="CoTAgent", input=f"${{{name}}}")),
            edges=(Edge(name, "end"),),
        )

        assert check(plan, catalog=CARDS).plan == plan

    @pytest.mark.parametrize("name", ["a$b", "a{b", "a}b", "a\nb", "a\rb"])
    def test_but_for_what_references_are_made_of(self, name):
        report = check(Plan(steps=(Step(id=name, agent="CoTAgent"),)), catalog=CARDS)

        assert codes(report) == ["missing_field"]

    def test_a_duplicate_names_both_positions(self):
        text = agent("s1", "part A") + "\n" + agent("s1", "part B", kind="SCAgent") + edge(("s1", "s1_end"))
        for mode in ("strict", "lenient"):
            report = read(text, catalog=CARDS, mode=mode)

            assert {"duplicate_id", "undeclared_endpoint"} <= set(codes(report))
            fault = next(fault for fault in report.faults if fault.code == "duplicate_id")
            assert (fault.line, fault.step) == (3, "s1")
            assert "step 1 (line 1, column 1)" in fault.message
            assert "step 2 (line 3, column 1)" in fault.message
            assert [step.input for step in report.found.steps] == ["part A", "part B"]

    def test_ids_differ_by_letter_case(self):
        assert strict({"a": "x", "A": "${a}"}, [("a", "A")]).valid

    def test_a_missing_one_that_nothing_names_is_given(self):
        text = agent("", "x")
        report = read(text, catalog=CARDS, mode="lenient")

        assert codes(read(text, catalog=CARDS)) == ["missing_field"]
        assert report.plan.steps[0].id == "agent_1"
        assert warned(report) == ["missing_field"]

    def test_a_given_one_is_never_taken(self):
        text = agent("agent_2", "x") + agent("", "${agent_2}") + edge()
        report = read(text, catalog=CARDS, mode="lenient")

        assert [step.id for step in report.plan.steps] == ["agent_2", "agent_2_"]

    @pytest.mark.parametrize("naming", [edge(("b", "a")), agent("c", "use ${b}")])
    def test_a_missing_one_that_something_may_name_stays_an_error(self, naming):
        report = read(agent("a", "x") + agent("", "y") + naming, catalog=CARDS, mode="lenient")

        assert "missing_field" in codes(report)


class TestReferences:
    def test_unknown(self):
        report = strict({"a": "x", "b": "${a} ${A} ${zzz}"}, [("a", "b")])

        assert codes(report) == ["unknown_reference", "unknown_reference"]
        assert "Did you mean ${a}?" in report.faults[0].message
        assert [(fault.line, fault.step) for fault in report.faults] == [(3, "b"), (3, "b")]
        line = xml_plan({"a": "x", "b": "${a} ${A} ${zzz}"}).split("\n")[2]
        assert [line[fault.column - 1 :][:4] for fault in report.faults] == ["${A}", "${zz"]

    def test_unknown_is_text_in_lenient_mode(self):
        report = lenient({"a": "x", "b": "${a} ${A}"}, [("a", "b")])

        assert report.plan.steps[1].input == "${a} ${A}"
        assert warned(report) == ["unknown_reference"]

    def test_without_an_edge(self):
        steps = {"a": "x", "b": "${a} and ${c}", "c": "y"}

        assert codes(strict(steps, [("a", "b")])) == ["reference_without_edge", "multiple_sinks", "disconnected"]
        report = lenient(steps, [("a", "b")])
        assert report.plan.edges == (("a", "b"), ("c", "b"))
        assert warned(report) == ["reference_without_edge"]

    def test_an_edge_that_would_close_a_cycle_is_not_added(self):
        steps = {"a": "${b}", "b": "${a}", "c": "${b}", "d": "${c}"}
        report = lenient(steps, [("a", "b"), ("b", "c")])

        assert codes(report) == ["reference_without_edge"]
        assert "cycle" in report.faults[0].message
        assert report.found.edges == (("a", "b"), ("b", "c"), ("c", "d"))

    def test_to_itself(self):
        assert codes(strict({"a": "${a}"})) == ["self_loop"]
        assert codes(lenient({"a": "${a}"})) == ["self_loop"]

    def test_an_edge_without_one(self):
        steps, edges = {"a": "x", "b": "Combine.", "c": "${b}"}, [("a", "b"), ("b", "c")]

        assert codes(strict(steps, edges)) == ["edge_without_reference"]
        report = lenient(steps, edges)
        assert report.plan.edges == (("a", "b"), ("b", "c"))
        assert report.plan.steps[1].input == "Combine.\n\n## Output of step a\n${a}"
        assert warned(report) == ["edge_without_reference"]

    def test_an_edge_without_one_into_the_question_itself(self):
        report = lenient({"a": "x", "b": ""}, [("a", "b")])

        assert report.plan.steps[1].input == "Answer the question.\n\n## Output of step a\n${a}"

    @pytest.mark.parametrize(
        "plain", ["{a}", "$a", "$ {a}", "${}", "${ }", "${a", "$${a", "{{a}}", "${a\n}", "\\frac{1}{2}"]
    )
    def test_nothing_else_is_one(self, plain):
        report = strict({"a": plain})

        assert report.faults == ()
        assert report.plan.steps[0].input == plain

    def test_braces_in_thinking_and_descriptions_are_text(self):
        plan = Plan(thinking="${x}", steps=(Step(id="a", agent="CoTAgent", description="${y} {z}"),))

        assert check(plan, catalog=CARDS).valid


class TestGraph:
    def test_undeclared_endpoints(self):
        report = strict({"part_1": "x"}, [("part1", "other")])

        assert codes(report)[:2] == ["undeclared_endpoint", "undeclared_endpoint"]
        assert "Did you mean 'part_1'?" in report.faults[0].message

    def test_self_loop(self):
        assert codes(lenient({"a": "${a}"}, [("a", "a")])) == ["self_loop"]

    def test_every_cycle_of_every_component_is_printed(self):
        steps = {
            name: f"${{{source}}}"
            for name, source in [("a", "c"), ("b", "a"), ("c", "b"), ("x", "y"), ("y", "x"), ("p", "q"), ("q", "p")]
        }
        report = strict(steps, [("c", "a"), ("a", "b"), ("b", "c"), ("y", "x"), ("x", "y"), ("q", "p"), ("p", "q")])

        cycles = [fault.message for fault in report.faults if fault.code == "cycle"]
        assert [message.split(";")[0] for message in cycles] == [
            "a cycle: a -> b -> c -> a",
            "a cycle: x -> y -> x",
            "a cycle: p -> q -> p",
        ]
        assert codes(report) == ["cycle", "cycle", "cycle", "disconnected"]

    @pytest.mark.parametrize(
        ("steps", "edges", "sinks"),
        [
            ({"a": "x", "b": "${a}", "c": "${a}"}, [("a", "b"), ("a", "c")], ["'b'", "'c'"]),
            ({"a": "x", "b": "y", "c": "z"}, [], ["'a'", "'b'", "'c'"]),
        ],
    )
    def test_several_sinks_are_listed_or_joined(self, steps, edges, sinks):
        for report in (strict(steps, edges), lenient(steps, edges), strict(steps, edges, auto_join=True)):
            fault = next(fault for fault in report.faults if fault.code == "multiple_sinks")
            assert all(sink in fault.message for sink in sinks)

        joined = lenient(steps, edges, auto_join=True)
        assert joined.sink == "collector"
        assert joined.plan.steps[-1].agent == "CoTAgent"
        assert len(joined.plan.edges) == len(edges) + len(sinks)
        assert warned(joined) == ["multiple_sinks"]
        assert check(joined.plan, catalog=CARDS).valid

    def test_a_collector_takes_a_free_name_and_counts(self):
        report = lenient({"collector": "x", "b": "y"}, auto_join=True, max_steps=2)

        assert report.found.steps[-1].id == "collector_"
        assert codes(report) == ["plan_too_large"]
        assert lenient({"collector": "x", "b": "y"}, auto_join=True).max_calls == 3

    def test_parts_are_listed(self):
        report = strict({"a": "x", "b": "${a}", "c": "${d}", "d": "${c}"}, [("a", "b"), ("c", "d"), ("d", "c")])

        assert codes(report) == ["cycle", "disconnected"]
        assert "'a', 'b'; 'c', 'd'" in report.faults[1].message

    def test_width_and_length(self):
        report = strict(
            {"a": "x", "b": "${a}", "c": "${a}", "d": "y", "e": "${b} ${c} ${d}"},
            [("a", "b"), ("a", "c"), ("b", "e"), ("c", "e"), ("d", "e")],
        )

        assert (report.width, report.length, report.sink) == (2, 3, "e")


class TestSize:
    def test_steps(self):
        steps = {f"s{n}": f"${{s{n - 1}}}" if n else "x" for n in range(65)}
        edges = [(f"s{n - 1}", f"s{n}") for n in range(1, 65)]

        assert codes(strict(steps, edges)) == ["plan_too_large"]
        assert codes(lenient(steps, edges)) == ["plan_too_large"]
        assert strict(steps, edges, max_steps=65).length == 65

    def test_far_too_many_steps_are_one_fault_and_not_one_each(self):
        steps = {f"s{n}": f"${{s{n - 1}}}" if n else "x" for n in range(5000)}
        edges = [(f"s{n - 1}", f"s{n}") for n in range(1, 5000)]

        for text in (xml_plan(steps, edges), json_plan(steps, edges)):
            assert codes(read(text, catalog=CARDS)) == ["plan_too_large"]

    def test_calls_in_the_worst_case(self):
        text = agent("a", "x", kind="DebateAgent", extra="<debate_roles>['A', 'B', 'C']</debate_roles>")

        assert read(text, catalog=CARDS, max_calls=16).max_calls == 16
        report = read(text, catalog=CARDS, max_calls=15)
        assert codes(report) == ["plan_too_large"]
        assert "16" in report.faults[0].message

    def test_a_chain_of_5000(self):
        steps = tuple(Step(id=f"s{n}", agent="CoTAgent", input=f"${{s{n - 1}}}" if n else "") for n in range(5000))
        plan = Plan(steps=steps, edges=tuple(Edge(f"s{n - 1}", f"s{n}") for n in range(1, 5000)))
        report = check(plan, catalog=CARDS, max_steps=5000)

        assert (report.width, report.length, report.sink) == (1, 5000, "s4999")

    def test_a_star_of_2000_into_one(self):
        rays = tuple(Step(id=f"s{n}", agent="CoTAgent") for n in range(2000))
        hub = Step(id="hub", agent="CoTAgent", input=" ".join(f"${{s{n}}}" for n in range(2000)))
        plan = Plan(steps=(*rays, hub), edges=tuple(Edge(f"s{n}", "hub") for n in range(2000)))
        report = check(plan, catalog=CARDS, max_steps=3000)

        assert (report.width, report.length, report.sink) == (2000, 2, "hub")

    def test_a_ring_of_5000(self):
        steps = tuple(Step(id=f"s{n}", agent="CoTAgent", input=f"${{s{(n - 1) % 5000}}}") for n in range(5000))
        plan = Plan(steps=steps, edges=tuple(Edge(f"s{(n - 1) % 5000}", f"s{n}") for n in range(5000)))
        report = check(plan, catalog=CARDS, max_steps=5000)

        assert codes(report) == ["cycle"]
        assert len(report.faults[0].message) < 500

    def test_300_steps_in_full_layers(self):
        layers = [[f"s{row}_{column}" for column in range(30)] for row in range(10)] + [["end"]]
        edges = [Edge(a, b) for upper, lower in pairwise(layers) for a in upper for b in lower]
        reads = {b: list(upper) for upper, lower in pairwise(layers) for b in lower}
        steps = tuple(
            Step(id=name, agent="CoTAgent", input=" ".join(f"${{{a}}}" for a in reads.get(name, ())))
            for layer in layers
            for name in layer
        )
        report = check(Plan(steps=steps, edges=tuple(edges)), catalog=CARDS, max_steps=400)

        assert (report.width, report.length, report.sink) == (30, 11, "end")
        assert len(report.plan.edges) == 9 * 900 + 30


def test_all_faults_of_a_text_are_collected_in_its_order():
    text = (
        agent("a", "${b}")
        + agent("a", "${nobody}", kind="Wizard")
        + agent("c", "x", kind="DebateAgent")
        + "<edge><from>a</from><from>c</from><to>z</to></edge>"
    )
    report = read(text, catalog=CARDS)

    assert codes(report) == [
        "unknown_reference",
        "duplicate_id",
        "unknown_agent",
        "unknown_reference",
        "bad_argument",
        "malformed_edge",
        "undeclared_endpoint",
        "multiple_sinks",
        "disconnected",
    ]
    places = [(fault.line, fault.column) for fault in report.faults if fault.line is not None]
    assert places == sorted(places)
    assert report.plan is None
    assert (report.sink, report.width, report.length, report.max_calls) == (None, 0, 0, 0)


def test_a_plan_made_by_hand_is_held_to_the_same_rules_without_places():
    plan = Plan(steps=(Step(id="a", agent="Wizard", arguments={"wand": object}),))
    report = check(plan, catalog=CARDS)

    assert codes(report) == ["unknown_agent"]
    assert report.faults[0].line is None
    assert codes(check(Plan(), catalog=CARDS)) == ["no_plan"]
    assert codes(check(Plan(answer=" "), dom="low", catalog=CARDS)) == ["no_plan"]
    assert codes(check(Plan(answer="4"), catalog=CARDS)) == ["dom_violation"]
    assert check(Plan(answer="4"), dom="low", catalog=CARDS).valid


def test_arguments_that_are_no_json_are_refused():
    plan = Plan(steps=(Step(id="a", agent="DebateAgent", arguments={"roles": {"a", "b"}}),))

    assert codes(check(plan, catalog=CARDS)) == ["bad_argument"]


def test_a_comma_list_in_json():
    text = '{"steps": [{"id": "a", "agent": "DebateAgent", "roles": "Professor, Student"}]}'
    report = read(text, catalog=CARDS)

    assert report.plan.steps[0].arguments == {"roles": ["Professor", "Student"]}
    assert warned(report) == ["repaired"]


def test_many_faults_are_cut_off():
    report = read("<edge>" + "<from>a</from>" * 5000 + "</edge>", catalog=CARDS)

    assert len(report.faults) == 1000


def test_json_and_xml_say_the_same_of_the_same_plan():
    steps, edges = {"a": "x", "b": "${A}"}, [("a", "c")]

    assert codes(read(json_plan(steps, edges), catalog=CARDS)) == codes(strict(steps, edges))
