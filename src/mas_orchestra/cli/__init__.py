"""The command line, one file a command group.

Read `app` first (which commands there are, and how an error becomes an exit code), then `solve`.
"""

__all__ = ["main"]


def main() -> None:
    """Entry point of ``mas`` and ``mas-orchestra``."""
    from mas_orchestra.cli.app import run

    run()
