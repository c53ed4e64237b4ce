"""What all samples of one simulated model share about a text: how hard it finds it, and what it always gets wrong."""

from random import Random

from mas_orchestra import seeds
from mas_orchestra.masbench.system import MODULUS
from mas_orchestra.simulate.profile import Profile
from mas_orchestra.simulate.text import Fate, Luck, Text

__all__ = ["luck"]

_MOST_SEEDS = 16


def luck(text: Text, profile: Profile, seed: int) -> Luck:
    """The luck of the model with this profile and seed."""
    key = (seed, profile.unevenness, profile.misreading)
    found = text.luck.get(key)
    if found is None:
        if len(text.luck) >= _MOST_SEEDS:
            text.luck.clear()
        found = text.luck[key] = _draw(text, profile, seeds.rng("simulate", "luck", seed, text.text))
    return found


def _draw(text: Text, profile: Profile, rng: Random) -> Luck:
    difficulty = rng.gammavariate(1 / profile.unevenness, profile.unevenness) if profile.unevenness else 1.0
    is_misread = rng.random() < profile.misreading
    names = dict.fromkeys((*text.system.names, *text.needles, *text.names, *(claim.text for claim in text.claims)))
    fates = {name: Fate(rng.random(), rng.randrange(1, MODULUS), rng.randrange(MODULUS)) for name in names}
    return Luck(difficulty=difficulty, is_misread=is_misread, fates=fates)
