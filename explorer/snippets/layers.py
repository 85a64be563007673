"""The ``nn.Module`` of exported code, which holds the function's numbers and draws u if it is random."""

from explorer.snippets.arguments import DRAW_U, TYPES, make_signature
from explorer.snippets.layout import join_lines
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
# A learned parameter s is called learned_s, so that it cannot hide an attribute of nn.Module.
_LEARNING = (
    '''

class {layer}(nn.Module):
    """The function {name} as a layer that learns {learned}, from the values given.

    {shape}: shape of the learned values: () for one value, (channels, 1, 1) for one per channel.
    """

    def __init__({signature}, {shape}: tuple[int, ...] = ()) -> None:
        super().__init__()
        {held}
'''
    + _BODY
)
_KEYWORDS = {"u": "u=u", "f": "f=self.loss"}


def make_layer_code(pair: Pair) -> str:
    """Return the source of an ``nn.Module`` that applies the exported function."""
    loss = "f" in pair.extras
    holds = bool(pair.parameters) or loss
    first = ["self", *([f"f: {TYPES['f']}"] if loss else [])]
    return (_LEARNING if pair.learns else _HOLDING if holds else _PLAIN).format(
        layer=pair.layer,
        name=pair.name,
        signature=make_signature(first, pair.parameters),
        learned=", ".join(pair.learns),
        shape=_choose_shape_name(pair),
        held=join_lines(*_write_init(pair)),
        returned=join_lines(*_write_forward(pair, holds)),
    )


def _choose_shape_name(pair: Pair) -> str:
    names = ("shape", "learned_shape", "shape_of_learned")
    return next(name for name in names if name not in pair.parameters)


def _write_init(pair: Pair) -> list[str]:
    learned = [
        f"self.learned_{name} = nn.Parameter(torch.full({_choose_shape_name(pair)}, {name}))"
        for name in pair.learns
    ]
    settings = ", ".join(f'"{name}": {name}' for name in pair.numbers)
    loss = ["self.loss = f"] if "f" in pair.extras else []
    return [*learned, *loss, f"self.settings = {{{settings}}}"]


def _write_forward(pair: Pair, holds: bool) -> list[str]:
    inputs = ["x", *(f"self.learned_{name}" for name in pair.learns)]
    inputs += [_KEYWORDS[name] for name in pair.extras] + ["**self.settings"] * holds
    return [*([DRAW_U] if "u" in pair.extras else []), f"return {pair.name}({', '.join(inputs)})"]
