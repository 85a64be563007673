"""Faults that axe-core finds in a page."""

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
# it stands: none with the letters, the ground, the classes and the state, its own and those around it, of one
# that has had its verdict, and of those that axe cannot judge, as other things lie over them, none a third
# time. Of many of one kind a few are enough. A kind is known once it was there in both themes.
_JUDGE = """() => {
    const STYLES = ["color", "backgroundColor", "backgroundImage", "opacity", "filter", "fontSize",
        "fontWeight", "textShadow", "textDecorationLine", "visibility"];
    const [TRIES, FEW] = [2, 8];
    const judged = new Map(); // how often a kind was tried, TRIES for a verdict
    const known = new Set();
    let last = [[], []]; // the kinds that were there when colours were judged, twice

    // How an element stands that is neither seen in its class nor, in both themes, in its letters.
    const STATE = /^(aria-(?!label|describ|controls|owns|active|value)|data-(?!rule)|hidden$|open$|type$)/;
    const stateOf = node => node instanceof SVGElement ? [] :
        [...node.attributes].flatMap(({name, value}) => STATE.test(name) ? `${name}=${value}` : []);

    const written = each => each.nodeType === Node.TEXT_NODE && each.data.trim();
    const isText = node => node.value || node.placeholder || [...node.childNodes].some(written);
    function textsOf(part) {
        const whole = document.querySelector(part);
        const kinds = new Map([[whole.parentNode, ""]]);
        const kindOf = node => {
            if (!kinds.has(node)) {
                const style = getComputedStyle(node);
                const own = [node.localName, node.getAttribute("class"), node.matches(":disabled")];
                const looks = [...own, ...stateOf(node), ...STYLES.map(name => style[name])];
                kinds.set(node, [kindOf(node.parentNode), ...looks].join());
            }
            return kinds.get(node);
        };
        const all = [...whole.querySelectorAll("*")].filter(isText);
        const seen = all.filter(node => node.checkVisibility({visibilityProperty: true}));
        return Map.groupBy(seen, kindOf);
    }

    return {
        isKnown: part => [...textsOf(part).keys()].every(kind => known.has(kind)),
        know() {
            for (const kind of last.flat()) if (judged.get(kind) >= TRIES) known.add(kind);
        },
        async judge(part) {
            const texts = textsOf(part);
            last = [last[1], [...texts.keys()]];
            const fresh = [...texts.keys()].filter(kind => !(judged.get(kind) >= TRIES));
            if (!fresh.length) return [];
            const few = kind => texts.get(kind).slice(0, FEW).map(node => [node, kind]);
            const kinds = new Map(fresh.flatMap(few));
            const {passes, violations} = await axe.run({include: [...kinds.keys()]}, {
                runOnly: ["color-contrast", "link-in-text-block"],
                elementRef: true, resultTypes: ["passes", "violations"], preload: false, selectors: false,
            });
            for (const kind of fresh) judged.set(kind, (judged.get(kind) ?? 0) + 1);
            for (const {nodes} of [...passes, ...violations])
                for (const {element} of nodes) if (kinds.has(element)) judged.set(kinds.get(element), TRIES);
            return violations.map(({id, nodes}) =>
                ({id, nodes: nodes.map(({html, failureSummary}) => ({target: html, failureSummary}))}));
        },
    };
}"""
_COLOURS = "part => colours.judge(part)"


def violations(page: Page, part: str = ".instrument") -> list[str]:
    """Return the faults of a part of the page: the rule and where."""
    return [*_run(page, _STRUCTURE, part), *_run(page, _COLOURS, part)]


def _run(page: Page, script: str, part: str) -> list[str]:
    _load_axe(page)
    found = [(one["id"], node) for one in page.evaluate(script, part) for node in one["nodes"]]
    return [f"{name}: {node['target']} {node['failureSummary']}" for name, node in found]


def _load_axe(page: Page) -> None:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(f"window.colours = ({_JUDGE})()")


def set_theme(page: Page, scheme: Scheme) -> None:
    """Set the theme of the page, as a choice for the whole system does."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(_COLOURED)


def violations_in_both_themes(page: Page, part: str = ".instrument") -> list[str]:
    """Return the faults of a part of the page, those of colours in both themes."""
    return [*_run(page, _STRUCTURE, part), *colour_violations_in_both_themes(page, part)]


def colour_violations_in_both_themes(page: Page, part: str = ".instrument") -> list[str]:
    """Return the faults of colours in both themes; if all are known, keep the theme."""
    _load_axe(page)
    page.evaluate(_COLOURED)
    if page.evaluate("part => colours.isKnown(part)", part):
        return []
    schemes: list[Scheme] = ["light", "dark"]
    if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"):
        schemes.reverse()
    result = []
    for scheme in schemes:
        set_theme(page, scheme)
        result += [f"{scheme}: {one}" for one in _run(page, _COLOURS, part)]
    page.evaluate("colours.know()")
    return result
