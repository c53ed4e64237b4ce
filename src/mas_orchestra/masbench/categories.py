"""The category words: the only thing that the generator and the independent solver share.

A chain is four kinds of things, each holding the next: a harbor has vessels, a vessel has lockers, a locker has cargo.
A quantity is "how many of B has A" for a name A of one kind and a name B of the next.
"""

__all__ = ["CHAINS", "PUBLISHED_CHAINS"]

CHAINS: tuple[tuple[str, str, str, str], ...] = (
    ("Harbor", "Vessel", "Locker", "Cargo"),
    ("Valley", "Farmstead", "Plot", "Crop"),
    ("Festival", "Stage", "Ensemble", "Instrument"),
    ("Library", "Alcove", "Bookcase", "Manuscript"),
    ("Outpost", "Module", "Console", "Sensor"),
    ("Bazaar", "Stall", "Hamper", "Delicacy"),
)
"""Ours."""

PUBLISHED_CHAINS: tuple[tuple[str, str, str, str], ...] = (
    ("District", "Supermarket", "Product", "Ingredient"),
    ("Zoo", "Enclosure", "Animal", "Bone"),
    ("School", "Classroom", "Backpack", "Stationery"),
    ("Ecosystems", "Creatures", "Organs", "Cells"),
)
"""Those of the published set (iGSM's)."""
