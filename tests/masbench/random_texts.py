"""Small random texts of the family with brute-force answers; shares nothing with the package."""

import random
from dataclasses import dataclass, field

OWNERS = ("Marc's", "Governor's District", "Sam's Club", "Shop 'n Save", "99 Ranch Market", "T&T Supermarket")
MIDDLES = ("Track and Field", "Living Desert Zoo and Gardens", "Caudal Vertebrae 1", "Canned Olives", "Post-it Notes")
LEAVES = ("Sorghum", "Rye", "Zoo Zürich", "Steel-Cut Oats", "Metacarpal I")


@dataclass
class RandomText:
    """Statements as data, in the order in which they were made; every parent stands before its child."""

    equations: dict[str, tuple] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    text: str = ""

    def value(self, key):
        """Plain recursion over the equations."""
        modifier, constant, form, terms = self.equations[key]
        values = [self.value(term) for term in terms]
        base = {"literal": lambda: constant, "one": lambda: values[0], "sum": lambda: sum(values)}
        base["difference"] = lambda: values[0] - values[1]
        result = base[form]()
        if modifier == "more":
            result += constant
        if modifier == "times":
            result *= constant
        return result % 23

    def chains(self, key):
        """Every chain that ends at the quantity, one by one."""
        terms = self.equations[key][3]
        return [[*chain, key] for term in terms for chain in self.chains(term)] or [[key]]

    def needed(self):
        return {key for asked in self.asked for chain in self.chains(asked) for key in chain}

    def depth(self):
        return max(len(chain) for asked in self.asked for chain in self.chains(asked))

    def breadth(self):
        return max(len(set(self.equations[key][3])) for key in self.needed())

    def components(self):
        """Merges needed quantities that share a statement until nothing changes."""
        parts = [{key, *self.equations[key][3]} for key in self.needed()]
        while True:
            pair = next(((a, b) for a in parts for b in parts if a is not b and a & b), None)
            if pair is None:
                return len(parts)
            parts = [part for part in parts if part is not pair[0] and part is not pair[1]] + [pair[0] | pair[1]]


def random_text(seed: int, *, quantities: int = 9, asked: int = 1) -> RandomText:
    """A text whose names hold apostrophes, " and " and digits; statements shuffled, one question or a list of them."""
    rng = random.Random(seed)
    pairs = [(owner, item) for owner in OWNERS for item in MIDDLES] + [
        (owner, item) for owner in MIDDLES for item in LEAVES
    ]
    keys = [f"{owner}'s {item}" for owner, item in rng.sample(pairs, quantities)]
    made = RandomText()
    for place, key in enumerate(keys):
        made.equations[key] = _equation(rng, keys[:place])
    made.asked = rng.sample(keys[-max(asked, 4) :], asked)
    split = {f"{owner}'s {item}": (owner, item) for owner, item in pairs}
    statements = [f"The number of each {key} equals {_words(made.equations[key])}." for key in keys]
    rng.shuffle(statements)
    questions = [f"How many {split[key][1]} does {split[key][0]} have?" for key in made.asked]
    listed = "\n".join(f"Problem {number}: {question}" for number, question in enumerate(questions, start=1))
    made.text = " ".join(statements) + (f" {questions[0]}" if asked == 1 else f"\n\n{listed}\n")
    return made


def _equation(rng: random.Random, before: list[str]) -> tuple:
    form = rng.choice(["literal", "one", "sum", "sum", "difference"])
    count = {"literal": 0, "one": 1, "sum": rng.randint(2, 4), "difference": 2}[form]
    if count > len(before):
        form, count = "literal", 0
    modifier = rng.choice([None, "more", "times"]) if form != "literal" else None
    constant = rng.randint(0, 22) if modifier or form == "literal" else None
    return modifier, constant, form, tuple(rng.sample(before, count))


def _words(equation: tuple) -> str:
    modifier, constant, form, terms = equation
    each = [f"each {term}" for term in terms]
    listed = f"{', '.join(each[:-1])} and {each[-1]}" if len(each) > 1 else "".join(each)
    words = {
        "literal": str(constant),
        "one": listed,
        "sum": f"the sum of {listed}",
        "difference": f"the difference of {listed}",
    }
    prefix = {None: "", "more": f"{constant} more than ", "times": f"{constant} times as much as "}[modifier]
    return prefix + words[form]
