"""The messages to an orchestrator: complete, stable, and the question untouched."""

import pytest
from hypothesis import given, settings

from mas_orchestra.errors import ConfigError
from mas_orchestra.plan import AgentCard, Catalog, installed_catalog, prompt_hash, prompt_messages, read
from mas_orchestra.plan.examples import examples
from mas_orchestra.types import DoM
from plan.plan_text import agent
from strategies import hostile_text
from support.cards import CARDS, DebateArguments

FORMATS = ("xml", "tools", "json")
DEGREES = tuple(DoM)
COT_ONLY = Catalog((CARDS["CoTAgent"],))
OUTSIDE = Catalog((AgentCard(name="LeanAgent", summary="Proves.", good_at="Proofs.", cost="1 call"),))


def asked(question="Q", **options):
    return prompt_messages(question, **{"dom": "high", "catalog": CARDS, "format": "xml"} | options)


@pytest.mark.parametrize("dom", DEGREES)
@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("catalog", [CARDS, COT_ONLY, OUTSIDE, installed_catalog()])
def test_examples_are_strictly_valid_and_shown(dom, wire, catalog):
    shown = examples(catalog, dom)
    system = asked(dom=dom, format=wire, catalog=catalog)[0].content
    texts = system.partition("# Examples\n\n")[2].split("Question: ")[1:]

    assert any(example.plan.steps for example in shown)
    assert len(texts) == len(shown)
    for text, example in zip(texts, shown, strict=True):
        question, _, written = text.partition("\n")
        report = read(written, dom=dom, format=wire, catalog=catalog)
        assert question == example.question
        assert report.faults == report.warnings == ()
        assert report.plan == example.plan


@pytest.mark.parametrize("dom", DEGREES)
@pytest.mark.parametrize("wire", FORMATS)
def test_every_card_is_there(dom, wire):
    system = asked(dom=dom, format=wire)[0].content

    for card in CARDS:
        assert all(part in system for part in (card.name, card.summary, card.good_at, card.cost))
    assert f"Degree of MAS: {dom}" in system
    assert ("debate_roles" in system) == (wire == "xml")
    assert "\n\n\n" not in system


def test_there_is_no_card_that_is_not_in_the_catalog():
    system = asked(catalog=COT_ONLY)[0].content

    assert "CoTAgent" in system
    assert not any(name in system for name in CARDS.names[1:])


@given(question=hostile_text(12))
@settings(max_examples=60)
def test_the_question_survives_byte_for_byte(question):
    system, user = asked(question)

    assert user.content == f"Write the plan for this question.\n\nQuestion: {question}"
    assert system == asked("another")[0]


def test_a_repair_turn_holds_the_reply_and_its_faults():
    previous = agent("a", "${b}", kind="Wizard")
    report = read(previous, catalog=CARDS)
    first, second, reply, repair = asked(faults=report.faults, previous=previous)

    assert (first, second) == asked()
    assert (reply.role, reply.content) == ("assistant", previous)
    assert repair.role == "user"
    for fault in report.faults:
        assert f"{fault.code} (line {fault.line}, column {fault.column}): {fault.message}" in repair.content


class TestTemplates:
    @pytest.fixture
    def template(self, tmp_path):
        def write(text):
            path = tmp_path / "mine.jinja"
            path.write_text(text, encoding="utf-8")
            return path

        return write

    def test_one_without_blocks_is_one_message(self, template):
        path = template("{{ dom }} {{ format }} {% for a in agents %}{{ a.name }} {% endfor %}{{ question }}")
        (message,) = asked("{{ 7 * 7 }} {% raw %}", template=path)

        assert message.role == "user"
        assert message.content == f"high xml {' '.join(CARDS.names)} {{{{ 7 * 7 }}}} {{% raw %}}"

    def test_blocks_are_messages_in_their_order(self, template):
        path = template(
            "{% block system %}S{% endblock %}{% block user %}{{ question }}{% endblock %}"
            "{% block user_developer %}D{% endblock %}{% block repair %}again: {{ faults | length }}{% endblock %}"
        )

        assert [(m.role.value, m.content) for m in asked(template=path)] == [
            ("system", "S"),
            ("user", "Q"),
            ("user", "D"),
        ]
        faults = read("<agent>", catalog=CARDS).faults
        assert asked(template=path, faults=faults, previous="p")[-1].content == f"again: {len(faults)}"

    def test_one_without_a_repair_block_borrows_ours(self, template):
        faults = read("x", catalog=CARDS).faults

        assert "no_plan" in asked(template=template("{{ question }}"), faults=faults, previous="x")[-1].content

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("{{ nothing_here }}", "nothing_here"),
            ("{% if %}", "Expected an expression"),
            ("{% block narrator %}x{% endblock %}", "narrator.*assistant, system, user"),
            ("{{ question.__class__.__mro__ }}", "unsafe"),
        ],
    )
    def test_mistakes_are_explained(self, template, text, complaint):
        with pytest.raises(ConfigError, match=complaint):
            asked(template=template(text))

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(ConfigError, match="cannot read the prompt template"):
            asked(template=tmp_path / "none.jinja")

    def test_all_documented_variables_exist(self, template):
        path = template(
            "{{ question }}{{ dom }}{{ format }}{{ schema }}{{ previous }}{{ faults }}"
            "{% for a in agents %}{{ a.name }}{{ a.summary }}{{ a.good_at }}{{ a.cost }}"
            "{% for x in a.arguments %}{{ x.name }}{{ x.tag }}{{ x.description }}{{ x.required }}{% endfor %}"
            "{% endfor %}"
            "{% for e in examples %}{{ e.question }}{{ e.plan }}{% endfor %}"
        )

        assert asked(template=path)


class TestHash:
    def test_it_is_stable_and_does_not_know_the_question(self):
        assert prompt_hash(dom="high", catalog=CARDS, format="xml") == prompt_hash(
            dom="high", catalog=CARDS, format="xml"
        )
        assert len(prompt_hash(dom="high", catalog=CARDS, format="xml")) == 64

    def test_it_changes_with_what_the_model_is_told(self, tmp_path):
        path = tmp_path / "t.jinja"
        path.write_text("x", encoding="utf-8")
        options = {"dom": "high", "catalog": CARDS, "format": "xml"}
        changes = ({}, {"dom": "low"}, {"format": "json"}, {"catalog": COT_ONLY}, {"template": path})

        assert len({prompt_hash(**options | change) for change in changes}) == len(changes)


def test_a_catalog_that_no_example_fits_has_none():
    picky = Catalog((AgentCard(name="Picky", summary="s", good_at="g", cost="c", arguments=DebateArguments),))

    assert examples(picky, DoM.HIGH) == ()
    assert asked(catalog=picky)
