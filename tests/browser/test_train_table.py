"""A table of one's own on Train in a real browser.

How a file is decoded, what is chosen of its columns and what is refused is tested without a page, in
``tests/frontend/train/state/test_own_table.py`` and ``tests/training/tasks``.
"""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.training import limits
from explorer.ui.links.presets import TRAINING
from tests.browser.test_hidden import assert_all_is_seen
from tests.browser.training import button, finish, press, status, turn_train, verdict
from tests.browser.visitors import Tab


@pytest.fixture
def refused(train: Page, train_tab: Tab) -> Iterator[Page]:
    """A page that may log what the server refuses."""
    yield train
    train_tab.errors.clear()


def test_a_pasted_table_is_learned_and_never_in_the_address(refused: Page) -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(120, 2))
    rows = [f"{a:.3f},{b:.3f},{'over' if a > b else 'under'}" for a, b in x]
    turn_train(refused, "task=data&op=sign&rule=default&rule=straight_through&hidden=8,8&steps=30&pace=full")
    field = refused.get_by_label("Paste a table")
    expect(refused.locator(".table label").first).to_contain_text(
        f"CSV of {limits.MIN_TABLE_ROWS} to {limits.MAX_TABLE_ROWS:,} rows, "
        f"2 to {limits.MAX_TABLE_COLUMNS} columns, at most {limits.MAX_TABLE_BYTES:,} bytes"
    )
    expect(button(refused, "Start")).to_be_disabled()
    expect(status(refused).locator(".main")).to_contain_text("table")  # there is none yet
    field.fill("a,b\n1\n")
    read = refused.locator(".table-read")
    expect(read.locator("p.refusal")).to_be_visible()
    field.fill("\n".join(["a,b,kind", "1,,over", *rows]))
    expect(read.locator("p.refusal")).to_contain_text("Column 'b' lacks a value in row 1")
    press(refused, "Leave out this row")
    expect(read.locator(".summary")).to_contain_text(
        "120 rows, 3 columns split at commas; learns kind; 24 rows"
    )
    expect(refused.get_by_role("radio", name="Learn kind")).to_be_checked()
    finish(refused)
    expect(verdict(refused)).to_contain_text("held-out examples")
    expect(refused.locator(".of-inputs figcaption")).to_have_text("2 inputs")
    expect(refused.locator(".chances b")).to_have_text(["a", "b", "over", "under"])
    expect(refused.locator(".of-outputs figcaption")).to_contain_text("which kind?")
    expect(refused.locator(".reads .caption")).to_have_text("Light to dark: over, under; across: a, up: b.")
    press(refused, "Change the table")
    rows = [f"{row[: row.rindex(',')]},{row}".replace("over", "meadow sage") for row in rows]
    field.fill("\n".join(["stem length,stem width,leaf length,leaf width,kind", *rows]))
    press(refused, "Change the table")
    refused.keyboard.press("p")
    assert_all_is_seen(refused, ".presenting .table")
    finish(refused)
    assert_all_is_seen(refused, ".presenting .net")
    refused.keyboard.press("p")
    assert "meadow" not in refused.url
    refused.reload()
    expect(refused.get_by_label("Paste a table")).to_have_value(re.compile("\n".join(rows)))
    (example,) = (preset for preset in TRAINING if preset.table)
    refused.get_by_text("Examples", exact=True).click()
    refused.locator(".about .window").get_by_role("button", name=example.name).click()
    expect(refused.get_by_label("Paste a table")).to_have_value(example.table)
    press(refused, "Start")
    expect(refused.locator(".about .hint")).to_have_text(example.hint)
    expect(refused.get_by_label("Paste a table")).to_be_hidden()  # the run comes first, with all tools too
    press(refused, "Change the table")
    refused.get_by_label("Paste a table").fill("\n".join(["a,b,c,d,kind", *rows]))
    expect(refused.locator(".about .hint")).not_to_have_text(example.hint)  # it is said of its own table
