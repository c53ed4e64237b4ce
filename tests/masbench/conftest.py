"""The one flag that rewrites golden files: ``pytest tests/masbench --update-golden``."""

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing with them")


@pytest.fixture
def golden(request) -> Callable[[str, str], None]:
    """Compares a text with a golden file byte for byte, or rewrites the file when asked to."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden", default=False):
            path.write_bytes(text.encode())
        assert path.read_bytes() == text.encode(), f"{path} differs: raise GENERATOR_VERSION, then --update-golden"

    return compare
