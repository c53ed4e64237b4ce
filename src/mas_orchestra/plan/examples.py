"""Few-shot examples of the orchestrator's prompt: plans as values, so that each is shown in the format asked for."""

from collections.abc import Iterator
from dataclasses import dataclass

from mas_orchestra.plan.arguments import problem_with
from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.types import DoM

__all__ = ["Example", "examples"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question and a good plan for it."""

    question: str
    plan: Plan


def examples(catalog: Catalog, dom: DoM) -> tuple[Example, ...]:
    """Examples that name only sub-agents of the catalog; a plain one is made up where none does."""
    fitting = tuple(example for example in _EXAMPLES[dom] if all(step.agent in catalog for step in example.plan.steps))
    return fitting if any(example.plan.steps for example in fitting) else (*fitting, *_made_up(catalog, dom))


_FAN_IN = Example(
    question="A shop sells 3 pens at 4 euros, 5 books at 12 euros and 2 maps at 9 euros. Which sum is due, and which "
    "of the three kinds costs most in total?",
    plan=Plan(
        thinking="The three products do not depend on each other, so three steps can run at the same time. A last step "
        "adds them up and compares them.",
        steps=(
            Step(id="pens", agent="CoTAgent", description="Pens", input="What do 3 pens at 4 euros cost?"),
            Step(id="books", agent="CoTAgent", description="Books", input="What do 5 books at 12 euros cost?"),
            Step(id="maps", agent="CoTAgent", description="Maps", input="What do 2 maps at 9 euros cost?"),
            Step(
                id="total",
                agent="CoTAgent",
                description="Adds and compares",
                input="Pens: ${pens}. Books: ${books}. Maps: ${maps}. Give the sum and the kind that costs most.",
            ),
        ),
        edges=(Edge("pens", "total"), Edge("books", "total"), Edge("maps", "total")),
    ),
)
_SEARCH = Example(
    question="Is the river that flows through the capital of Austria longer than the one in the capital of France?",
    plan=Plan(
        thinking="Two lengths have to be looked up, independently of each other. Comparing two numbers is easy, so one "
        "cheap step ends the plan.",
        steps=(
            Step(
                id="vienna",
                agent="WebSearchAgent",
                description="River of Vienna",
                input="Which river flows through the capital of Austria, and how long is it in kilometres?",
            ),
            Step(
                id="paris",
                agent="WebSearchAgent",
                description="River of Paris",
                input="Which river flows through the capital of France, and how long is it in kilometres?",
            ),
            Step(
                id="compare",
                agent="CoTAgent",
                description="Compares the lengths",
                input="Austria: ${vienna}\nFrance: ${paris}\nIs the first river the longer one? Answer yes or no.",
            ),
        ),
        edges=(Edge("vienna", "compare"), Edge("paris", "compare")),
    ),
)
_CHECKED = Example(
    question="How many three-digit numbers have digits that add up to 7 and are divisible by 4?",
    plan=Plan(
        thinking="A count like this is easily missed by a few. I have it worked out once with care for mistakes, and "
        "let two experts with different habits check the result.",
        steps=(
            Step(id="count", agent="ReflexionAgent", description="Counts", input=""),
            Step(
                id="verdict",
                agent="DebateAgent",
                description="Checks the count",
                input="A first count gave ${count}. Is it right? Give the final number.",
                arguments={"roles": ["Number theorist", "Careful enumerator"]},
            ),
        ),
        edges=(Edge("count", "verdict"),),
    ),
)
_DIRECT = Example(
    question="What is 7 times 8?",
    plan=Plan(thinking="A multiplication of two digits needs no sub-agent.", answer="56"),
)
_DELEGATED = Example(
    question="What is the remainder of 7 to the power of 100 divided by 13?",
    plan=Plan(
        thinking="One careful calculation with a short answer: several independent tries and a vote make it safe. The "
        "whole question is handed on.",
        steps=(Step(id="solve", agent="SCAgent", description="Solves the whole question", input=""),),
    ),
)
_SUB_TASK = Example(
    question="A train leaves at 14:35 and arrives at 17:20. Its mean speed is 80 km/h. How far does it go?",
    plan=Plan(
        thinking="The duration is where mistakes happen: 2 hours 45 minutes, 2.75 hours. One chain of thought can "
        "finish from there.",
        steps=(
            Step(
                id="distance",
                agent="CoTAgent",
                description="Distance from duration and speed",
                input="The train travels for 2.75 hours at 80 km/h. How many kilometres does it go?",
            ),
        ),
    ),
)
_EXAMPLES = {DoM.HIGH: (_FAN_IN, _SEARCH, _CHECKED), DoM.LOW: (_DIRECT, _DELEGATED, _SUB_TASK)}


def _made_up(catalog: Catalog, dom: DoM) -> Iterator[Example]:
    """The smallest plan of a catalog that none of the examples fits."""
    name = next((card.name for card in catalog if problem_with(card, {})[0] is not None), None)
    if name is None:
        return
    first = Step(id="solve", agent=name, description="Works on the question", input="")
    second = Step(id="final", agent=name, description="Gives the answer", input="Check and finish this: ${solve}")
    edges = (Edge("solve", "final"),)
    plan = Plan(thinking="One step is enough.", steps=(first,))
    if dom is DoM.HIGH:
        plan = Plan(thinking="A first step works it out, a second one checks it.", steps=(first, second), edges=edges)
    yield Example(question="(any question)", plan=plan)
