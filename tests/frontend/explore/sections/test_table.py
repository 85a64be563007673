"""The drawn rows of the site's table."""

import pytest


@pytest.mark.parametrize(
    ("count", "scroll_top", "rows"),
    [
        (1000, 0, [0, 20]),
        (1000, 2800, [90, 120]),
        (1000, 27720, [980, 1000]),
        (100, 27720, [80, 100]),  # there were more rows, and it has not been scrolled since
        (15, 27720, [0, 15]),
        (3, 0, [0, 3]),
    ],
)
def test_the_rows_that_are_seen_are_drawn_with_some_beyond(node, count, scroll_top, rows):
    scroll = {"scrollTop": scroll_top, "clientHeight": 280}
    seen = node.call("explore/sections/table.js getVisibleRows", count, scroll)
    assert [seen["first"], seen["last"]] == rows
