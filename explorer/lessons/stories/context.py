"""The context, and bugs of Functions that hide facts from autograd."""

import gc
import weakref

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class SavedExp(Function):
    """exp as a Function whose output is saved by ``save_for_backward``."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class StoredExp(Function):
    """exp as a Function whose output is an attribute of ctx: it leaks memory and misses in-place changes."""

    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y


class Doubled(Function):
    """A Function that doubles its input in place and marks it as dirty."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return 2 * g


class SecretlyDoubled(Doubled):
    """A Function that doubles its input in place without marking it as dirty, as it should."""

    @staticmethod
    def forward(ctx, x):
        return x.mul_(2)


class ReluWithMask(Function):
    """A Function for ReLU that also returns its mask, which is marked as not differentiable."""

    @staticmethod
    def forward(ctx, x):
        mask = (x > 0).to(x.dtype)
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, g, _):
        (mask,) = ctx.saved_tensors
        return g * mask


class UnmarkedMask(ReluWithMask):
    """A Function for ReLU that also returns its mask, without marking it as not differentiable."""

    @staticmethod
    def forward(ctx, x):
        mask = (x > 0).to(x.dtype)
        ctx.save_for_backward(mask)
        return x * mask, mask


def check_lifetime(function):
    """Return whether an unreferenced output of a Function stays in memory: at once, and after ``gc``."""
    gc.disable()
    try:
        y = function.apply(torch.ones(2, requires_grad=True))
        trace = weakref.ref(y)
        del y
        unnamed = trace() is not None
        gc.collect()
        return {"unnamed": unnamed, "collected": trace() is not None}
    finally:
        gc.enable()


def check_lifetimes():
    """Return whether an unreferenced output stays in memory, if it was saved and if it was stored on ctx."""
    return {function.__name__: check_lifetime(function) for function in (SavedExp, StoredExp)}


def compute_true_slope():
    """Return the gradient of torch's own exp at 0."""
    x = torch.zeros(1, requires_grad=True)
    x.exp().sum().backward()
    return x.grad.item()


def compute_after_change(function):
    """Return the gradient of exp at 0 after its output was multiplied by ten in place, or the error."""
    x = torch.zeros(1, requires_grad=True)
    y = function.apply(x)
    total = (y * 1).sum()
    with torch.no_grad():
        y.mul_(10)
    try:
        total.backward()
    except RuntimeError as error:
        return str(error).split(": ")[0]
    return x.grad.item()


def run_changed():
    """Return the gradients of SavedExp and StoredExp after an in-place change of their outputs."""
    return {function.__name__: compute_after_change(function) for function in (SavedExp, StoredExp)}


def compute_after_doubling(function):
    """Return the gradients of x whose copy h is doubled in place, by use of h or of the returned tensor."""
    gradients = {}
    for name in ("h", "returned"):
        x = torch.ones(1, requires_grad=True)
        h = x.clone()
        returned = function.apply(h)
        (h if name == "h" else returned).sum().backward()
        gradients[name] = x.grad.item()
    return gradients


def compare_dirty():
    """Return the gradients after an in-place change, with and without ``mark_dirty``."""
    return {function.__name__: compute_after_doubling(function) for function in (Doubled, SecretlyDoubled)}


def differentiate_mask(function):
    """Return the gradient of the sum of a Function's mask, or the error message."""
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    try:
        function.apply(x)[1].sum().backward()
    except RuntimeError as error:
        return str(error)
    return x.grad.tolist()


def differentiate_masks():
    """Return the gradients of ReLU's mask, with and without ``mark_non_differentiable``."""
    return {function.__name__: differentiate_mask(function) for function in (ReluWithMask, UnmarkedMask)}


LESSON = make_lesson(
    "context",
    lambda results: f"{results['compare_dirty']['SecretlyDoubled']['h']:g}",
    excerpt=Excerpt((SecretlyDoubled, Doubled), "return x.mul_(2)"),
    code=(
        *(SavedExp, StoredExp, check_lifetime, compute_after_change),
        *(Doubled, SecretlyDoubled, compute_after_doubling),
        *(ReluWithMask, UnmarkedMask, differentiate_mask),
    ),
    numbers=(check_lifetimes, compute_true_slope, run_changed, compare_dirty, differentiate_masks),
    scenes=(
        link_explore("formula: 2 * x", "default", "straight_through"),
        link_explore("exp", "default", "formula: g * y", start=-2, stop=2),
    ),
    retest=(
        make_variant("square", "formula: 2 * g * x", -1, 0.5, 2),
        make_variant("reciprocal", "formula: -g * y**2", -1, 0.5, 2),
        make_variant("sqrt", "formula: g / (2 * y)", 0.25, 1, 4),
        make_variant("formula: 2 * x", "formula: 2 * g", -1, 0.5, 2),
        make_variant("cube", "formula: 3 * g * x**2", -1, 0.5, 2),
    ),
)
