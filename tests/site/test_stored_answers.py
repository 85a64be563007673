"""Answers that come along are the app's, and the browser finds them."""

import json

import explorer
from explorer.questions.lens import encode_lens
from explorer.site.stored_answers import pack_answers
from explorer.ui.server import answers
from tests.frontend.modules import Node
from tests.questions.asking import ask

OP, RULES = "clamp", ("default", "published_clamp")
LENS = {"op": OP, "rules": [*RULES], "parameters": {}, "noise": "uniform", "width": 1}
LENS |= {"start": -3, "stop": 3, "g": 1}
FOUND = """
    globalThis.document = {
      createElement: () => ({ remove: () => {}, data: given.file }),
      head: { append: (script) => queueMicrotask(script.onload) },
    };
    const { setDocument } = await import("./choice/entries.js");
    setDocument(given.document);
    const { createSiteAsk } = await import("./asking/ask-site.js");
    const ask = createSiteAsk(null, { lessons: [], unknown: {} });
    return Promise.all(given.asked.map(([question, asked]) => ask(question, asked)));
"""


def test_the_browser_finds_what_came_along_and_says_what_else_it_is_of(node: Node) -> None:
    file = pack_answers(OP, RULES)
    asked = [(question, given) for question, given, _ in file["answers"]]
    moved = {"op": OP, "rule": RULES[1], "parameters": {"lo": -0.5}}
    others = [
        ("checks", moved), ("code", moved | {"language": "JAX", "learns": ""}), ("lens", LENS),
        ("lens", LENS | {"width": 0.5}),
        ("implied", {name: LENS[name] for name in ("op", "rules", "parameters", "start", "stop")}),
    ]  # fmt: skip
    given = {"document": answers.make_page_document(), "file": file, "asked": [*asked, *others]}
    found = node.run(FOUND, given)
    for (question, given), answer in zip(asked, found, strict=False):
        apps = ask(question, **given)
        if question == "map":  # a coarser one where a rule is not linear in g
            answer, apps = ({k: each["words"] for k, each in one["rules"].items()} for one in (answer, apps))
        assert answer == apps
    checks, code, lens, elsewhere = found[-5:-1]
    assert checks["note"] == "At the defaults. For lo = \u22120.5 the app checks this."
    assert checks["lines"] == ask("checks", **moved | {"parameters": {}})["lines"]
    assert code["note"].startswith("At the defaults")
    alone = [explorer.lens(OP, rule).sentences for rule in RULES]
    assert lens["words"] == " ".join(dict.fromkeys([*alone[0].values(), *alone[1].values()]))
    curve = encode_lens(explorer.lens(OP))
    assert (lens["x"], lens["gradient"]) == (curve["x"], curve["gradient"])
    assert elsewhere["message"].endswith("For others, use the app.")
    assert elsewhere["lacks"]
    both = found[-1]
    assert list(both["rules"]) == [*RULES]
    assert both["lead"]
    assert len(json.dumps(file)) < 100_000
