"""Why a net takes no such rule, and how one is judged whose op draws."""

from explorer.catalogue import OPS, RULES, Op, describe_evaluation, explain_refusal, find_op, find_rule
from tests.selection import loop_over


@loop_over("rule", RULES.values())
def test_no_net_takes_a_rule_that_asks_for_the_loss_at_another_output(rule):
    said = explain_refusal(rule, rule.label)
    assert bool(said) is ("f(1)" in (rule.formula or ""))
    assert not said or said.startswith(f"{rule.label} asks for f(1), the loss at an output")


@loop_over("rule", RULES.values())
def test_a_net_that_spikes_takes_no_rule_with_a_twin_either(rule):
    said = explain_refusal(rule, rule.label, spikes=True)
    assert bool(said) is any(name in (rule.formula or "") for name in ("f(1)", "fa()"))


def test_a_rule_is_refused_for_the_formula_of_a_learned_parameter_too():
    rule = find_rule("formula: g * b; b: sum(fa() - f(0))")
    assert "asks for f(0), " in explain_refusal(rule, "It")
    assert explain_refusal(find_rule("formula: g * b; b: sum(fa())"), "It", spikes=True)
    assert not explain_refusal(find_rule("formula: g * b; b: sum(fa())"), "It")


@loop_over("op", OPS.values())
def test_an_op_that_draws_says_how_its_net_is_judged(op):
    said = describe_evaluation(op)
    assert bool(said) is op.is_random
    assert ("one draw" in said) is (op.is_random and op.evaluation_op is op)
    assert ("without noise" in said) is (op.is_random and not op.evaluation_op.is_random)


def test_the_hard_unit_is_named_and_an_own_op_is_judged_by_a_draw():
    assert describe_evaluation(OPS["gumbel_sigmoid"]) == "Judged with the hard unit."
    assert describe_evaluation(find_op("formula: x + u()")) == "Judged by one draw, the same at every step."
    assert describe_evaluation(Op("mine", "Mine", "x + u()", judged="x")) == "Judged without noise."
