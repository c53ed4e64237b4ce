"""The data card of a built set, with the header that lets ``datasets.load_dataset`` open the folder."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

__all__ = ["data_card"]


def data_card(format_: str, command: str, version: str, rows: Mapping[str, int]) -> str:
    """Markdown for the README of a built folder; `rows` says how many each file has."""
    by_axis: dict[str, list[str]] = {}
    for path in rows:
        by_axis.setdefault(PurePosixPath(path).parts[0], []).append(path)
    header = "\n".join(_header(by_axis, together=format_ != "jsonl"))
    table = "\n".join(f"| `{path}` | {count:,} |" for path, count in rows.items())
    return _CARD.format(header=header, table=table, layout=_LAYOUTS[format_], command=command, version=version)


def _header(by_axis: Mapping[str, Iterable[str]], *, together: bool) -> Iterable[str]:
    """`together` adds a set of all axes; JSON lines of different axes have no common column types (null or not)."""
    yield from ("---", "license: apache-2.0", "language: [en]", "task_categories: [question-answering]", "configs:")
    everything = [path for paths in by_axis.values() for path in paths]
    for name, paths in (({"default": everything} if together else {}) | dict(by_axis)).items():
        yield from (f"- config_name: {name}", "  data_files:")
        for split in ("train", "test"):
            if own := [path for path in paths if PurePosixPath(path).stem == split]:
                yield f"  - split: {split}"
                yield f"    path: [{', '.join(own)}]"
    yield "---"


_LAYOUTS = {
    "jsonl": "One JSON object a line: `id`, `axis`, `value`, `parameters`, `split`, `question`, `answers`, `asked`, "
    "`graph`, `measured`, `poisoned`, `attack`, `style`, `generator_version`.",
    "parquet": "Columns as verl reads them (`data_source`, `prompt`, `ability`, `reward_model`, `extra_info`), `axis`, "
    "`value`, and the whole row with its certificate as JSON in `data`.",
    "hf": "The published column layout, all strings: `reward_model_json` (`ground_truth`, several answers joined by "
    "`<<horizon>>`), `extra_info_json`, `prompt_json`, `axis`, `value`, and `data` (the whole record as JSON, "
    "the row with its certificate under `problem`).",
}

_CARD = """{header}

# MASBENCH

Word problems whose structure is known exactly: quantities of named things, arithmetic modulo 23. Every row carries a
certificate (dependency graph, operators, answers, measured axes) that can be checked from its text alone.

Built by generator version {version} with

```
{command}
```

The same command gives the same rows on any machine.

| file | rows |
|---|---|
{table}

## Layout

{layout}

## What is varied

| axis | value |
|---|---|
| depth | quantities on the longest dependency chain ending at the final question, constants included |
| breadth | largest number of distinct quantities that one needed quantity is computed from |
| horizon | asked quantities: intermediate ones in topological order, then the final one |
| parallel | connected components on disjoint names; the answer of each is asked |
| robustness | asked sub-tasks to which the passage gives a false value that is not a fact |

All are counted over the quantities that the asked answers need; sizes of the whole text stand beside them in the row.

## What holds for every row

- Every quantity that the text mentions is defined exactly once; nothing relies on a default.
- Every needed quantity moves the final answer: a wrong value anywhere is a wrong answer.
- Final answers are uniform over 0 to 22 in every family of rows (exactly so when its rows are a multiple of 23).
- Train and test share no name and no template (structure and operators); sizes with few templates differ in constants.
- Believing any false value changes the final answer; what a believer would answer is stored.

## Limits

Synthetic English of one sentence pattern; it measures how well work is split up and combined, not knowledge or
language. Names are invented or everyday words; no personal data.
"""
