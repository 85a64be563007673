"""No text of a user reaches Markdown: labels, captions, help and options are ours alone."""

import pytest
from google.protobuf.message import Message

from tests.ui.opening import opened

TAME = "op=formula:+x&rule=clipped&rule=formula:+c*g&rule=formula:+2*g&rule=formula:+3*g"
WILD = (
    "op=formula:+x**2*a_b**2&rule=clipped&rule=formula:+g*x**2*k**2*c&rule=formula:+g*k*kappa**2*c"
    "&rule=formula:+where((x<0)|(x>1),g*2**x,g*a_b)"
)
NOTED = "op=rund&rule=formula:+zz("
HOSTILE = "op=**b**+[l](http://a.example)&rule=formula:+:red[x]&*k*=1&range=![](x)&g=$1$"


def _markdown(query: str, path: str) -> set[str]:
    """Return all on a page but the data of components, in which Streamlit sets no Markdown."""
    test = opened(query, path)
    elements = [element for block in (test.main, test.sidebar) for element in block]
    protos = [element.proto for element in elements if element.type != "bidi_component"]
    return {str(proto) for proto in protos if isinstance(proto, Message)}


@pytest.mark.parametrize("path", ["", "train"])
@pytest.mark.parametrize(("tame", "wild"), [(TAME, WILD), (NOTED, HOSTILE)], ids=["own", "hostile"])
def test_what_a_link_names_changes_no_text_of_a_page(path: str, tame: str, wild: str):
    assert _markdown(wild, path) == _markdown(tame, path) != set()
