"""The demo as a person starts it, on one question."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mas_orchestra.models.weights import EMBEDDED, find_weights

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = EXAMPLES / "questions.jsonl"


def test_every_question_is_complete_and_most_have_a_reference_answer():
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]

    assert len({row["id"] for row in rows}) == len(rows) >= 5
    assert all(set(row) == {"id", "question", "answers"} and row["question"] for row in rows)
    assert sum(bool(row["answers"]) for row in rows) >= 4


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.local_model
def test_the_demo_shows_plan_steps_answer_and_cost(tmp_path):
    pytest.importorskip("xllamacpp")
    if find_weights(EMBEDDED["smollm2-135m"]) is None:
        pytest.skip("the weights are not here: mas models get local:smollm2-135m")
    file = tmp_path / "one.jsonl"
    file.write_text(QUESTIONS.read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / "demo.py", file],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "135 million parameters" in done.stdout
    assert "often wrong" in done.stdout
    assert done.stdout.count("── ") == done.stdout.count("answer: ") == 1
    assert done.stdout.count("   s2 ") == 1  # the schema of high-degree plans begins at two steps
    assert done.stdout.count("$0.00") == 1
