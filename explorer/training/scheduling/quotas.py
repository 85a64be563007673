"""Quota for one more, of all and of each share, and who takes turns with whom."""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import NamedTuple

from explorer.training.scheduling.fair_queue import Parties

Shares = Mapping[Hashable, int]
"""Whom a run or study counts among, a visitor before an address, and how many there may be of each."""


class EngineFull(RuntimeError):  # noqa: N818  # a state of affairs, not a mistake
    """No room for another run now; the message is a sentence for the screen.

    ``share`` is what has as many as it may, None where that is the engine itself.
    """

    def __init__(self, sentence: str, share: Hashable = None) -> None:
        super().__init__(sentence)
        self.share = share


class Quota(NamedTuple):
    """The most there may be of something, and the sentence where there are as many.

    Attributes:
        most: of all together.
        full: the sentence where there are as many, with their ``{number}``.
        used_up: the sentence where a share has as many as it may, with their ``{number}``.
    """

    most: int
    full: str
    used_up: str

    def require(self, shares: Shares, others: list[Shares]) -> None:
        """Raise EngineFull where one more that has these shares does not fit beside the others."""
        if len(others) >= self.most:
            raise EngineFull(self.full.format(number=len(others)))
        counts = Counter(share for each in others for share in each)
        used_up = (share for share, most in shares.items() if counts[share] >= most)
        if share := next(used_up, None):
            raise EngineFull(self.used_up.format(number=shares[share]), share)


def parties(shares: Shares, alone: Hashable) -> Parties:
    """The visitor and the address that shares name, the first and the last; ``alone`` where there is none."""
    named = tuple(shares) or (alone,)
    return Parties(named[0], named[-1])
