import shlex

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from mas_orchestra.errors import UsageError
from mas_orchestra.masbench.build import build, read_manifest
from mas_orchestra.masbench.export import Format
from mas_orchestra.masbench.problem import AttackKind, Axis, Parameters, Style
from mas_orchestra.masbench.request import BuildRequest
from mas_orchestra.masbench.workers import makers

REQUESTS = [
    BuildRequest(axes=(Axis.DEPTH,), values=(2, 5), train=2, test=1),
    BuildRequest(axes=(Axis.ROBUSTNESS,), values=(2,), train=2, test=0, attacks=(AttackKind.CLAIM, AttackKind.NOTE)),
    BuildRequest(axes=(Axis.COMBINE,), parameters=Parameters(d=3, b=2, n=4, T=9, h=2, p=2, r=1), train=1, test=1),
    BuildRequest(axes=(Axis.BREADTH, Axis.PARALLEL), values=(3,), train=1, test=1, style=Style.PAPER),
    BuildRequest(axes=(Axis.ROBUSTNESS,), values=(2,), train=1, test=0, needle=True),
    BuildRequest(axes=(Axis.HORIZON,), values=(2,), train=0, test=1, abstract=True),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.command)
def test_the_command_of_a_request_builds_the_same(tmp_path, request_):
    expected = build(tmp_path / "direct", request_)
    words = shlex.split(request_.command.replace("DIR", str(tmp_path / "typed")))
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, result.output
    assert read_manifest(tmp_path / "typed") == expected


@pytest.mark.parametrize("layout", Format)
def test_files_have_the_suffix_of_their_format(layout):
    paths = [shard.path.as_posix() for shard in BuildRequest(format=layout, axes=(Axis.DEPTH,)).shards()]
    suffix = "jsonl" if layout is Format.JSONL else "parquet"
    assert paths == [f"depth/train.{suffix}", f"depth/test.{suffix}"]


def test_an_axis_given_twice_is_built_once():
    assert len(BuildRequest(axes=(Axis.DEPTH, Axis.DEPTH), test=0).shards()) == 1


def test_chunks_cover_every_index_of_every_family_once_in_order():
    [shard] = BuildRequest(axes=(Axis.DEPTH,), values=(2, 3), train=150, test=0).shards()
    covered = [
        (chunk.family[0].value, index)
        for chunk in shard.chunks(Format.JSONL)
        for index in range(chunk.start, chunk.stop)
    ]
    assert covered == [(value, index) for value in (2, 3) for index in range(150)]
    assert shard.total == 300


def test_needles_change_attacked_axes_only():
    [depth, robustness] = BuildRequest(axes=(Axis.DEPTH, Axis.ROBUSTNESS), needle=True, values=(2,), test=0).shards()
    assert not depth.families[0][0].needle
    assert depth.families[0][0].attack is None
    assert robustness.families[0][0].needle


def test_a_request_survives_its_json():
    for request in REQUESTS:
        assert BuildRequest.model_validate_json(request.model_dump_json()) == request


def test_makers_hold_only_a_few_results_ahead():
    [shard] = BuildRequest(axes=(Axis.DEPTH,), values=(2,), train=64 * 30, test=0).shards()
    taken = []

    def counted():
        for chunk in shard.chunks(Format.JSONL):
            taken.append(chunk.start)
            yield chunk

    with makers(2) as maker:
        made = maker(counted())
        first = next(made)
        assert len(first) == 64
        assert len(taken) <= 4 * 2 + 1, "chunks are asked for as they are needed"
        assert sum(map(len, made)) == 64 * 29
    assert taken == sorted(taken)


def test_no_worker_is_refused():
    with pytest.raises(UsageError, match="at least 1"), makers(0):
        pass
