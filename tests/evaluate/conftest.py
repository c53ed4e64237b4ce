"""Where runs are stored in tests: SQLite always, PostgreSQL where a server is installed."""

import tempfile
from pathlib import Path

import pytest

from support.evaluation import postgres_binaries, postgres_server


@pytest.fixture(scope="session")
def postgres_url():
    binaries = postgres_binaries()
    if binaries is None:
        pytest.skip(
            "NO POSTGRESQL SERVER IS INSTALLED, so the store is tested on SQLite only; "
            "install one (Debian: apt-get install postgresql) to run this test"
        )
    # Not in pytest's own folder: every start of pytest makes that its owner's alone again, and the server has a user
    # of its own.
    with tempfile.TemporaryDirectory(prefix="mas-postgres-") as folder, postgres_server(Path(folder), binaries) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The URL of an empty store; runs of one PostgreSQL database tell themselves apart by their names."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'run.sqlite'}"
    return request.getfixturevalue("postgres_url")
