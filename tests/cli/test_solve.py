"""``mas solve`` as people and scripts meet it: in processes of their own, with scripted models."""

import errno
import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from mas_orchestra.cli.boundary import ExitCode
from mas_orchestra.run import read_trace
from mas_orchestra.types import OutcomeStatus

MAS = [sys.executable, "-m", "mas_orchestra.cli"]
QUESTION = "What is 6 times 7?"
PLAN = {
    "thinking": "one draft, one check",
    "steps": [
        {"id": "draft", "agent": "CoTAgent", "input": "Multiply."},
        {"id": "check", "agent": "CoTAgent", "input": "Check ${draft}."},
    ],
    "edges": [["draft", "check"]],
}
ANSWER = json.dumps({"thinking": "6 * 7", "answer": "42"})


def toml(value: object) -> str:
    return json.dumps(value)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with models that plan and answer, and with a plan; it is the current one."""
    monkeypatch.chdir(tmp_path)
    script("planner", f"[default]\nreply = {toml(json.dumps(PLAN))}\n")
    script("solver", f"[default]\nreply = {toml(ANSWER)}\n")
    script("slow", f"[default]\nreply = {toml(ANSWER)}\nlatency_s = 600\n")
    script("broken", '[default]\nfail = "server_error"\n')
    script("babbler", '[default]\nreply = "I would rather not."\n')
    Path("plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    return tmp_path


def script(name: str, text: str) -> None:
    Path(f"{name}.toml").write_text(text, encoding="utf-8")


def model(name: str) -> list[str]:
    return ["--model", f"scripted:{name}.toml"]


ORCHESTRATED = [*model("solver"), "--orchestrator", "scripted:planner.toml"]


def mas(*words, **options):
    """A real process: its exit code, stdout and stderr."""
    run = subprocess.run(
        [*MAS, "solve", *words], capture_output=True, text=True, timeout=60, check=False, encoding="utf-8", **options
    )
    return run.returncode, run.stdout, run.stderr


def invoke(*words, **options):
    return CliRunner().invoke(app, ["solve", *words], **options)


def test_the_answer_is_alone_on_stdout_and_the_rest_is_plain_lines(folder):
    code, out, err = mas(QUESTION, *ORCHESTRATED)

    assert (code, out) == (ExitCode.DONE, "42\n"), err
    assert [line.split(" (")[0].split(": ")[0] for line in err.splitlines()] == [
        "text 1 of the orchestrator",
        "draft",
        "draft",
        "check",
        "check",
        "answered",
    ]
    assert "\x1b" not in err


def test_a_shell_takes_the_answer(folder):
    line = (
        f'answer=$({" ".join(MAS)} solve "{QUESTION}" {" ".join(ORCHESTRATED)} 2>/dev/null) && printf "<%s>" "$answer"'
    )
    run = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)

    assert run.stdout == "<42>"


@pytest.mark.parametrize("words", [["-"], ["--file", "question.txt"]])
def test_the_question_comes_by_stdin_or_file(folder, words):
    Path("question.txt").write_text(QUESTION + "\n", encoding="utf-8")
    result = invoke(*words, *model("solver"), "--plan", "plan.json", "--trace", "run.json", input=QUESTION + "\n")

    assert result.exit_code == ExitCode.DONE, result.output
    assert read_trace(folder / "run.json").question == QUESTION


def test_a_question_may_begin_with_a_dash(folder):
    result = invoke(*model("solver"), "--plan", "plan.json", "--trace", "run.json", "--", "-5 + 3 = ?")

    assert result.exit_code == ExitCode.DONE, result.output
    assert read_trace(folder / "run.json").question == "-5 + 3 = ?"


@pytest.mark.parametrize(("closed", "code"), [("<&-", ExitCode.USAGE), (">&-", ExitCode.DONE), ("2>&-", ExitCode.DONE)])
def test_a_stream_that_was_closed_before_is_no_crash(folder, closed, code):
    question = "-" if closed == "<&-" else f'"{QUESTION}"'
    line = f"{' '.join(MAS)} solve {question} {' '.join(ORCHESTRATED)} {closed}"
    run = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)

    assert run.returncode == code
    assert "Traceback" not in run.stderr


def test_json_is_one_object_on_stdout(folder):
    code, out, err = mas(QUESTION, *ORCHESTRATED, "--json")

    value = json.loads(out)
    assert (code, value["status"], value["answer"]) == (ExitCode.DONE, "answered", "42"), err
    assert [step["id"] for step in value["steps"]] == ["draft", "check"]
    assert value["steps"][1]["input"] == "Check 42."
    assert value["usage"]["calls"] == 3
    assert value["cost_usd"] == 0
    assert out.count("\n") == 1


def test_json_is_printed_for_failures_too(folder):
    code, out, err = mas(QUESTION, *model("broken"), "--json")

    assert code == ExitCode.FAILED
    assert json.loads(out)["status"] == "endpoint_error"
    assert "Error: no answer (endpoint_error)" in err


def test_a_failing_endpoint_is_a_failure_that_says_what_to_do(folder):
    code, out, err = mas(QUESTION, *model("broken"))

    assert (code, out) == (ExitCode.FAILED, "")
    assert "server_error" in err
    assert "mas models check" in err
    assert "Traceback" not in err


def test_a_model_that_writes_no_plan_is_a_failure_with_its_faults(folder):
    code, out, err = mas(QUESTION, *model("babbler"))

    assert (code, out) == (ExitCode.FAILED, "")
    assert "no answer (invalid_plan)" in err
    assert "no_plan" in err
    assert "--repair-turns" in err


def test_a_limit_is_a_failure_that_names_the_option(folder):
    code, out, err = mas(QUESTION, *ORCHESTRATED, "--max-calls", "1")

    assert (code, out) == (ExitCode.FAILED, "")
    assert "--max-calls" in err


def test_a_time_limit_ends_the_run(folder):
    code, out, err = mas(QUESTION, *model("slow"), "--agent", "cot", "--timeout", "0.3")

    assert (code, out) == (ExitCode.FAILED, "")
    assert "no answer (timed_out)" in err


@pytest.mark.parametrize(("agent", "calls"), [("cot", 1), ("sc:3", 3), ("debate:2x1", 3), ("CoTAgent", 1)])
def test_one_agent_alone(folder, agent, calls):
    result = invoke(QUESTION, *model("solver"), "--agent", agent, "--json")

    assert result.exit_code == ExitCode.DONE, result.output
    value = json.loads(result.stdout)
    assert value["answer"] == "42"
    assert value["usage"]["calls"] == calls


def test_a_setting_reaches_its_sub_agent_and_the_option_counts_more(folder):
    Path("mas.toml").write_text("[agents.SCAgent]\nsamples = 2\n", encoding="utf-8")

    def calls(*words):
        result = invoke(QUESTION, *model("solver"), *words, "--json")
        assert result.exit_code == ExitCode.DONE, result.output
        return json.loads(result.stdout)["usage"]["calls"]

    assert calls("--agent", "sc") == 2
    assert calls("--agent", "sc", "--set", "agents.SCAgent.samples=4") == 4
    assert calls("--agent", "sc:3") == 3


def test_the_environment_and_the_settings_name_models(folder, monkeypatch):
    Path("mas.toml").write_text('model = "scripted:broken.toml"\n', encoding="utf-8")
    assert invoke(QUESTION, "--agent", "cot").exit_code == ExitCode.FAILED

    monkeypatch.setenv("MAS_MODEL", "scripted:solver.toml")
    assert invoke(QUESTION, "--agent", "cot").exit_code == ExitCode.DONE


def test_a_search_agent_reads_the_corpus(folder):
    documents = [{"id": "d1", "title": "Lyme", "text": "The regatta of Lyme was won by Ann."}]
    Path("corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in documents), encoding="utf-8")
    result = invoke(QUESTION, *model("solver"), "--agent", "search:2", "--corpus", "corpus.jsonl", "--json")

    assert result.exit_code == ExitCode.DONE, result.output
    assert json.loads(result.stdout)["answer"] == "42"


def test_the_cache_never_pays_twice(folder):
    words = [QUESTION, *ORCHESTRATED, "--cache", "replies", "--json"]
    first, second = (json.loads(invoke(*words).stdout) for _ in range(2))

    assert first["answer"] == second["answer"] == "42"
    assert first["usage"]["input_tokens"] > 0
    assert second["usage"]["input_tokens"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no question"),
        ([QUESTION, "--file", "question.txt"], "not both"),
        ([""], "the question is empty"),
        ([QUESTION, "--plan", "plan.json", "--agent", "cot"], "exclude each other"),
        (
            [QUESTION, "--plan", "plan.json", "--orchestrator", "scripted:a", "--format", "xml"],
            "--orchestrator, --format",
        ),
        ([QUESTION, "--agent", "cot", "--dom", "low"], "leave out --dom"),
        ([QUESTION, "--agent", "cot", "--max-steps", "3"], "leave out --max-steps"),
        ([QUESTION, "--agent", "cot", "--repair-turns", "1"], "leave out --repair-turns"),
        ([QUESTION, "--agent", "cott"], "Did you mean 'cot'"),
        ([QUESTION, "--agent", "sc:many"], "not the number of samples"),
        ([QUESTION, "--plan", "missing.json"], "cannot read the plan missing.json"),
        ([QUESTION, "--prompt", "missing.j2"], "no file missing.j2"),
        ([QUESTION, "--set", "nothing=1"], "unknown key"),
        ([QUESTION, "--config", "missing.toml"], "missing.toml"),
        ([QUESTION, "--max-calls", "0"], "--max-calls"),
        ([QUESTION, "--timeout", "nan"], "not a number above 0"),
        ([QUESTION, "--timeout", "-1"], "not a number above 0"),
        ([QUESTION, "--max-cost", "inf"], "not a number above 0"),
        ([QUESTION, "--seed", "x"], "--seed"),
        ([QUESTION, "--model", "gpt-4"], "no model URI"),
        ([QUESTION, "--model", "opnai:gpt-4"], "Did you mean 'openai'"),
        ([QUESTION, "--trace", "."], "is no file"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_wrong_usage_exits_with_2_before_anything_is_asked(folder, words, message):
    chosen = [] if "--model" in words else model("broken")
    result = invoke(*words, *chosen)

    assert result.exit_code == ExitCode.USAGE, result.output
    assert message in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_plan_that_cannot_run_lists_its_faults(folder):
    Path("cycle.json").write_text(json.dumps({**PLAN, "edges": [["draft", "check"], ["check", "draft"]]}), "utf-8")
    result = invoke(QUESTION, *model("broken"), "--plan", "cycle.json")

    assert result.exit_code == ExitCode.USAGE
    assert "cycle.json holds no plan that can run:\n" in result.stderr
    assert "cycle: " in result.stderr


def long_chain(count):
    steps = [{"id": f"s{number}", "agent": "CoTAgent", "input": f"${{s{number - 1}}}"} for number in range(count)]
    return {"steps": [steps[0] | {"input": ""}, *steps[1:]], "edges": [[f"s{n - 1}", f"s{n}"] for n in range(1, count)]}


def test_a_plan_that_is_too_large_names_the_option_and_runs_with_it(folder):
    Path("chain.json").write_text(json.dumps(long_chain(70)), "utf-8")
    words = [QUESTION, *model("solver"), "--plan", "chain.json"]
    refused, run = invoke(*words), invoke(*words, "--max-steps", "70", "--json")

    assert refused.exit_code == ExitCode.USAGE
    assert "70 steps, at most 64 are accepted; merge steps or raise max_steps (--max-steps)" in refused.stderr
    assert run.exit_code == ExitCode.DONE, run.stderr
    assert json.loads(run.stdout)["usage"]["calls"] == 70


def test_a_plan_of_five_thousand_steps_is_refused_at_once_and_runs_when_asked_for(folder):
    Path("chain.json").write_text(json.dumps(long_chain(5_000)), "utf-8")
    refused = invoke(QUESTION, *model("broken"), "--plan", "chain.json")
    code, out, err = mas(QUESTION, *model("solver"), "--plan", "chain.json", "--max-steps", "5000", "--quiet")

    assert refused.exit_code == ExitCode.USAGE
    assert "plan_too_large" in refused.stderr
    assert refused.stderr.count("\n") == 2
    assert (code, out) == (ExitCode.DONE, "42\n"), err


def test_a_provider_without_its_key_is_found_before_anything_is_asked(folder):
    Path("mas.toml").write_text('[menu.strong]\nmodel = "openai:gpt-4o"\n', encoding="utf-8")
    for words in (["--model", "openai:gpt-4o-mini"], [*ORCHESTRATED]):
        result = invoke(QUESTION, *words)
        assert result.exit_code == ExitCode.USAGE
        assert "set OPENAI_API_KEY in the environment. Nothing was asked." in result.stderr


MENU = """
[agents.SCAgent]
model = "scripted:own.toml"
samples = 2

[menu.cheap]
model = "scripted:cheap.toml"
good_at = "quick drafts"
"""


def test_models_of_sub_agents_and_of_the_menu_come_from_the_settings(folder):
    Path("mas.toml").write_text(MENU, encoding="utf-8")
    script("own", f"[default]\nreply = {toml(ANSWER)}\n")
    script("cheap", f"price = {{ input = 1.0, output = 2.0 }}\n[default]\nreply = {toml(ANSWER)}\n")
    steps = [
        {"id": "draft", "agent": "CoTAgent", "description": "", "input": "Draft.", "model": "cheap"},
        {"id": "vote", "agent": "SCAgent", "description": "", "input": "Vote on ${draft}.", "model": None},
        {"id": "end", "agent": "CoTAgent", "description": "", "input": "End ${vote}."},
    ]
    plan = {"thinking": "", "steps": steps, "edges": [["draft", "vote"], ["vote", "end"]]}
    script("planner", f"[default]\nreply = {toml(json.dumps(plan))}\n")
    result = invoke(QUESTION, *ORCHESTRATED, "--json", "--trace", "run.json")

    assert result.exit_code == ExitCode.DONE, result.output
    outcome = read_trace(folder / "run.json")
    ran = {step.id: step.calls[0].model for step in outcome.steps}
    assert ran == {"draft": "scripted:cheap.toml", "vote": "scripted:own.toml", "end": "scripted:solver.toml"}
    assert "cheap: quick drafts, $1.00 in and $2.00 out per million tokens" in outcome.planning[0].messages[0].content
    by_model = {row["model"]: row for row in json.loads(result.stdout)["models"]}
    assert by_model["scripted:own.toml"]["usage"]["calls"] == 2
    assert by_model["scripted:cheap.toml"]["cost_usd"] > 0
    assert by_model["scripted:solver.toml"]["cost_usd"] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[agents.SCAgent]\nmodel = 7\n", "agents.SCAgent.model: got 7"),
        ("[agents.SCAgnt]\nmodel = 'scripted:solver.toml'\n", "Did you mean 'SCAgent'"),
        ("[menu.cheap]\ngood_at = 'x'\n", "menu.cheap.model"),
        ("[menu.cheap]\nmodel = 'opnai:x'\n", "Did you mean 'openai'"),
    ],
)
def test_a_wrong_menu_is_wrong_usage(folder, settings, message):
    Path("mas.toml").write_text(settings, encoding="utf-8")
    result = invoke(QUESTION, *model("broken"))

    assert result.exit_code == ExitCode.USAGE
    assert message in result.stderr


def test_a_disk_that_fills_up_under_the_trace_costs_neither_answer_nor_trace(folder):
    """No file of this process may hold a byte: as on a full disk, only the end finds out."""
    run = subprocess.run(
        [*MAS, "solve", QUESTION, *ORCHESTRATED, "--trace", "run.json"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )

    assert (run.returncode, run.stdout) == (ExitCode.FAILED, "42\n")
    assert "cannot write the trace" in run.stderr
    said = run.stderr[run.stderr.index("It holds:\n") :].splitlines()[1]
    assert json.loads(said)["answer"] == "42"
    assert not Path("run.json").exists()


def test_a_trace_into_a_full_device_is_refused_before_anything_is_asked(folder):
    result = invoke(QUESTION, *model("broken"), "--agent", "cot", "--trace", "/dev/full")

    assert result.exit_code == ExitCode.USAGE
    assert "is no file" in result.stderr


def test_a_question_that_is_not_utf_8_is_wrong_usage(folder):
    run = subprocess.run([*MAS, "solve", b"na\xefve", *model("solver")], capture_output=True, check=False)

    assert run.returncode == ExitCode.USAGE
    assert b"is not UTF-8 text at character 3" in run.stderr


def test_an_unwritable_trace_is_found_before_anything_is_asked(folder):
    result = invoke(QUESTION, *model("slow"), "--agent", "cot", "--trace", "missing/run.json")

    assert result.exit_code == ExitCode.FAILED
    assert "Nothing was asked or spent" in result.stderr


def test_a_question_of_a_megabyte_passes(folder):
    Path("long.txt").write_text("word " * 200_000 + QUESTION, encoding="utf-8")
    code, out, err = mas("--file", "long.txt", *ORCHESTRATED)

    assert (code, out) == (ExitCode.DONE, "42\n"), err
    assert len(err) < 5_000


def test_a_hostile_answer_is_byte_for_byte_in_a_pipe(folder):
    answer = "\x1b[31mred\x1b[0m \u202e 计算"
    script("hostile", f"[default]\nreply = {toml(json.dumps({'thinking': 't', 'answer': answer}))}\n")
    code, out, err = mas(QUESTION, *model("hostile"), "--agent", "cot")

    assert (code, out) == (ExitCode.DONE, answer + "\n")
    assert "\x1b" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_an_interrupt_keeps_the_trace_and_says_what_was_spent(folder, number):
    process = subprocess.Popen(
        [*MAS, "solve", QUESTION, *model("slow"), "--agent", "sc:3", "--trace", "run.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while "started" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=30)

    assert (process.returncode, out) == (ExitCode.INTERRUPTED, "")
    assert "cancelled: " in err
    assert "trace: run.json" in err
    assert read_trace(folder / "run.json").status is OutcomeStatus.CANCELLED


def on_terminal(*words, columns=100, rows=30, until=None, then=None, **environment):
    """Exit code and all that a terminal of this size was sent; `then` may signal or type once `until` was seen."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update({"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows)} | environment)
        os.execv(sys.executable, [*MAS, "solve", *words])
    shown = b""
    while True:
        assert select.select([terminal], [], [], 60)[0], f"nothing more after {shown[-500:]!r}"
        try:
            part = os.read(terminal, 65_536)
        except OSError as error:
            assert error.errno == errno.EIO  # noqa: PT017  (how Linux says that the other end was closed)
            break
        if not part:
            break
        shown += part
        if until is not None and until in visible(shown.decode(errors="replace")):
            until = None
            then(child, lambda keys: os.write(terminal, keys))
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def visible(shown):
    """What is left of a terminal's input without its escape sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).replace("\r\n", "\n")


def test_on_a_terminal_the_run_is_drawn_then_answered(folder):
    code, shown = on_terminal(QUESTION, *ORCHESTRATED, "--trace", "run.json")
    end = visible(shown)

    assert code == ExitCode.DONE
    assert "\x1b[?25l" in shown, "drawn, with the cursor hidden"
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    order = [
        "plan: 2 steps, ≤ 2 calls",
        "1 ✓ draft",
        "2 ✓ check ← draft",
        "42\n",
        "answered: ",
        "trace: run.json",
    ]
    places = [end.rindex(text) for text in order]
    assert places == sorted(places), end


def test_a_question_typed_on_a_terminal_is_asked_for(folder):
    code, shown = on_terminal("-", *ORCHESTRATED, until="Ctrl-D", then=lambda _, keys: keys(b"6 times 7?\n\x04"))

    assert code == ExitCode.DONE
    assert "42" in shown


def test_a_terminal_without_colour_gets_none(folder):
    _, coloured = on_terminal(QUESTION, *ORCHESTRATED)
    code, plain = on_terminal(QUESTION, *ORCHESTRATED, NO_COLOR="1")

    assert code == ExitCode.DONE
    assert re.search(r"\x1b\[[0-9;]*3[0-7]m", coloured)
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", plain)


def test_a_dumb_terminal_gets_plain_lines(folder):
    code, shown = on_terminal(QUESTION, *ORCHESTRATED, TERM="dumb")

    assert code == ExitCode.DONE
    assert "\x1b" not in shown
    assert "draft (CoTAgent): started" in shown


def test_a_hostile_answer_does_not_reach_the_terminal_raw(folder):
    answer = "\x1b[2J\x1b]0;gone\x07 \u202e"
    script("hostile", f"[default]\nreply = {toml(json.dumps({'thinking': 't', 'answer': answer}))}\n")
    code, shown = on_terminal(QUESTION, *model("hostile"), "--agent", "cot")

    assert code == ExitCode.DONE
    assert r"\x1b[2J\x1b]0;gone\x07 \u202e" in shown
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown


def test_ctrl_c_on_a_terminal_leaves_it_usable(folder):
    code, shown = on_terminal(
        QUESTION,
        *model("slow"),
        "--agent",
        "cot",
        until="● agent",
        then=lambda child, _: os.kill(child, signal.SIGINT),
    )

    assert code == ExitCode.INTERRUPTED
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor is back"
    assert "Interrupted: stopping" in shown
    assert "■ agent" in visible(shown)
    assert "cancelled: " in shown
