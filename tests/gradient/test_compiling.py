"""``apply`` under torch.compile: one graph without a break, the same numbers."""

import pytest
import torch

from explorer.catalogue import list_learnable, resolve_values
from explorer.gradient import apply
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import take_part

# torch.compile itself makes an instance of Function, about which torch warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")

_EACH_RULE = [(usual_op(rule).key, key) for key, rule in RULES.items()]
PAIRS = list(dict.fromkeys([(op, "default") for op in OPS] + _EACH_RULE))
LEARNING = take_part([(op, rule, one) for op, rule in PAIRS for one in list_learnable(OPS[op], RULES[rule])])


def whole(function):
    """Compiled as one graph, by the backend that traces backward as all others do."""
    return torch.compile(function, fullgraph=True, backend="aot_eager")


def agree(plain, compiled, inputs):
    """Whether values are the same, bit for bit, and gradients up to rounding: both flat lists."""
    results = []
    for function in (plain, compiled):
        leaves = [tensor.clone().requires_grad_() for tensor in inputs]
        y = torch.stack(function(*leaves))
        weights = torch.linspace(-1, 2, y.numel()).reshape(y.shape)
        results.append((y.detach(), torch.autograd.grad(y, leaves, weights, materialize_grads=True)))
    (y, slopes), (fast, fast_slopes) = results
    return torch.equal(y.nan_to_num(), fast.nan_to_num()) and all(
        torch.allclose(one, other, 1e-5, 1e-5, equal_nan=True)
        for one, other in zip(slopes, fast_slopes, strict=True)
    )


def test_every_op_and_every_rule_compiles_whole():
    pairs = take_part(PAIRS)

    def several(x):
        return [apply(op, rule, x) for op, rule in pairs]

    assert agree(several, whole(several), [torch.linspace(-2.3, 2.9, 13)])


def test_every_parameter_that_learns_compiles_whole():
    def several(x, *learned):
        cases = zip(LEARNING, learned, strict=True)
        return [apply(op, rule, x, **{name: tensor}) for (op, rule, name), tensor in cases]

    starts = [torch.tensor(resolve_values(OPS[op], RULES[rule], {})[name]) for op, rule, name in LEARNING]
    assert agree(several, whole(several), [torch.linspace(-2.3, 2.9, 13), *starts])


def test_inputs_without_gradient_compile_whole():
    """Inference, and the first layer of a net: one of each kind of boundary."""

    def several(x):
        ys = [apply("round", "straight_through", x), apply("quantize", "masked", x), apply("sign", "zero", x)]
        ys += [apply("round", "lsq", x, s=torch.tensor(0.5)), apply("relu", "default", x)]
        ys += [apply("fake_quantize", "lsq", x, s=torch.tensor(0.5), z=torch.tensor(0.0))]
        return torch.stack([*ys, apply("bernoulli", "straight_through", x, draw=x.sigmoid())])

    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            x = torch.linspace(-2.3, 2.9, 13, requires_grad=mode is not torch.enable_grad)
            own = torch.compile(several, fullgraph=True, backend="eager")(x)
            assert not own.requires_grad
            torch.testing.assert_close(own, several(x), rtol=0, atol=0)


def test_torch_func_inside_torch_compile_gives_the_rules_gradient_or_an_error():
    """torch would differentiate the op and pass over the rule without a word."""
    slope = torch.func.grad(lambda x: apply("round", "straight_through", x).sum())
    x = torch.linspace(-1, 1, 5)
    with pytest.raises(Exception, match=r"torch\.func inside torch\.compile"):
        torch.compile(lambda x: slope(x), fullgraph=True, backend="eager")(x)
    assert torch.equal(torch.compile(slope, backend="eager")(x), torch.ones(5))


def test_a_compiled_function_follows_new_values_and_shapes():
    def function(x, lo, step):
        return [apply("clamp", "formula: g * (x > lo)", x, lo=lo), apply("round", "lsq", x, s=step)]

    compiled = whole(function)
    for lo, size in ((-1.0, 5), (0.0, 7), (-0.0, 7), (0.5, 11)):
        x, step = torch.linspace(-2, 2, size), torch.tensor(0.1 * size)
        assert agree(lambda x, step, lo=lo: function(x, lo, step),
                     lambda x, step, lo=lo: compiled(x, lo, step), [x, step])  # fmt: skip


def test_a_parameter_that_is_a_tensor_and_does_not_learn_breaks_no_graph():
    def function(x):
        y = apply("clamp", "masked", x, hi=torch.tensor(0.5))
        return [y, apply("step", "gaussian", x, s=torch.ones(1))]

    assert agree(function, whole(function), [torch.linspace(-2, 2, 9)])


def test_an_unknown_rule_is_named_under_compile_too():
    with pytest.raises(Exception, match="unknown rule 'straight'"):
        whole(lambda x: apply("round", "straight", x))(torch.ones(2))
