"""Simulated sub-agents: ``sim:PROFILE`` is a chat model that reads MASBENCH prompts, solves them and errs. SIMULATED.

Read `profile` (what a model does wrong, as numbers), `prompt` (what it is asked to be), `text` and `handed` (what it
has before it), `luck` and `work` (how it solves and errs), `write` and `parts` (what it says), `plans` (as an
orchestrator), then `model` and `server`. How the numbers were fitted stands in docs/simulator.md.
"""

from mas_orchestra.simulate.profile import Profile, is_simulated, profiles

__all__ = ["Profile", "is_simulated", "profiles"]
