"""The arguments of functions in PyTorch: signatures, and what a pair that draws is given."""

from collections.abc import Mapping, Sequence

from explorer.snippets.pair import Pair

# A number that torch draws may be 0, at which logarithms and quantiles are infinite.
DRAWING = "u = torch.rand_like(x).clamp(min=torch.finfo(x.dtype).eps / 4)"
TYPES = {"u": "Tensor", "f": "Callable[[Tensor], Tensor]"}
MEANINGS = {
    "u": "one number in (0, 1) for each element; it broadcasts to x.",
    "f": "the loss of each element, a function of y.",
}
EXAMPLES = {"u": "u=u", "f": "f=lambda y: (y - 0.45) ** 2"}


def signature(first: Sequence[str], numbers: Mapping[str, float], given: Sequence[str] = ()) -> str:
    """The signature of a function: what comes first, and keywords: what is given, and numbers."""
    typed = [f"{name}: {TYPES[name]}" for name in given]
    typed += [f"{name}: float = {value!r}" for name, value in numbers.items()]
    return ", ".join([*first, "*", *typed] if typed else first)


def expanded(name: str) -> str:
    """The expression that makes of an argument behind x what a Function takes."""
    return {"u": "u.to(x.dtype).expand(x.shape)"}.get(name, name)


def usage(pair: Pair) -> list[str]:
    """The paragraph that shows how u is drawn; none for a pair that does not draw."""
    if not pair.given:
        return []
    call = ", ".join(["x", *pair.learns, *(EXAMPLES[name] for name in pair.given)])
    return [f"Usage:\n    {DRAWING}\n    y = {pair.name}({call})"]


def meanings(pair: Pair) -> list[str]:
    """The lines on what a pair that draws is given."""
    return [f"    {name}: {MEANINGS[name]}" for name in pair.given]
