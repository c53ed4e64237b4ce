"""What a call costs: the user's own prices first, then the public price lists that genai-prices bundles."""

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

from mas_orchestra.config import Price
from mas_orchestra.types import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

__all__ = ["ModelPricing", "price_usd"]

KNOWN_RATES = {"input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok"}


def price_usd(price: Price, usage: Usage) -> float:
    """US dollars for `usage`. Its buckets are disjoint, so no token is paid twice.

    >>> price = Price(input=1.25, cache_read=0.625, output=10)
    >>> round(price_usd(price, Usage(input_tokens=5_005, cache_read_tokens=257_955, output_tokens=1_744)), 4)
    0.1849
    """
    cache_read = price.input if price.cache_read is None else price.cache_read
    cache_write = price.input if price.cache_write is None else price.cache_write
    return (
        usage.input_tokens * price.input
        + usage.cache_read_tokens * cache_read
        + usage.cache_write_tokens * cache_write
        + usage.output_tokens * price.output
    ) / 1e6


class ModelPricing:
    """What one model costs at one endpoint.

    A listed price counts only at the provider that publishes it: the same name at another host is another offer, so
    its price is unknown until ``[prices]`` says it.
    """

    def __init__(self, name: str, base_url: str, prices: Mapping[str, Price]) -> None:
        self._name = name
        self._base_url = base_url
        self._own = prices.get(f"{name}@{base_url}") or prices.get(name)

    def cost_usd(self, usage: Usage) -> float | None:
        """US dollars for the usage of one call (prices may step up with its length), or ``None`` if unknown."""
        price = self._own or self._listed
        if price is None:
            return None
        return price_usd(price, usage) if isinstance(price, Price) else _tiered_usd(price, usage)

    @cached_property
    def _listed(self) -> "Price | ModelPrice | None":
        """The public price; as our own value where it does not depend on the length of the prompt."""
        from genai_prices import Usage as PricedUsage
        from genai_prices import calc_price

        try:
            found = calc_price(PricedUsage(input_tokens=0), self._name, provider_api_url=self._base_url)
        except LookupError:
            return None
        rates = {name: rate for name, rate in vars(found.model_price).items() if rate is not None}
        if any(name in KNOWN_RATES and not isinstance(rate, Decimal) for name, rate in rates.items()):
            return found.model_price
        if "input_mtok" not in rates or "output_mtok" not in rates:
            return None
        return Price(**{name.removesuffix("_mtok"): float(rate) for name, rate in rates.items() if name in KNOWN_RATES})


def _tiered_usd(price: "ModelPrice", usage: Usage) -> float:
    from genai_prices import Usage as PricedUsage

    cached = usage.cache_read_tokens + usage.cache_write_tokens
    counted = PricedUsage(
        input_tokens=usage.input_tokens + cached,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    return float(price.calc_price(counted)["total_price"])
