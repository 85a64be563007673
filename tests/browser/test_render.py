"""Children described as data, and children that follow values.

Nodes keep what the user did to them, their order and their focus; everything else follows the data.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from explorer.instrument.modules import MODULES
from tests.selection import loop_over

SETUP = """async ([source, dom]) => {
    const addressOf = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
    window.load = (text) => import(addressOf(text.replace("./dom.js", addressOf(dom))));
    const module = await load(source);
    window.h = module.h;
    window.show = (...children) => module.render(host, ...children);
    window.find = (tag) => host.querySelector(tag);
    window.list = (keys) => show(keys.map((key) => h("button", { key }, key)));
}"""


@pytest.fixture(scope="module")
def prepared(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page()
    sources = [(MODULES / f"elements/{name}.js").read_text(encoding="utf-8") for name in ("render", "dom")]
    page.evaluate(SETUP, sources)
    yield page
    page.close()


@pytest.fixture
def page(prepared: Page) -> Page:
    """The one page of all tests, with a new host."""
    prepared.evaluate("document.body.replaceChildren((window.host = document.createElement('div')))")
    return prepared


def _html(page: Page, *calls: str) -> Any:
    """The host's HTML after some calls."""
    return page.evaluate(f"() => {{ {'; '.join(calls)}; return host.innerHTML; }}")


def test_texts_nodes_lists_and_numbers_are_rendered_and_empty_values_omitted(page: Page) -> None:
    made = "const made = document.createElement('hr')"
    first = _html(page, made, "show('a', 0, false, null, undefined, '', ['b', [h('i', {}, 1)]], made)")
    assert first == "a0b<i>1</i><hr>"


@loop_over("order", ["cba", "bac", "ca", "dbac", "c", "acdb"])
@loop_over("focused", "abc")
def test_children_follow_their_keys_and_keep_node_and_focus(page: Page, focused: str, order: str) -> None:
    page.evaluate(
        """(focused) => {
            document.body.replaceChildren((window.host = document.createElement("div")));
            list(["a", "b", "c"]);
            window.before = Object.fromEntries([...host.children].map((node) => [node.textContent, node]));
            window.events = [];
            before[focused].focus();
            for (const kind of ["focusout", "focusin"]) host.addEventListener(kind, () => events.push(kind));
        }""",
        focused,
    )
    page.evaluate("(order) => list([...order])", order)
    assert page.evaluate("host.textContent") == order
    same = "[...host.children].filter((node) => before[node.textContent] === node)"
    assert page.evaluate(f"{same}.map((node) => node.textContent)") == [key for key in order if key != "d"]
    if focused in order:
        assert page.evaluate("document.activeElement.textContent") == focused
        assert page.evaluate("events") == [], "it never lost the focus"


def test_a_conditional_child_does_not_affect_its_siblings(page: Page) -> None:
    page.evaluate("show(h('p', {}, 'a'), false, h('input'), ['x', 'y'], h('b', {}, 'end'))")
    page.evaluate("window.before = [find('input'), find('b')]; find('input').focus()")
    page.evaluate("show(false, h('p', {}, 'b'), h('input'), ['x', h('i'), 'y', 'z'], h('b', {}, 'end'))")
    assert page.evaluate("host.innerHTML") == "<p>b</p><input>x<i></i>yz<b>end</b>"
    assert page.evaluate("before[0] === find('input') && before[1] === find('b')")
    assert page.evaluate("document.activeElement === find('input')")


def test_a_changed_tag_replaces_the_node(page: Page) -> None:
    assert _html(page, "show(h('b', { title: 't' }, 'x'))", "show(h('i', {}, 'x'))") == "<i>x</i>"
    assert _html(page, "show('x')", "show(h('i', {}, 'y'))", "show('z')") == "z"


def test_a_node_made_elsewhere_is_never_changed(page: Page) -> None:
    made = "const made = Object.assign(document.createElement('p'), { innerHTML: '<b>own</b>', id: 'own' })"
    assert _html(page, made, "show(made)", "show(h('p', {}, 'x'))") == "<p>x</p>"
    assert _html(page, made, "show(made)", "show(h('i'), made)") == '<i></i><p id="own"><b>own</b></p>'
    seen = _html(page, made, "show(made)", "show(h('p', {}, 'x'))", "show(made)")
    assert seen == '<p id="own"><b>own</b></p>'


def test_the_selection_survives_in_unchanged_text(page: Page) -> None:
    paragraph = "h('p', {}, 'some words ', count)"
    page.evaluate(f"window.draw = (count) => show(h('h2', {{}}, count), {paragraph})")
    selecting = "getSelection().setBaseAndExtent(find('p').firstChild, 5, find('p').firstChild, 10)"
    page.evaluate(f"draw(1); {selecting}")
    page.evaluate("draw(2)")
    assert page.evaluate("[getSelection().toString(), host.textContent]") == ["words", "2some words 2"]


def test_a_list_keeps_its_scroll_position_while_its_rows_change(page: Page) -> None:
    page.evaluate(
        """window.draw = (count) => show(h("div", { style: "height: 50px; overflow: auto" },
            Array.from({ length: 40 }, (_, key) => h("p", { key }, `${key}: ${count}`))))"""
    )
    page.evaluate("draw(1); find('div').scrollTop = 200; draw(2)")
    assert page.evaluate("[find('div').scrollTop, find('p').textContent]") == [200, "0: 2"]


def test_typed_text_stays_while_its_field_has_the_focus(page: Page) -> None:
    page.evaluate("window.draw = (value) => show(h('input', { value }))")
    page.evaluate("draw('a')")
    page.locator("input").fill("typed")
    page.evaluate("find('input').setSelectionRange(1, 3); draw('b')")
    assert page.evaluate("[find('input').value, find('input').selectionStart]") == ["typed", 1]
    page.evaluate("find('input').blur(); draw('b')")
    assert page.input_value("input") == "typed", "the value has not changed since"
    page.evaluate("draw('c')")
    assert page.input_value("input") == "c"
    page.evaluate("find('input').focus(); draw('d')")
    assert page.input_value("input") == "d", "nothing was typed"


def test_text_typed_into_a_field_without_a_value_is_kept(page: Page) -> None:
    page.evaluate("show(h('input', { title: 1 }))")
    page.locator("input").fill("typed")
    page.evaluate("find('input').blur(); show(h('input', { title: 2 }))")
    assert page.input_value("input") == "typed"


def test_sliders_lists_and_boxes_follow_the_data_even_with_the_focus(page: Page) -> None:
    page.evaluate(
        """window.draw = (max, value, checked) => show(
            h("input", { type: "range", value, max }),
            h("select", { value }, ["1", "250"].map((key) => h("option", { key, value: key }, key))),
            h("input", { type: "checkbox", checked }))"""
    )
    state = "[find('input').value, find('select').value, find('[type=checkbox]').checked]"
    page.evaluate("draw(300, 250, true)")
    assert page.evaluate(state) == ["250", "250", True]
    page.evaluate("find('input').focus(); find('input').value = 7; draw(300, 250, true)")
    page.evaluate("find('select').focus(); find('select').value = '1'; draw(300, 250, true)")
    page.locator("[type=checkbox]").click()
    page.evaluate("draw(300, 250, true)")
    assert page.evaluate(state) == ["250", "250", True]


def test_attributes_are_written_changed_and_removed(page: Page) -> None:
    first = "show(h('p', { class: 'a', hidden: true, title: null, lang: false, '--left': '3px', key: 1 }))"
    assert _html(page, first) == '<p class="a" hidden="" style="--left: 3px;"></p>'
    changed = _html(page, "show(h('p', { title: 'b', '--left': '4px', key: 1 }))")
    assert changed == '<p style="--left: 4px;" title="b"></p>'
    assert _html(page, "show(h('p', { title: undefined, key: 1 }))") == '<p style=""></p>'


def test_an_identical_child_object_is_not_rendered_again(page: Page) -> None:
    page.evaluate("window.part = h('p', { title: 'a' }); show(part); part.attributes.title = 'b'")
    assert _html(page, "show(part)") == '<p title="a"></p>'
    assert _html(page, "show(h('p', { title: 'c' }))", "show(part)") == '<p title="b"></p>'


def test_an_attribute_that_the_user_has_changed_stays_until_its_value_changes(page: Page) -> None:
    page.evaluate("window.draw = (open, title) => show(h('details', { open, title }))")
    page.evaluate("draw(false, 1); find('details').open = true; draw(false, 2)")
    assert page.evaluate("find('details').open")
    page.evaluate("draw(true, 2); draw(false, 2)")
    assert not page.evaluate("find('details').open")


def test_listeners_are_replaced_and_removed(page: Page) -> None:
    page.evaluate("window.heard = []; window.button = (text, more) => show(h('button', more, text))")
    page.evaluate("button('a', { onclick: (event) => heard.push(['first', event.type]) })")
    page.locator("button").click()
    page.evaluate("button('b', { onclick: () => heard.push('second'), onmine: () => heard.push('mine') })")
    page.locator("button").click()
    page.evaluate("find('button').dispatchEvent(new Event('mine'))")
    page.evaluate("button('c', {})")
    page.locator("button").click()
    assert page.evaluate("heard") == [["first", "click"], "second", "mine"]
    assert page.evaluate("find('button').outerHTML") == '<button type="button">c</button>'


def test_elements_inside_svg_have_its_namespace(page: Page) -> None:
    page.evaluate("show(h('svg', { viewBox: '0 0 1 1' }, h('g', {}, h('path', { d: 'M0 0' }))), h('p'))")
    names = "[...host.querySelectorAll('*')].map((node) => node.namespaceURI.split('/').at(-1))"
    assert page.evaluate(names) == ["svg", "svg", "svg", "xhtml"]
    assert page.evaluate("find('svg').getAttribute('viewBox')") == "0 0 1 1"


def test_a_shadow_tree_can_be_the_host_and_keeps_typed_text(page: Page) -> None:
    page.evaluate(
        """() => {
            const place = document.body.appendChild(document.createElement("div"));
            window.host = place.attachShadow({ mode: "open" });
        }"""
    )
    page.evaluate("window.draw = (value) => show(h('input', { value }))")
    page.evaluate("draw('a')")
    page.locator("input").fill("typed")
    page.evaluate("draw('b')")
    assert page.input_value("input") == "typed"
    assert page.evaluate("find('input').namespaceURI").endswith("xhtml")


CHILDREN = """async (source) => {
    const { createChildren } = await load(source);
    host.append(document.createElement("hr"));
    const [made, left] = [[], []];
    const parts = createChildren(host, ({ key }) => {
        const element = document.createElement("button");
        made.push(key);
        return { element, show: ({ text }) => (element.textContent = text), leaves: () => left.push(key) };
    }, ({ key }) => key);
    window.showParts = (values) => parts.show(values.map((text) => ({ key: text[0], text })));
    window.seen = () => ({
        texts: Array.from(host.children, (child) => child.textContent || child.tagName),
        focused: document.activeElement.textContent, made, left, keys: [...parts.parts.keys()],
    });
}"""


def _seen(page: Page, call: str) -> dict[str, Any]:
    return page.evaluate(f"() => {{ {call}; return seen(); }}")


def test_parts_by_key_are_kept_in_order_with_their_focus(page: Page) -> None:
    page.evaluate(CHILDREN, (MODULES / "elements/children.js").read_text("utf-8"))
    first = _seen(page, "showParts(['a1', 'b1', 'c1']); document.querySelectorAll('button')[1].focus()")
    assert first["texts"] == ["a1", "b1", "c1", "HR"], "what else is in the host stands behind them"
    assert first["focused"] == "b1"
    turned = _seen(page, "showParts(['c2', 'b2', 'a2'])")
    assert (turned["texts"][:3], turned["focused"]) == (["c2", "b2", "a2"], "b2")
    other = _seen(page, "showParts(['d3', 'b3'])")
    assert (other["texts"], other["focused"]) == (["d3", "b3", "HR"], "b3")
    assert (other["made"], other["left"]) == (["a", "b", "c", "d"], ["a", "c"])
    assert set(other["keys"]) == {"b", "d"}
    gone = _seen(page, "showParts(['d4'])")
    assert (gone["texts"], gone["left"]) == (["d4", "HR"], ["a", "c", "b"])
