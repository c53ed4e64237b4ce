"""``python -m mas_orchestra.cli``, the same as ``mas``."""

from mas_orchestra.cli import main

main()
