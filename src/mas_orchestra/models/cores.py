"""How many cores a computation may use without waiting for its own threads."""

import os
from pathlib import Path

__all__ = ["default_threads", "physical_cores"]

CPU_FOLDER = Path("/sys/devices/system/cpu")
CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def default_threads() -> int:
    """Physical cores but one, and at least 1.

    llama.cpp's threads wait for each other by spinning, so one thread too many on a busy machine is far worse than one
    too few: two threads on two shared cores gave 1 to 2 tokens a second where one gave 41 to 56.
    """
    return max(1, physical_cores() - 1)


def physical_cores(cpu_folder: Path = CPU_FOLDER, quota: Path = CGROUP_QUOTA) -> int:
    """Cores that this process may use: hyper-threads counted once, affinity and container limits respected.

    Args:
        cpu_folder: Where Linux describes its processors.
        quota: The container's limit, as ``"<microseconds> <period>"`` or ``"max <period>"``.
    """
    logical = _usable()
    siblings = {_siblings(cpu_folder, cpu) for cpu in logical}
    return max(1, min(len(siblings), _allowed(quota, otherwise=len(siblings))))


def _usable() -> set[int]:
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _siblings(cpu_folder: Path, cpu: int) -> str:
    """Names the core that a logical processor belongs to; the processor itself where the system does not say."""
    try:
        return (cpu_folder / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text(encoding="ascii").strip()
    except OSError:
        return str(cpu)


def _allowed(quota: Path, *, otherwise: int) -> int:
    try:
        limit, period = quota.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return otherwise
    return otherwise if limit == "max" else int(limit) // int(period)
