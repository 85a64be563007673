"""The layer: as ``apply`` forward and backward, compiled, exported, copied, pickled and saved."""

import copy
import io
import pickle

import pytest
import torch
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from torch import nn

import explorer
from explorer.catalogue import list_learnable
from explorer.formula import FUNCTIONS
from explorer.formula.tree import Call, walk
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import take_part

_PAIRS = [(usual_op(rule), rule) for rule in RULES.values() if rule.learned]
LEARNING = [(op.key, rule.key, names) for op, rule in _PAIRS if (names := list_learnable(op, rule))]
BENT = explorer.Op("bent", "Bent", "x + abs(x)")
OUTSIDE = explorer.Rule("outside", "Outside", "g * (abs(x) > w)", parameters=(explorer.Parameter("w", 1.0),))
MADE = {
    "a pair": lambda: explorer.Layer("round", "straight_through"),
    "numbers": lambda: explorer.Layer("clamp", "masked", lo=-1, hi=0.5),
    "own formulas": lambda: explorer.Layer("formula: x**3", "formula: 3 * x**2 * g * (x < w)", w=0.5),
    "own entries": lambda: explorer.Layer(BENT, OUTSIDE, w=0.7),
    "torch's own": lambda: explorer.Layer("gelu", "default"),
    "a step that learns": lambda: explorer.Layer("quantize", "lsq", learns=("s",), s=0.3, qmax=2.0),
    "a step a channel": lambda: explorer.Layer("quantize", "lsq", ["s"], s=torch.tensor([[0.3], [0.7]])),
}


class Stacked(nn.ModuleList):
    def forward(self, x):
        return torch.stack([layer(x) for layer in self])


def passed(module, x):
    """y and all gradients, for an upstream gradient that differs from element to element."""
    x = x.clone().requires_grad_()
    y = module(x)
    leaves = [x, *module.parameters()]
    weights = torch.linspace(-1, 2, y.numel()).reshape(y.shape)
    return [y.detach(), *torch.autograd.grad(y, leaves, weights)]


def points():
    return torch.linspace(-2.3, 2.9, 26).reshape(2, 13)


def same(one, other):
    return all(torch.equal(left, right) for left, right in zip(one, other, strict=True))


@pytest.mark.parametrize(("op", "rule", "names"), LEARNING)
def test_learned_parameters_are_registered_under_their_names(op, rule, names):
    layer = explorer.Layer(op, rule, learns=names)
    assert list(layer.state_dict()) == list(names)
    tensors = {name: getattr(layer, name) for name in names}
    assert all(isinstance(tensor, nn.Parameter) for tensor in tensors.values())

    applied, held = nn.Identity(), nn.ParameterList(layer.parameters())
    applied.held = held
    applied.forward = lambda x: explorer.apply(op, rule, x, **dict(zip(names, held, strict=True)))
    assert same(passed(layer, points()), passed(applied, points()))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_layer_can_be_copied_pickled_and_loaded(make):
    layer, expected = make(), passed(make(), points())
    stream = io.BytesIO()
    torch.save(layer.state_dict(), stream)
    loaded = make()
    for parameter in loaded.parameters():
        parameter.data.fill_(9.0)
    stream.seek(0)
    loaded.load_state_dict(torch.load(stream))
    for other in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), loaded):
        assert same(passed(other, points()), expected)
        assert repr(other) == repr(layer)


# torch.compile itself makes an instance of Function, about which torch warns.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_layers_compile_whole():
    layers = Stacked(make() for make in MADE.values())
    expected = passed(layers, points())
    compiled = passed(torch.compile(layers, fullgraph=True, backend="aot_eager"), points())
    assert torch.equal(compiled[0], expected[0])
    for one, other in zip(compiled, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_an_exported_layer_returns_the_same_numbers(make):
    layer = nn.Sequential(make())
    exported = torch.export.export(layer, (points(),))
    x = points() * 0.7 + 0.1
    assert torch.equal(exported.module()(x), layer(x))


def ran_by_onnx(layer, x):
    """What ONNX's evaluator computes for x, exported at fewer columns, and the initial values."""
    free = ({1: torch.export.Dim.DYNAMIC},)
    program = torch.onnx.export(layer.eval(), (x[:, :4],), dynamo=True, verbose=False, dynamic_shapes=free)
    model = program.model_proto
    (y,) = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: x.numpy()})
    return torch.from_numpy(y), {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}


# onnxscript's own, about NumPy and about torch; and the evaluator's outside the domain of a logarithm.
without_warnings = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:invalid value:RuntimeWarning"
)


@without_warnings
@pytest.mark.parametrize("made", take_part(MADE))
def test_onnx_computes_the_same_numbers(made):
    layer, x = MADE[made](), torch.linspace(-3.1, 2.8, 26).reshape(2, 13)
    y, initial = ran_by_onnx(layer, x)
    torch.testing.assert_close(y, layer(x).detach(), rtol=1e-6, atol=1e-6)
    for name, value in layer.state_dict().items():
        assert initial[name].tolist() == value.tolist()


def of_torch_alone(op):
    """Whether torch and so ONNX know every function of an op."""
    calls = [node for node in walk(op.parsed.tree) if isinstance(node, Call)]
    return not any(FUNCTIONS[call.function].own for call in calls)


@without_warnings
def test_every_op_of_the_catalogue_is_exported_to_onnx():
    taken = take_part(OPS.items())
    layers = Stacked(explorer.Layer(key, "zero") for key, op in taken if of_torch_alone(op))
    x = torch.linspace(-3.1, 2.8, 26).reshape(2, 13)
    y, _ = ran_by_onnx(layers, x)
    assert len(y) > 3
    torch.testing.assert_close(y, layers(x), rtol=1e-5, atol=1e-5, equal_nan=True)


def test_the_repr_of_a_layer_shows_its_arguments():
    assert repr(MADE["numbers"]()) == "Layer('clamp', 'masked', lo=-1, hi=0.5)"
    assert repr(MADE["a step that learns"]()) == "Layer('quantize', 'lsq', learns=('s',), qmax=2.0)"
    assert repr(MADE["own entries"]()) == "Layer('bent', 'outside', w=0.7)"
    assert "f='(y - 0.3)**2'" in repr(explorer.Layer("bernoulli", "reinforce", f="(y - 0.3)**2"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: explorer.Layer("rounf", "zero"), "unknown op 'rounf'"),
        (lambda: explorer.Layer("clamp", "masked", low=1), "unknown parameter 'low'"),
        (lambda: explorer.Layer("clamp", "masked", lo=float("nan")), "finite"),
        (lambda: explorer.Layer("step", "gaussian", learns=("s",)), "cannot learn"),
        (lambda: explorer.Layer("step", "gaussian", learns=("z",)), "unknown parameter 'z'"),
        (lambda: explorer.Layer("formula: x * half", "default", learns=("half",)), "another name"),
    ],
)
def test_invalid_arguments_raise_at_construction(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_learned_parameter_that_leaves_its_domain_raises_an_error():
    layer = explorer.Layer("round", "lsq", learns=["s"], s=torch.tensor([[0.5], [0.25]]))
    layer(torch.ones(2, 3))
    with torch.no_grad():
        layer.s[1] = -0.125
    words = r"lsq needs s > 0, not s = .0\.125: training moved it there, so use a smaller learning rate"
    with pytest.raises(ValueError, match=words):
        layer(torch.ones(2, 3))
