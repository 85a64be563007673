"""An op and a rule that share a name: one parameter where it means the same, two where it does not."""

import pytest
import torch

import explorer
from explorer.catalogue import Op, Parameter, Rule, adapt_rule, check_values, qualify_name, resolve_values
from explorer.gradient import bind
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over

PAIRS = [(op, rule) for op in OPS.values() for rule in RULES.values()]
APART = [(op, rule) for op, rule in PAIRS if adapt_rule(op, rule) is not rule]
X = torch.tensor([-3.0, -1.5, -0.9, -0.3, 0.0, 0.2, 0.5, 0.8, 1.0, 1.7, 2.6], dtype=torch.float64)


def test_names_are_one_where_the_catalogue_means_the_same():
    """One name in an op and a rule is one parameter exactly where both entries give it one meaning."""
    for op, rule in PAIRS:
        own = {p.name: p for p in op.parameters}
        for plain, p in zip(rule.parameters, adapt_rule(op, rule).parameters, strict=True):
            if plain.name in own:
                assert (p.name == plain.name) == (own[plain.name].meaning == plain.meaning), (op, rule, p)
            else:
                assert p == plain


def test_the_pairs_of_two_meanings_are_these():
    named = {(p.plain, f"{op.key} {rule.key}") for op, rule in APART for p in adapt_rule(op, rule).parameters}
    assert {name for name, _ in named if name} == {"a", "alpha", "delta", "n", "s"}
    of_alpha = {f"{op} {rule}" for op in ("elu", "celu") for rule in ("dsq", "reversal")}
    assert {pair for name, pair in named if name == "alpha"} == of_alpha
    assert {pair for name, pair in named if name in ("n", "delta")} == {
        "dorefa square_wave", "ternarize ewgs", "ttq ewgs",
    }  # fmt: skip


@loop_over("pair", APART)
def test_each_keeps_its_own_value(pair: tuple[Op, Rule]):
    """At the defaults and moved, op and rule are what each is alone, where the rule does not ask for y."""
    op, rule = pair
    own = adapt_rule(op, rule)
    moved = {qualify_name(rule, p): (p.default + p.high) / 2 for p in own.parameters if p.plain}
    for settings in ({}, moved):
        pair_values = resolve_values(op, rule, settings)
        alone = {p.display_name: pair_values[p.name] for p in own.parameters}
        bound = bind(op, rule, settings)
        y = bound.forward(X)
        assert torch.equal(y, op.parsed.bind()(X) if not op.parameters else bind(op, "zero", {}).forward(X))
        assert rule.parsed
        g = torch.full_like(X, 2.0)
        assert torch.equal(bound.gradient(X, y, g), rule.parsed.bind(alone)(X, y, g))


@loop_over("rule", RULES.values())
def test_every_pair_is_finite_at_the_defaults(rule: Rule):
    """A gradient is finite wherever the rule alone is, and the op's values are."""
    for op in OPS.values():
        bound, alone = bind(op, rule, {}), bind("identity", rule, {})
        y, g = bound.forward(X), torch.ones_like(X)
        wanted = y.isfinite() & alone.gradient(X, X, g).isfinite()
        if rule.parsed is None:  # it is torch's own, which may be infinite where y is not: sqrt at 0
            wanted &= X > 0
        assert bound.gradient(X, y, g)[wanted].isfinite().all(), op.key


def test_a_name_of_two_meanings_is_the_ops_by_keyword():
    x = torch.tensor([-1.0, 0.4], dtype=torch.float64, requires_grad=True)

    def gradient(**parameters: float) -> torch.Tensor:
        y = explorer.apply("elu", "reversal", x, **parameters)
        return torch.autograd.grad(y.sum(), x)[0]

    assert torch.equal(gradient(alpha=2.0), torch.tensor([-1.0, -1.0], dtype=torch.float64))
    assert torch.equal(explorer.apply("elu", "reversal", x, alpha=2.0), torch.nn.functional.elu(x, 2.0))
    three = torch.tensor([-3.0, -3.0], dtype=torch.float64)
    assert torch.equal(gradient(**{"reversal.alpha": 3.0}), three)
    assert torch.equal(gradient(alpha_rule=3.0), three)


def test_a_tensor_for_a_name_of_op_and_rule_learns_where_it_is_given():
    x = torch.linspace(-2, 2, 9)
    s = torch.tensor(1.0, requires_grad=True)
    explorer.apply("seq", "lsq", x, s=s).sum().backward()
    own = s.grad
    s.grad = None
    explorer.apply("seq", "lsq", x, s=s, **{"lsq.s": 0.25}).sum().backward()
    assert torch.equal(own, s.grad)
    rule_s = torch.tensor(0.25, requires_grad=True)
    y = explorer.apply("seq", "lsq", x, **{"lsq.s": rule_s})
    assert torch.equal(y, explorer.apply("seq", "zero", x))
    y.sum().backward()
    assert rule_s.grad is not None


def test_own_entries_share_by_name():
    """Own formulas and records say no quantity: they share, but not where the rule would mean nothing."""
    own = Rule("mine", "Mine", "g * s", parameters=(Parameter("s", 0.5, 0.01, 5.0, "my step"),))
    assert adapt_rule(OPS["quantize"], own) is own
    assert resolve_values(OPS["quantize"], own, {}) == {"s": 0.25, "qmin": -4.0, "qmax": 3.0}
    rounding = explorer.catalogue.find_op("formula: round(x / s) * s")
    assert adapt_rule(rounding, RULES["lsq"]) is RULES["lsq"]
    apart = adapt_rule(explorer.catalogue.find_op("formula: alpha * x"), RULES["dsq"])
    assert [p.name for p in apart.parameters] == ["alpha_rule"]
    share = Parameter("s", 0.5, quantity="a share")
    stated = Rule("mine", "Mine", "g * s", parameters=(share,))
    assert [p.name for p in adapt_rule(OPS["quantize"], stated).parameters] == ["s_rule"]


def test_a_renamed_parameter_is_found_again():
    op, rule = OPS["elu"], RULES["dsq"]
    own = adapt_rule(op, rule)
    assert adapt_rule(op, own) is own
    assert own.formula == rule.formula.replace("alpha", "alpha_rule")
    assert check_values(op, (rule,), {"alpha": 2.0, "dsq.alpha": 0.3}) == {"alpha": 2.0, "dsq.alpha": 0.3}
    with pytest.raises(ValueError, match=r"unknown parameter 'beta': elu with dsq takes alpha, alpha_rule"):
        check_values(op, (rule,), {"beta": 1.0})


@loop_over("pair", APART)
def test_formulas_beside_can_be_read(pair: tuple[Op, Rule]):
    """Renamed formulas stay within the limits of the language, those of kinks and areas among them."""
    rule = adapt_rule(*pair)
    assert rule.parsed
    assert {p.name for p in rule.parameters if p.plain} <= set(rule.parsed.parameters)
    chosen = resolve_values(*pair, {})
    for text in (rule.area, rule.antiderivative):
        if text not in (None, "infinite"):
            formula = explorer.catalogue.records.parse(text, variables=("x",), parameters=None)
            assert set(formula.parameters) <= set(chosen)
    frame = explorer.sample(*pair, points=9)
    assert frame.attrs["curves"].kinks.keys() == {"forward", rule.key}
