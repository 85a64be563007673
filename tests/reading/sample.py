"""A published Function in these tests."""

from dataclasses import dataclass, field
from typing import Any

BACK = "return grad_output"


@dataclass(frozen=True)
class Sample:
    """A source, how it is called besides x, and the values of the formula's parameters that say the same."""

    name: str
    source: str
    arguments: tuple[object, ...] = ()
    parameters: dict[str, float] = field(default_factory=dict)


def function(
    forward: str, backward: str = BACK, *, takes: str = "ctx, x", name: str = "Fn", before: str = ""
) -> str:
    def indented(body: str) -> str:
        return "\n".join(f"        {line}" for line in body.strip("\n").split("\n"))

    return (
        f"{before}class {name}(torch.autograd.Function):\n"
        f"    @staticmethod\n    def forward({takes}):\n{indented(forward)}\n\n"
        f"    @staticmethod\n    def backward(ctx, grad_output):\n{indented(backward)}\n"
    )


def written(name: str, forward: str, backward: str = BACK, *call: Any, **text: str) -> Sample:
    """Return a sample whose Function has these bodies; ``call`` and ``text`` are further arguments."""
    return Sample(name, function(forward, backward, **text), *call)
