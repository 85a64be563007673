"""Quota for one more: of all, of a visitor, of an address."""

import pytest

from explorer.training.scheduling.quotas import EngineFull, Quota, make_parties

QUOTA = Quota(4, "{number} are here: come again.", "{number} of yours are here: let one go.")
ME, OTHER = {"me": 2, "here": 3}, {"other": 2, "here": 3}


@pytest.mark.parametrize(
    ("others", "says", "share"),
    [
        ([ME, {"you": 2}], None, None),
        ([ME, ME], "2 of yours are here: let one go.", "me"),
        ([ME, OTHER, OTHER], "3 of yours are here: let one go.", "here"),
        ([{"you": 2}] * 4, "4 are here: come again.", None),
    ],
    ids=["there is room", "the visitor has as many", "the address has", "all have"],
)
def test_a_quota_refuses_one_more_for_all_or_for_a_share(others, says, share):
    if says is None:
        QUOTA.require(ME, others)
        return
    with pytest.raises(EngineFull) as full:
        QUOTA.require(ME, others)
    assert (str(full.value), full.value.share) == (says, share)


def test_make_parties_returns_the_visitor_and_its_address():
    assert make_parties(ME, "alone") == ("me", "here")
    assert make_parties({}, "alone") == ("alone", "alone")
