"""Memory stays flat: results stream to the store."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LIMIT_MB = 400

SCRIPT = f"""
import asyncio, re, sys
sys.path.insert(0, {str(TESTS)!r})
from pathlib import Path
from support.evaluation import config_of, opened, work

config = config_of("reflexion:3", attempts=40, concurrency=32)
with opened(Path(sys.argv[1]) / "run", config, tasks=250) as desk:
    asyncio.run(work(desk))
    calls = desk.store.spent().calls
    count = sum(1 for _ in desk.store.attempts())
# Not `ru_maxrss`: a child's begins at what its parent held.
peak_kb = int(re.search(r"VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])
print(count, calls, peak_kb // 1024)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ten_thousand_attempts_fit_into_four_hundred_megabytes(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=False, timeout=280
    )

    assert run.returncode == 0, run.stderr
    attempts, calls, megabytes = map(int, run.stdout.split())
    assert attempts == 10_000
    assert calls >= 10_000
    assert megabytes <= LIMIT_MB
