"""``mas solve``: one question, answered by a multi-agent system that is written for it."""

import typer

from mas_orchestra.cli import solve_options as options

__all__ = ["solve_app"]

solve_app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """\b
Examples:
  mas solve "How many primes are there below 100?"
  mas solve --file question.txt --model openai:gpt-4o-mini --trace run.json
  mas solve "Is 2027 prime?" --dom low --max-calls 20 --timeout 60
  mas solve "Is 2027 prime?" --agent sc:7 --json
  answer=$(mas solve - --plan plan.xml --quiet < question.txt)
  mas solve "Is 2027 prime?" --model openai:qwen3@http://localhost:8000/v1

\b
On a terminal the run is drawn as it goes on. The answer goes to stdout, all else to stderr.
Ctrl-C ends a run cleanly and keeps its trace; a second one quits at once.
Exit codes: 0 answered, 1 no answer (the message says why), 2 wrong usage, 130 interrupted.
"""


@solve_app.command(epilog=EXAMPLES)
def solve(
    question: options.Question = None,
    *,
    file: options.File = None,
    model: options.Model = None,
    orchestrator: options.Orchestrator = None,
    dom: options.Degree = None,
    plan: options.PlanFile = None,
    agent: options.Agent = None,
    corpus: options.Corpus = None,
    as_json: options.Json = False,
    trace: options.Trace = None,
    quiet: options.Quiet = False,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    timeout: options.Timeout = None,
    step_timeout: options.StepTimeout = None,
    on_step_error: options.OnError = options.OnErrorChoice.FAIL,
    max_steps: options.MaxSteps = None,
    repair_turns: options.RepairTurns = None,
    prompt: options.Prompt = None,
    plan_format: options.Format = None,
    cache: options.Cache = None,
    seed: options.Seed = 0,
    config: options.Config = None,
    overrides: options.Set = None,
) -> None:
    """Answer a question with a multi-agent system written for it.

    An orchestrator model writes a whole plan of sub-agents in one reply; the plan is checked, run by data flow, and
    its last step's answer is printed.
    """
    # Imported here, so that `mas solve --help` does not wait for models and executor.
    from mas_orchestra.cli.solve_run import Request, answer

    request = Request(
        question=question,
        file=file,
        model=model,
        orchestrator=orchestrator,
        dom=dom,
        plan=plan,
        agent=agent,
        corpus=corpus,
        as_json=as_json,
        trace=trace,
        quiet=quiet,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_cost=max_cost,
        timeout=timeout,
        step_timeout=step_timeout,
        on_step_error=on_step_error,
        max_steps=max_steps,
        repair_turns=repair_turns,
        prompt=prompt,
        plan_format=plan_format,
        cache=cache,
        seed=seed,
        config=config,
        overrides=overrides,
    )
    raise typer.Exit(answer(request))
