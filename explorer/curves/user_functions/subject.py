"""One interface for everything whose backward is checked: an op with a rule, or a user-defined function."""

import functools
import inspect
import linecache
import re
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from explorer.catalogue import RULES, Op, Rule, adapt_rule, resolve_values
from explorer.formula import FUNCTIONS, find_names
from explorer.formula.reference import replace_pair_reductions
from explorer.formula.tree import Call, walk
from explorer.gradient import bind_formulas

SPAN = (-3.0, 3.0)  # range of x over which reductions such as mean(x) are computed
SEED = 7  # the random seed set before a random function is called
_CALL_ERROR_WORDS = ("positional argument", "keyword argument", "required argument", "not callable")
_SHAPE_WORDS = ("shape", "size", "dimension", "expected", "index", "mat1", "channels", "must match")
_TRIED = 7  # number of elements in the first call: a prime, so that no reshape succeeds by chance
_MOST_SHAPES = 12
_NO_BACKWARD = 2  # rank (0 is best) of an input for which forward succeeds but backward fails
_FORMATS = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)
_HALVES = (torch.bfloat16, torch.float16)  # dtypes whose casts by torch are recognised by the rounding of y
_UNROUNDED = (1.3, -0.77, 2.9)  # values of x and g that short number formats cannot represent
_MOST_CONSTANTS = 24


class UntriedError(Exception):
    """Raised if a function could not be tried; the message gives the reason."""


class ForwardError(UntriedError):
    """Raised if a function's forward fails although it was called correctly."""


class NoGradientError(UntriedError):
    """Raised if a function's backward fails although its forward succeeds.

    Attributes:
        line: the line of the user's code, as ``file:line: code``; "" if unknown.
    """

    def __init__(self, message: str, line: str = "") -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Subject:
    """A function of x and further arguments whose backward is checked.

    Attributes:
        name: the function's name in sentences.
        call: ``(x, *arguments) -> y``.
        arguments: those after x, unless a method gets others; floating-point tensors are cast to x's dtype.
        function: the Function class, if there is one.
        op, rule, parameters: the op and rule with their parameters; None, None and {} for a user-defined
            function.
        plain: the forward as code without a Function, which autograd can follow, if it is known.
        names: the names of the arguments, if they have names.
        example: the user's example of x, if given; its first dimension counts the elements.
        domain: the least and the greatest x to try; None for all floats.
        seed: the random seed that is set before each forward; None to leave the generator alone.
        module: the function, if it is a module. Each call begins with the attributes that it has now.
    """

    name: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    function: type[Function] | None = None
    op: Op | None = None
    rule: Rule | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    plain: Callable[..., Any] | None = None
    names: tuple[str, ...] = ()
    example: Tensor | None = None
    domain: tuple[float, float] | None = None
    seed: int | None = None
    module: torch.nn.Module | None = None

    @property
    def is_module(self) -> bool:
        """True if the function is a module."""
        return self.module is not None

    @property
    def declared(self) -> Rule | None:
        """The backward rule if it declares properties that checks rely on, such as its area, else None."""
        rule = self.rule
        is_known = rule and (rule.key in RULES or not rule.linear or rule.area or rule.antiderivative)
        return rule if is_known else None

    @cached_property
    def rounds_gradient(self) -> bool:
        """True if the backward rounds g to a number format, as that of torch's casts does."""
        if self.op is None or self.rule is None:
            x = torch.tensor(_UNROUNDED, dtype=self.trial.dtype)
            y, r = self.y(self.fit_domain(x)), self.gradient(self.fit_domain(x), x)
            formats = [*_FORMATS, *(dtype for dtype in _HALVES if torch.equal(y, x.to(dtype).to(x.dtype)))]
            return any(torch.equal(r, x.to(short).to(r.dtype)) for short in formats)
        backward = self.rule.parsed or self.op.parsed.gradient
        parts = walk(backward.tree) if backward else []
        calls = [part for part in parts if isinstance(part, Call) and FUNCTIONS[part.function].own]
        return any("g" in find_names(call) for call in calls)

    @cached_property
    def numbers(self) -> list[float]:
        """The arguments and parameters that are numbers, such as thresholds, bounds and steps."""
        arguments = [*self.arguments, *self.parameters.values()]
        first = [a.flatten()[0].item() if isinstance(a, Tensor) and a.numel() else a for a in arguments]
        plain = [float(a) for a in first if isinstance(a, int | float) and not isinstance(a, bool)]
        return list(dict.fromkeys(number for number in plain if abs(number) < 1e6))

    @cached_property
    def constants(self) -> list[float]:
        """Up to 24 numbers at which the function may have kinks: its arguments and constants in its code."""
        functions = [self.function.forward, self.function.backward] if self.function else [self.call]
        literals = [
            number for each in functions for number in _iterate_constants(getattr(each, "__code__", None))
        ]
        return list(dict.fromkeys([*self.numbers, *(literals if self.op is None else [])]))[:_MOST_CONSTANTS]

    @cached_property
    def writes_arguments(self) -> bool:
        """True if the forward changes one of its arguments in place, such as a module's buffer."""
        x = self.sample(*SPAN, _TRIED)
        self.run(x.clone(), arguments := self.prepare(x.dtype))
        return any(argument._version for argument in arguments if isinstance(argument, Tensor))

    @cached_property
    def learned(self) -> dict[int, str]:
        """The names of the arguments that are floating-point tensors that require grad, by their indices."""
        tensors = {k: each for k, each in enumerate(self.arguments) if isinstance(each, Tensor)}
        indices = [k for k, each in tensors.items() if each.requires_grad and each.is_floating_point()]
        return {k: self.names[k] if self.names else f"argument {k + 1}" for k in indices}

    def prepare(self, dtype: torch.dtype, learned: bool = False, device: str = "cpu") -> tuple[Any, ...]:
        """Return copies of the arguments after x on a device, with floating-point tensors in ``dtype``.

        With ``learned``, the copies of tensors that require grad require it too.
        """
        return tuple(_copy(argument, dtype, learned, device) for argument in self.arguments)

    def run(self, x: Tensor, arguments: tuple[Any, ...] | None = None) -> Tensor:
        """Call the function and return its first output. Raises UntriedError if that is not a tensor."""
        y = next(iter(self.run_all(x, arguments)), None)
        if not isinstance(y, Tensor):
            hint = f": pass {self.name}(), not the class" if inspect.isclass(self.call) else ""
            raise UntriedError(f"it returns {_describe_kind(y)}, not a tensor{hint}")
        return y

    def run_all(self, x: Tensor, arguments: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Call the function and return all its outputs as a tuple. Raises UntriedError if the call fails."""
        prepared = self.prepare(x.dtype) if arguments is None else arguments
        try:
            with self.begin_anew():
                y = self.call(x, *prepared)
        except Exception as error:
            if "does not require grad" in str(error) and not x.requires_grad:  # it calls autograd.grad itself
                with torch.enable_grad():
                    outputs = self.run_all(x.clone().requires_grad_().clone(), arguments)
                return tuple(each.detach() if isinstance(each, Tensor) else each for each in outputs)
            kind = UntriedError if _is_call_error(error) else ForwardError
            raise kind(f"it raises {describe_error(error)}") from error
        y = list(y.values()) if isinstance(y, Mapping) else y
        return tuple(y) if isinstance(y, tuple | list) else (y,)

    @contextmanager
    def begin_anew(self) -> Iterator[None]:
        """Set the random seed, if there is one, and undo changes of the module's attributes at the end."""
        parts = [vars(part) for part in self.module.modules()] if self.module else []
        before = [dict(attributes) for attributes in parts]
        try:
            with torch.random.fork_rng(devices=[], enabled=self.seed is not None):
                if self.seed is not None:
                    torch.manual_seed(self.seed)
                yield
        finally:
            for attributes, old in zip(parts, before, strict=True):
                attributes.clear()
                attributes.update(old)

    def run_both(
        self, x: Tensor, g: Tensor | float = 1.0, arguments: tuple[Any, ...] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Run the function forward and backward. Returns its output and its gradient for g, both detached."""
        y, leaf = self.open_graph(x, arguments)
        return y.detach(), backpropagate(y, leaf, g).detach()

    def open_graph(self, x: Tensor, arguments: tuple[Any, ...] | None = None) -> tuple[Tensor, Tensor]:
        """Call the function under autograd. Returns its output and the leaf, which is a copy of x."""
        leaf = x.detach().clone().requires_grad_()
        with torch.enable_grad():
            # a clone, since code may change its input in place and a leaf forbids this
            return self.run(leaf.clone(), arguments), leaf

    @cached_property
    def trial(self) -> "Trial":
        """The first dtype and shape of x that the function accepts. Raises UntriedError if there is none."""
        reasons: list[UntriedError] = []
        accepted: list[tuple[int, Trial]] = []
        for dtype in (torch.float64, torch.float32):
            for suffix in self._list_suffixes():
                try:
                    accepted.append((self._rank(Trial(dtype, suffix)), Trial(dtype, suffix)))
                except UntriedError as error:
                    reasons.append(error)
                if accepted and accepted[-1][0] == 0:
                    break
            if accepted and min(rank for rank, _ in accepted) < _NO_BACKWARD:
                break
        if accepted:
            return min(accepted, key=lambda ranked: ranked[0])[1]
        for dtype in _HALVES:
            with suppress(UntriedError):
                self._rank(Trial(dtype, self._list_suffixes()[0]))
                short = str(dtype).removeprefix("torch.")
                reasons = [
                    UntriedError(f"it takes x only in {short}, too short for these checks: try float32")
                ]
        words = str(reasons[0])
        if missing := re.search(r"missing .*argument.*?: (.*)", words):
            call = ", ".join(
                [self.name if self.name.isidentifier() else "f", *re.findall(r"'(\w+)'", missing[1])]
            )
            raise UntriedError(f"{words}; pass values after the function, as in check({call})")
        if self.example is None and (self.is_module or any(part in words for part in _SHAPE_WORDS)):
            hint = "if x must have a shape, give check an example such as input=torch.randn(8, 3, 32, 32)"
            raise UntriedError(f"{words}; {hint}")
        raise reasons[0]

    def _rank(self, trial: "Trial") -> int:
        x = self.fit_domain(torch.linspace(-1.3, 1.7, _TRIED, dtype=trial.dtype))
        x = _spread(x, trial.suffix)
        try:
            y = self.run(x.clone())
        except ForwardError:
            if self.example is None:
                raise
            x = self.example.to(trial.dtype)  # a loss with targets takes exactly this number of rows
            y = self.run(x.clone())
        try:
            self.run_both(x)
        except NoGradientError:
            return _NO_BACKWARD
        return int(y.shape != x.shape)

    def _list_suffixes(self) -> list[tuple[int, ...]]:
        if self.example is not None:
            return [tuple(self.example.shape[1:])]
        tensors = [argument for argument in self.arguments if isinstance(argument, Tensor)]
        shapes = [tuple(tensor.shape) for tensor in tensors if tensor.numel() > 1]
        if self.op is None:
            shapes += [shape for shape in _iterate_captured_shapes(self.call) if shape not in shapes]
        ends = [shape[-1:] for shape in shapes] + [shape[:1] for shape in shapes]
        return list(dict.fromkeys([(), *shapes, *ends]))[:_MOST_SHAPES]

    def fit_domain(self, x: Tensor) -> Tensor:
        """Return x shifted and scaled into the function's domain, or unchanged if it is already inside."""
        if self.domain is None or not x.numel():
            return x
        low, high = self.domain
        min_x, max_x = float(x.min()), float(x.max())
        if min_x >= low and max_x <= high:
            return x
        return low + (x - min_x) * ((high - low) / max(max_x - min_x, 1e-9))

    def clip(self, x: Tensor) -> Tensor:
        """Return the elements of x that lie in the function's domain."""
        return x if self.domain is None else x[(x >= self.domain[0]) & (x <= self.domain[1])]

    def sample(self, low: float, high: float, count: int, dtype: torch.dtype | None = None) -> Tensor:
        """Create an input of ``count`` rows, evenly spaced from ``low`` to ``high``, in an accepted shape.

        Values outside the domain are moved into it, and values differ along further dimensions. If the user
        gave an example, a copy is returned instead.
        """
        dtype = dtype or self.trial.dtype
        if self.example is not None:
            return self.example.detach().to(dtype).clone()
        x = self.fit_domain(torch.linspace(low, high, count, dtype=dtype))
        lifted = self.broadcast(x)
        if lifted.dim() > 1:
            places = torch.arange(lifted[0].numel(), dtype=dtype).reshape(lifted.shape[1:])
            lifted = self.fit_domain(lifted + 0.37 * (1.7 * places).sin())
        return lifted

    def broadcast(self, x: Tensor) -> Tensor:
        """Expand x, (n,), to the shape that the function accepts, constant along all further dimensions."""
        return _spread(x, self.trial.suffix)

    def reduce_rows(self, values: Tensor) -> Tensor:
        """Return the first value of each row of a tensor, (n,), in the dtype that the function accepts."""
        rows = values[(slice(None), *[0] * len(self.trial.suffix))]  # type: ignore[index]  # a tuple of ints
        return rows.to(self.trial.dtype) if rows.is_floating_point() or not rows.is_complex() else rows

    def y(self, x: Tensor) -> Tensor:
        """Return the function's output at each element of x; both are (n,)."""
        with torch.no_grad():
            return self.reduce_rows(self.run(self.broadcast(x).clone()))

    def gradient(self, x: Tensor, g: Tensor | float = 1.0) -> Tensor:
        """Return the function's gradient at each element of x; g is one number or (n,)."""
        upstream = self.broadcast(g) if isinstance(g, Tensor) else g
        return self.reduce_rows(self.run_both(self.broadcast(x), upstream)[1])


@dataclass(frozen=True)
class Trial:
    """The kind of x that a function accepts: its dtype, and its dimensions after the first."""

    dtype: torch.dtype
    suffix: tuple[int, ...]


def _spread(x: Tensor, suffix: tuple[int, ...]) -> Tensor:
    return x.reshape(-1, *[1] * len(suffix)).expand(-1, *suffix).contiguous() if suffix else x


def _iterate_captured_shapes(call: Callable[..., Any]) -> Iterator[tuple[int, ...]]:
    function = inspect.unwrap(call.func if isinstance(call, partial) else call)
    if isinstance(function, types.FunctionType):
        outside = inspect.getclosurevars(function)
        for value in (*outside.nonlocals.values(), *outside.globals.values()):
            if isinstance(value, Tensor) and value.numel() > 1:
                yield tuple(value.shape)


def _iterate_constants(code: Any) -> Iterator[float]:
    for value in code.co_consts if code is not None else ():
        if isinstance(value, types.CodeType):
            yield from _iterate_constants(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e4:
            yield float(value)


def backpropagate(y: Tensor, leaf: Tensor, g: Tensor | float = 1.0) -> Tensor:
    """Return the gradient of ``leaf`` for an upstream gradient g of y. It is 0 if y has no graph.

    Raises NoGradientError if backward fails or returns None for the leaf.
    """
    upstream = g.to(y.dtype) if isinstance(g, Tensor) else torch.full_like(y, g)
    if not y.requires_grad:
        return torch.zeros_like(leaf)
    try:
        gradient = torch.autograd.grad(y, leaf, upstream, allow_unused=True)[0]
    except Exception as error:
        if "use_reentrant=True" in str(error):
            words = "the checks call torch.autograd.grad, which a reentrant checkpoint refuses"
            raise UntriedError(f"{words}: pass use_reentrant=False") from error
        raise NoGradientError(f"its backward raises {describe_error(error)}", find_line(error)) from error
    if gradient is None:
        raise NoGradientError("its backward returns None for x, so x gets no gradient")
    return gradient


def describe_error(error: BaseException) -> str:
    """Return the class name of an exception and the first line of its message, or TorchScript's last."""
    words = str(error).strip().splitlines()
    words = words[-1:] if words and "TorchScript interpreter" in words[0] else words
    return f"{type(error).__name__}: {words[0][:160].rstrip('.!: ')}" if words else type(error).__name__


def find_line(error: BaseException) -> str:
    """Return the last line of user code in a traceback as ``file:line: code``, or "" if there is none."""
    place, trace = "", error.__traceback__
    while trace is not None:
        path, number = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        package = trace.tb_frame.f_globals.get("__package__") or ""  # a script has no package
        if torch.__path__[0] not in path and package.partition(".")[0] != "explorer":
            code = linecache.getline(path, number).strip()
            place = f"{path.rpartition('/')[2]}:{number}: {code}".rstrip(": ")
        trace = trace.tb_next
    return place


def _is_call_error(error: Exception) -> bool:
    """Return whether a call failed because of its arguments or a missing GPU, not because of its own code."""
    words = str(error)
    if not torch.cuda.is_available() and ("CUDA" in words or "NVIDIA" in words):
        return True
    return isinstance(error, TypeError) and any(part in words for part in _CALL_ERROR_WORDS)


def _describe_kind(value: object) -> str:
    if value is None:
        return "None"
    return (
        f"a class or an object of {type(value).__name__}" if callable(value) else f"a {type(value).__name__}"
    )


def _copy(argument: Any, dtype: torch.dtype, learned: bool, device: str) -> Any:
    if not isinstance(argument, Tensor):
        return argument
    copy = argument.detach().clone().to(device)
    if not argument.is_floating_point():
        return copy
    return copy.to(dtype).requires_grad_(learned and argument.requires_grad)


def prepare_pair(op: Op, rule: Rule, settings: Mapping[str, float]) -> Subject:
    """Return an op with a backward rule as a subject for the checks of its backward.

    Each ``mean(…)`` in their formulas becomes a number, the mean over 2,001 even points from −3 to 3.
    """
    parameters, rule = resolve_values(op, rule, settings), adapt_rule(op, rule)
    call = bind_formulas(*replace_pair_reductions(op.parsed, rule.parsed, parameters, *SPAN, 1.0))
    return Subject(f"{op.label} with {rule.label}", call, op=op, rule=rule, parameters=parameters)


def prepare_function(
    function: Any,
    arguments: tuple[Any, ...],
    named: Mapping[str, Any],
    example: Tensor | None = None,
    domain: tuple[float, float] | None = None,
) -> Subject:
    """Return a user's Function class, module or callable as a subject for the checks of its backward.

    ``apply`` of a Function class is accepted too. ``arguments`` follow x in each call, ``named`` are keyword
    arguments. If no ``domain`` is given, the range of an ``example`` that lies on one side of 0 or within −1
    to 1 is the domain.
    """
    if example is not None and domain is None and example.numel():
        low, high = (float(end) for end in example.detach().double().aminmax())
        is_bounded = low >= 0 or high <= 0 or max(-low, high) <= 1
        domain = (low, high) if low < high and is_bounded else None
    return replace(_prepare_function(function, arguments, named), example=example, domain=domain)


def _prepare_function(function: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Subject:
    owner = getattr(function, "__self__", None)
    if getattr(function, "__name__", "") == "apply" and _is_function(owner):
        function = owner
    if _is_function(function):
        if named:  # apply takes no keywords
            skipped = (None,) * (1 + (function.setup_context is Function.setup_context))
            bound = inspect.signature(function.forward).bind_partial(*skipped, *arguments, **named)
            bound.apply_defaults()
            arguments = bound.args[len(skipped) :]
        return Subject(function.__name__, function.apply, arguments, function)
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(function, torch.nn.Module) and not isinstance(function, torch.jit.ScriptModule):
        return _prepare_module(name, function, arguments, named)
    return Subject(name, functools.partial(function, **named) if named else function, arguments)


def _is_function(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Function)


def _prepare_module(
    name: str, module: torch.nn.Module, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> Subject:
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}

    def call(x: Tensor, *values: Any) -> Any:
        state_values = dict(zip(state, values[len(arguments) :], strict=True))
        return torch.func.functional_call(module, state_values, (x, *values[: len(arguments)]), dict(named))

    names = (*(f"argument {k + 1}" for k in range(len(arguments))), *state)
    return Subject(name, call, (*arguments, *state.values()), module=module, names=names)
