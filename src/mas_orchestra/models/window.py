"""How many requests an endpoint takes at once, learnt from how it behaves.

Additive increase, multiplicative decrease. The window starts as wide as allowed, so a healthy endpoint never notices
it. The first sign of overload halves it; further signs of the same burst narrow it to what the endpoint proved to take.
From there it doubles with every round of replies up to half of where it broke, then grows by one a round.
"""

__all__ = ["Window"]


class Window:
    """The adaptive limit of requests in flight.

    Attributes:
        size: Requests that may be in flight now, at least 1.
    """

    def __init__(self, ceiling: float, now_s: float) -> None:
        self.size = ceiling
        self._ceiling = ceiling
        self._threshold = ceiling
        self._cut_at_s = float("-inf")
        self._since_s = now_s
        self._served_s = 0.0
        self._proven = ceiling

    def busy(self, now_s: float) -> None:
        """The endpoint begins to work after a time without requests, which says nothing about its throughput."""
        self._since_s, self._served_s = now_s, 0.0

    def served(self, *, sent_s: float, now_s: float, in_flight: int) -> None:
        """A request was answered. `in_flight` counts it; growth is earned only where the window was the limit."""
        self._served_s += now_s - sent_s
        if self.size < self._ceiling and in_flight + 1 > self.size:
            step = 1.0 if self.size < self._threshold else 1.0 / self.size
            self.size = min(self._ceiling, self.size + step)

    def refused(self, *, sent_s: float, now_s: float, in_flight: int) -> None:
        """A request was turned away at once. Those still in flight without it may be what the endpoint takes."""
        self._overloaded(sent_s, now_s, in_flight, proven=in_flight - 1)

    def silent(self, *, sent_s: float, now_s: float, in_flight: int) -> None:
        """A request got no answer in time.

        The endpoint took as many as were on average both in flight and answered later: seconds of served requests per
        second (Little's law). With that many in flight, each gets its reply in the time that those got theirs.
        """
        if sent_s > self._cut_at_s:
            self._proven = self._served_s / max(now_s - self._since_s, 1e-9)
        self._overloaded(sent_s, now_s, in_flight, proven=self._proven)

    def _overloaded(self, sent_s: float, now_s: float, in_flight: int, *, proven: float) -> None:
        if sent_s > self._cut_at_s:
            self.size = max(1.0, min(self.size, in_flight) / 2)
            self._threshold = self.size
            self._cut_at_s = now_s
            self.busy(now_s)
        else:
            self.size = max(1.0, min(self.size, proven))
