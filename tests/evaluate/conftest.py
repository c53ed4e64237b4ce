"""Where runs are stored in tests: SQLite always, PostgreSQL where a server is installed."""

import pytest

from support.evaluation import postgres_binaries, postgres_server


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory):
    binaries = postgres_binaries()
    if binaries is None:
        pytest.skip(
            "NO POSTGRESQL SERVER IS INSTALLED, so the store is tested on SQLite only; "
            "install one (Debian: apt-get install postgresql) to run this test"
        )
    with postgres_server(tmp_path_factory.mktemp("postgres"), binaries) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The URL of an empty store; runs of one PostgreSQL database tell themselves apart by their names."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'run.sqlite'}"
    return request.getfixturevalue("postgres_url")
