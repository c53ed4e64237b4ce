"""The folder of a run: its configuration, its store, and the lock that keeps a second process out."""

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mas_orchestra.errors import ConfigError, UsageError
from mas_orchestra.evaluate.config import EvalConfig, differences, read_stored_config, to_toml
from mas_orchestra.evaluate.store import Store
from mas_orchestra.evaluate.store_engine import StoreError, sqlite_url

__all__ = ["CONFIG_NAME", "STORE_NAME", "RunFolder", "find_runs"]

CONFIG_NAME = "config.toml"
STORE_NAME = "run.sqlite"
LOCK_NAME = "run.lock"


class RunFolder:
    """One run on disk.

    Attributes:
        path: The folder; the run has its name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.resolve().name

    @property
    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / CONFIG_NAME).is_file()

    def config(self) -> EvalConfig:
        """The resolved configuration as it was kept.

        Raises:
            UsageError: There is no run here.
            ConfigError: The file was changed into something that is no configuration.
        """
        if not self.exists:
            raise UsageError(f"{self.path} holds no run: there is no {CONFIG_NAME} in it")
        return read_stored_config(self.path / CONFIG_NAME)

    def discard(self, config: EvalConfig) -> None:
        """Take a run away that nothing was spent on; whatever else is in the folder stays, and so does the folder."""
        with self.store(config) as store, suppress(StoreError):  # one that cannot be reached holds nothing of ours
            store.forget()
        for name in (CONFIG_NAME, STORE_NAME, f"{STORE_NAME}-wal", f"{STORE_NAME}-shm"):
            (self.path / name).unlink(missing_ok=True)

    def begin(self, config: EvalConfig) -> None:
        """Make the folder with its configuration, or find the same one there.

        Raises:
            ConfigError: It holds a run of another configuration; lists the differences.
            UsageError: It holds something else.
            StoreError: It cannot be written.
        """
        if self.exists:
            if differing := differences(self.config(), config):
                lines = "\n  ".join(differing)
                raise ConfigError(
                    f"{self.path} holds a run of another configuration:\n  {lines}\n"
                    "Go on with it by `mas eval resume`, or give the new run another folder with --out."
                )
            return
        if self.path.exists() and (not self.path.is_dir() or {item.name for item in self.path.iterdir()} - {LOCK_NAME}):
            raise UsageError(f"{self.path} is there already and holds no run; give another folder with --out")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            _write_whole(self.path / CONFIG_NAME, to_toml(config))
        except OSError as error:
            raise StoreError(f"cannot write to {self.path}: {error.strerror or error}") from None

    def store(self, config: EvalConfig) -> Store:
        """The run's store."""
        return Store(config.store or sqlite_url(self.path / STORE_NAME), self.name)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """While inside, no other process can run or change this run; the system frees it however we end.

        Raises:
            UsageError: Another process has it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK_NAME).open("a+") as file:
            if not _lock(file):
                file.seek(0)
                holder = file.read().strip() or "another process"
                raise UsageError(
                    f"{self.path} is being run by {holder}. Wait for it or end it; "
                    "for several processes on one run use --workers."
                )
            file.seek(0)
            file.truncate()
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
            yield


def _lock(file: IO[str]) -> bool:
    """Take the lock, which ends with the process or the file; false when somebody else has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # exists on Windows only
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_whole(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    handle, aside = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as part:
            part.write(text)
            part.flush()
            os.fsync(part.fileno())
        Path(aside).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(aside).unlink()
        raise


def find_runs(root: Path) -> list[RunFolder]:
    """Every run in `root` and one level below, by name."""
    candidates = [root, *sorted(root.iterdir())] if root.is_dir() else []
    return [folder for path in candidates if (folder := RunFolder(path)).exists]
