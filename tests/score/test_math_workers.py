"""Worker processes: limits that hold, deaths that are survived, nothing left behind."""

import asyncio
import threading

import pytest

from mas_orchestra.score.math_workers import Compared, MathWorkers

ENDLESS = "9^{9^{9^{9}}}"


@pytest.fixture
def workers():
    workers = MathWorkers(time_limit_s=30)
    yield workers
    workers.close()


def test_a_killed_process_is_replaced(workers):
    assert workers.compare_now("x+1", "1+x") is Compared.SAME
    [process] = workers.processes
    process.kill()
    process.wait()

    assert workers.compare_now("x+1", "x+2") is Compared.DIFFERENT
    assert workers.processes != (process,)


def test_closing_ends_the_processes_and_can_be_done_twice(workers):
    workers.compare_now("x", "x")
    processes = workers.processes
    workers.close()
    workers.close()

    assert [process.poll() is not None for process in processes] == [True]
    assert not workers.processes
    assert workers.compare_now("x", "x") is Compared.SAME


def test_a_forgotten_pool_leaves_no_process():
    workers = MathWorkers()
    workers.compare_now("x", "x")
    [process] = workers.processes
    del workers

    assert process.wait(timeout=30) is not None


@pytest.mark.parametrize("left", ["(" * 40 + "x", "\\frac{", "x_", "^", "\\text{", "}{", "\\sqrt[", "\x00", "\ud800"])
def test_nonsense_is_never_the_same_and_never_an_error(workers, left):
    assert workers.compare_now(left, "x+y") in {Compared.DIFFERENT, Compared.FAILED}
    assert workers.compare_now("x+y", "y+x") is Compared.SAME


def test_no_python_in_an_answer_is_run(workers, tmp_path):
    target = tmp_path / "written"
    for text in (f"__import__('os').system('touch {target}')", f"\\text{{open('{target}','w')}}", "exit()"):
        workers.compare_now(text, "1")

    assert not target.exists()


async def test_the_event_loop_goes_on_while_a_comparison_does_not():
    workers = MathWorkers(time_limit_s=2)
    ticks = 0

    async def count():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    counting = asyncio.create_task(count())
    found = await workers.compare(ENDLESS, "1")
    counting.cancel()
    workers.close()

    assert found is Compared.TIME_LIMIT
    assert ticks > 5


def test_the_limit_holds_in_any_thread_and_other_workers_go_on():
    workers = MathWorkers(count=2, time_limit_s=2)
    found = {}
    threads = [
        threading.Thread(target=lambda text=text: found.update({text: workers.compare_now(text, "x+1")}))
        for text in (ENDLESS, "1+x")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    workers.close()

    assert found == {ENDLESS: Compared.TIME_LIMIT, "1+x": Compared.SAME}


async def test_many_at_once_wait_for_their_turn(workers):
    found = []
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(workers.compare(f"x+{number}", f"{number}+x")) for number in range(40)]
    found = [task.result() for task in running]

    assert found == [Compared.SAME] * 40
    assert len(workers.processes) == 1
