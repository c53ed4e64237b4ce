"""What ``import mas_orchestra`` offers."""

import subprocess
import sys

import pytest

import mas_orchestra


@pytest.mark.parametrize("name", mas_orchestra.__all__)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(mas_orchestra, name)
    assert value.__name__ == name
    assert value.__doc__


def test_an_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        mas_orchestra.slove  # noqa: B018  (the access is the test)


def test_importing_loads_nothing_else():
    code = "import sys, mas_orchestra; print(sorted(n for n in sys.modules if n.startswith('mas_orchestra')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['mas_orchestra']"


def test_the_plan_language_is_one_import_away():
    from mas_orchestra import plan

    assert plan.read('{"steps": [{"id": "a", "agent": "CoTAgent"}]}').valid
