"""Files of the user's own: columns, kinds, answers, and what is wrong with a row."""

import pytest

from mas_orchestra.errors import FileFormatError, UnknownNameError, UsageError
from mas_orchestra.tasks.load import load_tasks


@pytest.fixture
def load(tmp_path):
    def load(content, *, suffix=".jsonl", query="", **options):
        file = tmp_path / f"mine{suffix}"
        file.write_text(content)
        return load_tasks(f"{file}{query}", **options).tasks

    return load


def test_the_usual_columns_need_no_mapping_and_the_rest_is_metadata(load):
    [task] = load('{"id": 7, "problem": "2+2?", "answer": 4, "source": "me", "empty": null}')

    assert (task.id, task.question, task.answers, task.kind) == ("7", "2+2?", ("4",), "mathematics")
    assert task.metadata == {"source": "me"}


def test_columns_are_mapped_in_the_spec_or_by_argument(load):
    row = '{"Frage": "2+2?", "Lösung": "vier", "answer": "no"}'
    by_query = load(row, query="?question=Frage&answer=L%C3%B6sung&kind=text")
    by_argument = load(row, columns={"question": "Frage", "answer": "Lösung"})

    assert by_query == by_argument
    assert (by_query[0].id, by_query[0].answers, by_query[0].kind) == ("mine-1", ("vier",), "text")
    assert by_query[0].metadata == {"answer": "no"}


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ('{"question": "q", "answer": "Paris"}', "text"),
        ('{"question": "q", "answer": "3.5"}', "mathematics"),
        ('{"question": "q", "answer": 3}', "mathematics"),
        ('{"question": "q", "answer": true}', "text"),
        ('{"question": "q", "answer": "nan"}', "text"),
        ('{"question": "q", "answer": "A", "choices": ["x", "y"]}', "choice"),
        ('{"question": "q", "answer": "3", "kind": "judge"}', "judge"),
        ('{"question": "q", "answer": ["3", "4"]}', "text"),
    ],
)
def test_the_kind_follows_from_the_row_unless_it_is_said(load, row, kind):
    assert load(row)[0].kind == kind


def test_lists_aliases_and_nobody(load):
    rows = load('{"question": "who?", "answer": ["Ann", "Bob"]}\n{"question": "who else?", "answer": []}')
    [alias] = load('{"question": "where?", "answer": "USA", "aliases": ["United States"]}')
    [several] = load('{"question": "how many?", "answer": [1, 2]}', query="?kind=masbench")

    assert [(task.answers, task.metadata) for task in rows] == [
        (("Ann", "Bob"), {"answer_form": "list"}),
        ((), {"answer_form": "list"}),
    ]
    assert (alias.answers, alias.metadata) == (("USA", "United States"), {})
    assert several.answers == ("1", "2")


@pytest.mark.parametrize(
    ("choices", "answer", "letters"),
    [
        ('["red", "green", "blue"]', '"green"', "B"),
        ('["red", "green", "blue"]', '"C"', "C"),
        ('["red", "green", "blue"]', '"(a)"', "A"),
        ('["red", "green", "blue"]', "2", "C"),
        ('["red", "green", "blue"]', '["red", "blue"]', "A, C"),
        ('"red,green,,blue,"', '"A and C"', "A, C"),
        ('"red|green, and dark|blue"', '"green, and dark"', "B"),
        ('"red\\ngreen"', '"B"', "B"),
        ('{"text": ["red", "green"], "label": ["A", "B"]}', '"B"', "B"),
        ('"[\\"red\\", \\"green\\"]"', '"red"', "A"),
        ("[1, 2, 3]", '"3"', "C"),
    ],
)
def test_options_and_their_letters(load, choices, answer, letters):
    [task] = load('{"question": "Which?", "choices": ' + choices + ', "answer": ' + answer + "}")

    assert (task.kind, task.answers) == ("choice", (letters,))
    assert f"\nA) {task.metadata['choices'][0]}\n" in task.question


def test_a_stray_comma_in_a_cell_of_choices_makes_no_option(load):
    [task] = load('question,choices,answer\nWhich?,"red,green,,blue,",green\n', suffix=".csv")

    assert task.metadata["choices"] == ["red", "green", "blue"]
    assert task.answers == ("B",)


@pytest.mark.parametrize(
    ("content", "query", "error", "message"),
    [
        ('{"question": "q", "answer": 1}', "?question=qestion", UnknownNameError, "Did you mean 'question'"),
        ('{"question": "q", "answer": 1}', "?qestion=question", UnknownNameError, "Did you mean 'question'"),
        ('{"question": "q", "answer": 1}', "?kind=maths", UnknownNameError, "Known: answer, question"),
        ('{"question": "q", "answer": 1, "kind": "chioce"}', "", UnknownNameError, "Did you mean 'choice'"),
        ('{"text": "q", "answer": 1}', "", UsageError, "no column for the question: its columns are text, answer"),
        ('{"question": "q"}', "", UsageError, "Name it, as answer=COLUMN"),
        ('{"question": "q", "answer": null}', "", FileFormatError, "line 1: no answer"),
        ('{"question": "q", "answer": " "}', "", FileFormatError, "line 1: no answer"),
        ('{"question": "q", "answer": 1}\n{"question": "q"}', "", FileFormatError, "line 2: no answer"),
        ('{"question": "", "answer": 1}', "", FileFormatError, "line 1: no question"),
        ('{"question": ["q"], "answer": 1}', "", FileFormatError, "the question is a list"),
        ('{"question": "q", "answer": {"a": 1}}', "", FileFormatError, "the answer is dict"),
        ('{"question": "q", "answer": [1, 2]}', "?kind=mathematics", FileFormatError, "the answer is a list"),
        (
            '{"question": "q", "answer": 1}\n{"question": "q", "answer": "one"}',
            "",
            FileFormatError,
            "line 2: the answer is text, but a number in",
        ),
        ('{"question": "q", "answer": "E", "choices": ["x", "y"]}', "", FileFormatError, "none of the options A, B"),
        ('{"question": "q", "answer": 2, "choices": ["x", "y"]}', "", FileFormatError, "its index from 0"),
        ('{"question": "q", "answer": "A", "choices": "x"}', "", FileFormatError, "1 options, expected 2 to 26"),
        ('{"question": "q", "answer": "A", "choices": ["x", "x"]}', "", FileFormatError, "the same option twice"),
        ('{"question": "q", "answer": "A"}', "?kind=choice", FileFormatError, "0 options"),
    ],
)
def test_what_is_wrong_is_said_with_the_place_and_the_remedy(load, content, query, error, message):
    with pytest.raises(error) as caught:
        load(content, query=query)
    assert message in str(caught.value)
