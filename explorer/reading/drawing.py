"""Random numbers of the pasted code: one draw for each element, the same in forward and backward.

What is read has the distribution of what torch computes, and where the code draws u itself, its values at the
same u.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from explorer.formula.operands import has_elements
from explorer.formula.tree import LOSS, LOSS_OUTPUTS, NORMAL, UNIFORM, LossAt, Name, Node
from explorer.reading import values
from explorer.reading.arithmetic import like, made, operation
from explorer.reading.building import detach, number, untracked
from explorer.reading.errors import require
from explorer.reading.tracking import assigned
from explorer.reading.values import Function, Opaque, Quantity, Tensor, Value, quantity
from explorer.reading.vocabulary import ELEMENTWISE

# What was drawn on the way through forward and backward.
DREW: ContextVar[list[str]] = ContextVar("DREW")
# The input that backward calls as the loss; None where no input may be called.
CALLED: ContextVar[set[Node] | None] = ContextVar("CALLED", default=None)
ONE_LOSS = "is a second function that the text does not hold: a formula has one, the loss of an output"
OF_OUTPUT = "does not ask for the loss of one output: an input that is called is the loss, a function of y"
SECOND = "is a second draw, and a formula has one for each element and step: draw once and keep it"
OF_ONE = "draws otherwise than one number for each element of x: write torch.rand_like(x)"
OF_CLASSES = (
    "draws one of several classes; of two, given as torch.stack([a, b], dim=-1), it can be read: "
    "otherwise write the unit with torch.rand_like(x)"
)
OF_TRAINING = "hangs on whether the module trains, which cannot be followed: write True or False"


@dataclass(frozen=True)
class Two:
    """Two tensors along a last dimension of their own."""

    parts: tuple[Value, Value]


def drawn(name: str) -> Tensor:
    """One number for each element: ``u()``, or ``normal()`` of the same draw."""
    require(not DREW.get(), SECOND)
    DREW.get().append(name)
    return Tensor(Name(name))


def uniform(*sizes: Value, size: Value = None) -> Value:
    """``torch.rand`` in the shape of a tensor."""
    _require_sizes(sizes, size)
    return drawn(UNIFORM)


def normal(*sizes: Value, size: Value = None) -> Value:
    """``torch.randn`` in the shape of a tensor."""
    _require_sizes(sizes, size)
    return drawn(NORMAL)


def uniform_like(input: Value) -> Value:
    """``torch.rand_like``."""
    _require_whole(input)
    return drawn(UNIFORM)


def normal_like(input: Value) -> Value:
    """``torch.randn_like``."""
    _require_whole(input)
    return drawn(NORMAL)


def between(self: Value, low: Value = 0, to: Value = 1) -> Value:
    """A uniform number between two ends in place of each element."""
    return operation("+", low, operation("*", operation("-", to, low), uniform_like(self)))


def around(mean: Value, std: Value = 1, size: Value = None) -> Value:
    """``torch.normal``, through which torch sends no gradient."""
    if size is not None:
        _require_sizes((), size)
    else:
        require(any(map(_is_whole, (mean, std))), OF_ONE)
    return operation("+", _constant(mean), operation("*", _constant(std), drawn(NORMAL)))


def _filled(self: Value, mean: Value, std: Value) -> Value:
    noise = normal_like(self)
    return operation("+", _constant(mean), operation("*", _constant(std), noise))


def loss_at(function: Node, positional: tuple[Value, ...], keywords: Mapping[str, Value]) -> Tensor:
    """A call of an input: the loss at an output, ``f()`` where that is y."""
    require(len(positional) == 1 and not keywords, OF_OUTPUT)
    called, output = CALLED.get() or set(), quantity(positional[0])
    require(not called - {function}, ONE_LOSS)
    require(_is_whole(output) or values.is_number(positional[0]), OF_OUTPUT)
    CALLED.set({function})
    node = untracked(number(output.node))
    return Tensor(LOSS if node == LOSS_OUTPUTS[LOSS] else LossAt(node))


def coin(input: Value, p: Value = None) -> Value:
    """1 with the chance p, 0 otherwise; without p the tensor holds the chances."""
    _require_whole(input)
    return made("where", made("<", drawn(UNIFORM), input if p is None else p), 1.0, 0.0)


def dropout(input: Value, p: Value = 0.5, training: Value = True) -> Value:
    """``p`` is the share that is dropped; what is kept is divided by the share that is."""
    require(isinstance(training, bool), OF_TRAINING)
    if not training or (values.is_number(p) and p == 0):
        return input
    _require_whole(input)
    if isinstance(p, int | float) and p == 1:
        return operation("*", input, 0)
    kept = operation("-", 1, p)
    return made("where", made("<", drawn(UNIFORM), kept), operation("/", input, kept), 0)


def stacked(tensors: Value, dim: Value = 0) -> Value:
    """Two tensors of one shape along a last dimension of their own."""
    alone = isinstance(tensors, tuple) and len(tensors) == 2 and dim == -1
    require(alone, f"rearranges the tensor: {ELEMENTWISE}")
    for part in tensors:
        _require_whole(part)
    return Two(tensors)


def gumbel_softmax(
    logits: Value, tau: Value = 1, hard: Value = False, eps: Value = None, dim: Value = -1
) -> Value:
    """Of two logits: the difference of two Gumbel numbers is logistic, so that one u gives both shares."""
    require(isinstance(logits, Two) and dim == -1 and isinstance(hard, bool), OF_CLASSES)
    u = drawn(UNIFORM)
    odds = made("log", operation("/", u, operation("-", 1, u)))
    lead = operation("-", operation("-", *logits.parts), odds)
    share = made("sigmoid", operation("/", lead, tau))
    if hard:
        step = operation("-", made("where", made(">", lead, 0), 1.0, 0.0), _constant(share))
        share = operation("+", step, share)
    return Two((share, operation("-", 1, share)))


def element(owner: Value, key: Value) -> Value:
    """``owner[key]``; of two tensors one of them, by a key along the last dimension."""
    if not isinstance(owner, Two):
        return values.element(owner, key)
    *others, place = key if isinstance(key, tuple) else (None, None)
    known = place in (0, 1, -1) and others in ([...], [slice(None)])
    require(known, f"takes a piece of a tensor: {ELEMENTWISE}")
    return owner.parts[place]


def _constant(value: Value) -> Value:
    """A value through which no gradient goes."""
    held = quantity(value)
    return like(detach(held.node), held) if isinstance(held, Tensor) else value


def _require_sizes(sizes: tuple[Value, ...], size: Value) -> None:
    given = sizes if size is None else (size,)
    given = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
    known = len(given) == 1 and isinstance(given[0], Opaque) and given[0].of is not None
    require(known and has_elements(given[0].of), OF_ONE)


def _require_whole(tensor: Value) -> None:
    require(_is_whole(tensor), OF_ONE)


def _is_whole(value: Value) -> bool:
    """Whether a value is a tensor of x's shape."""
    held = quantity(value)
    apart = held.within or values.sum_of(held) or getattr(held, "folded", False)
    sized = isinstance(held, Tensor) and held.sized
    return not apart and isinstance(held, Quantity) and (sized or has_elements(held.node))


ROWS: dict[str, Function] = {
    "rand": uniform,
    "randn": normal,
    "rand_like": uniform_like,
    "randn_like": normal_like,
    "uniform": between,
    "normal": around,
    "bernoulli": coin,
    "dropout": dropout,
    "stack": stacked,
    "gumbel_softmax": gumbel_softmax,
}
# Methods that fill a tensor, where they take other arguments than the function of their name.
FILLS: dict[str, Function] = {
    "normal_": lambda self, mean=0, std=1: assigned(self, _filled(self, mean, std)),
    "bernoulli_": lambda self, p=0.5: assigned(self, coin(self, p)),
}
LAYERS: dict[str, Function] = {"dropout": lambda self, p=0.5: dropout(self, p)}
