"""What other programs do with a built folder."""

import pytest

from mas_orchestra.masbench.build import build
from mas_orchestra.masbench.export import PUBLISHED_COLUMNS, Format
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.masbench.request import BuildRequest

REQUEST = BuildRequest(axes=(Axis.DEPTH, Axis.ROBUSTNESS), values=(2,), train=3, test=2)


@pytest.fixture
def load_dataset(tmp_path, monkeypatch):
    """The library's own reader, with its caches in a place of their own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")

    def load(folder, *config):
        return datasets.load_dataset(str(folder), *config, cache_dir=str(tmp_path / "cache"))

    return load


def test_load_dataset_opens_the_published_layout_as_a_whole_and_by_axis(tmp_path, load_dataset):
    build(tmp_path / "set", REQUEST.model_copy(update={"format": Format.HF}))
    whole = load_dataset(tmp_path / "set")
    assert {split: rows.num_rows for split, rows in whole.items()} == {"train": 6, "test": 4}
    assert whole["train"].column_names == list(PUBLISHED_COLUMNS)
    by_axis = load_dataset(tmp_path / "set", "robustness")
    assert set(by_axis["test"]["axis"]) == {"robustness"}


def test_load_dataset_opens_verls_columns_with_typed_messages(tmp_path, load_dataset):
    build(tmp_path / "set", REQUEST.model_copy(update={"format": Format.PARQUET}))
    [row, *_] = load_dataset(tmp_path / "set", "depth")["train"]
    assert row["prompt"][0]["role"] == "user"
    assert row["reward_model"]["style"] == "rule"
    assert row["extra_info"]["index"] == 0


def test_load_dataset_opens_json_lines_by_axis(tmp_path, load_dataset):
    build(tmp_path / "set", REQUEST)
    assert load_dataset(tmp_path / "set", "robustness")["train"].num_rows == 3
