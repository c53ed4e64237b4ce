"""The example package: found by its entry point as an installer writes it, and right in what it computes."""

import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.agents import Registry
from mas_orchestra.errors import StepError
from support.context import call_of, in_turn

EXAMPLE = Path(__file__).parents[2] / "examples" / "outside_agent"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package on the path with the metadata that installing it from its pyproject.toml would write."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    folder = tmp_path_factory.mktemp("site")
    metadata = folder / "mas_orchestra_calculator-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["mas_orchestra.agents"]
    lines = [f"{name} = {target}" for name, target in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[mas_orchestra.agents]", *lines, ""]))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE / "src"))
        patch.syspath_prepend(str(folder))
        yield
    for name in [name for name in sys.modules if name.split(".")[0] == "outside_agent"]:
        del sys.modules[name]


@pytest.fixture
def calculator(installed):
    return Registry.installed()["Calculator"]


def test_it_stands_behind_the_built_in_ones_with_its_card(calculator):
    assert Registry.installed().catalog.names[-1] == "Calculator"
    assert calculator.card.summary.startswith("Turns its sub-task into one arithmetic expression")
    assert calculator.card.arguments.model_json_schema()["properties"]["digits"]["maximum"] == 20


async def test_what_the_model_writes_is_computed_and_not_run(calculator):
    context = in_turn("`0.1 + 0.2`")

    outcome = await calculator.run(call_of(arguments=calculator.card.arguments()), context)

    assert outcome.answer == "0.3"
    assert outcome.details == {"expression": "0.1 + 0.2"}


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').getcwd()",
        "(1).__class__",
        "10 ** 10 ** 10",
        "2 ** 0.5",
        "1 / 0",
        "True + 1",
        "'a' * 9",
        "[1][0]",
        "x",
        "",
        "1 +",
        "9" * 600,
        "(" * 400,
        "The answer is 4.",
    ],
)
async def test_anything_but_arithmetic_fails_the_step(calculator, text):
    with pytest.raises(StepError) as caught:
        await calculator.run(call_of(arguments=calculator.card.arguments()), in_turn(text))

    assert caught.value.code == "bad_expression"


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4), st.sampled_from("+-*/%"))
def test_results_are_exact(installed, left, right, sign):
    from outside_agent.arithmetic import compute

    expected = {"+": left + right, "-": left - right, "*": left * right, "/": Fraction(left, right), "%": left % right}

    assert compute(f"({left}) {sign} {right}") == expected[sign]


@given(st.fractions(-1_000, 1_000, max_denominator=999), st.integers(0, 6))
def test_results_are_shown_to_the_digit(installed, value, digits):
    from outside_agent.arithmetic import shown

    assert abs(Fraction(shown(value, digits)) - value) <= Fraction(1, 2 * 10**digits)
