"""MASBENCH: tasks whose structure is known exactly, every row proven.

Two halves that share nothing but the category words, so that each can prove the other wrong:

- **Making**: `problem` (a row) · `axes` (what is varied, what is feasible) · `structure` (the graph) · `splits` ·
  `vocabulary` and `story` (the words) · `attack` · `certificate` · `generate` (all of it together) ·
  `request`, `workers`, `build`, `export`, `card` (sets) · `drawing`, `gallery`.
- **Reading**: `sentences`, `expression`, `questions`, `claims` and `read_text` (a text) · `layers`, `system` and
  `solve_text` (its answers) · `measure` and `analyze` (its shape) · `read_rows`, `check_row`, `check_graph` (a row) ·
  `template`, `check_files` and `verify` (a set) · `score` (replies).

`load` and `statistics` read rows of any origin. Import from the modules; this package imports none of them.
"""
