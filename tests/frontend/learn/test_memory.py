"""The memory of a tab: a class that has ended is forgotten, also what was written before a reload."""

from tests.frontend.modules import Node

FORGET = """
    const of = (key) => [`gradient-explorer.lesson ${key}`, "{}"];
    const stored = { ...Object.fromEntries(["first~k7 1", "first~k7 2", "clamp"].map(of)), other: "x" };
    Object.defineProperty(globalThis, "sessionStorage", { configurable: true, value: {
        ...stored,
        getItem: (name) => stored[name] ?? null,
        setItem: (name, text) => { stored[name] = text; },
        removeItem: (name) => { delete stored[name]; },
    } });
    const { forget, recall, remember } = await import("./learn/memory.js");
    remember("first~k7 3", { picked: 1, drawn: null, missed: false, revealed: null });
    sessionStorage["gradient-explorer.lesson first~k7 3"] = "{}";
    forget("first~k7 ");
    return [Object.keys(stored), recall("first~k7 3").picked];
"""


def test_of_a_class_nothing_is_left_and_of_other_lessons_all(node: Node) -> None:
    assert node.run(FORGET) == [["gradient-explorer.lesson clamp", "other"], None]
