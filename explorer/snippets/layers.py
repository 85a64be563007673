"""The layer of a function: an ``nn.Module`` that holds its numbers, and draws where the function does."""

from explorer.snippets.arguments import DRAWING, TYPES, signature
from explorer.snippets.layout import block
from explorer.snippets.pair import Pair

_PLAIN = '''

class {layer}(nn.Module):
    """The function {name} as a layer."""

    def forward(self, x: Tensor) -> Tensor:
        {returned}
'''
_BODY = """
    def forward(self, x: Tensor) -> Tensor:
        {returned}

    def extra_repr(self) -> str:
        return ", ".join(f"{{name}}={{value}}" for name, value in self.settings.items())
"""
_HOLDING = (
    '''

class {layer}(nn.Module):
    """The function {name} as a layer."""

    def __init__({signature}) -> None:
        super().__init__()
        {held}
'''
    + _BODY
)
# A learned parameter is called learned_s, for the same reason.
_LEARNING = (
    '''

class {layer}(nn.Module):
    """The function {name} as a layer that learns {learned}, from the values given.

    {shape}: that of what learns: () for one value, (channels, 1, 1) for one for each channel.
    """

    def __init__({signature}, {shape}: tuple[int, ...] = ()) -> None:
        super().__init__()
        {held}
'''
    + _BODY
)
_PASSED = {"u": "u=u", "f": "f=self.loss"}


def layer_code(pair: Pair) -> str:
    """The class of the layer."""
    loss = "f" in pair.given
    holds = bool(pair.parameters) or loss
    first = ["self", *([f"f: {TYPES['f']}"] if loss else [])]
    return (_LEARNING if pair.learns else _HOLDING if holds else _PLAIN).format(
        layer=pair.layer,
        name=pair.name,
        signature=signature(first, pair.parameters),
        learned=", ".join(pair.learns),
        shape=_shape(pair),
        held=block(*_held(pair)),
        returned=block(*_returned(pair, holds)),
    )


def _shape(pair: Pair) -> str:
    """Return the name of the layer's argument for the shape of what learns, which no parameter has."""
    return next(
        name for name in ("shape", "learned_shape", "shape_of_learned") if name not in pair.parameters
    )


def _held(pair: Pair) -> list[str]:
    """The lines that keep what the layer is made with."""
    learned = [
        f"self.learned_{name} = nn.Parameter(torch.full({_shape(pair)}, {name}))" for name in pair.learns
    ]
    settings = ", ".join(f'"{name}": {name}' for name in pair.numbers)
    loss = ["self.loss = f"] if "f" in pair.given else []
    return [*learned, *loss, f"self.settings = {{{settings}}}"]


def _returned(pair: Pair, holds: bool) -> list[str]:
    """The lines that call the function."""
    inputs = ["x", *(f"self.learned_{name}" for name in pair.learns)]
    inputs += [_PASSED[name] for name in pair.given] + ["**self.settings"] * holds
    return [*([DRAWING] if "u" in pair.given else []), f"return {pair.name}({', '.join(inputs)})"]
