import random
import re
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra.masbench import attack as attack_module
from mas_orchestra.masbench.attack import WORDINGS, SubTask, attack, needle_segment, needles
from mas_orchestra.masbench.problem import AttackKind, Form, Modifier
from mas_orchestra.masbench.structure import Component


def chain_of(length: int) -> tuple[list[Component], list[SubTask]]:
    """Each quantity equals the one before it; all but the first are asked."""
    component = Component(
        parents=[[node + 1] for node in range(length - 1)] + [[]],
        spine=length,
        needed=length,
        forms=[Form.EQUAL] * (length - 1) + [Form.CONSTANT],
        modifiers=[Modifier.NONE] * length,
        constants=[0] * (length - 1) + [5],
    )
    asked = [
        SubTask((f"Owner {node}", f"Item {node}"), 5, length - node, 0, node) for node in range(length - 2, -1, -1)
    ]
    return [component], asked


def two_terms() -> tuple[list[Component], list[SubTask]]:
    """The sink is the sum of two asked quantities, so that two poisons can cancel."""
    component = Component(
        parents=[[1, 2], [3], [4], [], []],
        spine=3,
        needed=5,
        forms=[Form.SUM, Form.EQUAL, Form.EQUAL, Form.CONSTANT, Form.CONSTANT],
        modifiers=[Modifier.NONE] * 5,
        constants=[0, 0, 0, 4, 9],
    )
    values = component.values()
    asked = [SubTask((f"Owner {node}", f"Item {node}"), values[node], 0, 0, node) for node in (2, 1, 0)]
    return [component], asked


def attacked(components, asked, r, seed, *, kind=AttackKind.NOTE, segments=9):
    return attack(kind, asked, components, r=r, segments=segments, rng=random.Random(seed))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_poisons_never_cancel(seed, r):
    components, asked = two_terms()
    poisoned = attacked(components, asked, r, seed).poisoned
    assert poisoned.joint[-1] != asked[-1].answer
    assert all(final != asked[-1].answer for final in poisoned.finals)


def test_without_care_some_would_cancel(monkeypatch):
    """Else the test above would prove nothing."""
    monkeypatch.setattr(attack_module, "_avoid_cancelling", lambda *_: None)
    components, asked = two_terms()
    joints = [attacked(components, asked, 2, seed).poisoned.joint for seed in range(400)]
    assert any(joint[-1] == asked[-1].answer for joint in joints)


def test_on_a_chain_the_last_believed_value_decides():
    components, asked = chain_of(6)
    poisoned = attacked(components, asked, 3, 1).poisoned
    last = poisoned.targets[-1]
    assert set(poisoned.joint[last:]) == {poisoned.values[-1]}
    assert poisoned.joint[: poisoned.targets[0]] == (5,) * poisoned.targets[0]


def test_false_values_avoid_the_asked_answers_while_there_are_others():
    components, asked = two_terms()
    answers = {task.answer for task in asked}
    for seed in range(50):
        assert not set(attacked(components, asked, 3, seed).poisoned.values) & answers


def test_where_every_residue_is_an_answer_only_the_truth_is_avoided():
    everything = set(range(23))
    assert set(attack_module._residues(5, {5, 7})) == everything - {5, 7}
    assert set(attack_module._residues(5, everything)) == everything - {5}
    assert set(attack_module._residues(5, everything - {8})) == everything - {5}, "one choice is none"


def pattern(wording: str) -> str:
    blanks = {
        "subject": "the number of (Item .) that (Owner .) has",
        "value": "([0-9]+)",
        "person": "[A-Z][a-z]+ [A-Z][a-z]+",
    }
    return re.sub(r"\\{(\w+)\\}", lambda blank: blanks[blank[1]], re.escape(wording))


@pytest.mark.parametrize("kind", AttackKind)
def test_every_wording_occurs_and_names_target_and_value(kind):
    components, asked = chain_of(8)
    found = set()
    for seed in range(40):
        poisoned = attacked(components, asked, 1, seed, kind=kind).poisoned
        [(wording, match)] = [
            (wording, match)
            for wording in WORDINGS[kind]
            if (match := re.fullmatch(pattern(wording), poisoned.texts[0]))
        ]
        found.add(wording)
        target = asked[poisoned.targets[0]]
        assert (match[2], match[1], int(match[3])) == (*target.name, poisoned.values[0])
    assert found == set(WORDINGS[kind])


def test_an_attack_stands_in_a_later_segment_or_at_the_end_of_the_last():
    components, asked = chain_of(6)  # the first asked is stated in segment 2 and the last in segment 6
    for seed in range(30):
        result = attacked(components, asked, len(asked), seed, segments=7)
        for place, sentences in result.sentences.items():
            for sentence in sentences:
                node = int(sentence.split("Item ")[1].split()[0])
                stated = 6 - node
                assert place > stated or place == stated == 6


def test_the_texts_of_the_certificate_are_the_sentences_in_the_order_of_the_passage():
    components, asked = chain_of(8)
    result = attacked(components, asked, len(asked), 5)
    assert result.poisoned.texts == tuple(chain(*(result.sentences[place] for place in sorted(result.sentences))))


def test_a_smaller_attack_is_part_of_a_larger_one():
    components, asked = chain_of(9)
    larger: set[str] = set()
    for r in range(len(asked), 0, -1):
        texts = set(attacked(components, asked, r, 11).poisoned.texts)
        assert len(texts) == r
        assert not larger or texts <= larger
        larger = texts


@pytest.mark.parametrize("count", [1, 24, 576, 600])
def test_needles_differ_in_name_and_number(count):
    hidden = needles(count, random.Random(1))
    assert len({needle.name for needle in hidden}) == len({needle.number for needle in hidden}) == count
    assert all(1_000_000 <= needle.number < 10_000_000 for needle in hidden)


def test_a_needle_stands_between_lines_of_filler():
    [needle] = needles(1, random.Random(2))
    for seed in range(20):
        lines = needle_segment(needle, random.Random(seed)).splitlines()
        assert lines.count(f"One of the special magic numbers for {needle.name} is: {needle.number}.") == 1
        assert lines[0] == "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
        assert len(set(lines)) == 2


def test_a_false_magic_number_has_seven_digits_and_is_another():
    task = SubTask(("magic number", "open-lantern"), 7_953_166, 1, None, 0)
    for seed in range(50):
        poisoned = attacked([], [task], 1, seed).poisoned
        assert poisoned.values == poisoned.finals == poisoned.joint
        assert poisoned.values[0] != 7_953_166
        assert len(str(poisoned.values[0])) == 7
        assert "the magic number for open-lantern" in poisoned.texts[0]
