"""What is remembered of lessons: in a tab until a class ends, in the browser what has been learned."""

from tests.frontend.modules import Node

STORED = """
    const stored = {};
    const value = {
        getItem: (name) => stored[name] ?? null,
        setItem: (name, text) => { stored[name] = value[name] = text; },
        removeItem: (name) => { delete stored[name]; },
    };
    for (const name of ["sessionStorage", "localStorage"])
        Object.defineProperty(globalThis, name, { configurable: true, value });
    const { forget, getProgress, markLearned, pickTwoQuestions, recall, remember } =
        await import("./learn/memory.js");
"""


def test_of_a_class_nothing_is_left_and_of_other_lessons_all(node: Node) -> None:
    body = f"""{STORED}
        const answered = {{ picked: 1, drawn: null, missed: false, revealed: null }};
        for (const key of ["first~k7 1", "first~k7 2", "clamp", "first~k7 3"]) remember(key, answered);
        value.setItem("other", "x");
        forget("first~k7 ");
        return [Object.keys(stored), recall("first~k7 3").picked, recall("clamp").picked];
    """
    assert node.run(body) == [["gradient-explorer.lesson clamp", "other"], None, 1]


def test_each_learned_lesson_and_seen_question_is_kept(node: Node) -> None:
    body = f"""{STORED}
        for (const key of ["clamp", "relu", "clamp"]) markLearned(key);
        return [[1, 2, 3].map(() => pickTwoQuestions("clamp", 5)), getProgress().learned];
    """
    assert node.run(body) == [[[0, 1], [2, 3], [0, 1]], ["clamp", "relu"]]
