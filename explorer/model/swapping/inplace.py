"""Modules of a model replaced by layers of ours, for torch.compile and torch.export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from explorer.catalogue import find_op
from explorer.gradient import Layer
from explorer.model.swapping.exchange import Exchange
from explorer.model.swapping.passing import UnreachedError
from explorer.model.swapping.target import Target
from explorer.model.watching import Asked, Run, names_of, watched

if TYPE_CHECKING:
    import pandas as pd

_PROBE = torch.linspace(-7.03, 7.05, 401)


class Replaced:
    """The result of ``explorer.swap`` with ``inplace=True``: the modules that it replaced in a model.

    Attributes:
        model: it, changed.
    """

    def __init__(self, model: nn.Module, rule: str, modules: dict[str, nn.Module]) -> None:
        self.model, self._rule, self._modules = model, rule, modules

    @property
    def sites(self) -> pd.DataFrame:
        """One row a module: site, its path, op and rule."""
        import pandas as pd

        layers = {path: self.model.get_submodule(path) for path in self._modules}
        records = [(path, str(layer), self._rule) for path, layer in layers.items()]
        return pd.DataFrame(records, columns=["site", "layer", "rule"])

    def undo(self) -> nn.Module:
        """The model with its own modules again."""
        for path, module in self._modules.items():
            self.model.set_submodule(path, module)
        return self.model


class _Only:
    """A handler that keeps the calls of a module that is tried."""

    functions = ()

    def __init__(self, module: nn.Module) -> None:
        self._names, self.calls = names_of(module), list[Asked]()

    def handle(self, asked: Asked) -> Run:
        """The run as it is."""
        self.calls.append(Asked(asked.op, asked.x, asked.run, asked.parameters, asked.others))
        return asked.run

    def follow(self, _function: object, _args: object, result: object) -> object:
        """The result as it is."""
        return result

    def meet(self, other: object) -> None:
        """Nothing is kept of what is no tensor."""


def replaced(model: nn.Module, target: Target, exchange: Exchange) -> Replaced:
    """Replace the modules that are meant. Raises UnreachedError where something else is meant.

    Nothing is replaced unless all can be.
    """
    if not target.modules:
        raise UnreachedError(
            f"inplace=True replaces modules, and {target.told} is none: leave inplace out, or make it a "
            "submodule of the model, such as explorer.Layer"
        )
    layers = {path: _layer(path, model.get_submodule(path), exchange) for path in _leaves(model, target)}
    before = {path: model.get_submodule(path) for path in layers}
    for path, layer in layers.items():
        model.set_submodule(path, layer)
    return Replaced(model, exchange.key, before)


def _leaves(model: nn.Module, target: Target) -> list[str]:
    """The paths of the meant modules; of those with others inside, these."""
    named = dict(model.named_modules(remove_duplicate=False))
    meant = [
        name for name in named if any(name == path or name.startswith(f"{path}.") for path in target.modules)
    ]
    return [name for name in meant if not any(True for _ in named[name].children())]


def _layer(path: str, module: nn.Module, exchange: Exchange) -> Layer:
    call = _call(path, module)
    op = exchange.op if exchange.op is not None else call.op
    exchange.require_suitable(op)
    own = {name: _plain(path, value) for name, value in call.parameters.items()} if op == call.op else {}
    known = {parameter.name for parameter in (*find_op(op).parameters, *exchange.entry.parameters)}
    given = exchange.parameters_for(find_op(op))
    settings = {name: value for name, value in own.items() if name in known} | dict(given)
    layer = Layer(op, exchange.rule, (), **settings)
    if exchange.op is None and not torch.allclose(layer(_PROBE), module(_PROBE), atol=1e-6):
        raise UnreachedError(
            f"{path} ({type(module).__name__}) computes something else than the op {call.op}: "
            "leave inplace out, and it keeps its own forward"
        )
    return layer


def _call(path: str, module: nn.Module) -> Asked:
    """The one call of an op that a module consists of."""
    tried = _Only(module)
    try:
        with torch.no_grad(), watched(tried):
            module(_PROBE.clone())
    except Exception as error:  # anybody's module, whatever it raises
        raise UnreachedError(
            f"{path} ({type(module).__name__}) cannot be replaced: it takes no single numbers"
        ) from error
    if len(tried.calls) != 1 or any(True for _ in module.parameters()):
        raise UnreachedError(
            f"{path} ({type(module).__name__}) is not one op without parameters: leave inplace out, and only "
            "its backward is exchanged"
        )
    return tried.calls[0]


def _plain(path: str, value: float | Tensor) -> float:
    if isinstance(value, Tensor):
        raise UnreachedError(f"{path} gives its op a tensor: leave inplace out")
    return float(value)
