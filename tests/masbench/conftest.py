"""Golden texts of problems; ``pytest tests/masbench --update-golden`` rewrites them."""

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden(request) -> Callable[[str, str], None]:
    """Compares a text with a golden file byte for byte, or rewrites the file when asked to."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_bytes(text.encode())
        assert path.read_bytes() == text.encode(), f"{path} differs: raise GENERATOR_VERSION, then --update-golden"

    return compare
