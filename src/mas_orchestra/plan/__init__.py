"""The plan language: data that says which sub-agents work, on what, and how their outputs flow.

Read in this order: `schema` (what a plan is), `report` (what reading one finds), `catalog` (what is known of
sub-agents), `read` (the two entry points), `scan` (text → draft; with `tags`, `jsontext`, `harmony` and the two
formats), `check` (draft → report, repairs included), `render` (plan → text), `json_schema`, `prompt`.
"""

from mas_orchestra.plan.read import check, read

__all__ = ["check", "read"]
