"""The check of parameter gradients on code that is right: what the catalogue's rules are taken home as."""

from __future__ import annotations

import pytest
import torch

from explorer import check
from explorer.catalogue import find_op, find_rule
from explorer.snippets import snippet
from explorer.snippets.pair import paired
from tests.catalogue.oracles.learned import LEARNED
from tests.catalogue.test_contribution import learned_names
from tests.snippets.runner import defined

SCALED = ("lsq", "lsq_plus")


@pytest.mark.parametrize("shape", [(), (3, 1)], ids=["one value", "by channel"])
@pytest.mark.parametrize(("op", "rule"), [pair for pair in LEARNED if pair[1] != "default"])
def test_every_rule_that_learns_passes_in_every_shape(op: str, rule: str, shape: tuple[int, ...], only):
    only("parameter gradients")
    names = learned_names(find_op(op), find_rule(rule))
    pair = paired(op, rule, None, names)
    function = defined(snippet(op, rule, learns=names))[f"_{pair.layer}Function"]
    arguments = [
        torch.full(shape, value, requires_grad=True) if name in names else value
        for name, value in pair.parameters.items()
    ]
    (found,) = check(function, *arguments)
    assert found.verdict == ("by design" if rule in SCALED else "holds"), found.sentence
