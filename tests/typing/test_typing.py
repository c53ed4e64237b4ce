"""The public API has the types that a user's strict type checker needs, and refuses the mistakes that it should."""

import re
from pathlib import Path

import pytest
from mypy import api

USER_CODE = Path(__file__).with_name("user_code.py")
EXPECTED = re.compile(r"# refused: ([a-z-]+)$")
REPORTED = re.compile(r"^[^:]+:(\d+): error: .*\[([a-z-]+)\]$", re.MULTILINE)


@pytest.mark.slow
def test_user_code_is_accepted_and_its_mistakes_are_refused() -> None:
    lines = USER_CODE.read_text("utf-8").splitlines()
    expected = {(number, match[1]) for number, line in enumerate(lines, 1) if (match := EXPECTED.search(line))}

    said, complaint, _ = api.run(["--strict", "--no-error-summary", "--hide-error-context", str(USER_CODE)])

    assert not complaint
    assert {(int(number), code) for number, code in REPORTED.findall(said)} == expected, said
