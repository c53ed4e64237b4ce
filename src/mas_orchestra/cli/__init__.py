"""The command line, one file a command group."""

__all__ = ["main"]


def main() -> None:
    """Entry point of ``mas`` and ``mas-orchestra``."""
    from mas_orchestra.cli.app import app

    app()
