"""A row that is as built is proven; whatever is changed in it is found."""

import copy
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.masbench.check_row import check_row
from mas_orchestra.masbench.export import Format, encode
from mas_orchestra.masbench.generate import generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Split, Style
from mas_orchestra.masbench.read_rows import read_row_line
from masbench.published import FILE, WHOLE
from masbench.recipes import recipes
from masbench.sets import problem, record, variants

SWEEPS = [axis for axis in Axis if axis is not Axis.COMBINE]


def faults(entry):
    return check_row(read_row_line(json.dumps(entry, ensure_ascii=False).encode(), "x:1")).faults


@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("axis", SWEEPS)
def test_every_variant_of_every_sweep_is_proven(axis, split):
    for made in variants(axis, split):
        assert faults(json.loads(made.model_dump_json())) == (), made.id


@given(recipe=recipes(), index=st.integers(0, 100_000))
def test_any_feasible_problem_is_proven(recipe, index):
    assert faults(json.loads(generate(recipe, index).model_dump_json())) == ()


@given(recipe=recipes(attacked=True), index=st.integers(0, 100_000))
def test_any_attacked_problem_is_proven(recipe, index):
    assert faults(json.loads(generate(recipe, index).model_dump_json())) == ()


@given(recipe=recipes(abstract=True), index=st.integers(0, 100_000))
def test_any_problem_with_totals_is_proven(recipe, index):
    assert faults(json.loads(generate(recipe, index).model_dump_json())) == ()


def test_the_clean_control_of_an_attacked_text_is_proven():
    made = problem(Axis.HORIZON, 4, attack=AttackKind.INJECTION)

    assert made.poisoned is None
    assert faults(json.loads(made.model_dump_json())) == ()


NUMBER = re.compile(r"(?<=equals )\d+|\d+(?= more than| times as)")
SOURCES = {
    "depth": lambda: record(Axis.DEPTH, 5),
    "breadth": lambda: record(Axis.BREADTH, 4),
    "parallel": lambda: record(Axis.PARALLEL, 3),
    "attacked": lambda: record(Axis.ROBUSTNESS, 3, needle=True, attack=AttackKind.CLAIM),
    "totals": lambda: record(Axis.DEPTH, 6, abstract=True, index=2),
}


@pytest.mark.parametrize("source", SOURCES)
def test_any_number_changed_in_a_statement_is_found(source):
    entry = SOURCES[source]()
    matches = list(NUMBER.finditer(entry["question"]))

    assert len(matches) > 10
    for match in matches:
        changed = (int(match[0]) + 1) % 23
        text = entry["question"][: match.start()] + str(changed) + entry["question"][match.end() :]
        assert faults(entry | {"question": text}), f"{match[0]} to {changed} at {match.start()}"


@pytest.mark.parametrize("source", SOURCES)
def test_any_name_changed_at_one_place_is_found(source):
    entry = SOURCES[source]()
    names = {name for pair in entry["graph"]["quantities"] for name in pair}
    places = [match for name in names for match in re.finditer(re.escape(name), entry["question"])]

    for match in places:
        text = entry["question"][: match.start()] + "Zyx Wvu" + entry["question"][match.end() :]
        assert faults(entry | {"question": text}), f"{match[0]} at {match.start()}"


def _leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, (*path, place))
    else:
        yield path, value


def _changed(value):
    if isinstance(value, int):
        return value + 1
    return f"{value}x" if isinstance(value, str) else "x"


def _set(entry, path, value):
    *parents, last = path
    for key in parents:
        entry = entry[key]
    entry[last] = value


@pytest.mark.parametrize("source", SOURCES)
def test_any_value_changed_in_the_certificate_is_found(source):
    entry = SOURCES[source]()
    free = {("question",), ("generator_version",), ("measured", "tokens")}

    for path, value in _leaves(entry):
        if path not in free and value is not None:
            changed = copy.deepcopy(entry)
            _set(changed, path, _changed(value))
            assert faults(changed), path


@pytest.mark.parametrize("key", record())
def test_a_missing_key_is_found(key):
    entry = record()
    del entry[key]

    assert faults(entry)


@pytest.mark.parametrize("source", SOURCES)
def test_order_matters_where_it_means_something(source):
    entry = SOURCES[source]()
    swapped = copy.deepcopy(entry)
    swapped["graph"]["quantities"][:2] = swapped["graph"]["quantities"][1::-1]

    assert faults(swapped)
    if len(entry["answers"]) > 1:
        assert faults(entry | {"asked": entry["asked"][::-1]})


def _sentences(text):
    return re.findall(r"(?:\(\d+\) )?The number of each [^.]*\. ?", text)


@pytest.mark.parametrize("source", SOURCES)
def test_a_sentence_taken_out_or_said_twice_is_found(source):
    entry = SOURCES[source]()

    for sentence in _sentences(entry["question"]):
        for put in ("", sentence + sentence):
            assert faults(entry | {"question": entry["question"].replace(sentence, put, 1)}), sentence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("modulo 23", "modulo 29"),
        ("from 0 to 22", "from 0 to 21"),
        ("20 plus 5 is 2", "20 plus 5 is 3"),
        ("3 minus 5 is 21", "3 minus 5 is 2"),
    ],
)
def test_the_rules_around_the_problem_are_held_to_arithmetic(old, new):
    entry = record()

    assert old in entry["question"]
    assert any(
        "the text states" in fault for fault in faults(entry | {"question": entry["question"].replace(old, new, 1)})
    )


def test_a_style_that_the_text_does_not_have_is_found():
    assert faults(record() | {"style": "paper"})
    assert faults(record(style=Style.PAPER) | {"style": "exact"})


class TestPoison:
    def entry(self):
        return record(Axis.ROBUSTNESS, 3, attack=AttackKind.NOTE)

    def test_another_kind_of_attack_is_found(self):
        assert any(fault.startswith("attack:") for fault in faults(self.entry() | {"attack": "injection"}))
        assert any(fault.startswith("attack:") for fault in faults(self.entry() | {"attack": None}))

    def test_an_attack_sentence_taken_out_is_found(self):
        entry = self.entry()
        text = entry["question"].replace(entry["poisoned"]["texts"][0], "")

        assert any("poisoned" in fault for fault in faults(entry | {"question": text}))

    def test_an_attack_that_the_certificate_hides_is_found(self):
        assert any("poisoned" in fault for fault in faults(self.entry() | {"poisoned": None}))

    def test_a_second_false_value_is_found(self):
        entry = self.entry()
        (owner, item), text = entry["asked"][-1], entry["poisoned"]["texts"][0]
        more = f"{text} Note: the number of {item} that {owner} has is {(entry['answers'][-1] + 1) % 23}."

        assert faults(entry | {"question": entry["question"].replace(text, more)})

    def test_an_attack_that_changes_nothing_is_found(self):
        entry = self.entry()
        poisoned, target = entry["poisoned"], entry["poisoned"]["targets"][0]
        owner, item = entry["asked"][target]
        sentence = next(text for text in poisoned["texts"] if f"{item} that {owner} has" in text)
        harmless = re.sub(r"\d+\.$", f"{entry['answers'][target] + 23}.", sentence)
        text = entry["question"].replace(sentence, harmless)

        assert any("does not change answer" in fault for fault in faults(entry | {"question": text}))


def test_a_quantity_without_influence_is_found():
    entry = record(Axis.DEPTH, 3)
    text = re.sub(r"(\d+)(?= times as much)", "0", entry["question"])
    text = text if text != entry["question"] else re.sub(r"(\d+) more than", "0 times as much as", entry["question"])

    assert any("cannot change the final answer" in fault for fault in faults(entry | {"question": text}))


def test_names_that_are_hard_to_tell_apart_are_found():
    entry = record(Axis.DEPTH, 4)
    (first, _), (second, _) = entry["graph"]["quantities"][0], entry["graph"]["quantities"][1]
    other = next(owner for owner, _ in entry["graph"]["quantities"] if owner not in {first, second})
    document = json.dumps(entry, ensure_ascii=False)

    inside = json.loads(document.replace(other, f"{first} East"))
    quoted = json.loads(document.replace(other, "Marc's"))
    category = json.loads(document.replace(other, "Animal"))

    assert any("is part of the name" in fault for fault in faults(inside))
    assert any("apostrophes" in fault for fault in faults(quoted))
    assert any("category words" in fault for fault in faults(category))


def _opened(value):
    """A record with everything that is JSON in a string read."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        return _opened(json.loads(value))
    if isinstance(value, dict):
        return {key: _opened(inner) for key, inner in value.items()}
    return [_opened(inner) for inner in value] if isinstance(value, list) else value


def _closed(opened, like):
    """The record again with strings of JSON where `like` has them."""
    return {
        key: json.dumps(value) if isinstance(like[key], str) and not isinstance(value, str) else value
        for key, value in opened.items()
    }


@pytest.mark.parametrize("layout", [Format.HF, Format.PARQUET])
@pytest.mark.parametrize("axis", [Axis.HORIZON, Axis.ROBUSTNESS])
def test_any_leaf_changed_in_any_column_is_found(layout, axis):
    columns = json.loads(json.dumps(encode(problem(axis, 3), layout)))
    opened = _opened(columns)

    assert faults(_closed(opened, columns)) == ()
    for path, value in _leaves(opened):
        if path[-1] == "generator_version":
            continue  # only beside rows of another version is one wrong
        changed = copy.deepcopy(opened)
        _set(changed, path, 5 if value is None else _changed(value))
        assert faults(_closed(changed, columns)), path


@pytest.mark.parametrize("layout", [Format.HF, Format.PARQUET])
def test_a_column_that_differs_is_named_and_one_of_a_trainer_is_left_alone(layout):
    columns = json.loads(json.dumps(encode(problem(Axis.HORIZON, 3), layout)))

    assert faults(columns | {"agent_name": "mas"}) == ()
    assert faults(columns | {"value": "4"}) == ("column value: the row says 4, its certificate gives 3",)
    assert "column axis: the row says None" in faults({key: columns[key] for key in columns if key != "axis"})[0]


def test_a_prompt_or_key_that_differs_from_the_certificate_is_found():
    columns = json.loads(json.dumps(encode(problem(Axis.HORIZON, 3), Format.PARQUET)))
    prompt, key = copy.deepcopy(columns), copy.deepcopy(columns)
    prompt["prompt"][0]["content"] += " Please."
    key["reward_model"]["ground_truth"] += "1"

    assert any("prompt and the certificate differ" in fault for fault in faults(prompt))
    assert any("answers in the columns" in fault for fault in faults(key))


def test_published_rows_are_held_to_their_answers():
    lines = FILE.read_bytes().splitlines()

    found = [check_row(read_row_line(line, f"x:{number}")).faults for number, line in enumerate(lines, start=1)]

    assert [bool(row) for row in found] == [
        number not in {example.number for example in WHOLE} for number in range(1, 15)
    ]
    changed = json.loads(lines[0]) | {"answer": ["11"]}
    assert faults(changed) == ("answers: the row says 11, the text gives 10",)
    assert faults({"question": changed["question"]}) == ("the row gives no answer to compare with",)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(record())), inner),
    )
)
def test_no_junk_in_a_certificate_does_more_than_be_a_fault(junk):
    for key in ("graph", "answers", "asked", "poisoned", "measured", "parameters"):
        entry = record() | {key: junk}
        assert faults(entry) or entry == record() or junk is None
