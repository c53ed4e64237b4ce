"""Options that all measuring scripts share."""

import argparse
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How often each measurement is repeated."""

    repetitions: int = 5


def options_from_command_line(description: str | None) -> Options:
    """Read ``--repetitions``."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=Options().repetitions, help="of every measurement")
    return Options(repetitions=parser.parse_args().repetitions)
