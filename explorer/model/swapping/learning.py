"""The parameters of a swapped model that learn, such as LSQ's step: one per site, registered on the model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import torch
from torch import Tensor, nn

from explorer.catalogue import adapt_rule, find_op, require_in_domain, resolve_values
from explorer.formula import parse
from explorer.gradient import bind
from explorer.model.swapping.exchange import Exchange
from explorer.model.swapping.target import Target, is_inside
from explorer.model.tape import Site
from explorer.model.tape.private import is_functorch_wrapped_tensor


@dataclass
class Learning:
    """The parameters that a swap has registered on its model, so that an optimiser can train them.

    Attributes:
        names: the parameters' names on the model, by path of the submodule ("" for none) and name in the
            rule.
        sites: the site that uses the parameters, by the same path.
    """

    names: dict[str, dict[str, str]]
    sites: dict[str, Site] = field(default_factory=dict)

    def select(self, model: nn.Module, exchange: Exchange, site: Site, x: Tensor) -> Mapping[str, Tensor]:
        """Return a dict of a site's learned parameters by their names in the rule.

        At the site's first call they are initialised from x. Raises ValueError if another site already uses
        them, or if one has left its domain.
        """
        path = next((constants for constants in self.names if is_inside(site.module, constants)), "")
        if path not in self.names:
            return {}
        if self.sites.setdefault(path, site) != site:
            names = ", ".join(self.names[path])
            raise ValueError(
                f"{exchange.key} learns {names} for one site, and the swap reaches {self.sites[path]} and "
                f"{site}: swap each site or submodule, or give {names} as a number"
            )
        parameters = {name: model.get_parameter(full) for name, full in self.names[path].items()}
        if not any(map(is_functorch_wrapped_tensor, parameters.values())):
            _start(exchange, parameters, x)
        return {name: parameter.to(x.dtype) for name, parameter in parameters.items()}

    def remove(self, model: nn.Module) -> None:
        """Remove the parameters from a model."""
        for full_names in self.names.values():
            for full in full_names.values():
                path, _, name = full.rpartition(".")
                model.get_submodule(path)._parameters.pop(name, None)


def register_parameters(model: nn.Module, target: Target, exchange: Exchange) -> Learning:
    """Register the parameters that learn in a swap. They are NaN until the first call of their site."""
    learning, like = Learning({}), next(iter(model.parameters()), torch.empty(()))
    for path, name in product(sorted(target.modules) or [""], exchange.learned):
        module, own, number = model.get_submodule(path), f"{exchange.key}_{name}", 1
        while hasattr(module, own):
            number += 1
            own = f"{exchange.key}_{name}_{number}"
        start = float(exchange.parameters.get(name, math.nan))
        module.register_parameter(own, nn.Parameter(like.new_full((), start).detach()))
        learning.names.setdefault(path, {})[name] = f"{path}.{own}" if path else own
    return learning


def _start(exchange: Exchange, parameters: Mapping[str, Tensor], x: Tensor) -> None:
    """Set parameters that are NaN to the rule's formula of x, or to their default.

    Raises ValueError for a value outside the domain of the op or the rule.
    """
    assert exchange.op is not None
    assert exchange.entry is not None
    op, rule = find_op(exchange.op), exchange.entry
    given = {name: value for name, value in exchange.parameters.items() if name not in parameters}
    fixed = {name: float(value) for name, value in given.items() if not isinstance(value, Tensor)}
    numbers = resolve_values(op, rule, fixed)
    starts = {item.name: item.start for item in adapt_rule(op, rule).learned}
    for name, parameter in parameters.items():
        if bool(parameter.isnan()):
            mean, start = 0.0, starts.get(name)
            if start is not None:  # a formula of x
                needed = parse(start, variables=("x",), parameters=None).parameters
                bound = bind(f"formula: {start}", "default", {each: numbers[each] for each in needed})
                mean = float(bound.forward(x.detach().float()).mean())
            with torch.no_grad():
                parameter.fill_(mean or numbers[name])
    learned = {name: float(parameter.detach()) for name, parameter in parameters.items()}
    try:
        require_in_domain(op, rule, fixed | learned)
    except ValueError as error:
        raise ValueError(f"{error}: use a smaller learning rate, or clamp it after each step") from None
