"""What is remembered of lessons: in a tab until a class ends, in the browser what has been learned."""

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


PROGRESS = """
    const stored = {};
    const setItem = (name, text) => { stored[name] = text; };
    const value = { getItem: (name) => stored[name] ?? null, setItem };
    Object.defineProperty(globalThis, "localStorage", { configurable: true, value });
    const { getProgress, markLearned, pickTwoQuestions } = await import("./learn/memory.js");
    for (const key of ["clamp", "relu", "clamp"]) markLearned(key);
    return [[1, 2, 3].map(() => pickTwoQuestions("clamp", 5)), getProgress().learned];
"""


def test_each_learned_lesson_and_seen_question_is_kept(node: Node) -> None:
    assert node.run(PROGRESS) == [[[0, 1], [2, 3], [0, 1]], ["clamp", "relu"]]
