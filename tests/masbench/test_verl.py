"""verl's own dataset class opens what we export; `make test-verl` sets up an environment that has it."""

import json

import pytest

from mas_orchestra.masbench.build import build
from mas_orchestra.masbench.export import ANSWER_DELIMITER, Format
from mas_orchestra.masbench.load import load
from mas_orchestra.masbench.problem import AttackKind, Axis
from mas_orchestra.masbench.request import BuildRequest

TEMPLATE = (
    "{% for turn in messages %}<{{ turn.role }}>{{ turn.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
REQUEST = BuildRequest(format=Format.PARQUET, values=(2, 3), train=3, test=2, attacks=tuple(AttackKind))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # verl, ray and torch warn while they are imported
]


@pytest.fixture(scope="module")
def tokenizer():
    """One token a byte, made here: no hub."""
    pytest.importorskip("verl", reason="verl is not installed here; run: make test-verl")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    model = Tokenizer(models.BPE(vocab={sign: number for number, sign in enumerate(alphabet)}, merges=[]))
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return PreTrainedTokenizerFast(tokenizer_object=model, chat_template=TEMPLATE)


@pytest.fixture
def open_files(tokenizer, tmp_path, monkeypatch):
    """verl's `RLHFDataset` over files, with its caches in a place of their own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    from omegaconf import OmegaConf
    from verl.utils.dataset.rl_dataset import RLHFDataset

    def open_(files, **options):
        config = {"cache_dir": str(tmp_path / "verl"), "max_prompt_length": 16_384, "filter_overlong_prompts": True}
        return RLHFDataset([str(file) for file in files], tokenizer, OmegaConf.create(config | options))

    return open_


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("verl") / "set"
    build(out, REQUEST)
    return out


def test_every_row_of_every_axis_reaches_verl(built, open_files):
    files = sorted(built.glob("*/train.parquet"))

    rows = open_files(files)

    ours = [row for file in files for row in load(file)]
    assert len(rows) == len(ours) == 5 * 2 * 3
    for theirs, row in zip((rows[place] for place in range(len(rows))), ours, strict=True):
        assert theirs["raw_prompt"] == [{"role": "user", "content": row.question}]
        assert theirs["data_source"] == f"masbench/{row.axis}"
        assert theirs["reward_model"] == {"style": "rule", "ground_truth": ANSWER_DELIMITER.join(row.answers)}
        assert theirs["index"] == theirs["extra_info"]["index"] == int(row.id.rpartition("-")[2])
        assert theirs["extra_info"]["answer"] == theirs["reward_model"]["ground_truth"]
        assert (theirs["extra_info"]["id"], theirs["extra_info"]["split"]) == (row.id, "train")
        assert json.loads(theirs["data"]) == row.problem.model_dump(mode="json")


def test_verl_collates_the_rows_of_all_axes_into_one_batch(built, open_files):
    from verl.utils.dataset.rl_dataset import collate_fn

    rows = open_files(sorted(built.glob("*/test.parquet")))

    batch = collate_fn([rows[place] for place in range(len(rows))])

    assert batch["dummy_tensor"].shape == (5 * 2 * 2, 1)
    assert {len(column) for column in batch.values()} == {5 * 2 * 2}
    assert {record["style"] for record in batch["reward_model"]} == {"rule"}


def test_verl_leaves_out_prompts_longer_than_it_is_told(built, open_files):
    shortest = min(len(row.question) for row in load(built / "depth" / "train.parquet"))

    assert len(open_files([built / "depth" / "train.parquet"], max_prompt_length=shortest)) == 0


def test_the_published_layout_is_not_for_verl(tmp_path, open_files):
    """Its prompts are strings in another column: verl drops every row of it, in silence."""
    build(tmp_path / "set", BuildRequest(format=Format.HF, axes=(Axis.DEPTH,), values=(3,), train=3, test=0))

    assert len(open_files([tmp_path / "set" / "depth" / "train.parquet"])) == 0
