"""Importing this package is cheap and does nothing: no heavy library, no file, no thread, no connection."""

import json
import subprocess
import sys

import pytest

from repository.source_tree import PACKAGE, listed, modules
from repository.test_layers import HEAVY

# In a process of its own: what is loaded after `statement`, and what it did besides importing.
PROBE = """
import json, sys, threading
done = []
def watch(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.system", "urllib.")):
        done.append(event)
    elif event == "open" and not str(arguments[0]).endswith(SOURCE) and "site-packages" not in str(arguments[0]):
        done.append("open " + str(arguments[0]))
SOURCE = (".py", ".pyc", ".so", ".pth", "entry_points.txt")
sys.addaudithook(watch)
try:
    {statement}
except SystemExit:
    pass
report = {{"loaded": sorted(sys.modules), "done": done, "threads": threading.active_count()}}
print("\\n" + json.dumps(report))
"""

STATEMENTS = {
    "import mas_orchestra": "import mas_orchestra",
    "mas --help": "sys.argv = ['mas', '--help']; from mas_orchestra.cli import main; main()",
}


def probe(statement: str) -> dict[str, list[str]]:
    """What `statement` leaves behind in a fresh interpreter."""
    command = [sys.executable, "-c", PROBE.format(statement=statement)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    report: dict[str, list[str]] = json.loads(run.stdout.splitlines()[-1])
    return report


@pytest.mark.parametrize("command", STATEMENTS)
def test_nothing_heavy_is_loaded(command: str) -> None:
    loaded = {name.split(".")[0] for name in probe(STATEMENTS[command])["loaded"]}

    assert not HEAVY & loaded, f"{command} imports {sorted(HEAVY & loaded)}"


def test_importing_starts_nothing_and_reads_nothing() -> None:
    report = probe("import mas_orchestra")

    assert report["threads"] == 1
    assert report["done"] == []


def test_a_heavy_import_would_be_seen() -> None:
    assert "sqlite3" in probe("import sqlite3")["loaded"]
    assert probe("open('/dev/null').close()")["done"] == ["open /dev/null"]


# Layers keep packages from importing each other in a circle, so only a module's own package is forgotten before it.
IMPORT_FIRST = """
import importlib, sys
for name in {names!r}:
    package = ".".join(name.split(".")[:2])
    for known in [known for known in sys.modules if known == package or known.startswith(package + ".")]:
        del sys.modules[known]
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, type(error).__name__, error)
"""


def test_every_module_can_be_the_first_of_its_package() -> None:
    """A circle of imports only shows when its wrong end comes first."""
    names = [module.name for module in modules("src") if not module.name.endswith("__main__")]
    command = [sys.executable, "-c", IMPORT_FIRST.format(names=names)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=110)

    assert not run.stdout, listed(run.stdout.splitlines(), "Cannot be imported first:")


def test_every_package_says_what_it_is_for_and_what_it_offers() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}

    missing = [str(folder) for folder in folders if not (folder / "__init__.py").is_file()]
    assert not missing, listed(missing, "Without __init__.py:")
    silent = [module.path for module in modules("src") if not has_docstring(module.text)]
    assert not silent, listed(silent, "Without a docstring:")


def has_docstring(text: str) -> bool:
    return text.lstrip().startswith(('"""', 'r"""'))
