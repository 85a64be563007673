"""The order that the reader finds, and what is said to another one."""

from dataclasses import asdict
from itertools import pairwise

import pytest

from explorer.lessons.recipe import steps
from tests.frontend.modules import Node


@pytest.mark.parametrize("count", range(4, 9))
def test_no_step_is_in_its_place_at_first(node: Node, count: int):
    code = 'const { outOfOrder } = await import("./learn/pictures/order.js"); return outOfOrder(given);'
    order = node.run(code, count)
    assert sorted(order) == list(range(count))
    assert order[0] != 0
    assert all(later != earlier + 1 for earlier, later in pairwise(order))


@pytest.mark.parametrize(("order", "wrong"), [([0, 1, 2, 3], None), ([0, 2, 1, 3], 1), ([3, 0, 1, 2], 0)])
def test_the_first_place_that_is_wrong_is_named(node: Node, order: list[int], wrong: int | None):
    code = 'const { judgementOf } = await import("./learn/pictures/order.js"); return judgementOf(...given);'
    said = node.run(code, [asdict(steps()), order])
    if wrong is None:
        assert said == "That is the order."
    else:
        assert said.startswith(f"Not yet at {wrong + 1}: ")
        assert said.endswith(steps().steps[wrong][1])
