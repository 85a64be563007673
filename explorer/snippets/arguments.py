"""Code for the arguments of generated PyTorch functions, with extra ones for stochastic ops and rules."""

from collections.abc import Mapping, Sequence

from explorer.snippets.pair import Pair

# torch.rand_like may return 0, at which logarithms and quantiles are infinite.
DRAW_U = "u = torch.rand_like(x).clamp(min=torch.finfo(x.dtype).eps / 4)"
TYPES = {"u": "Tensor", "f": "Callable[[Tensor], Tensor]"}
MEANINGS = {
    "u": "one number in (0, 1) for each element; it broadcasts to x.",
    "f": "the loss of each element, a function of y.",
}
EXAMPLES = {"u": "u=u", "f": "f=lambda y: (y - 0.45) ** 2"}


def make_signature(first: Sequence[str], numbers: Mapping[str, float], extras: Sequence[str] = ()) -> str:
    """Return the parameters of a function as code: ``first``, then ``extras`` and numbers as keywords."""
    typed = [f"{name}: {TYPES[name]}" for name in extras]
    typed += [f"{name}: float = {value!r}" for name, value in numbers.items()]
    return ", ".join([*first, "*", *typed] if typed else first)


def expand_argument(name: str) -> str:
    """Return code that converts an argument to the form that an autograd Function takes."""
    return {"u": "u.to(x.dtype).expand(x.shape)"}.get(name, name)


def write_usage(pair: Pair) -> list[str]:
    """Return the lines of an example that draws any random numbers u and calls the exported function."""
    call = ", ".join(["x", *pair.learns, *(EXAMPLES[name] for name in pair.extras)])
    return [*([DRAW_U] if pair.extras else []), f"y = {pair.name}({call})"]
