"""No text of a user reaches Markdown: labels, captions, help and options are ours alone."""

import re
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import FieldDescriptor
from streamlit.proto.Markdown_pb2 import Markdown

from tests.ui.opening import opened

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
    assert {"Explore", "Train"} <= _markdown(opened(TAME))


@pytest.mark.parametrize("path", ["", "train"])
def test_own_formulas(path: str):
    tame, wild = (_markdown(opened(query, path)) for query in (TAME, WILD))
    assert _added(wild, tame) == set()


def test_a_hostile_link():
    noted = opened("op=rund&rule=formula:+zz(")
    hostile = opened("op=**b**+[l](http://a.example)&rule=formula:+:red[x]&*k*=1&range=![](x)&g=$1$")
    assert _added(_markdown(hostile), _markdown(noted)) == set()
