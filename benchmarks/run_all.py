"""Every benchmark in turn; writes ``benchmarks/results/DATE.json`` and the page ``docs/benchmarks.md``.

Run:  make bench      (or, for some of them:  python benchmarks/run_all.py shapes import_time)
"""

import argparse
import datetime as dt
import importlib
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from measure_options import Options
from results import Table
from show import markdown, show

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"

# Modules with a function `measure_all(options) -> tuple[Table, ...]`, in the order of the page.
BENCHMARKS = ("shapes", "throughput", "in_flight", "import_time", "plan_reading", "masbench_generate", "masbench_read")
PACKAGES = ("mas-orchestra", "aiohttp", "orjson", "uvloop", "pydantic", "openai", "langgraph", "langchain-openai")

HEAD = """\
# Benchmarks

Written by `{command}` on {date} at commit `{commit}`; the raw numbers are in `benchmarks/results/{date}.json`.

Machine: {processor}, {cores} cores, {memory_gib:g} GiB, {system}, Python {python}.
Largest load average while measuring: {load:g}; the benchmarks themselves make one to two.
Versions: {packages}.

Medians of {repetitions} repetitions unless said otherwise, with the range. The peers take turns, each in its own
process, against one endpoint on loopback (`benchmarks/fake_endpoint.py`). The commands are those of the environment
that `make bench` sets up, `.venv-bench`.
"""


class Machine(BaseModel):
    """Where the numbers come from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    processor: str
    cores: int
    memory_gib: float
    system: str
    load: float
    """Largest load average of a minute while measuring; the benchmarks themselves make one to two."""
    python: str
    packages: dict[str, str]
    commit: str
    date: str


class Report(BaseModel):
    """One run of all benchmarks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    machine: Machine
    command: str
    repetitions: int
    tables: tuple[Table, ...]


def this_machine(load: float) -> Machine:
    """What can be said about it without asking anybody."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return Machine(
        processor=processor_name(),
        cores=os.cpu_count() or 1,
        memory_gib=round(memory, 1),
        system=f"{platform.system()} {platform.release().partition('-')[0]}",
        load=round(load, 1),
        python=platform.python_version(),
        packages={name: version(name) for name in PACKAGES},
        commit=subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip(),
        date=dt.datetime.now(dt.UTC).date().isoformat(),
    )


def processor_name() -> str:
    """The model's name on Linux, else whatever `platform` knows."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text("utf-8").splitlines() if facts.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def page(report: Report) -> str:
    """The whole page."""
    machine = report.machine
    head = HEAD.format(
        command=report.command,
        repetitions=report.repetitions,
        packages=", ".join(f"{name} {number}" for name, number in machine.packages.items()),
        **machine.model_dump(exclude={"packages"}),
    )
    tables = "\n".join(markdown(table) for table in report.tables)
    return f"{head}\n{targets(report.tables)}\n\n{tables}".rstrip() + "\n"


def targets(tables: tuple[Table, ...]) -> str:
    """Which targets are missed, or that none is."""
    missed = [
        f"- {table.title}, {row.measurement}: {row.value:g} {table.unit}, target {row.target:g}"
        for table in tables
        for row in table.rows
        if row.met is False
    ]
    return "\n".join(["Targets that are missed:", "", *missed]) if missed else "All targets are met."


def main() -> None:
    """Measure, then write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*", default=BENCHMARKS, help=f"some of: {' '.join(BENCHMARKS)}")
    parser.add_argument("--repetitions", type=int, default=Options().repetitions)
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.benchmarks) - set(BENCHMARKS)):
        parser.error(f"no benchmark is named {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    tables: list[Table] = []
    load = 0.0
    for name in chosen.benchmarks:
        print(f"… {name}", flush=True)
        found: tuple[Table, ...] = importlib.import_module(name).measure_all(Options(repetitions=chosen.repetitions))
        show(found)
        tables += found
        load = max(load, os.getloadavg()[0])
    if chosen.benchmarks == BENCHMARKS:
        machine = this_machine(load)
        write(Report(machine=machine, command="make bench", repetitions=chosen.repetitions, tables=tuple(tables)))


def write(report: Report) -> None:
    """Keep the numbers and the page."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{report.machine.date}.json").write_text(report.model_dump_json(indent=1) + "\n", "utf-8")
    PAGE.write_text(page(report), "utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
