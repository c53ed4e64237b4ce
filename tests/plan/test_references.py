"""References and their substitution: one pass over the template."""

from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.plan import references, substitute
from strategies import hostile_text, ids


def test_what_is_put_in_is_never_scanned_again():
    answers = {"a": "${b} and ${a}", "b": "${a}"}

    assert substitute("1: ${a} 2: ${b} 3: ${a}", answers) == "1: ${b} and ${a} 2: ${a} 3: ${b} and ${a}"


def test_only_declared_ids_are_replaced():
    template = r'Simplify {x : x>0} as {"a": ${cost}}, \frac{1}{2}, $5, ${}, ${A}'

    assert substitute(template, {"a": "!", "cos": "!", "": "!"}) == template


def test_a_replacement_is_no_pattern():
    assert substitute("${a}", {"a": r"\1 \g<0> $& %s {0}"}) == r"\1 \g<0> $& %s {0}"


def test_ids_of_any_script_and_blanks_around_them():
    answers = {"étape 2": "two", "计算": "three"}

    assert substitute("${étape 2} ${ étape 2 } ${计算}", answers) == "two two three"
    assert references("${计算} ${ étape 2 } ${étape 2}") == ("计算", "étape 2")


@given(template=hostile_text(20))
def test_without_answers_nothing_changes(template):
    assert substitute(template, {}) == template


@given(
    parts=st.lists(st.tuples(hostile_text(3).filter(lambda text: "$" not in text and "}" not in text), ids())),
    answer=hostile_text(),
)
def test_exactly_the_references_are_replaced(parts, answer):
    template = "".join(f"{text}${{{name}}}" for text, name in parts)

    assert set(references(template)) == {name for _, name in parts}
    assert substitute(template, dict.fromkeys(references(template), answer)) == "".join(
        text + answer for text, _ in parts
    )


@given(template=hostile_text(20))
def test_references_are_legal_ids(template):
    for name in references(template):
        assert name == name.strip() != ""
        assert not set(name) & set("${}\r\n")
