"""The name of what was read stays with it: in its keys, and so in label, legend, code and link."""

import pytest
import torch

import explorer
from explorer.catalogue import find_op, find_rule
from explorer.reading import read_source, read_sources
from explorer.ui.links.link import from_query
from tests.reading.documents import DOCUMENTS_CLAMP
from tests.reading.test_unreadable import _fn


def test_the_name_of_a_class_is_the_label_of_its_op_and_rule() -> None:
    op, rule = read_source(DOCUMENTS_CLAMP)
    assert (find_op(op).label, find_rule(rule).label) == ("RoundGradient", "RoundGradient")
    assert (find_op(op).formula, find_rule(rule).formula) == ("round(x)", "g")


def test_a_rule_that_was_read_works_wherever_keys_do() -> None:
    reading = read_sources(DOCUMENTS_CLAMP)[1]
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    explorer.apply(reading.op, reading.rule, x).backward(torch.full((3,), 2.0))
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 2.0, 1.0]
    frame = explorer.sample(reading.op, [reading.rule, "default"], start=-1, stop=2)
    assert set(frame["rule"]) == {reading.rule, "default"}
    assert "ClampGradient" in explorer.figure(frame).to_json()


@pytest.mark.parametrize(
    ("name", "kept"), [("F" * 60, "F" * 40), ("Größe", "Gr_e"), ("_Private1", "_Private1")]
)
def test_a_name_is_kept_as_far_as_a_key_holds_it(name: str, kept: str) -> None:
    op, rule = read_source(_fn("return x.round()").replace("Fn", name))
    assert (op, rule) == (f"formula: {kept} = round(x)", f"formula: {kept} = g")
    assert find_op(op).key == op


def test_a_name_survives_in_a_link() -> None:
    op, rule = read_source(DOCUMENTS_CLAMP)
    result, notices = from_query({"op": [op], "rule": ["default", rule]})
    assert (result.op, result.rules, list(notices)) == (op, ("default", rule), [])
