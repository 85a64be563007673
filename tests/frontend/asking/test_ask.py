"""Questions in the browser: each is asked once, and of a moving hand the last alone."""

from explorer.catalogue import OPS
from explorer.ui.server import answers
from tests.frontend.modules import Node
from tests.questions.asking import ask, ask_curves

CACHED = """
    const { cacheAnswers } = await import("./asking/ask.js");
    const asked = [];
    let fails = true;
    const source = Object.assign(async (question, args, { onWait }) => {
      asked.push(question);
      onWait("Loading …");
      await new Promise((done) => setTimeout(done, 5));
      return question === "busy" && fails ? { message: "Wait.", again: true } : { question, args };
    }, { has: (question) => question !== "nothing" });
    const cached = cacheAnswers(source);
    const [one, other] = [{ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }];
    const waits = [[], []];
    const told = (at) => ({ onWait: (words) => waits[at].push(words) });
    const both = await Promise.all([cached("row", one, told(0)), cached("row", other, told(1))]);
    await cached("row", { a: 2, b: {} });
    await cached("busy", {});
    fails = false;
    const later = await cached("busy", {});
    return { asked, waits, same: both[0] === both[1], later, has: cached.has("nothing"),
      known: [{ a: 2, b: {} }, { a: 3 }].map((args) => cached.known("row", args) !== undefined) };
"""
LATEST = """
    const { createLatestQuestion } = await import("./asking/latest-question.js");
    const [asked, told, rests] = [[], [], []];
    let busy = 2;
    const turn = () => new Promise(setImmediate);
    const source = async (question, args) => {
      asked.push(args.n);
      await turn();
      return args.n === "busy" && busy-- > 0 ? { message: "Wait.", again: true } : { n: args.n };
    };
    const { setTimeout: usual } = globalThis;
    globalThis.setTimeout = (act, ms) => (rests.push(ms), setImmediate(act)); // no rest takes any time
    const tell = (answer, args) => told.push([args.n, answer.n ?? answer.message]);
    const latest = createLatestQuestion(source, "lens", tell);
    const until = async (last) => {
      for (let at = 0; at < 99 && told.at(-1)?.[1] !== last; at++) await turn();
    };
    for (const n of [1, 2, 3, 4]) latest.ask({ n });
    await until(4);
    latest.ask({ n: "busy" });
    await until("busy");
    const before = { asked: [...asked], told: [...told], rests: rests.filter((ms) => ms >= 1000) };
    latest.ask({ n: 5 });
    latest.destroy();
    for (let at = 0; at < 99; at++) await turn();
    globalThis.setTimeout = usual;
    return { ...before, later: told.slice(before.told.length) };
"""


def test_each_answer_is_asked_for_once_and_a_busy_server_again(node: Node) -> None:
    found = node.run(CACHED)
    assert found["asked"] == ["row", "row", "busy", "busy"]
    assert found["same"]
    assert found["waits"] == [["Loading …"], ["Loading …"]]
    assert found["later"] == {"question": "busy", "args": {}}
    assert (found["has"], found["known"]) == (False, [True, False])


def test_of_arguments_that_come_meanwhile_the_last_are_asked(node: Node) -> None:
    found = node.run(LATEST)
    assert found["asked"] == [1, 4, "busy", "busy", "busy"]
    assert found["told"] == [[1, 1], [4, 4], ["busy", "Wait."], ["busy", "Wait."], ["busy", "busy"]]
    assert (found["rests"], found["later"]) == ([1000, 2000], []), "it asks less and less often"


def test_each_answer_has_the_field_by_which_the_browser_knows_it(node: Node) -> None:
    fields = node.run('return (await import("./asking/ask-server.js")).FIELDS;')
    pair = {"op": "round", "rule": "clipped", "parameters": {}}
    view = {"start": -3, "stop": 3, "g": 1}
    noise = {"noise": "uniform", "width": 1}
    several = {"op": "round", "rules": ["clipped"], "parameters": {}}
    data = {"op": "quantize", "rules": ["lsq"], "learns": "s", "numbers": [], "weights": []}
    given = {
        "entry": {"kind": "op", "text": "x"}, "formulas": pair | {"learns": ""},
        "code": pair | {"learns": "", "language": "PyTorch"}, "read": {"code": "def f(x):\n    return x"},
        "judge": {"exercise": "clamp", "code": "x"}, "lens": several | view | noise,
        "distances": {"op": "round", "parameters": {}} | noise, "checks": pair,
        "neighbours": pair | {"start": -3, "stop": 3}, "row": pair,
        "implied": several | {"start": -3, "stop": 3}, "map": several | {"start": -3, "stop": 3, "top": 2},
        "sizes": several, "scaled": several | {"rules": ["clipped", "atan_surrogate"], "kind": "area"},
        "pull": several | data, "rest": several | data, "lesson": {"key": "clamp"},
    }  # fmt: skip
    assert {*given, "curves"} == {*answers.QUESTIONS} == {*fields, "curves"}
    for question, arguments in given.items():
        assert fields[question] in ask(question, **arguments), question
    assert "message" not in ask_curves(f"op={next(iter(OPS))}")
