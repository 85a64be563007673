"""Children of an element follow values: which are made and removed, their order, and the focus in them."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from explorer.instrument.modules import MODULES

NAMES = ("children", "dom")
SETUP = """async ([source, beside]) => {
    const addressOf = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
    const whole = source.replace("./dom.js", addressOf(beside));
    const { createChildren } = await import(addressOf(whole));
    const list = document.body.appendChild(document.createElement("div"));
    list.append(document.createElement("hr"));
    const made = [];
    const left = [];
    const parts = createChildren(list, ({ key }) => {
        const element = document.createElement("button");
        made.push(key);
        return { element, show: ({ text }) => (element.textContent = text), leaves: () => left.push(key) };
    }, ({ key }) => key);
    window.show = (values) => parts.show(values.map((text) => ({ key: text[0], text })));
    window.seen = () => ({
        texts: Array.from(list.children, (child) => child.textContent || child.tagName),
        focused: document.activeElement.textContent, made, left, keys: [...parts.parts.keys()],
    });
}"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page()
    page.evaluate(SETUP, [(MODULES / f"elements/{name}.js").read_text(encoding="utf-8") for name in NAMES])
    yield page
    page.close()


def _seen(page: Page, call: str) -> dict[str, Any]:
    return page.evaluate(f"() => {{ {call}; return seen(); }}")


def test_parts_by_key_are_kept_in_order_with_their_focus(page: Page) -> None:
    first = _seen(page, "show(['a1', 'b1', 'c1']); document.querySelectorAll('button')[1].focus()")
    assert first["texts"] == ["a1", "b1", "c1", "HR"], "what else is in the host stands behind them"
    assert first["focused"] == "b1"
    turned = _seen(page, "show(['c2', 'b2', 'a2'])")
    assert (turned["texts"][:3], turned["focused"]) == (["c2", "b2", "a2"], "b2")
    other = _seen(page, "show(['d3', 'b3'])")
    assert (other["texts"], other["focused"]) == (["d3", "b3", "HR"], "b3")
    assert (other["made"], other["left"]) == (["a", "b", "c", "d"], ["a", "c"])
    assert set(other["keys"]) == {"b", "d"}
    gone = _seen(page, "show(['d4'])")
    assert (gone["texts"], gone["left"]) == (["d4", "HR"], ["a", "c", "b"])
