"""An op with a backward rule as a layer of a net."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from explorer.catalogue import Op, Rule, adapt_rule, find_op, find_rule, require_in_domain, resolve_values
from explorer.gradient.calling import apply

_HALF = torch.tensor(0.5)  # random number of a trial call, so that no generator is used


class Layer(nn.Module):
    """A module that applies an op with a backward rule to each element of a floating tensor.

    ``torch.compile(layer, fullgraph=True)`` makes one graph of it. It can be exported, copied and pickled.

    Args:
        op, rule, f: as for ``explorer.apply``. Random numbers come from torch's default generator.
        learns: names of the parameters that learn. Each is an ``nn.Parameter`` of this name, also in the
            state_dict.
        **parameters: numbers by name. A parameter that learns may start as a tensor of any shape that
            broadcasts to x's, such as (channels, 1, 1).

    Raises:
        ValueError: if ``explorer.apply`` would raise it for these arguments, or if a parameter that learns
            has the name of an attribute of ``nn.Module``.
    """

    def __init__(
        self,
        op: str | Op,
        rule: str | Rule,
        learns: Sequence[str] = (),
        f: str | float | Tensor | None = None,
        **parameters: float | Tensor,
    ) -> None:
        super().__init__()
        self._op, self._rule, self._loss = op, rule, f
        self._learned = (learns,) if isinstance(learns, str) else tuple(learns)
        self._numbers: dict[str, Any] = {
            name: value for name, value in parameters.items() if name not in self._learned
        }
        self._require_valid(parameters)
        defaults = resolve_values(find_op(op), find_rule(rule), {})
        entries = (find_op(op), adapt_rule(find_op(op), find_rule(rule)))
        self._bounded = bool(self._learned) and any(p.domain for entry in entries for p in entry.parameters)
        for name in self._learned:
            if hasattr(self, name):
                raise ValueError(
                    f"the parameter {name} cannot learn in a layer, because every nn.Module has an attribute "
                    f"{name}: give the parameter another name"
                )
            start = torch.as_tensor(parameters.get(name, defaults[name]), dtype=torch.get_default_dtype())
            self.register_parameter(name, nn.Parameter(start.detach().clone()))

    def _require_valid(self, parameters: dict[str, float | Tensor]) -> None:
        numbers: dict[str, Any] = {
            name: value for name, value in parameters.items() if not isinstance(value, Tensor)
        }
        apply(self._op, self._rule, torch.zeros(1), draw=_HALF, f=self._loss, **numbers)
        learning: dict[str, Any] = {name: torch.ones((), requires_grad=True) for name in self._learned}
        with torch.enable_grad():
            apply(self._op, self._rule, torch.zeros(1), draw=_HALF, f=self._loss, **(numbers | learning))

    def _require_in_domain(self) -> None:
        op, rule = find_op(self._op), find_rule(self._rule)
        numbers = {name: value for name, value in self._numbers.items() if not isinstance(value, Tensor)}
        for extreme in (torch.min, torch.max):
            ends = {name: float(extreme(getattr(self, name).detach())) for name in self._learned}
            try:
                require_in_domain(op, rule, numbers | ends)
            except ValueError as error:
                raise ValueError(
                    f"{error}: training moved it there, so use a smaller learning rate, or clamp it after "
                    "each step"
                ) from None

    def forward(self, x: Tensor) -> Tensor:
        """Apply the op to x; the result has x's shape and dtype.

        Raises ValueError if a parameter that learns has left its domain, except under torch.compile.
        """
        if self._bounded and not torch.compiler.is_compiling():
            self._require_in_domain()
        learned: dict[str, Any] = {name: getattr(self, name) for name in self._learned}
        return apply(self._op, self._rule, x, f=self._loss, **self._numbers, **learned)

    def extra_repr(self) -> str:
        """Return the arguments of the layer as source code, for its repr."""
        keys = [
            repr(entry.key if isinstance(entry, Op | Rule) else entry) for entry in (self._op, self._rule)
        ]
        learns = [f"learns={self._learned}"] if self._learned else []
        learns += [] if self._loss is None else [f"f={self._loss!r}"]
        return ", ".join([*keys, *learns, *(f"{name}={value}" for name, value in self._numbers.items())])
