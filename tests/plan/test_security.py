"""A plan is data: code in any of its fields stays text, and the package has no way to run it."""

import ast
import sys
from pathlib import Path

import pytest

import mas_orchestra
from mas_orchestra.plan import Edge, Plan, Step, prompt_messages, read, render, substitute
from support.cards import CARDS

SOURCE = Path(mas_orchestra.__file__).parent
FORBIDDEN_CALLS = frozenset({"exec", "eval", "compile", "__import__", "execfile", "breakpoint"})
FORBIDDEN_MODULES = frozenset(
    {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "code", "codeop"}
)

CODE = (
    'Nice """ + __import__("os").system("touch {file}") + """ agent',
    "__import__('os').system('touch {file}')",
    "{{% for x in ().__class__.__base__.__subclasses__() %}}{{{{ x }}}}{{% endfor %}}",
    "{{{{ cycler.__init__.__globals__.os.popen('touch {file}') }}}}",
    "$(touch {file}); `touch {file}`",
    "!!python/object/apply:os.system ['touch {file}']",
    "cos\nsystem\n(S'touch {file}'\ntR.",
    "<script>fetch('{file}')</script><img src=x onerror=alert(1)>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file://{file}'>]>&e;",
    "ends with a backslash \\",
    "%(x)s {{0.__class__}} \\N{{BULLET}}",
)


@pytest.fixture
def audited():
    """Names of everything that ran, was opened or was imported meanwhile, as the interpreter itself reports it."""
    seen = []
    watching = True

    def hook(event, arguments):
        if watching and event in {
            "exec",
            "os.system",
            "subprocess.Popen",
            "os.exec",
            "os.posix_spawn",
            "marshal.loads",
            "pickle.find_class",
            "urllib.Request",
            "compile",
        }:
            seen.append((event, repr(arguments)[:200]))

    sys.addaudithook(hook)
    yield seen
    watching = False


def planted(code):
    steps = (
        Step(id="first", agent="CoTAgent", description=code, input=code.replace("$", "S").replace("{", "(")),
        Step(
            id="last", agent="DebateAgent", description=code, input="${first}", arguments={"roles": [code, code + "2"]}
        ),
    )
    return Plan(thinking=code, steps=steps, edges=(Edge("first", "last"),))


def _warm_up():
    """Have our own template compiled and our own modules loaded, which are the only code there is."""
    faults = read("x", catalog=CARDS).faults
    prompt_messages("x", dom="high", catalog=CARDS, format="xml", faults=faults)
    for drawing in ("svg", "mermaid"):
        render(Plan(answer="x"), drawing)


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("wire", ["xml", "tools", "json"])
def test_code_in_every_field_stays_text_and_nothing_runs(code, wire, tmp_path, audited):
    file = tmp_path / "ran"
    plan = planted(code.format(file=file))
    _warm_up()
    audited.clear()

    report = read(render(plan, wire, CARDS), catalog=CARDS)
    assert report.plan == plan
    filled = substitute(report.plan.steps[1].input, {"first": plan.thinking})
    messages = prompt_messages(
        filled, dom="high", catalog=CARDS, format="xml", faults=read("x", catalog=CARDS).faults, previous=filled
    )
    drawings = [render(report.plan, drawing) for drawing in ("svg", "mermaid")]

    assert filled == plan.thinking
    assert messages[1].content.endswith(filled)
    assert not any("<script" in drawing or "<img" in drawing for drawing in drawings)
    assert not file.exists()
    assert audited == []


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("field", ["id", "agent", "argument", "edge"])
def test_code_where_names_belong_is_a_fault_or_a_name(code, field, tmp_path, audited):
    file = tmp_path / "ran"
    code = code.format(file=file)
    name = code if field == "id" else "a"
    text = (
        f"<agent><agent_id>{name}</agent_id><agent_name>{code if field == 'agent' else 'DebateAgent'}</agent_name>"
        f"<required_arguments><agent_input></agent_input><debate_roles>{code if field == 'argument' else '[1]'}"
        "</debate_roles></required_arguments></agent>"
        f"<edge><from>{code if field == 'edge' else 'a'}</from><to>a</to></edge>"
    )
    audited.clear()
    for mode in ("strict", "lenient"):
        report = read(text, catalog=CARDS, mode=mode)
        assert not report.valid
        assert report.faults

    assert not file.exists()
    assert audited == []


def test_no_source_file_can_run_text():
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        imported = {
            alias.name.partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in [*node.names, ast.alias(getattr(node, "module", "") or "")]
        }
        assert not called & FORBIDDEN_CALLS, path
        assert not imported & FORBIDDEN_MODULES, path
