"""Checks that x and g stay unchanged, that g may have any layout, and that results are repeatable."""

import dis
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from types import FunctionType

import torch
from torch import Tensor

from explorer.checks.result import Result, by_design, fails, holds
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import is_same
from explorer.curves.user_functions.subject import NoGradientError, Subject, UntriedError, backpropagate
from explorer.curves.user_functions.traits import iterate_custom_nodes


def check_memory(curve: Curve) -> Result:
    """Check that x, g and saved tensors stay unchanged, for g in several memory layouts and for two calls."""
    if fault := _find_fault(curve.subject, _make_matrix(curve.subject)):
        return fails(fault)
    return holds("It leaves x, g and what it saved unchanged, and reads g in any layout.")


def _make_matrix(subject: Subject) -> Tensor:
    """Return an x of shape (6, 4) if the function accepts it, since memory layouts need two dimensions."""
    x = subject.sample(-2.3, 2.9, 24)
    with suppress(UntriedError):
        if not subject.trial.suffix and subject.example is None:
            subject.run_both(x.reshape(6, 4))
            return x.reshape(6, 4)
    return x


def _find_fault(subject: Subject, x: Tensor) -> str:
    if name := _find_shadowed_global(subject.function):
        return f"Backward reads the global {name}, not the {name} of forward: save it on ctx."
    leaf = x.clone().requires_grad_()
    copy, arguments = leaf.clone(), subject.prepare(x.dtype)
    before = [argument.clone() for argument in arguments if isinstance(argument, Tensor)]
    y = subject.run(copy, arguments)
    after = [argument for argument in arguments if isinstance(argument, Tensor)]
    if y is not copy and not is_same(copy, x, 0.0):
        return "It changes x in place and does not say so: work on a copy, or call ctx.mark_dirty(x)."
    if not subject.is_module and not all(is_same(*pair, 0.0) for pair in zip(before, after, strict=True)):
        return "It changes one of its arguments in place: work on a copy."
    g = (torch.arange(y.numel(), dtype=x.dtype) * 0.7).sin().reshape(y.shape).to(y.dtype) + 1.3
    passed = g.clone()
    expected = backpropagate(y, leaf, passed).clone()
    if not is_same(g, passed, 0.0):
        words = "work on g.clone(), or use torch.where"
        return f"Its backward writes into g, which other nodes may still read: {words}."
    try:
        if not _repeats_its_backward(subject, x, g):
            return "A second backward gives a different gradient: it changes what it saved, or returns it."
    except RuntimeError as error:
        return f"A second backward through the same graph raises: {str(error).partition(':')[0]}."
    if fault := _find_unsaved(subject, x, g, expected):
        return fault
    for layout, upstream in _iterate_layouts(g):
        advice = "it assumes a contiguous g. Call g.contiguous()"
        plain = subject.run_both(x, upstream.contiguous())[1]
        try:
            if not is_same(plain, subject.run_both(x, upstream)[1]):
                return f"With g {layout} the gradient is different: {advice}."
        except NoGradientError as error:
            return f"With g {layout} {error}: {advice} first."
    if x.dim() == 2 and y.shape == x.shape and not subject.trial.suffix and subject.seed is None:
        advice = "it assumes a contiguous x. Use reshape in place of view, or call x.contiguous() first"
        try:
            turned = subject.run_both(x.t().contiguous().t(), g)
            if not (is_same(y.detach(), turned[0]) and is_same(expected, turned[1])):
                return f"With a transposed x the result is different: {advice}."
        except UntriedError as error:
            return f"With a transposed x {error}: {advice}."
    y, leaf = subject.open_graph(x)
    subject.run(subject.fit_domain(x.flip(0) * 0.7 + 0.4).clone())
    if not is_same(backpropagate(y, leaf, g), expected):
        words = "the backward of the first gives a different gradient: it keeps state outside ctx"
        return f"After a second forward, {words}. Save it with ctx.save_for_backward."
    return ""


def _find_shadowed_global(function: type[torch.autograd.Function] | None) -> str:
    """Return the name of a global that backward reads in place of a variable of forward, or ""."""
    forward, backward = (getattr(function, name, None) for name in ("forward", "backward"))
    if not (isinstance(forward, FunctionType) and isinstance(backward, FunctionType)):
        return ""
    read = {item.argval for item in dis.get_instructions(backward) if item.opname == "LOAD_GLOBAL"}
    names = (name for name in forward.__code__.co_varnames if name in read)
    plain_types = (Tensor, int, float)
    return next((name for name in names if isinstance(backward.__globals__.get(name), plain_types)), "")


def _find_unsaved(subject: Subject, x: Tensor, g: Tensor, expected: Tensor) -> str:
    """Return a sentence on an x or y in an attribute of ctx that leaks or makes gradients wrong, or ""."""
    leaf, shared = x.clone().requires_grad_(), dict[str, Tensor]()
    y = subject.run(given := leaf.clone())
    memories = {each.untyped_storage().data_ptr() for each in (given, y)}
    for node in iterate_custom_nodes(y):
        for name, value in vars(node).items():
            for part in value if isinstance(value, tuple | list) else (value,):
                if isinstance(part, Tensor) and part.grad_fn is node:
                    words = "an output, which holds ctx: both stay in memory until gc.collect() runs"
                    return f"ctx.{name} holds {words}. Save it with ctx.save_for_backward."
                if isinstance(part, Tensor) and part.untyped_storage().data_ptr() in memories:
                    shared[f"ctx.{name}"] = part
    with torch.no_grad(), suppress(RuntimeError, UntriedError):
        for part in shared.values():
            part.add_(1.7)
        if not is_same(backpropagate(y, leaf, g), expected):
            words = "changes in place after forward, as by relu_, the gradient is wrong without an error"
            return f"If {' or '.join(shared)} {words}: save it with ctx.save_for_backward."
    return ""


def _repeats_its_backward(subject: Subject, x: Tensor, g: Tensor | float = 1.0) -> bool:
    """Return whether a second backward through y gives the same bits although the first result was changed.

    Raises RuntimeError if the second backward raises an error.
    """
    y, leaf = subject.open_graph(x)
    upstreams = [torch.ones_like(y) * g for _ in range(2)]
    (result,) = torch.autograd.grad(y, leaf, upstreams[0], retain_graph=True)
    first = result.clone()
    if result._is_view() or result.is_contiguous():
        result.zero_()
    return is_same(first, torch.autograd.grad(y, leaf, upstreams[1])[0], 0.0)


def _iterate_layouts(g: Tensor) -> Iterator[tuple[str, Tensor]]:
    if g.dim():
        yield "expanded, as y.sum().backward() makes it,", g.new_tensor(1.3).expand(g.shape)
        yield "strided", torch.stack([g, -g], dim=-1)[..., 0]
    if g.dim() > 1:
        yield "transposed", g.transpose(0, -1).contiguous().transpose(0, -1)
        yield "expanded along its rows", g[:1].expand(g.shape)


def check_repetition(curve: Curve) -> Result:
    """Check that three calls with the same x and g give the same bits, with a call for another x between."""
    subject = replace(curve.subject, seed=None)
    x = subject.sample(-2.3, 2.9, 101)
    calls = [subject.run_both(x), subject.run_both(x)]
    subject.run_both(subject.fit_domain(x.flip(0) * 0.7 + 0.4))
    (y, y_again, y_later), (r, r_again, r_later) = zip(*calls, subject.run_both(x), strict=True)
    is_repeatable = curve.subject.seed is None and curve.traits.repeats
    if subject.is_module and is_repeatable and _keeps_state(subject, x):
        words = "two calls on the same x differ. The checks begin each call with its present state"
        return by_design(f"It keeps state between calls: {words}.")
    if not is_same(y, y_again, 0.0):
        with suppress(RuntimeError):
            if not _repeats_its_backward(subject, x):
                advice = "backward draws again. Save in ctx what forward drew"
                return fails(f"Two backwards through one y differ: {advice}.")
        words = "two calls on the same x differ, and so may gradients"
        return by_design(f"Its forward draws random numbers: {words}.")
    if not is_same(r, r_again, 0.0):
        advice = "leave random numbers out, or draw them in forward"
        return fails(f"Two backwards for the same x and g differ: {advice}.")
    if is_same(y, y_later, 0.0) and is_same(r, r_later, 0.0):
        same = "x, g and draw" if curve.drawn_pair else "x and g"
        return holds(f"Three calls on the same {same} give the same bits.")
    advice = "it keeps state between calls. Save it in ctx"
    return fails(f"After a call on another x the result is different: {advice}.")


def _keeps_state(subject: Subject, x: Tensor) -> bool:
    """Return whether a module gives another y or gradient for the same x after a call."""
    with subject.begin_anew(), suppress(NoGradientError):
        first, second = (replace(subject, module=None).run_both(x) for _ in range(2))
        return not all(is_same(*pair, 0.0) for pair in zip(first, second, strict=True))
    return True  # the second backward enters the graph of the first call, which is gone
