"""What axe-core finds wrong in a page."""

from __future__ import annotations

from typing import Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

Scheme = Literal["light", "dark"]

# Two frames later everything is drawn anew, and on the way to its colours.
_COLOURED = """async () => {
    await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const changes = document.getAnimations().filter(each => each instanceof CSSTransition);
    await Promise.allSettled(changes.map(each => each.finished));
}"""
# What axe loads before a run, half of what that costs, only its rules on trial need. Where nothing is wrong
# it need not write down all that is right.
_STRUCTURE = """part => axe.run({include: [[part]]}, {
    rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}},
    resultTypes: ["violations"], preload: false,
}).then(told => told.violations)"""
# To judge colours is most of what axe does. While a page is loaded it judges a text once, on whatever lesson
# it stands: none with the letters, the ground and the classes, its own and those around it, of one that has
# had its verdict, and of those that axe cannot judge, as other things lie over them, none a third time. Of
# many of one kind a few are enough.
_COLOURS = """async part => {
    const STYLES = ["color", "backgroundColor", "backgroundImage", "opacity", "filter", "fontSize",
        "fontWeight", "textShadow", "textDecorationLine", "visibility"];
    const [TRIES, FEW] = [2, 8];
    const judged = (window.judgedColours ??= new Map()); // how often it was tried, TRIES for a verdict
    const whole = document.querySelector(part);
    const kinds = new Map([[whole.parentNode, ""]]);
    const kindOf = node => {
        if (!kinds.has(node)) {
            const style = getComputedStyle(node);
            const own = [node.localName, node.getAttribute("class"), node.matches(":disabled")];
            kinds.set(node, [kindOf(node.parentNode), ...own, ...STYLES.map(name => style[name])].join());
        }
        return kinds.get(node);
    };
    const written = each => each.nodeType === Node.TEXT_NODE && each.data.trim();
    const isText = node => node.value || node.placeholder || [...node.childNodes].some(written);
    const isNew = node => isText(node) && node.checkVisibility({visibilityProperty: true}) &&
        !(judged.get(kindOf(node)) >= TRIES);
    const counts = new Map();
    const isOfFew = node => {
        const kind = kindOf(node);
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        return counts.get(kind) <= FEW;
    };
    const texts = [...whole.querySelectorAll("*")].filter(isNew).filter(isOfFew);
    if (!texts.length) return [];
    const {passes, violations} = await axe.run({include: texts}, {
        runOnly: ["color-contrast", "link-in-text-block"],
        elementRef: true, resultTypes: ["passes", "violations"], preload: false,
    });
    for (const kind of new Set(texts.map(kindOf))) judged.set(kind, (judged.get(kind) ?? 0) + 1);
    for (const {nodes} of [...passes, ...violations])
        for (const {element} of nodes) judged.set(kindOf(element), TRIES);
    return violations.map(({id, nodes}) =>
        ({id, nodes: nodes.map(({target, failureSummary}) => ({target, failureSummary}))}));
}"""


def violations(page: Page, part: str = ".instrument") -> list[str]:
    """What is wrong in a part of the page: the rule and where."""
    return [*_run(page, _STRUCTURE, part), *_run(page, _COLOURS, part)]


def _run(page: Page, script: str, part: str) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in page.evaluate(script, part)
        for node in one["nodes"]
    ]


def show_in(page: Page, scheme: Scheme) -> None:
    """Have the page in a theme, as who chooses it for the whole system has it."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(_COLOURED)


def in_both_themes(page: Page, part: str = ".instrument") -> list[str]:
    """The same, colours in the theme that the page has and in the other one, in which it is left."""
    return [*_run(page, _STRUCTURE, part), *colours_in_both_themes(page, part)]


def colours_in_both_themes(page: Page, part: str = ".instrument") -> list[str]:
    """What is wrong with colours alone."""
    found = []
    for scheme in _from_that_of(page):
        show_in(page, scheme)
        found += [f"{scheme}: {one}" for one in _run(page, _COLOURS, part)]
    return found


def _from_that_of(page: Page) -> tuple[Scheme, Scheme]:
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    return ("dark", "light") if is_dark else ("light", "dark")
