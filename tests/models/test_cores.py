import os

import pytest

from mas_orchestra.models import cores
from mas_orchestra.models.cores import default_threads, physical_cores

MISSING = "missing"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 logical processors: two hyper-threads on each of four cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for cpu in range(8):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    return tmp_path


def test_hyper_threads_count_once(machine):
    assert physical_cores(machine, machine / MISSING) == 4


def test_affinity_is_respected(machine, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 4, 5})

    assert physical_cores(machine, machine / MISSING) == 2


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000\n", 4), ("250000 100000\n", 2), ("50000 100000\n", 1), ("900000 100000\n", 4), ("nonsense\n", 4)],
)
def test_a_container_limit_is_respected(machine, quota, expected):
    (machine / "cpu.max").write_text(quota)

    assert physical_cores(machine, machine / "cpu.max") == expected


def test_an_unknown_topology_counts_logical_processors(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)

    assert physical_cores(tmp_path, tmp_path / MISSING) == 3


def test_a_system_without_affinity_counts_processors(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)

    assert physical_cores(tmp_path, tmp_path / MISSING) == 1


@pytest.mark.parametrize(("found", "threads"), [(1, 1), (2, 1), (8, 7)])
def test_one_core_is_left_to_the_rest(monkeypatch, found, threads):
    monkeypatch.setattr(cores, "physical_cores", lambda: found)

    assert default_threads() == threads
