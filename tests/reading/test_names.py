"""The name of what was read stays with it: in its keys, and so in label, legend, code and link."""

import pytest

from explorer.catalogue import find_op, find_rule
from explorer.reading import read_source
from explorer.ui.links.link import from_query
from tests.reading.documents import DOCUMENTS_CLAMP
from tests.reading.test_unreadable import _fn


def test_the_name_of_a_class_is_the_label_of_its_op_and_rule() -> None:
    op, rule = read_source(DOCUMENTS_CLAMP)
    assert (find_op(op).label, find_rule(rule).label) == ("RoundGradient", "RoundGradient")
    assert (find_op(op).formula, find_rule(rule).formula) == ("round(x)", "g")


@pytest.mark.parametrize(("name", "kept"), [("F" * 60, "F" * 40), ("Größe", "Gr_e"), ("_Priv1", "_Priv1")])
def test_a_name_is_kept_as_far_as_a_key_holds_it(name: str, kept: str) -> None:
    op, rule = read_source(_fn("return x.round()").replace("Fn", name))
    assert (op, rule) == (f"formula: {kept} = round(x)", f"formula: {kept} = g")
    assert find_op(op).key == op


def test_a_name_survives_in_a_link() -> None:
    op, rule = read_source(DOCUMENTS_CLAMP)
    result, notices = from_query({"op": [op], "rule": ["default", rule]})
    assert (result.op, result.rules, list(notices)) == (op, ("default", rule), [])
