"""``python -m mas_orchestra``, the same as ``mas``."""

from mas_orchestra.cli import main

main()
