"""Limits on the number of jobs, in total and for each group of jobs."""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import NamedTuple

from explorer.training.scheduling.fair_queue import Parties

Shares = Mapping[Hashable, int]
"""The groups in which a run or study is counted, a visitor before an address, and the limit of each."""


class EngineFull(RuntimeError):  # noqa: N818  # a state, not an error
    """Raised when there is no room for another run. The message is a sentence for the user.

    ``share`` is the group that has reached its limit, or None if the whole engine has.
    """

    def __init__(self, sentence: str, share: Hashable = None) -> None:
        super().__init__(sentence)
        self.share = share


class Quota(NamedTuple):
    """A limit on the number of jobs, and the messages for whoever exceeds it.

    Attributes:
        limit: the limit on all jobs together.
        full: the message if that limit is reached, with ``{number}`` for the number of jobs.
        used_up: the message if a group has reached its own limit, with ``{number}`` for that limit.
    """

    limit: int
    full: str
    used_up: str

    def require(self, shares: Shares, other_shares: list[Shares]) -> None:
        """Raise EngineFull if one more job in the groups ``shares`` would exceed a limit.

        ``other_shares`` has the groups of each existing job.
        """
        if len(other_shares) >= self.limit:
            raise EngineFull(self.full.format(number=len(other_shares)))
        counts = Counter(share for group_shares in other_shares for share in group_shares)
        used_up = (share for share, limit in shares.items() if counts[share] >= limit)
        if share := next(used_up, None):
            raise EngineFull(self.used_up.format(number=shares[share]), share)


def make_parties(shares: Shares, default: Hashable) -> Parties:
    """Return the visitor and the address among a job's groups, which are the first and the last group.

    Without groups, ``default`` is used for both.
    """
    named = tuple(shares) or (default,)
    return Parties(named[0], named[-1])
