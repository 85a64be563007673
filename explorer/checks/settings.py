"""Checks of the results under torch.func's transforms, torch.compile and autocast, and on other devices."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from explorer.checks.result import Result, by_design, fails, holds, name_dtype, unknown
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import is_same
from explorer.curves.user_functions.subject import NoGradientError, Subject, UntriedError, describe_error
from explorer.curves.user_functions.traits import has_custom_node

_REFUSED = "torch.func's grad, vmap and jvp refuse"
_OLD = by_design(
    f"It is old style: {_REFUSED} it. To add: forward(x, …) without ctx, setup_context(ctx, inputs, output) "
    "that saves, generate_vmap_rule = True, and jvp for forward mode."
)
_OPERATOR = by_design(
    f"It is an operator of torch.library: {_REFUSED} it. "
    "Use a Function with setup_context where they are needed."
)
_WRITES = by_design(
    "Its forward changes a tensor of its own in place, as batch norm does with its running mean, and "
    "torch.func refuses that: call eval() first, or pass that tensor as an argument."
)
_DRAWS = by_design('Its forward draws random numbers, which vmap refuses without randomness="different".')
# Patterns of torch's messages about optional members of a Function, each with code that adds the member.
_MISSING = {
    "vmap staticmethod|vmap support": ("vmap", "generate_vmap_rule = True"),
    "jvp|forward.mode AD": ("forward mode", "a staticmethod jvp(ctx, *tangents)"),
    "mark_dirty": ("vmap", "a forward that does not work in place"),
}
# Patterns of torch's messages about tensors on another device than x's.
_EXPLICIT_MOVES = "to numpy|not compiled with CUDA|NVIDIA driver|No CUDA GPUs"
_OTHER_DEVICE = "same device|expected device|found at least two devices"
_ROWS = 3
# One backend is enough: a Function gets lost in tracing, which all share. This one needs no C++ compiler.
_BACKEND = "aot_eager"
_RECOMPILE_LIMIT = 10_000  # all rules share one Function; by default torch stops tracing after eight
_TOLERANCE = 4e-2  # tolerance under autocast, since bfloat16 has three digits


def check_transforms(curve: Curve) -> Result:
    """Check whether torch.func's grad, vmap, vmap of grad and jvp agree with a plain backward."""
    subject, function = curve.subject, curve.subject.function
    if function is not None and function.setup_context is torch.autograd.Function.setup_context:
        return _OLD
    if subject.writes_arguments:
        return _WRITES
    missing: dict[str, str] = {}
    lacking: list[str] = []
    x = subject.sample(-2.3, 2.9, 11)
    tangent = torch.linspace(0.3, 1.9, x.numel(), dtype=x.dtype).reshape(x.shape)
    for name, expected, compute in _iterate_transforms(subject, x, tangent):
        try:
            if is_same(actual := compute(), expected):
                continue
        except Exception as error:
            words, y = str(error), subject.open_graph(x)[0]
            if "setup_context" in words:
                return _OPERATOR if type(y.grad_fn).__name__.startswith("GeneratedBackward") else _OLD
            if "randomness" in words:
                return _DRAWS
            is_custom = has_custom_node(y)
            found = (line for pattern, line in _MISSING.items() if is_custom and re.search(pattern, words))
            if (advice := next(found, None)) is None and is_custom:
                reason = "leave out code that needs values, such as if or .item()"
                if name == "jvp" and "to unpack" in words:
                    reason = "save its tensors with ctx.save_for_forward too"
                return fails(f"{name} raises {describe_error(error.__cause__ or error)}: {reason}.")
            missing.update([advice] if advice else [])
            lacking += [] if advice else [name]
            continue
        with torch.no_grad():
            moved = subject.run(x + 1e-5 * tangent) - subject.run(x - 1e-5 * tangent)
        if name == "jvp" and torch.allclose(actual, moved / 2e-5, 1e-4, 1e-5):
            return by_design("Its jvp is the derivative of its forward, where backward departs from it.")
        return fails(f"{name} gives another result than plain autograd.")
    if missing:
        absent, lines = " and no ".join(missing), " and ".join(missing.values())
        return by_design(f"It supports no {absent}, and torch raises an error that says so: add {lines}.")
    if lacking:
        return by_design(f"Torch itself lacks {' and '.join(lacking)} for an operation of this function.")
    return holds("torch.func's grad, vmap and jvp agree with plain autograd.")


def _iterate_transforms(
    subject: Subject, x: Tensor, tangent: Tensor
) -> Iterator[tuple[str, Tensor, Callable[[], Tensor]]]:
    """Yield the name of each torch.func transform, the expected result, and a function that computes it."""
    factors, arguments = torch.linspace(0.5, 1.2, _ROWS).tolist(), subject.prepare(x.dtype)
    rows = torch.stack([subject.fit_domain(x * factor + 0.01) for factor in factors])

    def run_forward(x: Tensor) -> Tensor:
        return subject.run(x.clone(), arguments)

    def pull_back(x: Tensor) -> Tensor:
        slope: Tensor = torch.func.grad(lambda x: run_forward(x).sum())(x)
        return slope

    y, r = subject.run_both(x)
    ys, slopes = (torch.stack(parts) for parts in zip(*(subject.run_both(row) for row in rows), strict=True))
    columns = rows.movedim(0, -1)
    yield "torch.func.grad", r, lambda: pull_back(x)
    yield "vmap", ys, lambda: torch.func.vmap(run_forward)(rows)
    yield "vmap of grad", slopes, lambda: torch.func.vmap(pull_back)(rows)
    yield "vmap over the last dimension", slopes, lambda: torch.func.vmap(pull_back, in_dims=-1)(columns)
    # A forward-mode derivative is expected only if the gradient is linear in g.
    if y.shape == x.shape and all(is_same(subject.run_both(x, g)[1], g * r) for g in (-2.0, tangent)):
        yield "jvp", r * tangent, lambda: torch.func.jvp(run_forward, (x,), (tangent,))[1]


def check_compile(curve: Curve) -> Result:
    """Check that torch.compile changes neither y nor the gradient, for contiguous and expanded g."""
    subject, x = curve.subject, curve.subject.sample(-2.3, 2.9, 101, torch.float32)
    (y, r), broken = subject.run_both(x), ""
    upstreams = torch.ones_like(y), torch.ones(()).expand(y.shape)
    try:
        from torch._dynamo import config  # imported here: takes seconds, and only this check needs it

        fast = replace(subject, call=torch.compile(subject.call, backend=_BACKEND))
        with config.patch(recompile_limit=_RECOMPILE_LIMIT, accumulated_recompile_limit=_RECOMPILE_LIMIT):
            results = [fast.run_both(x, g) for g in upstreams]
            one_graph = torch.compile(lambda *inputs: subject.call(*inputs), backend=_BACKEND, fullgraph=True)
            try:
                one_graph(x.clone().requires_grad_(), *subject.prepare(x.dtype))
            except Exception as error:
                broken = describe_error(error)
    except UntriedError as error:
        return unknown(f"Compiled {error}.")
    if curve.subject.seed is not None:
        return holds("Traced by torch.compile it runs; it draws at random, so values are not compared.")
    if not all(is_same(fast_y, y) and is_same(fast_r, r) for fast_y, fast_r in results):
        advice = "look for state outside ctx and a g assumed to be contiguous"
        return fails(f"Compiled, it gives a different result: {advice}.")
    if not broken:
        return holds("Traced by torch.compile it gives the same y and the same gradient.")
    exception = f"but not as one graph: fullgraph=True raises {broken}"
    return by_design(f"Compiled it gives the same y and gradient, {exception}.")


def check_autocast(curve: Curve) -> Result:
    """Check that forward under autocast to bfloat16, and backward outside it, agree with plain calls.

    Learned arguments are float32, like the weights of a module.
    """
    subject = curve.subject

    def call_under_autocast(*inputs: object) -> object:
        with torch.autocast("cpu", torch.bfloat16):
            return subject.call(*inputs)

    cast, tried = replace(subject, call=call_under_autocast), False
    for dtype in (torch.float32, torch.bfloat16):
        x, arguments = subject.sample(-2.3, 2.9, 23, dtype), subject.prepare(torch.float32, learned=True)
        words = f"Under autocast, with x in {name_dtype(dtype)}, "
        try:
            y = subject.run(x.clone(), arguments)  # g varies, as a constant one vanishes in a softmax
            g = 0.4 + (0.7 * torch.arange(y.numel())).sin().reshape(y.shape)
            results = subject.run_both(x, g, arguments)
        except UntriedError:
            continue  # the function rejects this x without autocast too
        try:
            results_cast = cast.run_both(x, g, arguments)
        except UntriedError as error:
            advice = "Decorate forward and backward with torch.amp.custom_fwd and custom_bwd"
            return fails(f"{words}{error}. {advice}.")
        tried = True
        if not is_same(y.detach(), results[0], 0.0):
            return holds("Under autocast it runs; its y differ from call to call, so they are not compared.")
        for plain, autocast in zip(results, results_cast, strict=True):
            size = float(plain.float().abs().nan_to_num(posinf=0.0).amax()) if plain.numel() else 0.0
            if not torch.allclose(plain.float(), autocast.float(), _TOLERANCE, _TOLERANCE * size, True):
                return fails(f"{words}it gives a different result than without it.")
    if not tried:
        return unknown("It takes x neither in float32 nor in bfloat16, so autocast was not tried.")
    return holds("Under autocast to bfloat16 it gives the same result as without it.")


def check_devices(curve: Curve) -> Result:
    """Check that accelerator and CPU agree, or that torch's meta device works if there is no accelerator."""
    subject, accelerator = curve.subject, torch.accelerator.current_accelerator(check_available=True)
    kind = "meta" if accelerator is None else accelerator.type
    place = "It does not follow x to another device: " if accelerator is None else f"On {kind.upper()} "
    x = subject.sample(-2.3, 2.9, 101, torch.float32)

    def advise(error: UntriedError, place: str) -> Result:
        advice = "Make new tensors with x's device, such as by zeros_like."
        if re.search(_EXPLICIT_MOVES, str(error)):
            advice = "Leave out .cuda(), .cpu() and .numpy()."
        return fails(f"{place}{error}. {advice}")

    try:
        results = subject.run_both(x)
    except NoGradientError as error:
        if re.search(_EXPLICIT_MOVES, str(error)):
            return advise(error, "On the CPU ")
        raise
    try:
        moved = subject.run_both(x.to(kind), 1.0, subject.prepare(x.dtype, device=kind))
    except UntriedError as error:
        if accelerator or re.search(f"{_EXPLICIT_MOVES}|{_OTHER_DEVICE}", str(error)):
            return advise(error, place)
        words = "It does not run on torch's meta device, which has no values."
        if "copy out of meta" in str(error):
            words = "It copies x to the CPU; whether y goes back was not tried."
        return unknown(f"There is no CUDA here. {words}")
    if moved[0].device.type != kind:
        return fails(f"{place}y stays on the CPU: make it with x's device, such as by zeros_like.")
    if accelerator is None:
        return unknown("There is no CUDA here. On torch's meta device, which has no values, it follows x.")
    if all(is_same(there.cpu(), plain) for plain, there in zip(results, moved, strict=True)):
        return holds(f"{place}it gives the same result as on the CPU.")
    return fails(f"{place}it gives a different result from the CPU.")
