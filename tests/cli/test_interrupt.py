"""The first Ctrl-C ends a run cleanly, the second one ends the process."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from mas_orchestra.cli.boundary import ExitCode
from mas_orchestra.cli.interrupt import SIGNALS, cancelling, undisturbed

PROGRAM = """
import asyncio, signal, sys
from mas_orchestra.cli.interrupt import cancelling
from mas_orchestra.run import run_async

async def work():
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        print("cancelled", flush=True)
        {after}
        raise

async def main():
    task = asyncio.create_task(work())
    with cancelling(task, lambda message: print("said", flush=True)):
        print("ready", flush=True)
        await asyncio.wait([task])
    print("clean", task.cancelled(), flush=True)

{before}
run_async(main())
"""


def started(*, after="pass", before="pass"):
    script = PROGRAM.format(after=after, before=before)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def rest_of(process):
    with process.stdout:
        text = process.stdout.read()
    return process.wait(timeout=30), text.split()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_the_first_signal_cancels_and_awaits(number):
    process = started()
    process.send_signal(number)
    code, words = rest_of(process)

    assert code == 0
    assert sorted(words) == ["True", "cancelled", "clean", "said"]


@pytest.mark.parametrize(
    "hang", ["__import__('time').sleep(600)", "await asyncio.shield(asyncio.sleep(600))"], ids=["blocked", "waiting"]
)
def test_the_second_signal_ends_whatever_hangs(hang):
    process = started(after=hang)
    process.send_signal(signal.SIGINT)
    while process.stdout.readline() != "cancelled\n":
        pass
    process.send_signal(signal.SIGTERM)

    assert rest_of(process)[0] == ExitCode.INTERRUPTED


def test_a_signal_that_was_ignored_before_stays_ignored():
    process = started(before="signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    code, words = rest_of(process)

    assert code == 0
    assert words.count("said") == 1


async def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in SIGNALS]
    task = asyncio.create_task(asyncio.sleep(0))
    with cancelling(task, print):
        assert [signal.getsignal(number) for number in SIGNALS] != before
        await task

    assert [signal.getsignal(number) for number in SIGNALS] == before


async def test_a_signal_reaches_the_task():
    said = []
    task = asyncio.create_task(asyncio.sleep(600))
    with cancelling(task, said.append):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait([task])

    assert task.cancelled()
    assert "Once more" in said[0]


async def test_a_thread_cannot_set_handlers_and_does_without():
    async def inside():
        task = asyncio.create_task(asyncio.sleep(0))
        with cancelling(task, print):
            await task
        return task.done()

    assert await asyncio.to_thread(asyncio.run, inside())


async def test_one_signal_does_not_disturb_what_is_being_written():
    before = signal.getsignal(signal.SIGTERM)
    with undisturbed():
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0)

    assert signal.getsignal(signal.SIGTERM) is before
