"""No text of a user reaches Markdown: labels, captions, help and options are ours alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import FieldDescriptor
from streamlit.proto.Markdown_pb2 import Markdown

from tests.training.driving import turn_until_idle
from tests.ui.pages import labelled, metric, opened, press, section, sound

# Where Streamlit's front end draws text as it is; everything else it may take for Markdown.
PLAIN_KINDS = {"text", "code", "text_area", "arrow_data_frame", "dataframe", "bidi_component"}
PLAIN_FIELDS = {
    *("id", "form_id", "default", "value", "string_value", "raw_values", "options", "url", "icon"),
    *("page_script_hash", "url_pathname", "page", "filter_mode", "format", "element_id"),
}  # fmt: skip
# A parameter's name is letters, digits and inner underscores, which Markdown leaves alone; or a number.
HARMLESS = re.compile(r"[A-Za-z]\w*( of own rule [1-3])?|[0-9.e+-]+")

TAME = "op=formula:+x&rule=clipped&rule=formula:+c*g&rule=formula:+2*g&rule=formula:+3*g"
WILD = (
    "op=formula:+x**2*a_b**2&rule=clipped&rule=formula:+g*x**2*k**2*c&rule=formula:+g*k*kappa**2*c"
    "&rule=formula:+where((x<0)|(x>1),g*2**x,g*a_b)"
)
UNREADABLE = "**bold** [here](http://a.example) :red[x] $x$ <b>"


def _markdown(test) -> set[str]:
    """All text on the page that the front end sets as Markdown."""
    return {text for block in (test.main, test.sidebar) for element in block for text in _texts(element)}


def _texts(element) -> Iterator[str]:
    proto = getattr(element, "proto", None)
    if proto is not None and element.type not in PLAIN_KINDS:
        yield from _strings(proto)


def _strings(proto) -> Iterator[str]:
    if isinstance(proto, Markdown) and proto.element_type == Markdown.Type.LATEX:
        return
    for field, value in proto.ListFields():
        for part in value if field.is_repeated else [value]:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                yield from _strings(part)
            elif isinstance(part, str) and field.name not in PLAIN_FIELDS:
                yield part


def _added(wild: set[str], tame: set[str]) -> set[str]:
    return {text for text in wild - tame if not HARMLESS.fullmatch(text)}


def test_the_search_sees_markdown_wherever_it_is():
    texts = _markdown(section(opened(TAME), "Code"))
    captions = _markdown(opened("op=tanh&rule=clipped&range=1&range=1"))
    for text in (
        "Op",
        "##### Gradient explorer",
        "Section",
        "Paste code",
        "PyTorch",
        "Download .py",
        "Explore",
    ):
        assert text in texts
    assert "grad_output" in " ".join(texts)  # a help
    assert any(text.startswith("Clipped straight-through: ") for text in captions)


@pytest.mark.parametrize("name", ["Formula", "Code", "Paste code", "Data"])
def test_own_formulas_on_explore(name: str):
    tame, wild = (_markdown(section(opened(query), name)) for query in (TAME, WILD))
    assert _added(wild, tame) == set()


def test_a_formula_that_cannot_be_read():
    test = opened(TAME)
    before = _markdown(test)
    for label in ("Own op: y =", "Own rule 1: gradient ="):
        labelled(test.text_input, label).input(UNREADABLE)
    sound(test.run())
    assert [code.value.splitlines()[0] for code in test.code] == [UNREADABLE] * 2
    assert _added(_markdown(test), before) == set()


def test_pasted_code_with_hostile_names():
    test = section(opened(), "Paste code")
    before = _markdown(test)
    for text in (
        f"{UNREADABLE}\n",
        "def __f__(x):\n    return x * __k__ ** 2\n",
        "def _f_(x):\n    return x\n",
    ):
        test.text_area[0].input(text)
        sound(test.run())
        assert len(test.text) >= 2
        assert _added(_markdown(test), before) <= {"Show its curve"}


def test_own_formulas_on_train(engine):
    seen = []
    for query in (TAME, WILD):
        test = opened(f"{query}&steps=3&hidden=2&batch=2&lr=1e-9", "train")
        press(test, "Start")
        turn_until_idle(engine)
        seen.append(_markdown(sound(test.run())))
        assert metric(test, "Step") == "3 / 3"
    assert _added(seen[1], seen[0]) == set()


def test_a_hostile_link():
    noted = opened("op=rund&rule=formula:+zz(")
    hostile = opened("op=**b**+[l](http://a.example)&rule=formula:+:red[x]&*k*=1&range=![](x)&g=$1$")
    assert _added(_markdown(hostile), _markdown(noted)) == set()


def test_the_slider_of_an_own_rule_is_called_by_its_number():
    labels = [slider.label for slider in opened("op=sign&rule=clipped&rule=formula:+g*c*x**2").slider]
    assert labels == ["c of Clipped straight-through", "c of own rule 1"]
    assert [slider.label for slider in opened(WILD).slider] == [
        *("a_b", "c of Clipped straight-through", "c of own rule 1", "c of own rule 2", "k", "kappa"),
    ]
