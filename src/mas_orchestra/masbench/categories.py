"""The words that name a layer of things: what the generator and the independent solver both know.

A chain is four categories, widest first: an owner of one layer holds items of the next. "A's Animal" is a category total, not
a thing of its own, which is why a reader of the text has to know these words. Nothing else is shared between the two.
"""

__all__ = ["CHAINS", "PUBLISHED_CHAINS"]

PUBLISHED_CHAINS: tuple[tuple[str, ...], ...] = (
    ("District", "Supermarket", "Product", "Ingredient"),
    ("Zoo", "Enclosure", "Animal", "Bone"),
    ("School", "Classroom", "Backpack", "Stationery"),
    ("Ecosystems", "Creatures", "Organs", "Cells"),
)
"""The 16 words of the published set (after iGSM, Ye et al. 2024)."""

CHAINS: tuple[tuple[str, ...], ...] = ()
"""Our own chains, filled with the vocabulary."""
