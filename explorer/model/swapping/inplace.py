"""Replacement of a model's modules by ``explorer.Layer``, for torch.compile and torch.export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from explorer.catalogue import find_op, find_rule
from explorer.gradient import Layer
from explorer.model.swapping.bridge import UnreachedError
from explorer.model.swapping.exchange import Exchange
from explorer.model.swapping.target import Target
from explorer.model.tape import Call, CallInput, Tape, Value, read_input
from explorer.model.tape.tricks import find_applied_keys

if TYPE_CHECKING:
    import pandas as pd

_PROBE = torch.linspace(-7.03, 7.05, 401)


class Replaced:
    """The result of ``explorer.swap`` with ``inplace=True``, which lists the replaced modules.

    Attributes:
        model: the changed model.
    """

    def __init__(self, model: nn.Module, rule: str, modules: dict[str, nn.Module]) -> None:
        self.model, self._rule, self._modules = model, rule, modules

    @property
    def sites(self) -> pd.DataFrame:
        """A table with one row per module: site, which is its path, op and rule."""
        import pandas as pd

        layers = {path: self.model.get_submodule(path) for path in self._modules}
        records = [(path, str(layer), self._rule) for path, layer in layers.items()]
        return pd.DataFrame(records, columns=["site", "layer", "rule"])

    def undo(self) -> nn.Module:
        """Restore the original modules, and return the model."""
        for path, module in self._modules.items():
            self.model.set_submodule(path, module)
        return self.model


class _Calls(Tape):
    """A tape that records which ops a module calls during a trial call: the inputs with their keys."""

    def __init__(self, module: nn.Module) -> None:
        self.ops: list[CallInput] = []
        super().__init__(module)

    def prepare(self, name: str, function: Any, args: Any, kwargs: Any) -> None:
        self.ops += [item for item in [read_input(function, args, kwargs, _PROBE)] if item.key]

    def on_function(self, call: Call, value: Value, tensor: Tensor | None) -> None:
        self.ops += [CallInput(_PROBE, key, {}) for key in [find_applied_keys(value.edge)[0]] if key]


def replace_modules(model: nn.Module, target: Target, exchange: Exchange) -> Replaced:
    """Replace the modules that a swap is about by ``explorer.Layer``.

    Raises UnreachedError if the target is not a module. Nothing is replaced unless all modules can be.
    """
    if not target.modules:
        raise UnreachedError(
            f"inplace=True replaces modules, and {target.told} is not a module: leave inplace out, or make "
            "it a submodule of the model, such as explorer.Layer"
        )
    if exchange.is_code:
        raise ValueError(
            "inplace=True takes a rule of the catalogue or a formula: an explorer.Layer holds it"
        )
    named = model.named_modules(remove_duplicate=False)
    # The modules inside those of the target, if there are any.
    before = {path: each for path, each in named if target.is_inside(path) and not [*each.children()]}
    layers = {path: _make_layer(path, module, exchange) for path, module in before.items()}
    for path, layer in layers.items():
        model.set_submodule(path, layer)
    return Replaced(model, exchange.key, before)


def _make_layer(path: str, module: nn.Module, exchange: Exchange) -> Layer:
    tried, told = _Calls(module), f"{path} ({type(module).__name__})"
    try:
        with tried:
            module(_PROBE.clone().requires_grad_() * 1)
    except Exception as error:  # a user's module may raise anything
        raise UnreachedError(
            f"{told} cannot be replaced in place: it fails on a vector of numbers"
        ) from error
    if len(tried.ops) != 1 or [*module.parameters()]:
        raise UnreachedError(
            f"{told} is not one op without parameters: leave inplace out, and only its backward is exchanged"
        )
    _, called, parameters, _ = tried.ops[0]
    op = exchange.op if exchange.op is not None else called
    exchange.require_suitable(op)
    known = {item.name for item in (*find_op(op).parameters, *find_rule(exchange.rule).parameters)}
    settings: dict[str, Any] = {}
    for name, value in parameters.items() if op == called else ():
        if isinstance(value, Tensor):
            raise UnreachedError(f"{path} gives its op a tensor: leave inplace out")
        if name in known:
            settings[name] = float(value)
    layer = Layer(op, exchange.rule, (), **{**settings, **exchange.select_parameters(find_op(op))})
    if exchange.op is None and not torch.allclose(layer(_PROBE), module(_PROBE), atol=1e-6):
        raise UnreachedError(
            f"{told} computes something else than the op {called}: "
            "leave inplace out, and it keeps its own forward"
        )
    return layer
