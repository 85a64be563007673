"""Random numbers in pasted code: one per element of x, the same in forward and backward.

The formulas have the same distribution as torch's results. If the code itself draws u, equal u give equal
values.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from explorer.formula.operands import has_elements
from explorer.formula.tree import LOSS, LOSS_OUTPUTS, NORMAL, UNIFORM, LossAt, Name, Node
from explorer.reading import values
from explorer.reading.arithmetic import apply_binary, compute, make_result
from explorer.reading.building import detach, strip_detach, to_number
from explorer.reading.errors import require
from explorer.reading.tracking import assign
from explorer.reading.values import Function, Opaque, Quantity, Tensor, Value, to_quantity
from explorer.reading.vocabulary import ELEMENTWISE

# Names of the random numbers that the code has drawn so far.
DRAWN_NAMES: ContextVar[list[str]] = ContextVar("DREW")
# The input that backward calls as the loss; None if no input may be called.
LOSS_INPUTS: ContextVar[set[Node] | None] = ContextVar("CALLED", default=None)
ONE_LOSS = "is a second function that the text does not hold: a formula has one, the loss of an output"
OF_OUTPUT = "does not ask for the loss of one output: an input that is called is the loss, a function of y"
SECOND = "is a second draw, and a formula has one for each element and step: draw once and keep it"
OF_ONE = "draws otherwise than one number for each element of x: write torch.rand_like(x)"
OF_CLASSES = (
    "draws one of several classes; of two, given as torch.stack([a, b], dim=-1), it can be read: "
    "otherwise write the unit with torch.rand_like(x)"
)
OF_TRAINING = (
    "depends on whether the module is in training mode, which cannot be followed: write True or False"
)


@dataclass(frozen=True)
class TensorPair:
    """Two tensors of equal shape, stacked along a new last dimension."""

    parts: tuple[Value, Value]


def draw_number(name: str) -> Tensor:
    """Return a tensor of random numbers, uniform (``u()``) or normal (``normal()``), one per element of x.

    Raises UnreadableError at a second draw, since a formula has only one.
    """
    require(not DRAWN_NAMES.get(), SECOND)
    DRAWN_NAMES.get().append(name)
    return Tensor(Name(name))


def draw_uniform(*sizes: Value, size: Value = None) -> Value:
    """Return random numbers for ``torch.rand``, if it is called with the shape of a tensor."""
    _require_sizes(sizes, size)
    return draw_number(UNIFORM)


def draw_normal(*sizes: Value, size: Value = None) -> Value:
    """Return random numbers for ``torch.randn``, if it is called with the shape of a tensor."""
    _require_sizes(sizes, size)
    return draw_number(NORMAL)


def draw_uniform_like(input: Value) -> Value:
    """Return random numbers for ``torch.rand_like``, uniform in (0, 1)."""
    _require_whole(input)
    return draw_number(UNIFORM)


def draw_normal_like(input: Value) -> Value:
    """Return random numbers for ``torch.randn_like``, standard normal."""
    _require_whole(input)
    return draw_number(NORMAL)


def draw_between(self: Value, low: Value = 0, to: Value = 1) -> Value:
    """Return a tensor of uniform random numbers between ``low`` and ``to``, like ``self``."""
    return apply_binary("+", low, apply_binary("*", apply_binary("-", to, low), draw_uniform_like(self)))


def draw_around(mean: Value, std: Value = 1, size: Value = None) -> Value:
    """Return random numbers for ``torch.normal``, through which no gradient reaches the arguments."""
    if size is not None:
        _require_sizes((), size)
    else:
        require(any(map(_is_whole, (mean, std))), OF_ONE)
    return apply_binary(
        "+", _make_constant(mean), apply_binary("*", _make_constant(std), draw_number(NORMAL))
    )


def _draw_filled(self: Value, mean: Value, std: Value) -> Value:
    noise = draw_normal_like(self)
    return apply_binary("+", _make_constant(mean), apply_binary("*", _make_constant(std), noise))


def evaluate_loss(function: Node, positional: tuple[Value, ...], keywords: Mapping[str, Value]) -> Tensor:
    """Return the result of a call of the loss function inside a pasted backward.

    The result is ``f()`` if the argument is the output y, otherwise ``f`` of the argument.
    """
    require(len(positional) == 1 and not keywords, OF_OUTPUT)
    inputs, output = LOSS_INPUTS.get() or set(), to_quantity(positional[0])
    require(not inputs - {function}, ONE_LOSS)
    require(_is_whole(output) or values.is_number(positional[0]), OF_OUTPUT)
    LOSS_INPUTS.set({function})
    node = strip_detach(to_number(output.node))
    return Tensor(LOSS if node == LOSS_OUTPUTS[LOSS] else LossAt(node))


def draw_coin(input: Value, p: Value = None) -> Value:
    """Return a tensor that is 1 with probability ``p`` and 0 otherwise, for each element.

    Without ``p``, the input tensor contains the probabilities.
    """
    _require_whole(input)
    return compute("where", compute("<", draw_number(UNIFORM), input if p is None else p), 1.0, 0.0)


def apply_dropout(input: Value, p: Value = 0.5, training: Value = True) -> Value:
    """Return a tensor after dropout: elements are 0 with probability ``p``, the others divided by 1 − p."""
    require(isinstance(training, bool), OF_TRAINING)
    if not training or (values.is_number(p) and p == 0):
        return input
    _require_whole(input)
    if isinstance(p, int | float) and p == 1:
        return apply_binary("*", input, 0)
    keep_rate = apply_binary("-", 1, p)
    return compute(
        "where", compute("<", draw_number(UNIFORM), keep_rate), apply_binary("/", input, keep_rate), 0
    )


def stack_pair(tensors: Value, dim: Value = 0) -> Value:
    """Return two tensors of equal shape stacked along a new last dimension."""
    is_pair = isinstance(tensors, tuple) and len(tensors) == 2 and dim == -1
    require(is_pair, f"rearranges the tensor: {ELEMENTWISE}")
    for part in tensors:
        _require_whole(part)
    return TensorPair(tensors)


def apply_gumbel_softmax(
    logits: Value, tau: Value = 1, hard: Value = False, eps: Value = None, dim: Value = -1
) -> Value:
    """Return ``gumbel_softmax`` of two logits.

    The difference of two Gumbel numbers follows a logistic distribution, so that a single u suffices.
    """
    require(isinstance(logits, TensorPair) and dim == -1 and isinstance(hard, bool), OF_CLASSES)
    u = draw_number(UNIFORM)
    odds = compute("log", apply_binary("/", u, apply_binary("-", 1, u)))
    lead = apply_binary("-", apply_binary("-", *logits.parts), odds)
    share = compute("sigmoid", apply_binary("/", lead, tau))
    if hard:
        step = apply_binary("-", compute("where", compute(">", lead, 0), 1.0, 0.0), _make_constant(share))
        share = apply_binary("+", step, share)
    return TensorPair((share, apply_binary("-", 1, share)))


def select_item(owner: Value, key: Value) -> Value:
    """Return ``owner[key]`` for a traced value.

    In a pair of stacked tensors, a key along the last dimension selects one of the two.
    """
    if not isinstance(owner, TensorPair):
        return values.select_element(owner, key)
    *leading, place = key if isinstance(key, tuple) else (None, None)
    is_valid = place in (0, 1, -1) and leading in ([...], [slice(None)])
    require(is_valid, f"takes a piece of a tensor: {ELEMENTWISE}")
    return owner.parts[place]


def _make_constant(value: Value) -> Value:
    tensor = to_quantity(value)
    return make_result(detach(tensor.node), tensor) if isinstance(tensor, Tensor) else value


def _require_sizes(sizes: tuple[Value, ...], size: Value) -> None:
    requested = sizes if size is None else (size,)
    requested = requested[0] if len(requested) == 1 and isinstance(requested[0], tuple) else requested
    is_size = len(requested) == 1 and isinstance(requested[0], Opaque) and requested[0].of is not None
    require(is_size and has_elements(requested[0].of), OF_ONE)


def _require_whole(tensor: Value) -> None:
    require(_is_whole(tensor), OF_ONE)


def _is_whole(value: Value) -> bool:
    """Return whether a value is a tensor of x's shape with all elements, not selected or summed ones."""
    tensor = to_quantity(value)
    is_partial = tensor.within or values.get_sum(tensor) or getattr(tensor, "folded", False)
    sized = isinstance(tensor, Tensor) and tensor.sized
    return not is_partial and isinstance(tensor, Quantity) and (sized or has_elements(tensor.node))


ROWS: dict[str, Function] = {
    "rand": draw_uniform,
    "randn": draw_normal,
    "rand_like": draw_uniform_like,
    "randn_like": draw_normal_like,
    "uniform": draw_between,
    "normal": draw_around,
    "bernoulli": draw_coin,
    "dropout": apply_dropout,
    "stack": stack_pair,
    "gumbel_softmax": apply_gumbel_softmax,
}
# Methods that fill a tensor and whose arguments differ from those of the function of the same name.
FILLS: dict[str, Function] = {
    "normal_": lambda self, mean=0, std=1: assign(self, _draw_filled(self, mean, std)),
    "bernoulli_": lambda self, p=0.5: assign(self, draw_coin(self, p)),
}
LAYERS: dict[str, Function] = {"dropout": lambda self, p=0.5: apply_dropout(self, p)}
