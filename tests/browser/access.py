"""What axe-core finds wrong in a page."""

from __future__ import annotations

from typing import Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

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
# had its verdict.
_COLOURS = """async part => {
    const STYLES = ["color", "backgroundColor", "backgroundImage", "opacity", "filter", "fontSize",
        "fontWeight", "textShadow", "textDecorationLine", "visibility"];
    const judged = (window.judgedColours ??= new Set());
    const kinds = new Map();
    const look = (node, around) => {
        const style = getComputedStyle(node);
        const kind = [around, node.localName, node.getAttribute("class"), ...STYLES.map(name => style[name])];
        kinds.set(node, kind.join());
        for (const child of node.children) look(child, kinds.get(node));
    };
    look(document.querySelector(part), "");
    const written = each => each.nodeType === Node.TEXT_NODE && each.data.trim();
    const isText = node => node.value || node.placeholder || [...node.childNodes].some(written);
    const texts = [...kinds.keys()].filter(node => !judged.has(kinds.get(node)) && isText(node));
    if (!texts.length) return [];
    const {passes, violations} = await axe.run({include: texts}, {
        runOnly: ["color-contrast", "link-in-text-block"],
        elementRef: true, resultTypes: ["passes", "violations"], preload: false,
    });
    for (const {nodes} of [...passes, ...violations])
        for (const {element} of nodes) judged.add(kinds.get(element));
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


def show_in(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Have the page in a theme, as who chooses it for the whole system has it."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(_COLOURED)


def in_both_themes(page: Page, part: str = ".instrument") -> list[str]:
    """The same, colours in the dark and in the light theme, in which the page is left."""
    found = _run(page, _STRUCTURE, part)
    for scheme in ("dark", "light"):
        show_in(page, scheme)
        found += [f"{scheme}: {one}" for one in _run(page, _COLOURS, part)]
    return found
