"""Autograd: what was computed, and the way back. Gradients of operations are the formula language's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from .dtypes import MissingError, float32
from .kernel import ONCE

if TYPE_CHECKING:
    from .tensor import Tensor

LETTERS = "abc"
_SIGNS = ("+", "-", "*", "/", "**")
_UNUSED = "One of the differentiated Tensors appears to not have been used in the graph"
_number = count()


class _State:
    """Whether operations are recorded."""

    recording = True


@contextmanager
def set_recording(recording: bool) -> Iterator[None]:
    """Record operations or not, until the end."""
    before, _State.recording = _State.recording, recording
    try:
        yield
    finally:
        _State.recording = before


def is_recording() -> bool:
    """Whether operations are recorded."""
    return _State.recording


def no_grad() -> Any:
    """Torch's."""
    return set_recording(False)


def enable_grad() -> Any:
    """Torch's."""
    return set_recording(True)


def needs(*inputs: Any) -> bool:
    """Whether an operation on these is to be recorded."""
    return _State.recording and any(getattr(each, "requires_grad", False) for each in inputs)


def refuse(what: str, *inputs: Any) -> None:
    """MissingError where something that has no gradient here would need one."""
    if needs(*inputs):
        raise MissingError(f"the gradient of {what}")


class Node:
    """An operation: its inputs, and what makes their gradients of that of its result."""

    def __init__(self, inputs: Sequence[Any], back: Callable[[Tensor], Sequence[Any]]) -> None:
        self.inputs = [each if getattr(each, "requires_grad", False) else None for each in inputs]
        self.number = next(_number)
        self.back = back

    @property
    def next_functions(self) -> list[tuple[Node | None, int]]:
        """The operations that the inputs come from."""
        return [(each.grad_fn if each is not None else None, 0) for each in self.inputs]


def record(result: Tensor, inputs: Sequence[Any], back: Callable[[Tensor], Sequence[Any]]) -> Tensor:
    """A result that knows the way back."""
    if needs(*inputs):
        result.grad_fn = Node(inputs, back)
    return result


def by_formula(name: str, inputs: Sequence[Any]) -> Callable[[Tensor], Sequence[Any]]:
    """The way back of an operation or function of the formula language."""
    tensors = "".join(
        letter for letter, each in zip(LETTERS, inputs, strict=False) if hasattr(each, "grad_fn")
    )
    scope = dict(zip(LETTERS, inputs, strict=False))

    def back(g: Tensor) -> list[Any]:
        fused = name not in _SIGNS and g.dtype.code > 1
        cast: Callable[[Any], Any] = (lambda part: part.to(float32)) if fused else (lambda part: part)
        given = {letter: cast(scope[letter]) for letter in tensors}
        numbers = {letter: each for letter, each in scope.items() if letter not in tensors}
        found = []
        for letter, each in scope.items():
            wanted = getattr(each, "requires_grad", False)
            formula = _gradient(name, len(inputs), letter, tensors) if wanted else None
            value = formula.bind(numbers)(cast(g), None, cast(g), given) if formula else None
            found.append(value if value is None else _twice(name, value.to(g.dtype)))
        return found

    return back


def _twice(name: str, gradient: Tensor) -> Tensor:
    """A gradient, through which no way leads where torch has none."""
    if name not in ONCE or not gradient.requires_grad:
        return gradient

    def back(_: Tensor) -> list[Any]:
        raise RuntimeError(ONCE[name])

    return record(gradient.detach(), (gradient,), back)


@lru_cache(maxsize=512)
def _gradient(name: str, arity: int, letter: str, tensors: str) -> Any:
    """The gradient for one argument, a formula in the letters of all and g."""
    from explorer.formula import Formula
    from explorer.formula.derivative import derivative
    from explorer.formula.tree import Binary, Call, Name, Unary

    letters = [Name(each) for each in LETTERS[:arity]]
    node: Any = Call(name, tuple(letters))
    if name in _SIGNS:
        node = Binary(name, *letters)
    elif name == "neg":
        node = Unary("-", *letters)
    tree = derivative(node, letter, tensors=tensors)
    if tree is None:
        raise MissingError(f"the gradient of {name}")
    return Formula(tree).varying(tuple(tensors))


def _fitted(gradient: Tensor, like: Tensor) -> Tensor:
    """A gradient in the shape and dtype of what it belongs to."""
    return gradient.sum_to_size(like.shape).to(like.dtype)


def _reached(start: Node) -> list[Node]:
    """The operation and all before it, the last one first."""
    waiting, known = [start], {}
    while waiting:
        node = waiting.pop()
        if node.number not in known:
            known[node.number] = node
            waiting += [each.grad_fn for each in node.inputs if each is not None and each.grad_fn]
    return [known[number] for number in sorted(known, reverse=True)]


def _walked(output: Tensor, upstream: Tensor, recording: bool) -> dict[int, tuple[Tensor, Tensor]]:
    """By the id of each leaf: the leaf, and its gradient."""
    arrived: dict[Any, Tensor] = {}
    leaves: dict[int, tuple[Tensor, Tensor]] = {}

    def arrive(at: Tensor, gradient: Tensor) -> None:
        if at.grad_fn:
            number = at.grad_fn.number
            arrived[number] = arrived[number] + gradient if number in arrived else gradient
        else:
            leaves[id(at)] = at, leaves[id(at)][1] + gradient if id(at) in leaves else gradient

    arrive(output, upstream)
    with set_recording(recording):
        for node in _reached(output.grad_fn) if output.grad_fn else ():
            if node.number in arrived:
                passed = node.back(arrived.pop(node.number))
                for each, gradient in zip(node.inputs, passed, strict=False):
                    if each is not None and gradient is not None:
                        arrive(each, _fitted(gradient, each))
    return leaves


def _upstream(output: Tensor, given: Tensor | None) -> Tensor:
    if not output.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if given is None and output.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return output.full_like(1.0) if given is None else given


def grad(
    outputs: Tensor,
    inputs: Any,
    grad_outputs: Tensor | None = None,
    *,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Torch's, of one output and of leaves."""
    wanted = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if any(each.grad_fn for each in wanted):
        raise MissingError("the gradient of what is no leaf")
    leaves = _walked(outputs, _upstream(outputs, grad_outputs), create_graph)
    found = tuple(leaves[id(each)][1] if id(each) in leaves else None for each in wanted)
    if not allow_unused and any(each is None for each in found):
        raise RuntimeError(_UNUSED)
    return found


class Engine:
    """Torch's own, as ``grad`` calls it."""

    def run_backward(
        self,
        outputs: tuple[Tensor],
        gradients: tuple[Tensor],
        _keeps_graph: bool,
        creates_graph: bool,
        inputs: Sequence[Tensor],
        *,
        allow_unreachable: bool,
        accumulate_grad: bool,
    ) -> tuple[Tensor | None, ...]:
        """The gradients of one output for leaves; accumulating is ``backward``'s."""
        if accumulate_grad:
            raise MissingError("an engine that accumulates")
        return grad(*outputs, inputs, *gradients, create_graph=creates_graph, allow_unused=allow_unreachable)


def backward(tensor: Tensor, gradient: Tensor | None = None) -> None:
    """Torch's: adds to what the leaves have."""
    for leaf, arrived in _walked(tensor, _upstream(tensor, gradient), False).values():
        leaf.grad = arrived if leaf.grad is None else leaf.grad + arrived


class BackwardCFunction(Node):
    """What ``Function.apply`` records, and the ctx of its parts."""

    def __init__(self, function: Any, inputs: Sequence[Any]) -> None:
        super().__init__(inputs, self._back)
        self._function = function
        self.needs_input_grad = tuple(each is not None for each in self.inputs)
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Torch's."""
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Torch's; there is no forward mode here."""

    def apply(self, *gradients: Tensor) -> Any:
        """What its backward returns."""
        return self._function.backward(self, *gradients)

    def _back(self, g: Tensor) -> Sequence[Any]:
        passed = self.apply(g)
        return passed if isinstance(passed, tuple) else (passed,)


class Function:
    """Torch's autograd.Function, in the style with ``setup_context``."""

    forward: Any
    setup_context: Any = None

    @classmethod
    def apply(cls, *inputs: Any) -> Tensor:
        """The forward, whose way back is ``backward``."""
        with no_grad():
            output: Tensor = cls.forward(*inputs)
        if needs(*inputs):
            ctx = BackwardCFunction(cls, inputs)
            cls.setup_context(ctx, inputs, output)
            output.grad_fn = ctx
        return output
